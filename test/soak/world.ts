/**
 * The true state around a ledger, kept apart from it: balances, nonces, deadlines, reorganisations, an owner,
 * and a taker who accepts whatever it can. The ledger receives events late, twice and out of order.
 */

import type { HoldRequest, LedgerEvent } from '../../src/inventory/event.ts';
import type { BucketConfig } from '../../src/inventory/ledger.ts';

export interface Signed {
  request: HoldRequest;
  origin: number;
  /** A cross-chain order is opened first; a same-chain order settles in one step. */
  crosses: boolean;
  opened: boolean;
  /** The block that contains its payment. */
  block: string | undefined;
  final: boolean;
  claimed: boolean;
  /** Dead, and the ledger has received the event. */
  failed: boolean;
}

interface Nonce {
  members: Signed[];
  used: boolean;
  /** What this nonce could still take from each bucket. */
  owes: Map<string, bigint>;
}

export interface Random {
  /** Below `most`. */
  int(most: number): number;
  chance(percent: number): boolean;
}

/** xorshift32: fast, and the same on every platform. */
export function seededRandom(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  return { int: (most) => next() % most, chance: (percent) => next() % 100 < percent };
}

export const keyOf = ({ chainId, token }: { chainId: number; token: string }): string =>
  `${chainId} ${token}`;

export function createWorld(buckets: readonly BucketConfig[], random: Random) {
  const balances = new Map(buckets.map((bucket) => [keyOf(bucket), 0n]));
  const owed = new Map(buckets.map((bucket) => [keyOf(bucket), 0n]));
  const nonces = new Map<string, Nonce>();
  const ending = new Map<number, Nonce[]>();
  const now = new Map(buckets.map(({ chainId }) => [chainId, 1_000]));
  let signed: Signed[] = [];
  let rumours: { chainId: number; at: number; event: LedgerEvent }[] = [];
  let blocks = 0;

  const nowOf = (chainId: number): number => now.get(chainId) ?? 0;
  const nonceOf = ({ request }: Signed): Nonce => nonces.get(request.group) as Nonce;
  const move = (where: { chainId: number; token: string }, amount: bigint) =>
    balances.set(keyOf(where), (balances.get(keyOf(where)) ?? 0n) + amount);
  const tell = (chainId: number, event: LedgerEvent) => rumours.push({ chainId, at: nowOf(chainId), event });

  /** Whether the chain would still take its output from us. */
  function payable(each: Signed): boolean {
    if (each.block !== undefined || each.failed) return false;
    if (each.opened) return nowOf(each.request.chainId) <= each.request.lapsesAt;
    return !nonceOf(each).used && nowOf(each.origin) <= each.request.lapsesAt;
  }

  function weigh(nonce: Nonce): void {
    for (const [key, amount] of nonce.owes) owed.set(key, (owed.get(key) ?? 0n) - amount);
    nonce.owes.clear();
    for (const each of nonce.members) {
      if (!payable(each)) continue;
      const key = keyOf(each.request);
      if (each.request.amount > (nonce.owes.get(key) ?? 0n)) nonce.owes.set(key, each.request.amount);
    }
    for (const [key, amount] of nonce.owes) owed.set(key, (owed.get(key) ?? 0n) + amount);
  }

  return {
    nowOf,
    payable,
    balances,
    owed,
    signed: (): readonly Signed[] => signed,
    any: (): Signed | undefined => signed[random.int(signed.length || 1)],
    /** The ledger's clock for a chain is at most the newest time it received. */
    known: (chainId: number): number =>
      rumours.reduce(
        (least, { chainId: where, at }) => (where === chainId && at < least ? at : least),
        nowOf(chainId),
      ),
    rumours: () => rumours.length,
    move,

    tick(seconds: number) {
      for (const [chainId, at] of now) {
        for (let second = at; second < at + seconds; second += 1) {
          now.set(chainId, second + 1);
          for (const nonce of ending.get(second) ?? []) weigh(nonce);
        }
      }
      const past = Math.min(...now.values()) - 1;
      for (const second of ending.keys()) {
        if (second >= past) break;
        ending.delete(second);
      }
    },

    sign(request: HoldRequest) {
      const origin = request.input.chainId;
      const each: Signed = {
        request,
        origin,
        crosses: origin !== request.chainId,
        opened: false,
        block: undefined,
        final: false,
        claimed: false,
        failed: false,
      };
      const nonce: Nonce = nonces.get(request.group) ?? { members: [], used: false, owes: new Map() };
      nonces.set(request.group, nonce);
      nonce.members.push(each);
      signed.push(each);
      ending.set(request.lapsesAt, [...(ending.get(request.lapsesAt) ?? []), nonce]);
      weigh(nonce);
    },

    /** The taker executes it on the origin: paid in one step on one chain, opened across two. */
    take(each: Signed) {
      const nonce = nonceOf(each);
      nonce.used = true;
      if (each.crosses) {
        each.opened = true;
        tell(each.origin, { type: 'accepted', orderId: each.request.orderId });
      } else {
        each.block = `b${++blocks}`;
        move(each.request, -each.request.amount);
        tell(each.origin, { type: 'filled', orderId: each.request.orderId, id: each.block });
      }
      weigh(nonce);
    },

    /** We deliver on the destination. */
    fill(each: Signed) {
      each.block = `b${++blocks}`;
      move(each.request, -each.request.amount);
      tell(each.request.chainId, { type: 'filled', orderId: each.request.orderId, id: each.block });
      weigh(nonceOf(each));
    },

    /** A reorganisation removes the block with its fill; on one chain its nonce is unused again. */
    reorg(each: Signed) {
      if (each.block === undefined || each.final) return;
      tell(each.request.chainId, { type: 'reorged', orderId: each.request.orderId, id: each.block });
      each.block = undefined;
      move(each.request, each.request.amount);
      if (!each.crosses) nonceOf(each).used = false;
      weigh(nonceOf(each));
    },

    finalise(each: Signed) {
      if (each.block === undefined || each.final) return;
      const { orderId } = each.request;
      each.final = true;
      tell(each.request.chainId, { type: 'fill_final', orderId, id: each.block });
      for (const other of nonceOf(each).members)
        if (other !== each && random.chance(50))
          tell(each.origin, { type: 'released', orderId: other.request.orderId });
      if (!each.crosses) this.claim(each);
    },

    claim(each: Signed) {
      if (!each.final || each.claimed) return;
      each.claimed = true;
      const { orderId, input } = each.request;
      move(input, input.amount);
      tell(each.origin, {
        type: 'finalised',
        orderId,
        id: each.crosses ? `c${++blocks}` : (each.block as string),
        received: input.amount,
      });
    },

    /**
     * Nothing can ever be paid for it, after any reorganisation: refunded, expired, or its nonce used at
     * finality depth.
     */
    bury(each: Signed) {
      const expired = nowOf(each.opened ? each.request.chainId : each.origin) > each.request.lapsesAt;
      const replaced =
        !each.opened &&
        nonceOf(each).members.some((other) => other !== each && (other.final || other.opened));
      if (each.block !== undefined || each.failed || !(expired || replaced)) return;
      each.failed = true;
      tell(each.origin, { type: 'failed', orderId: each.request.orderId });
    },

    /** The next event for the ledger, not always the oldest and sometimes a repeat. */
    hear(): LedgerEvent | undefined {
      if (rumours.length === 0) return undefined;
      const at = random.int(rumours.length);
      const rumour = rumours[at];
      if (rumour === undefined) return undefined;
      if (!random.chance(10)) {
        rumours[at] = rumours.at(-1) as typeof rumour;
        rumours.pop();
      }
      return rumour.event;
    },
    /** All events not yet delivered. */
    drain(): LedgerEvent[] {
      const events = rumours.map(({ event }) => event);
      rumours = [];
      return events;
    },

    /** What a chain shows at finality depth; fills in younger blocks do not count yet. */
    atDepth(where: { chainId: number; token: string }): bigint {
      let balance = balances.get(keyOf(where)) ?? 0n;
      for (const { request, block, final } of signed)
        if (block !== undefined && !final && keyOf(request) === keyOf(where)) balance += request.amount;
      return balance;
    },

    /** Forgets what has ended for chain and ledger alike. */
    prune(over: (each: Signed) => boolean) {
      signed = signed.filter((each) => !over(each));
      const left = new Set(signed.map(({ request }) => request.group));
      for (const group of nonces.keys()) if (!left.has(group)) nonces.delete(group);
    },
  };
}
