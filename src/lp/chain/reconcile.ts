/**
 * Compares the inventory ledger with the chain at a final block. On a difference the follower reads again
 * from the last agreeing block. If it remains, the token is not quoted. A surplus is never credited, because
 * its owner is unknown.
 */

import type { Address } from '../../domain/hex.ts';
import { formatTokens, max } from '../../domain/amount.ts';
import { type Chain, tokenOrAddress } from '../../domain/chain.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ChainCursor } from '../../ports/stores/lp-store.ts';
import type { Follower } from './follow.ts';

export interface Reconciler {
  /** Compares the touched tokens, and periodically all tokens. Call between scans. */
  check(): Promise<void>;
  /** The last comparison found a difference, and the events are to be read again before it counts. */
  undecided(): boolean;
  /** Reserves a free amount for a transfer, or returns false and changes nothing. Idempotent per id. */
  reserve(id: string, token: Address, amount: bigint): boolean;
  /** Reserves again what an earlier process had reserved, whether or not it is free. */
  restore(id: string, token: Address, amount: bigint): void;
  /** Ends a reservation whose money left in block `leftIn`; undefined: it stays and is free again. */
  release(id: string, leftIn: bigint | undefined): void;
}

interface ReconcilerDeps {
  follower: Follower;
  ledger: Ledger;
  clock: Clock;
  log: Log;
}

interface ReconcilerOptions {
  account: Address;
  tokens: readonly Address[];
  everyMs: number;
  /** Withdrawals that the ledger already counts as pending. */
  open?: readonly { id: string; token: Address; amount: bigint }[];
  /** The reservations of transfers that earlier processes began. */
  reserved?: readonly { id: string; token: Address; amount: bigint }[];
}

interface State extends ReconcilerDeps, Pick<ReconcilerOptions, 'account' | 'tokens' | 'everyMs'> {
  readonly port: ChainPort;
  readonly chain: Chain;
  /** What the ledger counts as pending of each token, and the id of that withdrawal in the ledger. */
  readonly requests: Map<Address, { id: string; amount: bigint }>;
  /** Tokens of the next comparison. */
  readonly asked: Set<Address>;
  /**
   * The last state on chain of each token: the requested withdrawal, and deliveries that will be paid out by
   * themselves.
   */
  readonly seen: Map<Address, { requested: bigint; deferred: bigint }>;
  /** By the transfer's id. `leftIn`: the block in which the money left the escrow. */
  readonly reservations: Map<string, { token: Address; amount: bigint; leftIn: bigint | undefined }>;
  /** The last final block at which everything agreed. */
  agreed: ChainCursor;
  /** The events since `agreed` have been read again. */
  rewound: boolean;
  undecided: boolean;
  /** On the monotonic clock. */
  rewoundMs: number;
  /** The last comparison of all tokens; undefined: it is due. */
  lastMs: number | undefined;
  serial: number;
}

export function createReconciler(
  deps: ReconcilerDeps,
  { account, tokens, everyMs, open = [], reserved = [] }: ReconcilerOptions,
): Reconciler {
  const { port } = deps.follower;
  const state: State = {
    ...{ ...deps, account, tokens, everyMs, port, chain: port.chain },
    requests: new Map(open.map(({ token, id, amount }) => [token, { id, amount }])),
    asked: new Set(tokens),
    seen: new Map(open.map(({ token, amount }) => [token, { requested: amount, deferred: 0n }])),
    reservations: new Map(),
    agreed: deps.follower.cursor(),
    rewound: false,
    undecided: false,
    rewoundMs: 0,
    lastMs: undefined,
    serial: 0,
  };
  for (const { id, token, amount } of reserved) restore(state, id, token, amount);
  return {
    check: () => check(state),
    undecided: () => state.undecided,
    reserve: (id, token, amount) => reserve(state, id, token, amount),
    restore: (id, token, amount) => restore(state, id, token, amount),
    release: (id, leftIn) => release(state, id, leftIn),
  };
}

async function check(state: State): Promise<void> {
  const { follower, clock, tokens, asked, everyMs } = state;
  letGo(state);
  for (const token of follower.takeTouched()) asked.add(token);
  const nowMs = clock.monotonicMs();
  const all = state.lastMs === undefined || nowMs - state.lastMs >= everyMs || state.rewound;
  const due = all ? tokens : tokens.filter((token) => asked.has(token));
  if (due.length === 0) return;
  const at = follower.cursor();
  let agree = true;
  for (const token of due) {
    agree = (await compareBalance(state, token, at)) && agree;
    await readWithdrawal(state, token, at);
    // A request is checked until its window ends: a lapse emits no event.
    if (!state.requests.has(token)) asked.delete(token);
  }
  if (all) conclude(state, agree, at, nowMs);
  else if (!agree) state.lastMs = undefined;
}

/** Ends the reservation of money that left the ledger, once the balance read here no longer contains it. */
function letGo(state: State): void {
  const { block } = state.follower.cursor();
  for (const [id, { token, leftIn }] of state.reservations)
    if (leftIn !== undefined && leftIn <= block) {
      state.reservations.delete(id);
      countPending(state, token);
    }
}

/** Returns true when ledger and chain agree. A difference counts once the events were read again. */
async function compareBalance(state: State, token: Address, at: ChainCursor): Promise<boolean> {
  const { port, ledger, log, account, chain } = state;
  const amount = await port.ledgerBalance(account, token, at.block);
  const difference = amount - (ledger.bucket(chain.id, token)?.onchain ?? amount);
  if (difference !== 0n && !state.rewound) return false;
  const frozen = ledger.bucket(chain.id, token)?.drift ?? null;
  ledger.apply({ type: 'reconciled', chainId: chain.id, token, amount });
  const drift = ledger.bucket(chain.id, token)?.drift ?? null;
  if (drift !== null && frozen === null)
    log.fatal(
      { chain: chain.slug, drift: shown(chain, token, drift) },
      'ledger and chain differ without explanation: this token is not quoted until they agree',
    );
  if (drift === null && frozen !== null)
    log.warn(
      { chain: chain.slug, token: tokenOrAddress(chain, token).symbol },
      'ledger and chain agree again',
    );
  return drift === null;
}

/** A pending withdrawal or delivery counts as gone until the chain shows that it ended. */
async function readWithdrawal(state: State, token: Address, at: ChainCursor): Promise<void> {
  const { port, account } = state;
  const [latest, final, ...deferred] = await Promise.all([
    port.pendingWithdrawal(account, token),
    port.pendingWithdrawal(account, token, at.block),
    port.ledgerDeferred(account, token),
    port.ledgerDeferred(account, token, at.block),
  ]);
  const now = state.follower.time();
  state.seen.set(token, {
    requested: max(latest.lapsesAt >= now ? latest.amount : 0n, final.lapsesAt >= now ? final.amount : 0n),
    deferred: max(...deferred),
  });
  countPending(state, token);
}

/** Draws the conclusion from a comparison of all tokens. */
function conclude(state: State, agree: boolean, at: ChainCursor, nowMs: number): void {
  state.lastMs = nowMs;
  if (agree) state.agreed = at;
  state.undecided = !agree && !state.rewound;
  if (!agree && (!state.rewound || nowMs - state.rewoundMs >= state.everyMs)) {
    // Read again now and periodically: an endpoint that omitted an event may return it later.
    state.rewoundMs = nowMs;
    state.log.warn(
      { chainId: state.chain.id, from: state.agreed.block, to: at.block },
      'ledger and chain differ: reading the events again',
    );
    state.follower.rewind(state.agreed);
  }
  state.rewound = !agree;
}

function reserve(state: State, id: string, token: Address, amount: bigint): boolean {
  const { ledger, chain, reservations } = state;
  if (reservations.has(id)) return true;
  const more = goneOf(state, token, amount) - goneOf(state, token);
  if (more > (ledger.bucket(chain.id, token)?.free ?? -1n)) return false;
  restore(state, id, token, amount);
  return true;
}

function restore(state: State, id: string, token: Address, amount: bigint): void {
  const known = state.reservations.get(id);
  if (known?.amount === amount && known.leftIn === undefined) return;
  state.reservations.set(id, { token, amount, leftIn: undefined });
  countPending(state, token);
}

function release(state: State, id: string, leftIn: bigint | undefined): void {
  const known = state.reservations.get(id);
  if (known === undefined) return;
  if (leftIn !== undefined) {
    known.leftIn = leftIn;
    return;
  }
  state.reservations.delete(id);
  countPending(state, known.token);
}

/** Tells the ledger how much of a token is pending, when that has changed. */
function countPending(state: State, token: Address): void {
  const { requests, ledger, follower, clock, chain } = state;
  const amount = goneOf(state, token);
  const known = requests.get(token);
  if (amount === (known?.amount ?? 0n)) return;
  if (known !== undefined)
    ledger.apply({ type: 'withdrawal_ended', id: known.id, chainId: chain.id, token, amount: 0n });
  requests.delete(token);
  if (amount === 0n) return;
  // Unique across processes: the ledger ignores an id that it has seen.
  const id = `request:${follower.cursor().hash}:${token}:${clock.nowMs()}:${(state.serial += 1)}`;
  requests.set(token, { id, amount });
  ledger.apply({ type: 'withdrawal_requested', id, chainId: chain.id, token, amount });
  state.log.warn(
    { chain: chain.slug, amount: shown(chain, token, amount) },
    'a withdrawal is pending: its amount is no longer quoted',
  );
}

/**
 * Returns what counts as gone, `more` reserved included. A request is for what is reserved: of the two the
 * larger one counts.
 */
function goneOf({ seen, reservations }: State, token: Address, more = 0n): bigint {
  const { requested, deferred } = seen.get(token) ?? { requested: 0n, deferred: 0n };
  const reserved = [...reservations.values()].reduce(
    (sum, each) => (each.token === token ? sum + each.amount : sum),
    more,
  );
  return max(requested, reserved) + deferred;
}

const shown = (chain: Chain, token: Address, amount: bigint): string =>
  formatTokens(amount, tokenOrAddress(chain, token));
