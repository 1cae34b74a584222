/**
 * Compares the inventory ledger with the chain at a final block. On a difference the follower reads again
 * from the last agreeing block. If it remains, the token is not quoted. A surplus is never credited, because
 * its owner is unknown.
 */

import type { Address } from '../../domain/hex.ts';
import { formatTokens, max } from '../../domain/amount.ts';
import { tokenOrAddress } from '../../domain/chain.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ChainCursor } from '../../ports/stores/lp-store.ts';
import type { Follower } from './follow.ts';

export type Reconciler = ReturnType<typeof createReconciler>;

export function createReconciler(
  { follower, ledger, clock, log }: { follower: Follower; ledger: Ledger; clock: Clock; log: Log },
  {
    account,
    tokens,
    everyMs,
    open = [],
    reserved = [],
  }: {
    account: Address;
    tokens: readonly Address[];
    everyMs: number;
    open?: readonly { id: string; token: Address; amount: bigint }[];
    /** The reservations of transfers that earlier processes began. */
    reserved?: readonly { id: string; token: Address; amount: bigint }[];
  },
) {
  const { port } = follower;
  const { id: chainId, slug } = port.chain;
  const shown = (token: Address, amount: bigint) => formatTokens(amount, tokenOrAddress(port.chain, token));
  const requests = new Map<Address, { id: string; amount: bigint }>(
    open.map(({ token, id, amount }) => [token, { id, amount }]),
  );
  const asked = new Set<Address>(tokens);
  /**
   * The last state on chain of each token: the requested withdrawal, and deliveries that will be paid out by
   * themselves.
   */
  const seen = new Map<Address, { requested: bigint; deferred: bigint }>(
    open.map(({ token, amount }) => [token, { requested: amount, deferred: 0n }]),
  );
  const reservations = new Map<string, { token: Address; amount: bigint; leftIn: bigint | undefined }>();
  let agreed: ChainCursor = follower.cursor();
  let rewound = false;
  /** The last comparison found a difference, and the events are to be read again before it counts. */
  let undecided = false;
  let rewoundMs = 0;
  let lastMs: number | undefined;
  let serial = 0;

  /** A pending withdrawal or delivery counts as gone until the chain shows that it ended. */
  async function withdrawal(token: Address, at: ChainCursor): Promise<void> {
    const [latest, final, ...deferred] = await Promise.all([
      port.pendingWithdrawal(account, token),
      port.pendingWithdrawal(account, token, at.block),
      port.ledgerDeferred(account, token),
      port.ledgerDeferred(account, token, at.block),
    ]);
    const now = follower.time();
    seen.set(token, {
      requested: max(latest.lapsesAt >= now ? latest.amount : 0n, final.lapsesAt >= now ? final.amount : 0n),
      deferred: max(...deferred),
    });
    count(token);
  }

  /** A request is for what is reserved: of the two the larger one counts. */
  function goneOf(token: Address): bigint {
    const { requested, deferred } = seen.get(token) ?? { requested: 0n, deferred: 0n };
    return max(requested, reservedOf(token)) + deferred;
  }
  const reservedOf = (token: Address): bigint =>
    [...reservations.values()].reduce((sum, each) => (each.token === token ? sum + each.amount : sum), 0n);

  function count(token: Address): void {
    const amount = goneOf(token);
    const known = requests.get(token);
    if (amount === (known?.amount ?? 0n)) return;
    if (known !== undefined)
      ledger.apply({ type: 'withdrawal_ended', id: known.id, chainId, token, amount: 0n });
    requests.delete(token);
    if (amount === 0n) return;
    // Unique across processes: the ledger ignores an id that it has seen.
    const id = `request:${follower.cursor().hash}:${token}:${clock.nowMs()}:${(serial += 1)}`;
    requests.set(token, { id, amount });
    ledger.apply({ type: 'withdrawal_requested', id, chainId, token, amount });
    log.warn(
      { chain: slug, amount: shown(token, amount) },
      'a withdrawal is pending: its amount is no longer quoted',
    );
  }

  function restore(id: string, token: Address, amount: bigint): void {
    const known = reservations.get(id);
    if (known?.amount === amount && known.leftIn === undefined) return;
    reservations.set(id, { token, amount, leftIn: undefined });
    count(token);
  }

  /** Ends the reservation of money that left the ledger, once the balance read here no longer contains it. */
  function letGo(): void {
    const { block } = follower.cursor();
    for (const [id, { token, leftIn }] of reservations)
      if (leftIn !== undefined && leftIn <= block) {
        reservations.delete(id);
        count(token);
      }
  }

  async function balance(token: Address, at: ChainCursor): Promise<boolean> {
    const amount = await port.ledgerBalance(account, token, at.block);
    const difference = amount - (ledger.bucket(chainId, token)?.onchain ?? amount);
    if (difference !== 0n && !rewound) return false;
    const frozen = ledger.bucket(chainId, token)?.drift ?? null;
    ledger.apply({ type: 'reconciled', chainId, token, amount });
    const drift = ledger.bucket(chainId, token)?.drift ?? null;
    if (drift !== null && frozen === null)
      log.fatal(
        { chain: slug, drift: shown(token, drift) },
        'ledger and chain differ without explanation: this token is not quoted until they agree',
      );
    if (drift === null && frozen !== null)
      log.warn(
        { chain: slug, token: tokenOrAddress(port.chain, token).symbol },
        'ledger and chain agree again',
      );
    return drift === null;
  }

  /** Compares the touched tokens, and periodically all tokens. Call between scans. */
  async function check(): Promise<void> {
    letGo();
    for (const token of follower.takeTouched()) asked.add(token);
    const nowMs = clock.monotonicMs();
    const all = lastMs === undefined || nowMs - lastMs >= everyMs || rewound;
    const due = all ? tokens : tokens.filter((token) => asked.has(token));
    if (due.length === 0) return;
    const at = follower.cursor();
    let agree = true;
    for (const token of due) {
      agree = (await balance(token, at)) && agree;
      await withdrawal(token, at);
      // A request is checked until its window ends: a lapse emits no event.
      if (!requests.has(token)) asked.delete(token);
    }
    if (!all) {
      if (!agree) lastMs = undefined;
      return;
    }
    lastMs = nowMs;
    if (agree) agreed = at;
    undecided = !agree && !rewound;
    if (!agree && (!rewound || nowMs - rewoundMs >= everyMs)) {
      // Read again now and periodically: an endpoint that omitted an event may return it later.
      rewoundMs = nowMs;
      log.warn(
        { chainId, from: agreed.block, to: at.block },
        'ledger and chain differ: reading the events again',
      );
      follower.rewind(agreed);
    }
    rewound = !agree;
  }

  for (const { id, token, amount } of reserved) restore(id, token, amount);

  return {
    check,
    undecided: () => undecided,
    /** Reserves a free amount for a transfer, or returns false and changes nothing. Idempotent per id. */
    reserve(id: string, token: Address, amount: bigint): boolean {
      if (reservations.has(id)) return true;
      const { requested, deferred } = seen.get(token) ?? { requested: 0n, deferred: 0n };
      const more = max(requested, reservedOf(token) + amount) + deferred - goneOf(token);
      if (more > (ledger.bucket(chainId, token)?.free ?? -1n)) return false;
      restore(id, token, amount);
      return true;
    },
    restore,
    /** Ends a reservation whose money left in block `leftIn`; undefined: it stays and is free again. */
    release(id: string, leftIn: bigint | undefined): void {
      const known = reservations.get(id);
      if (known === undefined) return;
      if (leftIn === undefined) reservations.delete(id);
      else known.leftIn = leftIn;
      if (leftIn === undefined) count(known.token);
    },
  };
}
