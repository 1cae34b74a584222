/** Checks a claim on an LP's bond from chains alone: what was promised, that it failed, and what was paid. */

import { decodeFunctionData, decodeFunctionResult, encodeFunctionData } from 'viem';
import { bondNeededFor, type BondClaim } from '../../domain/bond.ts';
import { formatTokens } from '../../domain/amount.ts';
import { commitmentDigest, signedPart } from '../../domain/commitment.ts';
import { decodeContext } from '../../domain/context.ts';
import { readDelivery } from '../../domain/delivery.ts';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { type Address, bytes32ToAddress, type Bytes32, type Hex } from '../../domain/hex.ts';
import { orderDigest, orderId, outputHash, type StandardOrder } from '../../domain/order.ts';
import { escrowAbi } from '../../settlement/abi/escrow.ts';
import { quoteBondAbi } from '../../settlement/abi/quote-bond.ts';
import type { EscrowEvent } from '../../settlement/log.ts';
import { limitAt } from '../../settlement/spending-limit.ts';
import type { VerifyCheck } from './case.ts';
import type { TransactionEvidence, Witness } from './witness.ts';

type Faded = Extract<EscrowEvent, { kind: 'bond' }> & { claim: BondClaim };

/** Holds what the transaction showed to the bond contract. */
interface Shown {
  order: StandardOrder;
  signature: Hex;
  quoteId: Bytes32;
  lp: Address;
  deadline: number;
  commitment: Hex;
  acrossChains: boolean;
}

interface FadeInput {
  txHash: Hex;
  chainId: number;
  bond: Address;
  /** Nodes by chain: of the order's own chain, and of the chains of its outputs. */
  witnesses: ReadonlyMap<number, Witness>;
  escrow: Address;
}

const recovery = createRecovery();

/** A claim that was paid, with what its transaction shows. */
interface FadeCase extends FadeInput {
  checks: VerifyCheck[];
  origin: Witness;
  tx: TransactionEvidence;
  /** One entry for each token that is paid: across chains an order may have several inputs. */
  all: readonly Faded[];
  lp: Address;
  token: Address;
  /** Prints an amount of the token. */
  whole(amount: bigint): string;
}

export async function verifyFade(input: FadeInput): Promise<VerifyCheck[]> {
  const { txHash, chainId, bond, witnesses } = input;
  const checks: VerifyCheck[] = [];
  const origin = witnesses.get(chainId) as Witness;
  const tx = await origin.transaction(txHash);
  const all = tx?.succeeded ? tx.events(bond).filter(isFaded) : [];
  const [faded] = all;
  judge(
    checks,
    'claim.paid',
    faded !== undefined,
    `The bond contract ${bond} paid a claim in this transaction, in block ${tx?.blockNumber}.`,
    `In transaction ${txHash} of chain ${chainId} the contract ${bond} paid no claim.`,
  );
  if (tx === undefined || faded === undefined) return checks;
  const { account: lp, token } = faded;
  const unit = await origin.unit(token);
  const whole = (amount: bigint) => formatTokens(amount, unit);
  const fade: FadeCase = { ...input, checks, origin, tx, all, lp, token, whole };

  const shown = tx.to === bond ? shownIn(tx.input) : undefined;
  if (shown === undefined) {
    const says = 'The claim was made through another contract, so its order is not in the transaction.';
    checks.push({ id: 'order.id', result: 'unchecked', says });
  } else await checkShown(fade, shown, faded);
  for (const [index, each] of all.entries())
    await checkPayment(fade, index === 0 ? 'taker.paid' : `taker.paid.${index}`, each);
  return checks;
}

function judge(checks: VerifyCheck[], id: string, held: boolean, yes: string, no: string): void {
  checks.push({ id, result: held ? 'held' : 'failed', says: held ? yes : no });
}

async function checkShown(fade: FadeCase, made: Shown, { claim: said }: Faded): Promise<void> {
  const { checks, chainId, escrow, tx, all, lp, whole } = fade;
  const { order } = made;
  const domain = { chainId, escrow };
  const id = orderId(domain, order);
  const promisedIn = (paidIn: Address) =>
    made.acrossChains
      ? order.inputs.find(([input]) => input === BigInt(paidIn))?.[1]
      : promisedOf(order, made.lp, paidIn);
  const alike = all.every(
    (each) =>
      each.account === made.lp &&
      each.claim.orderId === id &&
      each.claim.user === order.user &&
      each.claim.promised === promisedIn(each.token),
  );
  judge(
    checks,
    'order.id',
    alike,
    `The order is ${id}, recomputed from its own terms: ${lp} promised ${whole(said.promised)}.`,
    `The terms in the transaction make order ${id}, not ${said.orderId} as the event says.`,
  );
  const before = tx.blockNumber - 1n;
  if (!made.acrossChains) await checkTaker(fade, order, made.signature, before);
  await checkCommitment(fade, made, id, before);
  if (made.acrossChains) await checkUnfilled(fade, made, id);
  else await checkShort(fade, made, said, before, tx.at);
}

/** Sums the outputs that name this LP, in one token. */
const promisedOf = ({ outputs }: StandardOrder, lp: Address, token: Address): bigint =>
  outputs.reduce(
    (sum, output) =>
      decodeContext(output.context)?.exclusiveFor === lp && bytes32ToAddress(output.token) === token
        ? sum + output.amount
        : sum,
    0n,
  );

async function checkTaker(
  { checks, chainId, escrow, origin, tx }: FadeCase,
  order: StandardOrder,
  signature: Hex,
  before: bigint,
): Promise<void> {
  const digest = orderDigest({ chainId, escrow }, order);
  const signed =
    recovery.recover(digest, signature) === order.user ||
    tx.from === order.user ||
    (await origin.asOf(before, (at) => origin.views.isValidSignature(order.user, digest, signature, at)))
      .value;
  judge(
    checks,
    'taker.signature',
    signed,
    `${order.user} accepted exactly these terms.`,
    `${order.user} did not accept these terms.`,
  );
}

async function checkCommitment(fade: FadeCase, made: Shown, id: Bytes32, before: bigint): Promise<void> {
  const { checks, chainId, escrow, origin, lp } = fade;
  const domain = { chainId, escrow };
  const commitment = { orderId: id, quoteId: made.quoteId, lp, deadline: made.deadline };
  const digest = commitmentDigest(domain, commitment);
  const signed = signedPart(domain, commitment, made.commitment);
  const signer = recovery.recover(signed.digest, signed.signature);
  const { value, newest } = await origin.asOf(before, async (at) => {
    if (signer === lp) return true;
    if (signer !== undefined && (await origin.views.isOperator(lp, signer, at))) return true;
    if (await origin.views.isValidSignature(lp, digest, made.commitment, at)) return true;
    return signer !== undefined && (await escrowSays(fade, 'revokedAt', [lp, signer], at)) > 0n;
  });
  judge(
    checks,
    'lp.commitment',
    value && made.deadline === made.order.fillDeadline,
    `${signer ?? lp} committed ${lp} to this order until ${made.deadline}${newest ? ', as of the newest block' : ''}.`,
    `Nobody who could sign for ${lp} committed it to this order.`,
  );
}

/**
 * Reads the state of the block before: the claim itself changes none of this. One token that the LP could not
 * deliver fails all that it promised of the order.
 */
async function checkShort(
  fade: FadeCase,
  made: Shown,
  { reason, promised }: BondClaim,
  before: bigint,
  time: number,
): Promise<void> {
  const { checks, chainId, escrow, origin, lp, whole } = fade;
  const domain = { chainId, escrow };
  const signed = signedPart(domain, { orderId: orderId(domain, made.order), ...made }, made.commitment);
  const signer = recovery.recover(signed.digest, signed.signature) ?? lp;
  const tokens = new Set(
    made.order.outputs
      .filter(({ context }) => decodeContext(context)?.exclusiveFor === lp)
      .map(({ token }) => bytes32ToAddress(token)),
  );
  const { value, newest } = await origin.asOf(before, async (at) => {
    if (reason === 'revoked') {
      const allowed = await origin.views.isOperator(lp, signer, at);
      return { failed: !allowed, why: `its operator ${signer} was revoked` };
    }
    const all = await Promise.all(
      [...tokens].map(async (token) => {
        const inTokens = async (amount: bigint) => formatTokens(amount, await origin.unit(token));
        if (reason === 'balance') {
          const balance = await origin.views.ledgerBalance(lp, token, at);
          const failed = !delivers(made.order, lp, token, balance);
          return { failed, why: `its ledger balance was ${await inTokens(balance)}` };
        }
        const limit = await origin.views.operatorLimit(lp, signer, token, at);
        const left = limit === undefined ? undefined : limitAt(limit, time).left;
        return {
          failed: left !== undefined && left < promisedOf(made.order, lp, token),
          why: `its operator could spend ${await inTokens(left ?? 0n)} more`,
        };
      }),
    );
    return all.find(({ failed }) => failed) ?? { failed: false, why: '' };
  });
  judge(
    checks,
    'lp.failed',
    value.failed && time <= made.deadline,
    `${lp} could not pay ${whole(promised)} before the deadline: ${value.why}${newest ? ', as of the newest block' : ' in the block before'}.`,
    `In the block before, ${lp} could have paid ${whole(promised)}, or the deadline had passed.`,
  );
}

/**
 * Returns whether this balance pays for all outputs of the LP in this token. They are delivered in their
 * order, and what another delivers into the LP's ledger balance pays for later ones.
 */
function delivers({ outputs }: StandardOrder, lp: Address, token: Address, balance: bigint): boolean {
  let left = balance;
  for (const output of outputs) {
    if (bytes32ToAddress(output.token) !== token) continue;
    if (decodeContext(output.context)?.exclusiveFor === lp) left -= output.amount;
    if (left < 0n) return false;
    const delivery = readDelivery(output);
    if (delivery?.settlement !== 'wallet' && delivery?.account === lp) left += output.amount;
  }
  return true;
}

async function checkUnfilled(fade: FadeCase, { order }: Shown, id: Bytes32): Promise<void> {
  const { checks, origin, witnesses } = fade;
  const status = await origin.views.orderStatus(id);
  const openedAt = Number(await escrowSays(fade, 'openedAt', [id], undefined));
  judge(
    checks,
    'order.refunded',
    status === 'refunded' && openedAt > 0,
    `The order was opened at ${openedAt}, ${order.fillDeadline - openedAt} s before its fill deadline, and refunded.`,
    `The escrow does not show that order ${id} was opened and refunded.`,
  );
  const [output] = order.outputs;
  const there = output && witnesses.get(Number(output.chainId));
  if (output === undefined || there === undefined) {
    const says = `No node was given for chain ${output?.chainId}: add --rpc ${output?.chainId}=URL.`;
    return void checks.push({ id: 'lp.failed', result: 'unchecked', says });
  }
  const settler = bytes32ToAddress(output.settler);
  const data = encodeFunctionData({
    abi: escrowAbi,
    functionName: 'fillRecord',
    args: [id, outputHash(output)],
  });
  const record = await there.views.read(settler, data);
  judge(
    checks,
    'lp.failed',
    record !== undefined && BigInt(record) === 0n,
    `The escrow ${settler} on chain ${output.chainId} has no record of a fill.`,
    `The escrow ${settler} on chain ${output.chainId} has a record of a fill, or does not answer.`,
  );
}

async function checkPayment(fade: FadeCase, id: string, paidIn: Faded): Promise<void> {
  const { checks, bond, origin, tx } = fade;
  const { user, promised, paid, forfeited } = paidIn.claim;
  const amount = formatTokens(paid, await origin.unit(paidIn.token));
  const isShare =
    paid + forfeited <= bondNeededFor(promised, await bondSays(fade, 'SHARE_BPS')) && paid - forfeited <= 1n;
  const sent = tx
    .transfers(paidIn.token)
    .some(({ from, to, value }) => from === bond && to === user && value === paid);
  const kept = !sent && isShare && (await keptFor(fade, user, paidIn.token, paid, tx.blockNumber));
  if (kept === 'unknown') {
    const says = `The token shows no payment of ${amount} to ${user}. Whether the bond contract keeps it, only a node with the state of block ${tx.blockNumber} can tell.`;
    return void checks.push({ id, result: 'unchecked', says });
  }
  judge(
    checks,
    id,
    isShare && (sent || kept),
    kept
      ? `The token refused a payment of ${amount} to ${user}. The bond contract keeps it there (takeOwed), and as much was forfeited.`
      : `${user} received ${amount} from the bond, and as much was forfeited.`,
    `The token shows no payment of ${amount} to ${user}, or it is not the share.`,
  );
}

/** Reads what the bond contract owes because a token refused to pay it out. */
async function keptFor(
  fade: FadeCase,
  user: Address,
  token: Address,
  paid: bigint,
  block: bigint,
): Promise<boolean | 'unknown'> {
  const owed = (at: bigint) => fade.origin.asOf(at, (known) => bondSays(fade, 'owed', [user, token], known));
  const [before, after] = await Promise.all([owed(block - 1n), owed(block)]);
  return before.newest || after.newest ? 'unknown' : after.value - before.value >= paid;
}

async function escrowSays(
  { origin, escrow }: FadeCase,
  functionName: 'revokedAt' | 'openedAt',
  args: readonly [Hex, Hex] | readonly [Hex],
  at: bigint | undefined,
): Promise<bigint> {
  const data = encodeFunctionData({ abi: escrowAbi, functionName, args } as never);
  return BigInt((await origin.views.read(escrow, data, at)) ?? '0x0');
}

async function bondSays(
  { origin, bond }: FadeCase,
  functionName: 'SHARE_BPS' | 'owed',
  args: readonly Address[] = [],
  at?: bigint,
): Promise<bigint> {
  const data = encodeFunctionData({ abi: quoteBondAbi, functionName, args } as never);
  return BigInt((await origin.views.read(bond, data, at)) ?? '0x0');
}

/** The escrow that the bond contract answers for; undefined when there is no such contract. */
export async function escrowOfBond(witness: Witness, bond: Address): Promise<Address | undefined> {
  const data = encodeFunctionData({ abi: quoteBondAbi, functionName: 'ESCROW' });
  const answer = await witness.views.read(bond, data).catch(() => undefined);
  if (answer === undefined || answer.length !== 66) return undefined;
  return decodeFunctionResult({
    abi: quoteBondAbi,
    functionName: 'ESCROW',
    data: answer,
  }).toLowerCase() as Address;
}

const isFaded = (event: EscrowEvent): event is Faded => event.kind === 'bond' && event.claim !== undefined;

function shownIn(input: Hex): Shown | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi: quoteBondAbi, data: input });
    if (functionName !== 'claim' && functionName !== 'claimUnfilled') return undefined;
    const acrossChains = functionName === 'claimUnfilled';
    const [order] = args;
    const commitment = acrossChains ? args[1] : args[2];
    return {
      order: lowered(order),
      signature: acrossChains ? '0x' : args[1],
      quoteId: commitment.quoteId,
      lp: commitment.lp.toLowerCase() as Address,
      deadline: commitment.deadline,
      commitment: commitment.signature,
      acrossChains,
    };
  } catch {
    return undefined;
  }
}

/** viem gives addresses with a checksum. */
const lowered = (order: {
  user: Hex;
  nonce: bigint;
  originChainId: bigint;
  expires: number;
  fillDeadline: number;
  inputOracle: Hex;
  inputs: readonly (readonly [bigint, bigint])[];
  outputs: StandardOrder['outputs'];
}): StandardOrder => ({
  ...order,
  user: order.user.toLowerCase() as Address,
  inputOracle: order.inputOracle.toLowerCase() as Address,
});
