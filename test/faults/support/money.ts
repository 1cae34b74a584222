/**
 * Conservation of every token: all of it has an owner, the escrow holds what it owes, and each trader's
 * balance follows from its trades.
 */

import { decodeContext, FULL_PORTION_BPS } from '../../../src/domain/context.ts';
import type { Address, Bytes32 } from '../../../src/domain/hex.ts';
import { outputHash, type StandardOrder } from '../../../src/domain/order.ts';
import type { EscrowStatus } from '../../../src/ports/chain.ts';
import type { QuoteCandidate } from '../../../src/protocol/api/candidate.ts';
import type { ChainTruth } from './truth.ts';

/** An order as the venue stored it, its state on its origin, and what its taker was shown. */
export interface OrderSeen {
  orderId: Bytes32;
  order: StandardOrder;
  onChain: EscrowStatus;
  shown: QuoteCandidate;
}

interface Traders {
  /** Their balances, in wallets and in the escrow's ledger, change by their orders only. */
  takers: readonly Address[];
  /** Their ledger balances change by orders, and by the test. */
  lps: readonly Address[];
}

type Holdings = Map<string, bigint>;

export async function moneyProblems(
  truths: readonly ChainTruth[],
  orders: readonly OrderSeen[],
  { takers, lps }: Traders,
): Promise<string[]> {
  const expected = movements(truths, orders);
  const problems: string[] = [];
  for (const truth of truths) {
    const { chain, feeRecipient } = truth;
    const due = expected.get(chain.id) as Movements;
    for (const { address: token, symbol } of chain.tokens) {
      const place = `${symbol} on ${chain.slug}`;
      const sum = async (
        owners: readonly Address[],
        read: (token: Address, owner: Address) => Promise<bigint>,
      ) =>
        (await Promise.all(owners.map((owner) => read(token, owner)))).reduce(
          (total, amount) => total + amount,
          0n,
        );
      const [held, supply, owed, kept] = await Promise.all([
        sum(truth.holders(token), truth.wallet),
        truth.supply(token),
        sum(truth.accounts, truth.ledger),
        truth.wallet(token, chain.escrow),
      ]);
      const inside = due.escrowed.get(token) ?? 0n;
      if (held !== supply)
        problems.push(`tokens: ${place}: ${supply} exist and ${held} are held (${held - supply})`);
      if (kept !== owed + inside)
        problems.push(
          `tokens: ${place}: the escrow holds ${kept}; it owes ${owed} to its ledger and keeps ${inside} of open orders (${kept - owed - inside})`,
        );
      const compare = (who: string, found: bigint, should: bigint) => {
        if (found !== should)
          problems.push(
            `tokens: ${place}: ${who} has ${found} and by its trades should have ${should} (${found - should})`,
          );
      };
      for (const taker of takers)
        compare(
          `taker ${taker}`,
          (await truth.wallet(token, taker)) + (await truth.ledger(token, taker)),
          truth.minted(token, taker) + (due.wallets.get(`${token} ${taker}`) ?? 0n),
        );
      for (const lp of [...new Set([...lps, feeRecipient])])
        compare(
          `the ledger account ${lp}${lp === feeRecipient ? ' of the fees' : ' of an LP'}`,
          await truth.ledger(token, lp),
          truth.deposited(token, lp) + (due.ledgers.get(`${token} ${lp}`) ?? 0n),
        );
    }
  }
  return problems;
}

interface Movements {
  wallets: Holdings;
  ledgers: Holdings;
  /** By token: inputs of orders that are neither paid out nor refunded. */
  escrowed: Holdings;
}

/** What all orders together moved, by the chain's state of each and the terms that were shown and signed. */
function movements(
  truths: readonly ChainTruth[],
  orders: readonly OrderSeen[],
): ReadonlyMap<number, Movements> {
  const all = new Map(
    truths.map((truth) => [
      truth.chain.id,
      {
        wallets: new Map<string, bigint>(),
        ledgers: new Map<string, bigint>(),
        escrowed: new Map<string, bigint>(),
      },
    ]),
  );
  const filled = new Set(
    truths.flatMap(({ fills }) => fills.map((fill) => `${fill.orderId} ${fill.outputHash}`)),
  );
  const feeRecipients = new Map(truths.map(({ chain, feeRecipient }) => [chain.id, feeRecipient]));
  for (const { orderId, order, onChain, shown } of orders) {
    const originId = Number(order.originChainId);
    const origin = all.get(originId);
    if (!origin) continue;
    if (onChain === 'deposited' || onChain === 'claimed') {
      for (const { asset, amount } of shown.preview.inputs)
        add(origin.wallets, `${tokenOf(asset)} ${order.user.toLowerCase()}`, -BigInt(amount));
    }
    if (onChain === 'deposited')
      for (const [token, amount] of order.inputs) add(origin.escrowed, addressOf(token), amount);
    for (const [index, output] of order.outputs.entries()) {
      const dest = all.get(Number(output.chainId));
      if (!dest || !filled.has(`${orderId} ${outputHash(output)}`)) continue;
      const token = wordAddress(output.token);
      const receiver = wordAddress(output.recipient);
      // One slice each of a split; otherwise what the taker was shown.
      add(
        dest.wallets,
        `${token} ${receiver}`,
        order.outputs.length === 1 ? BigInt(shown.preview.outputs[0]?.amount ?? 0) : output.amount,
      );
      const lp = decodeContext(output.context)?.exclusiveFor;
      if (lp) add(dest.ledgers, `${token} ${lp.toLowerCase()}`, -output.amount);
      if (onChain === 'claimed') earn(origin, order, index, feeRecipients.get(originId) ?? '0x');
    }
  }
  return all;
}

/**
 * What the LP of one output gets of every input, and what the fee recipient gets. Rounded down; the last
 * slice takes the rest.
 */
function earn({ ledgers }: Movements, order: StandardOrder, index: number, feeRecipient: Address): void {
  const contexts = order.outputs.map(({ context }) => decodeContext(context));
  const own = contexts[index];
  if (!own) return;
  for (const [at, [token, amount]] of order.inputs.entries()) {
    const part = (bps: number) => (amount * BigInt(bps)) / BigInt(FULL_PORTION_BPS);
    const last = index === order.outputs.length - 1;
    const slice = last
      ? amount - contexts.slice(0, -1).reduce((sum, context) => sum + part(context?.portionBps ?? 0), 0n)
      : part(own.portionBps);
    const fee = (slice * BigInt(own.feeBps)) / 10_000n + (at === 0 ? own.relayFee : 0n);
    add(ledgers, `${addressOf(token)} ${own.exclusiveFor.toLowerCase()}`, slice - fee);
    add(ledgers, `${addressOf(token)} ${feeRecipient}`, fee);
  }
}

const add = (map: Holdings, key: string, amount: bigint) => map.set(key, (map.get(key) ?? 0n) + amount);
const addressOf = (token: bigint): Address => `0x${token.toString(16).padStart(40, '0')}`;
const wordAddress = (word: string): Address => `0x${word.slice(26).toLowerCase()}`;
const tokenOf = (asset: string): string => (asset.split(':').at(-1) ?? '').toLowerCase();
