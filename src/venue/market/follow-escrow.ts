/** Follows the events of one escrow, and reads again the balances that they changed. */

import { nonceGroupOf } from '../../domain/order.ts';
import { type Address, type Bytes32, bytes32ToAddress } from '../../domain/hex.ts';
import type { Block, EscrowEvent } from '../../ports/chain.ts';
import {
  dropUnused,
  type EscrowLedger,
  type LiquidityDeps,
  type LiquidityState,
  readAccount,
  readHolding,
} from './escrow-ledger.ts';

const FULL_ROUND_BLOCKS = 30;
const MAX_EVENT_BLOCKS = 500n;

/** An account can allow any number on chain; each is asked about again in a full round. */
const MAX_OPERATORS = 16;

export async function follow(
  deps: LiquidityDeps,
  state: LiquidityState,
  ledger: EscrowLedger,
  head: Block,
): Promise<void> {
  if (ledger.busy) return;
  ledger.busy = true;
  try {
    const dirty = new Map<Address, Set<Address> | null>();
    const from = ledger.read === undefined ? head.number : ledger.read + 1n;
    const gap = head.number - from > MAX_EVENT_BLOCKS;
    if (!gap && from <= head.number)
      for (const event of await ledger.port.events(from, head.number))
        touched(deps, state, ledger, event, dirty);
    const full = gap || ++ledger.blocksSinceFull >= FULL_ROUND_BLOCKS;
    if (full) {
      ledger.blocksSinceFull = 0;
      for (const [account, followed] of ledger.accounts) dropUnused(deps, ledger, account, followed);
      for (const account of ledger.accounts.keys()) dirty.set(account, null);
      for (const [orderId, group] of state.groups)
        if (!deps.openQuotes.isPromised(group)) state.groups.delete(orderId);
      await refreshOperators(state, ledger);
    }
    ledger.read = head.number;
    await Promise.all(
      [...dirty].map(([account, tokens]) =>
        tokens === null
          ? readAccount(state, ledger, account)
          : Promise.all([...tokens].map((token) => readHolding(state, ledger, account, token))),
      ),
    );
    for (const group of ledger.ended) deps.openQuotes.settle(group);
    ledger.ended.clear();
  } catch (error) {
    // The next block reads everything again.
    ledger.blocksSinceFull = FULL_ROUND_BLOCKS;
    deps.log.warn({ chain: ledger.port.chain.slug, error }, 'ledger balances could not be read');
  } finally {
    ledger.busy = false;
  }
  const now = ledger.port.head();
  if (
    now &&
    ledger.read !== undefined &&
    now.number > ledger.read &&
    ledger.blocksSinceFull !== FULL_ROUND_BLOCKS
  )
    await follow(deps, state, ledger, now);
}

/** Marks in `dirty` what an event changed. null: all tokens of the account. */
function touched(
  deps: LiquidityDeps,
  state: LiquidityState,
  ledger: EscrowLedger,
  event: EscrowEvent,
  dirty: Map<Address, Set<Address> | null>,
): void {
  const mark = (account: Address, token: Address | null) => {
    if (!ledger.accounts.has(account)) return;
    const tokens = dirty.get(account);
    if (token === null || tokens === null) dirty.set(account, null);
    else dirty.set(account, (tokens ?? new Set<Address>()).add(token));
  };
  switch (event.kind) {
    case 'ledger':
      return mark(event.account, event.token);
    case 'filled':
      // On one chain the LP's share of the input arrived in the same transaction.
      if (event.solver.startsWith('0x000000000000000000000000')) mark(bytes32ToAddress(event.solver), null);
      return release(deps, state, ledger, event.orderId);
    case 'open': {
      const { order } = event;
      const group = nonceGroupOf(order.originChainId, order.user, order.nonce);
      // On one chain opening settles the order. Across chains the promise remains until the fill.
      if (order.outputs.every((output) => output.chainId === order.originChainId)) end(deps, ledger, group);
      else if (deps.openQuotes.isPromised(group)) state.groups.set(event.orderId, group);
      return;
    }
    case 'finalised':
      for (const account of ledger.accounts.keys()) mark(account, null);
      return release(deps, state, ledger, event.orderId);
    case 'refunded':
      return release(deps, state, ledger, event.orderId);
    case 'nonce':
      return end(deps, ledger, nonceGroupOf(ledger.port.chain.id, event.user, event.nonce));
    case 'operator': {
      const operators = ledger.accounts.get(event.account)?.operators;
      if (!event.allowed) revoke(state, ledger, event.account, event.operator);
      else if (operators && operators.size < MAX_OPERATORS) operators.add(event.operator);
      return mark(event.account, null);
    }
    case 'bond':
      return mark(event.account, event.token);
  }
}

function release(deps: LiquidityDeps, state: LiquidityState, ledger: EscrowLedger, orderId: Bytes32): void {
  const group = state.groups.get(orderId);
  if (group !== undefined) end(deps, ledger, group);
  state.groups.delete(orderId);
}

/** Anybody's orders are on the chain; only groups that this venue promised are kept. */
function end(deps: LiquidityDeps, { ended }: EscrowLedger, group: string): void {
  if (deps.openQuotes.isPromised(group)) ended.add(group);
}

function revoke(
  state: LiquidityState,
  { port, accounts }: EscrowLedger,
  account: Address,
  operator: Address,
): void {
  if (!accounts.get(account)?.operators.delete(operator)) return;
  for (const listener of state.revoked) listener(port.chain.id, account, operator);
}

async function refreshOperators(state: LiquidityState, ledger: EscrowLedger): Promise<void> {
  const known = [...ledger.accounts].flatMap(([account, { operators }]) =>
    [...operators].map((operator) => ({ account, operator })),
  );
  await Promise.all(
    known.map(async ({ account, operator }) => {
      if (!(await ledger.port.isOperator(account, operator))) revoke(state, ledger, account, operator);
    }),
  );
}
