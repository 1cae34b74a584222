/** Checks on chain: input, outputs, end, and present state. */

import { decodeFunctionData } from 'viem';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import {
  type Attestation,
  attestationDigest,
  attestationListDigest,
  fillAttestation,
} from '../../domain/attestation.ts';
import { decodeContext } from '../../domain/context.ts';
import { type Address, addressToBytes32, bytes32ToAddress, type Hex } from '../../domain/hex.ts';
import { type MandateOutput, orderId, outputHash } from '../../domain/order.ts';
import type { EscrowEvent } from '../../ports/chain.ts';
import { attestationOracleAbi } from '../../settlement/abi/attestation-oracle.ts';
import { inputToken } from '../../settlement/funding.ts';
import { blockPhrase, type Case, type ClaimedReceipt } from './case.ts';
import type { TransactionEvidence } from './witness.ts';

const recovery = createRecovery();

/** A word that is no address is returned unchanged and matches no address. */
export const addressOf = (word: Hex): Address =>
  word.startsWith(`0x${'0'.repeat(24)}`) ? bytes32ToAddress(word) : word;

export async function checkOpening(c: Case): Promise<void> {
  const { trade, proofs, order, domain, id, opened, fail, judge, standing, inTokens } = c;
  if (!opened) {
    if (trade.status === 'settled' || proofs.receipts.length > 0)
      fail('order.opened', 'The dossier has no receipt for the opening.');
    return;
  }
  if (opened.chainId !== domain.chainId || opened.contract !== domain.escrow)
    return fail(
      'order.opened',
      'The opening receipt is from another chain or contract than the signed escrow.',
    );
  const tx = await standing('order.opened', opened);
  if (!tx) return;
  const event = tx.events(domain.escrow).find((found) => found.kind === 'open' && found.orderId === id);
  const same = event?.kind === 'open' && orderId(domain, event.order) === id;
  const [token, amount] = order.inputs[0] ?? [0n, 0n];
  const taken = await inTokens(amount, domain.chainId, inputToken(token));
  judge(
    'order.opened',
    same && tx.at <= order.fillDeadline,
    `The escrow took ${taken} for this order in block ${tx.blockNumber}.`,
    'The transaction did not open this order on the signed escrow in time.',
  );
}

export async function checkFill(c: Case, delivered: bigint[], index: number): Promise<void> {
  const { trade, proofs, order, id, fail, judge, standing, inTokens } = c;
  const name = `output.${index}.filled`;
  const output = order.outputs[index] as MandateOutput;
  const receipt = proofs.receipts.find(
    ({ event, fill }) => event === 'OutputFilled' && fill?.outputIndex === index,
  );
  if (!receipt?.fill) {
    if (trade.status === 'settled')
      fail(name, `The dossier says settled and has no delivery of output ${index}.`);
    return;
  }
  const { fill } = receipt;
  const settler = addressOf(output.settler);
  const key = outputHash(output);
  if (receipt.chainId !== Number(output.chainId) || receipt.contract !== settler || fill.outputHash !== key)
    return fail(
      name,
      `The receipt for output ${index} does not match the signed chain, contract and output.`,
    );
  const tx = await standing(name, receipt);
  if (!tx) return;
  const event = tx
    .events(settler)
    .find(
      (found): found is Extract<EscrowEvent, { kind: 'filled' }> =>
        found.kind === 'filled' && found.orderId === id && outputHash(found.output) === key,
    );
  const context = decodeContext(output.context);
  if (!event) return fail(name, `The transaction did not fill output ${index} of this order.`);
  const asShown =
    addressOf(event.solver) === fill.solver &&
    event.timestamp === fill.timestamp &&
    event.amount.toString() === fill.amount;
  const asSigned =
    event.amount >= output.amount &&
    event.timestamp <= order.fillDeadline &&
    event.timestamp === tx.at &&
    (!context || addressToBytes32(context.exclusiveFor) === event.solver);
  const amount = await inTokens(event.amount, Number(output.chainId), addressOf(output.token));
  judge(
    name,
    asShown && asSigned,
    `Output ${index} was filled with ${amount} by ${fill.solver} in block ${tx.blockNumber}: at least the signed amount, in time, by the committed LP.`,
    `The fill of output ${index} on chain differs from the dossier or from the signed terms.`,
  );
  delivered[index] = event.amount;
  checkTransfer(c, delivered, index, tx);
}

/** The fill event is the escrow's statement; the token's own transfer log proves the payment. */
function checkTransfer(
  { proofs, order, note, judge }: Case,
  delivered: bigint[],
  index: number,
  tx: TransactionEvidence,
): void {
  const name = `output.${index}.delivered`;
  const output = order.outputs[index] as MandateOutput;
  const [recipient, token] = [addressOf(output.recipient), addressOf(output.token)];
  if (output.recipient === output.settler)
    return note(
      name,
      'held',
      `Output ${index} was credited inside the escrow's ledger, as signed; the fill proves it.`,
    );
  const txOf = (at: number) => proofs.receipts.find(({ fill }) => fill?.outputIndex === at)?.txHash;
  // Transfers to one recipient cannot be distinguished, so their sum is compared.
  const together = order.outputs.reduce(
    (sum, other, at) =>
      other.recipient === output.recipient && other.token === output.token && txOf(at) === txOf(index)
        ? sum + (delivered[at] ?? 0n)
        : sum,
    0n,
  );
  const arrived = tx
    .transfers(token)
    .reduce((sum, { to, value }) => (to === recipient ? sum + value : sum), 0n);
  // A payment above the escrow's amount belongs to the only output.
  if (proofs.commitments.length === 0 && order.outputs.length === 1 && arrived > together)
    delivered[index] = arrived;
  judge(
    name,
    arrived >= together,
    `${recipient} received it: the token's transfer log shows ${arrived}.`,
    `The token's transfer log shows only ${arrived} for ${recipient}.`,
  );
}

export async function checkAttestation(c: Case, index: number): Promise<void> {
  const { trade, proofs, order, domain, id, origin, note, fail, judge, standing } = c;
  const name = `output.${index}.attested`;
  const output = order.outputs[index] as MandateOutput;
  const fill = proofs.receipts.find((receipt) => receipt.fill?.outputIndex === index)?.fill;
  const attestation = proofs.attestations.find(({ outputIndex }) => outputIndex === index);
  if (output.chainId === order.originChainId) {
    if (attestation)
      fail(
        name,
        `Output ${index} was delivered on the origin itself, which needs no attestation, but one is shown.`,
      );
    return;
  }
  if (!attestation || !fill) {
    if (trade.status === 'settled') await checkProof(c, name, index, output, fill);
    return;
  }
  const expected = fillAttestation({
    solver: addressToBytes32(fill.solver as Address),
    orderId: id,
    timestamp: fill.timestamp,
    output,
  });
  const bound =
    attestation.payloadHash === expected.payloadHash &&
    attestation.application === expected.application &&
    BigInt(attestation.remoteChainId) === expected.remoteChainId &&
    attestation.contract === order.inputOracle &&
    attestation.chainId === domain.chainId;
  if (!bound)
    return fail(
      name,
      `The attestation shown for output ${index} is for another fill or another oracle than was signed.`,
    );
  const tx = await standing(name, attestation);
  if (!tx || !origin) return;
  const proven = provenIn(tx, order.inputOracle, expected);
  if (!proven) return fail(name, `The transaction did not prove output ${index} to the oracle.`);
  const { value: committee, newest } = await origin.asOf(tx.blockNumber, (at) =>
    origin.views.committee(order.inputOracle, at),
  );
  const signers = attestersIn(tx, order.inputOracle, expected, domain.chainId);
  if (!signers)
    return note(
      name,
      'held',
      `The oracle accepted output ${index} as proven in block ${tx.blockNumber}; it was called through another contract, so the signatures are not visible.`,
    );
  const members = new Set(signers.filter((signer) => committee.signers.includes(signer)));
  judge(
    name,
    members.size === signers.length && members.size >= committee.threshold,
    `${members.size} of ${committee.signers.length} attesters signed for output ${index}; ${committee.threshold} are needed${blockPhrase(newest)}.`,
    `${members.size} members of the oracle's committee signed for output ${index}, of ${signers.length} signatures; ${committee.threshold} are needed${blockPhrase(newest)}.`,
  );
}

async function checkProof(
  c: Case,
  name: string,
  index: number,
  output: MandateOutput,
  fill: ClaimedReceipt['fill'] | undefined,
): Promise<void> {
  const { order, domain, id, origin, fail, judge, unasked } = c;
  if (!fill)
    return fail(
      name,
      `The dossier says settled and shows no delivery of output ${index} that could be attested.`,
    );
  if (!origin) return unasked(name, domain.chainId);
  const attestation = fillAttestation({
    solver: addressToBytes32(fill.solver as Address),
    orderId: id,
    timestamp: fill.timestamp,
    output,
  });
  const { remoteChainId, application, payloadHash } = attestation;
  const finalised = c.proofs.receipts.find(({ event }) => event === 'Finalised');
  const tx = finalised && (await c.transaction(domain.chainId, finalised.txHash));
  judge(
    name,
    // What was proven for the transaction that claimed the order, the oracle does not remember.
    (tx !== undefined && provenIn(tx, order.inputOracle, attestation)) ||
      (await origin.views.isProven(
        order.inputOracle,
        remoteChainId,
        output.oracle,
        application,
        payloadHash,
      )),
    `The oracle has output ${index} as proven; the dossier has no receipt for it.`,
    `The oracle does not have output ${index} as proven.`,
  );
}

const provenIn = (
  tx: TransactionEvidence,
  oracle: Address,
  { payloadHash, application, remoteChainId }: Attestation,
): boolean =>
  tx
    .events(oracle)
    .some(
      (event) =>
        event.kind === 'proven' &&
        event.payloadHash === payloadHash &&
        event.application === application &&
        event.remoteChainId === remoteChainId,
    );

export async function checkEnding(
  c: Case,
  event: 'Finalised' | 'Refunded',
  name: string,
  claimed: boolean,
): Promise<void> {
  const { trade, proofs, domain, id, fail, judge, standing } = c;
  const receipt = proofs.receipts.find((one) => one.event === event);
  if (!receipt) {
    if (claimed) fail(name, `The dossier says ${trade.settlementStatus} and has no receipt for it.`);
    return;
  }
  if (receipt.chainId !== domain.chainId || receipt.contract !== domain.escrow)
    return fail(name, 'The receipt is from another chain or contract than the signed escrow.');
  const tx = await standing(name, receipt);
  if (!tx) return;
  const kind = event === 'Finalised' ? 'finalised' : 'refunded';
  judge(
    name,
    tx.events(domain.escrow).some((found) => found.kind === kind && found.orderId === id),
    event === 'Finalised'
      ? `The escrow released the input in block ${tx.blockNumber}.`
      : `The escrow refunded the input in block ${tx.blockNumber}.`,
    `The transaction did not end this order as ${kind}.`,
  );
}

export async function checkState(c: Case): Promise<void> {
  const { trade, domain, id, origin, judge, unasked } = c;
  if (!origin) return unasked('order.state', domain.chainId);
  const now = await origin.views.orderStatus(id);
  const possible: Record<string, readonly string[]> = {
    settled: ['claimed'],
    refunded: ['refunded'],
    // The chain may move on while the dossier is read.
    refund_pending: ['deposited', 'refunded'],
    failed: ['none'],
    awaiting_escrow: ['none', 'deposited', 'claimed', 'refunded'],
  };
  const fits = (possible[trade.settlementStatus] ?? ['deposited', 'claimed', 'refunded']).includes(now);
  const coarse =
    trade.status ===
    (trade.settlementStatus === 'settled'
      ? 'settled'
      : ['refunded', 'refund_pending', 'failed'].includes(trade.settlementStatus)
        ? 'failed'
        : 'pending');
  judge(
    'order.state',
    fits && coarse,
    `The order is "${now}" in the escrow, which matches "${trade.settlementStatus}".`,
    `The order is "${now}" in the escrow; the dossier says "${trade.status}", "${trade.settlementStatus}".`,
  );
}

/** Decodes the attesters from a direct call of the oracle; undefined for a call through another contract. */
function attestersIn(
  { to, input }: TransactionEvidence,
  oracle: Address,
  attestation: Attestation,
  chainId: number,
): Address[] | undefined {
  if (to !== oracle) return undefined;
  try {
    const { functionName, args } = decodeFunctionData({ abi: attestationOracleAbi, data: input });
    if (functionName !== 'submit' && functionName !== 'submitAndFinalise') return undefined;
    const [, , payloads, signatures] = args as unknown as [bigint, Hex, readonly Hex[], readonly Hex[]];
    const index = payloads.indexOf(attestation.payloadHash);
    const each = signatures.length / payloads.length;
    const place = { chainId, oracle };
    if (index === -1) return [];
    // One set of signatures is over the whole list.
    const listed = functionName === 'submitAndFinalise' && payloads.length > 1;
    const digest = listed
      ? attestationListDigest(place, { ...attestation, payloadHashes: payloads })
      : attestationDigest(place, attestation);
    return (listed ? signatures : signatures.slice(index * each, (index + 1) * each)).flatMap(
      (signature) => recovery.recover(digest, signature) ?? [],
    );
  } catch {
    return undefined;
  }
}
