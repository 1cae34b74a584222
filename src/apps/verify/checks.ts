/** Everything that a dossier says of one trade, held against signatures and chains by somebody who trusts no venue. */

import { decodeFunctionData } from 'viem';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { assetId } from '../../domain/asset.ts';
import { attestationDigest, fillAttestation } from '../../domain/attestation.ts';
import { commitmentDigest } from '../../domain/commitment.ts';
import { decodeContext } from '../../domain/context.ts';
import { type Address, addressToBytes32, bytes32ToAddress, type Bytes32, type Hex } from '../../domain/hex.ts';
import { orderDigest, orderEnvelope, orderId, outputHash, type StandardOrder } from '../../domain/order.ts';
import type { EscrowEvent } from '../../ports/chain.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import type { ComplianceProofs } from '../../protocol/records.ts';
import { decodeCommitments, parseSeal } from '../../protocol/seal-wire.ts';
import { orderFromMessage, zOrderMessage } from '../../protocol/wire.ts';
import { attestationOracleAbi } from '../../settlement/abi/attestation-oracle.ts';
import { inputToken } from '../../settlement/funding.ts';
import { intentOf } from '../../settlement/intent.ts';
import type { Claim } from './claim.ts';
import { feesOf } from './fees.ts';
import type { Seen, Witness } from './witness.ts';

export interface Check {
  /** Stable name, such as `taker.signature` or `output.0.filled`. */
  id: string;
  /** held: shown true. failed: shown false, or not shown where it has to be. unchecked: nobody was there to ask. */
  result: 'held' | 'failed' | 'unchecked';
  /** A sentence for a person. */
  says: string;
}

export interface VerifyInput {
  orderId: Bytes32;
  claim: Claim;
  /** By chain id. */
  witnesses: ReadonlyMap<number, Witness>;
  /** Escrows that the reader knows by itself, by chain id. */
  knownEscrows: ReadonlyMap<number, Address>;
}

type Receipt = ComplianceProofs['receipts'][number];
type Place = Pick<Receipt, 'chainId' | 'contract' | 'txHash' | 'blockNumber' | 'blockHash' | 'at'>;

const recovery = createRecovery();

export async function verifyClaim({ orderId: asked, claim, witnesses, knownEscrows }: VerifyInput): Promise<Check[]> {
  const checks: Check[] = [];
  const note = (id: string, result: Check['result'], says: string) => void checks.push({ id, result, says });
  const judge = (id: string, held: boolean, yes: string, no: string) => note(id, held ? 'held' : 'failed', held ? yes : no);
  const { intent, complianceProofs: proofs, trade } = claim;

  /* What was signed. Everything below is held against it. */
  const signed = readSigned(claim);
  if (!signed) {
    note('order.envelope', 'failed', 'The envelope is not that of an escrow-v0 order, so there is nothing that anybody could have signed.');
    return checks;
  }
  const { order, domain } = signed;
  const id = orderId(domain, order);
  judge('order.id', id === asked && intent.orderId === id && trade.orderId === id, `The signed order is ${id}, recomputed from its own terms.`, `The signed terms make order ${id}, which is not the order asked for (${asked}) or not the one named in the dossier.`);
  const rebuilt = intentOf(domain.escrow, order);
  const { maxSpent, minReceived, fillInstructions, ...head } = rebuilt;
  const { resolved, originSettler, user, nonce, originChainId, openDeadline, fillDeadline, orderDataType, orderData } = intent;
  const sameIntent = canonicalJson({ ...head, resolved: { maxSpent, minReceived, fillInstructions }, expires: order.expires }) === canonicalJson({ originSettler, user, nonce, originChainId, openDeadline, fillDeadline, orderDataType, orderData, resolved, expires: intent.expires });
  judge('order.envelope', sameIntent && signed.exact, 'The envelope is escrow-v0 to the letter, and the ERC-7683 intent beside it says the same.', 'The envelope and the ERC-7683 intent beside it say different things.');
  for (const [chainId, escrow] of [[domain.chainId, domain.escrow] as const, ...order.outputs.map(({ chainId, settler }) => [Number(chainId), addressOf(settler)] as const)]) {
    const known = knownEscrows.get(chainId);
    if (known && !checks.some((check) => check.id === `escrow.${chainId}`)) judge(`escrow.${chainId}`, known === escrow, `The escrow on chain ${chainId} is the one that you named.`, `The order names escrow ${escrow} on chain ${chainId}, and you named ${known}.`);
  }

  const origin = witnesses.get(domain.chainId);
  const opened = proofs.receipts.find(({ event }) => event === 'Open');
  const openedAt = opened && BigInt(opened.blockNumber);
  await takerSignature();
  for (const index of order.outputs.keys()) await commitment(index);
  checksum();

  /* What the chains saw. */
  const seen = new Map<string, Seen | undefined>();
  await open();
  const delivered: bigint[] = [];
  for (const index of order.outputs.keys()) await filled(index);
  for (const index of order.outputs.keys()) await attested(index);
  await ended('Finalised', 'order.finalised', trade.status === 'settled');
  await ended('Refunded', 'order.refunded', trade.settlementStatus === 'refunded');
  await state();

  /* What the dossier makes of it. */
  amounts();
  fees();
  await stages();
  return checks;

  async function takerSignature(): Promise<void> {
    const digest = orderDigest(domain, order);
    const { scheme, signer, signature, digest: shown } = proofs.takerSignature;
    const consistent = shown === digest && signer === order.user && intent.signatures.taker.signature === signature && intent.signatures.taker.scheme === scheme;
    if (!consistent) return note('taker.signature', 'failed', 'The taker’s signature is shown over another digest, for another signer, or in two versions.');
    if (scheme === 'EIP712') return judge('taker.signature', recovery.recover(digest, signature as Hex) === order.user, `${order.user} signed exactly these terms.`, `The signature is not that of ${order.user} over these terms.`);
    if (!origin) return unasked('taker.signature', domain.chainId);
    const { value, newest } = await origin.asOf(openedAt, (at) => origin.views.isValidSignature(order.user, digest, signature as Hex, at));
    judge('taker.signature', value, `The wallet contract ${order.user} accepts the signature over exactly these terms${asOfWords(newest)}.`, `The wallet contract ${order.user} does not accept the signature over these terms${asOfWords(newest)}.`);
  }

  async function commitment(index: number): Promise<void> {
    const name = `lp.${index}.commitment`;
    const shown = proofs.commitments.filter(({ outputIndex }) => outputIndex === index);
    const context = decodeContext(order.outputs[index]?.context ?? '0x');
    const [one] = shown;
    if (proofs.commitments.length === 0 && intent.signatures.commitments.length === 0) return note(name, 'held', 'No LP stands behind this order: it is filled from elsewhere or not at all, so no promise is claimed.');
    const listed = intent.signatures.commitments[index];
    if (shown.length !== 1 || !one || !context || listed?.signature !== one.signature || listed.lp !== one.lp || listed.deadline !== one.deadline) return note(name, 'failed', `There is not exactly one commitment behind output ${index}.`);
    const digest = commitmentDigest(domain, { orderId: id, quoteId: one.quoteId as Bytes32, lp: one.lp as Address, deadline: one.deadline });
    const bound = one.digest === digest && one.quoteId === intent.quoteId && one.lp === context.exclusiveFor && one.deadline === order.fillDeadline;
    if (!bound) return note(name, 'failed', `The commitment behind output ${index} is for another order, quote, LP or deadline.`);
    const signer = recovery.recover(digest, one.signature as Hex);
    if (signer === one.lp) return note(name, 'held', `LP ${one.lp} itself promised to pay output ${index} of this order.`);
    if (!origin) return unasked(name, domain.chainId);
    const { value, newest } = await origin.asOf(openedAt, async (at) => (signer !== undefined && (await origin.views.isOperator(one.lp as Address, signer, at))) || origin.views.isValidSignature(one.lp as Address, digest, one.signature as Hex, at));
    judge(name, value, `An operator of LP ${one.lp} promised to pay output ${index} of this order${asOfWords(newest)}.`, `Nobody who may sign for LP ${one.lp} signed the commitment behind output ${index}${asOfWords(newest)}.`);
  }

  function checksum(): void {
    if (!proofs.checksum) return;
    const seal = parseSeal(proofs.checksum.value);
    const inside = seal && decodeCommitments(seal.commitments);
    const same = inside !== undefined && canonicalJson(inside) === canonicalJson(intent.signatures.commitments);
    judge('venue.checksum', same, 'The checksum that the taker was shown carries these very commitments. Its MAC is the venue’s secret and is not checked here.', 'The checksum that the taker was shown carries other commitments than the dossier.');
  }

  /** The transaction of a receipt, when it is where the receipt says. */
  async function standing(name: string, place: Place): Promise<Seen | undefined> {
    const witness = witnesses.get(place.chainId);
    if (!witness) {
      unasked(name, place.chainId);
      return undefined;
    }
    const key = `${place.chainId} ${place.txHash}`;
    if (!seen.has(key)) seen.set(key, await witness.transaction(place.txHash as Hex));
    const tx = seen.get(key);
    if (!tx?.succeeded) note(name, 'failed', `Chain ${place.chainId} knows no successful transaction ${place.txHash}.`);
    else if (tx.blockNumber !== BigInt(place.blockNumber) || tx.blockHash !== place.blockHash || tx.at !== place.at) note(name, 'failed', `Transaction ${place.txHash} is in block ${tx.blockNumber} (${tx.blockHash}) of ${tx.at}, not where the dossier has it.`);
    else return tx;
    return undefined;
  }

  async function open(): Promise<void> {
    if (!opened) {
      if (trade.status === 'settled' || proofs.receipts.length > 0) note('order.opened', 'failed', 'The dossier shows no receipt for the taking of the input.');
      return;
    }
    if (opened.chainId !== domain.chainId || opened.contract !== domain.escrow) return note('order.opened', 'failed', 'The receipt for the taking of the input is from another chain or contract than the signed escrow.');
    const tx = await standing('order.opened', opened);
    if (!tx) return;
    const event = tx.events(domain.escrow).find((found) => found.kind === 'open' && found.orderId === id);
    const same = event?.kind === 'open' && orderId(domain, event.order) === id;
    judge('order.opened', same && tx.at <= order.fillDeadline, `The escrow took ${order.inputs[0]?.[1]} base units of ${inputToken(order.inputs[0]?.[0] ?? 0n)} for this order in block ${tx.blockNumber}.`, 'The transaction did not open this order on the signed escrow in time.');
  }

  async function filled(index: number): Promise<void> {
    const name = `output.${index}.filled`;
    const output = order.outputs[index] as StandardOrder['outputs'][number];
    const receipt = proofs.receipts.find(({ event, fill }) => event === 'OutputFilled' && fill?.outputIndex === index);
    if (!receipt?.fill) {
      if (trade.status === 'settled') note(name, 'failed', `The dossier says settled and shows no delivery of output ${index}.`);
      return;
    }
    const { fill } = receipt;
    const settler = addressOf(output.settler);
    const key = outputHash(output);
    if (receipt.chainId !== Number(output.chainId) || receipt.contract !== settler || fill.outputHash !== key) return note(name, 'failed', `The receipt for output ${index} is from another chain or contract, or for another output, than was signed.`);
    const tx = await standing(name, receipt);
    if (!tx) return;
    const event = tx.events(settler).find((found): found is Extract<EscrowEvent, { kind: 'filled' }> => found.kind === 'filled' && found.orderId === id && outputHash(found.output) === key);
    const context = decodeContext(output.context);
    if (!event) return note(name, 'failed', `The transaction did not fill output ${index} of this order.`);
    const told = addressOf(event.solver) === fill.solver && event.timestamp === fill.timestamp && event.amount.toString() === fill.amount;
    const lawful = event.amount >= output.amount && event.timestamp <= order.fillDeadline && event.timestamp === tx.at && (!context || addressToBytes32(context.exclusiveFor) === event.solver);
    judge(name, told && lawful, `Output ${index} was filled with ${event.amount} by ${fill.solver} in block ${tx.blockNumber}: no less than signed, in time, by the one who had promised it.`, `The fill of output ${index} on chain is not the one in the dossier, or not what was signed.`);
    delivered[index] = event.amount;
    moved(index, output, tx, event.amount);
  }

  /** Events are the escrow's word; the token's own log is the money. */
  function moved(index: number, output: StandardOrder['outputs'][number], tx: Seen, amount: bigint): void {
    const name = `output.${index}.delivered`;
    const [recipient, token] = [addressOf(output.recipient), addressOf(output.token)];
    if (output.recipient === output.settler) return note(name, 'held', `Output ${index} was credited inside the escrow's ledger, as signed; the fill is the receipt of that.`);
    const together = order.outputs.reduce((sum, other, at) => (other.recipient === output.recipient && other.token === output.token && delivered[at] !== undefined && sameTx(index, at) ? sum + (delivered[at] ?? 0n) : sum), 0n);
    const arrived = tx.transfers(token).reduce((sum, { to, value }) => (to === recipient ? sum + value : sum), 0n);
    judge(name, arrived >= together && together >= amount, `${recipient} received it: the token's own log says ${arrived}.`, `The token's own log shows only ${arrived} for ${recipient}.`);
  }

  function sameTx(a: number, b: number): boolean {
    const txOf = (index: number) => proofs.receipts.find(({ fill }) => fill?.outputIndex === index)?.txHash;
    return txOf(a) === txOf(b);
  }

  async function attested(index: number): Promise<void> {
    const name = `output.${index}.attested`;
    const output = order.outputs[index] as StandardOrder['outputs'][number];
    const fill = proofs.receipts.find((receipt) => receipt.fill?.outputIndex === index)?.fill;
    const attestation = proofs.attestations.find(({ outputIndex }) => outputIndex === index);
    if (output.chainId === order.originChainId) {
      if (attestation) note(name, 'failed', `Output ${index} was delivered on the origin itself, which needs no attestation, and one is shown.`);
      return;
    }
    if (!attestation || !fill) {
      if (trade.status === 'settled') await provenAnyhow(name, index, output, fill);
      return;
    }
    const expected = fillAttestation({ solver: addressToBytes32(fill.solver as Address), orderId: id, timestamp: fill.timestamp, output });
    const bound = attestation.payloadHash === expected.payloadHash && attestation.application === expected.application && BigInt(attestation.remoteChainId) === expected.remoteChainId && attestation.contract === order.inputOracle && attestation.chainId === domain.chainId;
    if (!bound) return note(name, 'failed', `The attestation shown for output ${index} is about another fill, or made to another oracle than was signed.`);
    const tx = await standing(name, attestation);
    if (!tx || !origin) return;
    const proven = tx.events(order.inputOracle).some((event) => event.kind === 'proven' && event.payloadHash === expected.payloadHash && event.application === expected.application && event.remoteChainId === expected.remoteChainId);
    if (!proven) return note(name, 'failed', `The transaction did not prove output ${index} to the oracle.`);
    const { value: committee, newest } = await origin.asOf(tx.blockNumber, (at) => origin.views.committee(order.inputOracle, at));
    const signers = attestersIn(tx, order.inputOracle, expected, domain.chainId);
    if (!signers) return note(name, 'held', `The oracle took output ${index} for proven in block ${tx.blockNumber}; it was told through another contract, so the attesters' signatures are not in plain sight.`);
    const members = new Set(signers.filter((signer) => committee.signers.includes(signer)));
    judge(
      name,
      members.size === signers.length && members.size >= committee.threshold,
      `${members.size} of ${committee.signers.length} attesters signed for output ${index}; ${committee.threshold} are needed${asOfWords(newest)}.`,
      `${members.size} members of the oracle's committee signed for output ${index}, of ${signers.length} signatures; ${committee.threshold} are needed${asOfWords(newest)}.`,
    );
  }

  /** A settled order whose attestation nobody recorded: the oracle knows. */
  async function provenAnyhow(name: string, index: number, output: StandardOrder['outputs'][number], fill: Receipt['fill'] | undefined): Promise<void> {
    if (!fill) return note(name, 'failed', `The dossier says settled and shows no delivery of output ${index} that could have been attested.`);
    if (!origin) return unasked(name, domain.chainId);
    const { remoteChainId, application, payloadHash } = fillAttestation({ solver: addressToBytes32(fill.solver as Address), orderId: id, timestamp: fill.timestamp, output });
    judge(name, await origin.views.isProven(order.inputOracle, remoteChainId, output.oracle, application, payloadHash), `The oracle holds output ${index} for proven; the dossier has no receipt of that.`, `The oracle does not hold output ${index} for proven.`);
  }

  async function ended(event: 'Finalised' | 'Refunded', name: string, claimed: boolean): Promise<void> {
    const receipt = proofs.receipts.find((one) => one.event === event);
    if (!receipt) {
      if (claimed) note(name, 'failed', `The dossier says ${trade.settlementStatus} and shows no receipt for it.`);
      return;
    }
    if (receipt.chainId !== domain.chainId || receipt.contract !== domain.escrow) return note(name, 'failed', 'The receipt is from another chain or contract than the signed escrow.');
    const tx = await standing(name, receipt);
    if (!tx) return;
    const kind = event === 'Finalised' ? 'finalised' : 'refunded';
    judge(name, tx.events(domain.escrow).some((found) => found.kind === kind && found.orderId === id), event === 'Finalised' ? `The escrow released the input in block ${tx.blockNumber}.` : `The escrow gave the input back in block ${tx.blockNumber}.`, `The transaction did not end this order as ${kind}.`);
  }

  async function state(): Promise<void> {
    if (!origin) return unasked('order.state', domain.chainId);
    const now = await origin.views.orderStatus(id);
    const possible: Record<string, readonly string[]> = {
      settled: ['claimed'],
      refunded: ['refunded'],
      // Chains move on while a dossier is read.
      refund_pending: ['deposited', 'refunded'],
      failed: ['none'],
      awaiting_escrow: ['none', 'deposited', 'claimed', 'refunded'],
    };
    const fits = (possible[trade.settlementStatus] ?? ['deposited', 'claimed', 'refunded']).includes(now);
    const coarse = trade.status === (trade.settlementStatus === 'settled' ? 'settled' : ['refunded', 'refund_pending', 'failed'].includes(trade.settlementStatus) ? 'failed' : 'pending');
    judge('order.state', fits && coarse, `The escrow holds the order as "${now}", which is what "${trade.settlementStatus}" means.`, `The escrow holds the order as "${now}"; the dossier says "${trade.status}", "${trade.settlementStatus}".`);
  }

  function amounts(): void {
    const { input, output } = trade.route;
    const [[token, amount]] = order.inputs as [readonly [bigint, bigint]];
    const [first] = order.outputs as [StandardOrder['outputs'][number]];
    const out = order.outputs.reduce((sum, one, index) => sum + (delivered[index] ?? one.amount), 0n);
    const signedOut = order.outputs.reduce((sum, one) => sum + one.amount, 0n);
    const same =
      input.rawAmount === amount.toString() &&
      input.asset.chainId === domain.chainId &&
      input.asset.address?.toLowerCase() === inputToken(token) &&
      [out.toString(), signedOut.toString()].includes(output.rawAmount) &&
      output.asset.chainId === Number(first.chainId) &&
      output.asset.address?.toLowerCase() === addressOf(first.token);
    judge('trade.amounts', same, `The trade shown, ${amount} for ${output.rawAmount} base units, is the trade signed.`, 'The trade shown has other amounts or assets than the trade signed.');
  }

  function fees(): void {
    const shown = claim.fees;
    const due = feesOf(order);
    if (!shown || !due) return;
    const asset = assetId({ chainId: domain.chainId, token: inputToken(order.inputs[0]?.[0] ?? 0n) });
    const same = (fee: typeof shown.protocolFee, amount: bigint) => !fee || fee.amount === null || fee.amount === undefined || (fee.amount === amount.toString() && (amount === 0n || fee.asset === asset));
    judge('trade.fees', same(shown.protocolFee, due.protocol) && same(shown.relayerTip, due.relayer), `Out of the input go ${due.protocol} to the platform and ${due.relayer} to the relayer, as signed.`, `By the signed terms ${due.protocol} go to the platform and ${due.relayer} to the relayer; the dossier says otherwise.`);
  }

  /** Gas and blocks of every transaction that the dossier names beside its proofs. */
  async function stages(): Promise<void> {
    const proven: Record<string, readonly string[]> = {
      fill: proofs.receipts.filter(({ event }) => event === 'OutputFilled').map(({ txHash }) => txHash),
      proof: proofs.attestations.map(({ txHash }) => txHash),
      finalise: proofs.receipts.filter(({ event }) => event === 'Finalised').map(({ txHash }) => txHash),
    };
    if (opened) proven['submit'] = [opened.txHash];
    for (const [stage, shown] of Object.entries(claim.settlement.stages)) {
      if (!shown?.txHash) continue;
      const name = `trade.stage.${stage}`;
      const wanted = proven[stage];
      if (wanted && wanted.length > 0 && !wanted.includes(shown.txHash)) {
        note(name, 'failed', `The stage "${stage}" names transaction ${shown.txHash}, and the proofs name another.`);
        continue;
      }
      const witness = shown.chainId == null ? undefined : witnesses.get(shown.chainId);
      if (!witness) {
        unasked(name, shown.chainId ?? 0);
        continue;
      }
      const key = `${shown.chainId} ${shown.txHash}`;
      if (!seen.has(key)) seen.set(key, await witness.transaction(shown.txHash as Hex));
      const tx = seen.get(key);
      const sent = trade.status === 'pending' && !tx;
      const same = tx !== undefined && (shown.blockNumber == null || String(shown.blockNumber) === tx.blockNumber.toString()) && (shown.gasUsed == null || String(shown.gasUsed) === tx.gasUsed.toString());
      if (sent) note(name, 'unchecked', `The transaction of stage "${stage}" is not in a block yet.`);
      else judge(name, same, `The transaction of stage "${stage}" is on chain ${shown.chainId}, with the block and gas shown.`, `The transaction of stage "${stage}" has another block or other gas than shown, or is not there.`);
    }
  }

  function unasked(name: string, chainId: number): void {
    note(name, 'unchecked', `No node was named for chain ${chainId}: add --rpc ${chainId}=URL.`);
  }
}

const asOfWords = (newest: boolean): string => (newest ? ', as of the newest block' : ' at that block');

/** A word that holds no address matches none. */
const addressOf = (word: Hex): Address => (word.startsWith(`0x${'0'.repeat(24)}`) ? bytes32ToAddress(word) : word);

interface Signed {
  order: StandardOrder;
  domain: { chainId: number; escrow: Address };
  /** The envelope is the one that these terms make, character for character. */
  exact: boolean;
}

function readSigned({ intent }: Claim): Signed | undefined {
  const message = zOrderMessage.safeParse(intent.typedData['message']);
  const shown = intent.typedData['domain'] as { chainId?: unknown; verifyingContract?: unknown } | undefined;
  if (!message.success || typeof shown?.chainId !== 'number' || typeof shown.verifyingContract !== 'string') return undefined;
  const order = orderFromMessage(message.data);
  const domain = { chainId: shown.chainId, escrow: shown.verifyingContract.toLowerCase() as Address };
  return { order, domain, exact: canonicalJson(orderEnvelope(domain, order)) === canonicalJson(intent.typedData) && order.originChainId === BigInt(domain.chainId) };
}

/** Who signed for a payload in a direct call of the oracle; undefined when it was called from elsewhere. */
function attestersIn({ to, input }: Seen, oracle: Address, attestation: ReturnType<typeof fillAttestation>, chainId: number): Address[] | undefined {
  if (to !== oracle) return undefined;
  try {
    const { functionName, args } = decodeFunctionData({ abi: attestationOracleAbi, data: input });
    if (functionName !== 'submit') return undefined;
    const [, , payloads, signatures] = args as unknown as [bigint, Hex, readonly Hex[], readonly Hex[]];
    const index = payloads.indexOf(attestation.payloadHash);
    const each = signatures.length / payloads.length;
    const digest = attestationDigest({ chainId, oracle }, attestation);
    return index === -1 ? [] : signatures.slice(index * each, (index + 1) * each).flatMap((signature) => recovery.recover(digest, signature) ?? []);
  } catch {
    return undefined;
  }
}
