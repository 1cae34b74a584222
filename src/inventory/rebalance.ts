/**
 * Advises the owner to move inventory between chains. Where a chain is far below its target, takers pay a
 * charge for draining it; advice is given when moving costs less than a day of these charges.
 */

/** An asset on one chain. Amounts share a unit. */
export interface RebalancePlace {
  chain: string;
  available: bigint;
  target: bigint;
  /** (available - target) / soft band. */
  q: number;
  /** Cost of moving it to this chain, and the charge for draining it there, in bps. */
  costBps: number;
  chargeBps: number;
  drainedPerDay: bigint;
}

export interface Advice {
  asset: string;
  from: string;
  to: string;
  amount: bigint;
  /** Cost of moving it and one day of charges, in the asset. */
  cost: bigint;
  charges: bigint;
}

interface RebalanceRule {
  /** |q| above which advice starts, and below which it ends. */
  startQ: number;
  stopQ: number;
  /** Pause between two chains after money moved or advice ended. */
  cooldownSeconds: number;
}

export interface Rebalancer {
  /** Returns the moves to make now. Advice stands until the imbalance is nearly gone; call often. */
  advise(asset: string, places: readonly RebalancePlace[], nowSeconds: number): Advice[];
  /** Money left the chain: its advice ends. */
  left(asset: string, chain: string, nowSeconds: number): void;
}

export function createRebalancer({ startQ, stopQ, cooldownSeconds }: RebalanceRule): Rebalancer {
  const unbalanced = new Set<string>();
  const standing = new Set<string>();
  const cooldownUntil = new Map<string, number>();
  const keyOf = (asset: string, ...chains: string[]): string => [asset, ...chains].join(' ');

  const end = (key: string, nowSeconds: number): void => {
    standing.delete(key);
    cooldownUntil.set(key, nowSeconds + cooldownSeconds);
  };

  return {
    advise(asset, places, nowSeconds) {
      for (const { chain, q } of places) {
        if (Math.abs(q) > startQ) unbalanced.add(keyOf(asset, chain));
        else if (Math.abs(q) < stopQ) unbalanced.delete(keyOf(asset, chain));
      }
      const off = places.map((place) => ({ ...place, off: place.available - place.target }));
      const rich = off.filter((place) => place.off > 0n).sort((a, b) => (a.off > b.off ? -1 : 1));
      const poor = off.filter((place) => place.off < 0n).sort((a, b) => (a.off < b.off ? -1 : 1));
      const advice: Advice[] = [];
      for (const to of poor) {
        for (const from of rich) {
          const amount = from.off < -to.off ? from.off : -to.off;
          if (
            amount <= 0n ||
            !(unbalanced.has(keyOf(asset, from.chain)) || unbalanced.has(keyOf(asset, to.chain)))
          )
            continue;
          const key = keyOf(asset, from.chain, to.chain);
          if ((cooldownUntil.get(key) ?? 0) > nowSeconds) continue;
          const [cost, charges] = [ofBps(amount, to.costBps), ofBps(to.drainedPerDay, to.chargeBps)];
          // Where moving is free, the imbalance alone is reason enough.
          if (!standing.has(key) && cost > 0n && cost >= charges) continue;
          from.off -= amount;
          to.off += amount;
          advice.push({ asset, from: from.chain, to: to.chain, amount, cost, charges });
        }
      }
      const now = new Set(advice.map(({ from, to }) => keyOf(asset, from, to)));
      for (const key of [...standing]) if (key.startsWith(`${asset} `) && !now.has(key)) end(key, nowSeconds);
      for (const key of now) standing.add(key);
      return advice;
    },
    left(asset, chain, nowSeconds) {
      for (const key of [...standing]) if (key.startsWith(`${keyOf(asset, chain)} `)) end(key, nowSeconds);
    },
  };
}

/** Rounded up, so that only a free move costs nothing. */
function ofBps(amount: bigint, bps: number): bigint {
  const scaled = amount * BigInt(Math.round(bps * 1e4));
  return (scaled + 99_999_999n) / 100_000_000n;
}

const DAY_SECONDS = 86_400;

/** Flow per day, as an exponential average with a time constant of one day. */
export interface DailyFlow {
  add(key: string, amount: bigint, nowSeconds: number): void;
  perDay(key: string, nowSeconds: number): bigint;
}

export function createDailyFlow(): DailyFlow {
  const flows = new Map<string, { amount: bigint; at: number }>();
  const faded = (key: string, nowSeconds: number): bigint => {
    const known = flows.get(key);
    if (known === undefined) return 0n;
    const left = Math.exp(-Math.max(0, nowSeconds - known.at) / DAY_SECONDS);
    return (known.amount * BigInt(Math.round(left * 1e9))) / 1_000_000_000n;
  };
  return {
    add(key, amount, nowSeconds) {
      flows.set(key, { amount: faded(key, nowSeconds) + amount, at: nowSeconds });
    },
    perDay: faded,
  };
}
