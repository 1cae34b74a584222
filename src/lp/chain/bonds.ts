/**
 * The LP's bonds, the least that its venues demand, and how long bond and money are sure to stay. A venue
 * takes no quote with a smaller bond, and none that outlives it, so nothing is signed then.
 */

import { formatTokens } from '../../domain/amount.ts';
import {
  type Backing,
  type BackingDelays,
  type BondDemand,
  claimedIn,
  firmBond,
  latestFillDeadline,
} from '../../domain/bond.ts';
import { tokenOrAddress } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

export interface Bonds {
  /** Takes in the demands of a venue's welcome; an empty list when the venue demands no bond. */
  demanded(venue: string, demands: readonly BondDemand[]): void;
  /**
   * Reads the demanded bonds when it is time, and the delays of the contracts once. When a chain does not
   * answer, the last reading counts.
   */
  refresh(): Promise<void>;
  /**
   * Returns why no venue that demands a bond would take a quote for this route; undefined when the bond
   * suffices.
   */
  shortOn(route: Parameters<typeof claimedIn>[0]): string | undefined;
  /**
   * Returns the latest fill deadline that every venue takes; undefined before the delays are read, when the
   * venue decides alone.
   */
  latestFillDeadline(
    route: Parameters<typeof claimedIn>[0],
    proofWindowSeconds: number,
  ): UnixSeconds | undefined;
  /** A text about each bond that is too small. */
  notes(): string[];
}

type BackingPort = Pick<ChainPort, 'chain' | 'head' | 'bond' | 'withdrawalDelay' | 'bondTakeBackDelay'>;

/** A bond changes by transactions of its owner and by claims alone. */
const READ_EVERY_MS = 2_000;

export function createBonds(
  { ports, clock, log }: { ports: ReadonlyMap<number, BackingPort>; clock: Clock; log: Log },
  account: Address,
): Bonds {
  const byVenue = new Map<string, readonly BondDemand[]>();
  const delays = new Map<number, BackingDelays>();
  /** The text about a bond that is short of the largest demand, by chain and token. */
  let short = new Map<string, string>();
  let readMs: number | undefined;
  let reading = false;

  const keyOf = (chainId: number, token: Address) => `${chainId}:${token}`;

  function largest(): BondDemand[] {
    const found = new Map<string, BondDemand>();
    for (const demand of [...byVenue.values()].flat()) {
      const key = keyOf(demand.chainId, demand.token);
      if (demand.amount > (found.get(key)?.amount ?? 0n)) found.set(key, demand);
    }
    return [...found.values()];
  }

  async function readDelays(): Promise<void> {
    const unread = [...ports].filter(([chainId]) => !delays.has(chainId));
    await Promise.all(
      unread.map(async ([chainId, port]) => {
        const [withdrawalSeconds, takeBackSeconds] = await Promise.all([
          port.withdrawalDelay(),
          port.bondTakeBackDelay(),
        ]);
        delays.set(chainId, { withdrawalSeconds, takeBackSeconds });
      }),
    );
  }

  function backingOn(chainId: number): Backing | undefined {
    const [read, port] = [delays.get(chainId), ports.get(chainId)];
    const head = port?.head();
    if (read === undefined || port === undefined || head === undefined) return undefined;
    // The venue may have seen one block less.
    return { now: head.timestamp - Math.ceil(port.chain.blockTimeMs / 1_000), delays: read };
  }

  async function shortfall({ chainId, token, amount }: BondDemand): Promise<[string, string][]> {
    const port = ports.get(chainId);
    if (port === undefined) return [];
    const { chain } = port;
    const unit = tokenOrAddress(chain, token);
    const needed = formatTokens(amount, unit);
    const bond = await port.bond(account, token);
    const key = keyOf(chainId, token);
    if (bond === undefined)
      return [
        [
          key,
          `${chain.slug}: a venue demands a bond of ${needed}, and the configuration has no quoteBond for this chain`,
        ],
      ];
    if (firmBond(bond) >= amount) return [];
    return [
      [
        key,
        `${chain.slug}: the bond is ${formatTokens(firmBond(bond), unit)}, and a venue demands ${needed} (firmquote lp bond post)`,
      ],
    ];
  }

  return {
    demanded(venue, demands) {
      byVenue.set(venue, demands);
      readMs = undefined;
    },
    async refresh() {
      const nowMs = clock.monotonicMs();
      if (reading || (readMs !== undefined && nowMs - readMs < READ_EVERY_MS)) return;
      reading = true;
      readMs = nowMs;
      try {
        const [found] = await Promise.all([Promise.all(largest().map(shortfall)), readDelays()]);
        const next = new Map(found.flat());
        for (const [key, note] of next) if (!short.has(key)) log.warn({ note }, 'a bond is too small');
        short = next;
      } finally {
        reading = false;
      }
    },
    shortOn(route) {
      if (short.size === 0) return undefined;
      const { chainId, token } = claimedIn(route);
      return short.get(keyOf(chainId, token));
    },
    latestFillDeadline(route, proofWindowSeconds) {
      const { chainId, token } = claimedIn(route);
      const bonded =
        route.origin.id !== route.dest.id &&
        [...byVenue.values()]
          .flat()
          .some((demand) => demand.chainId === chainId && demand.token === token && demand.amount > 0n);
      const [paying, bonding] = [backingOn(route.dest.id), bonded ? backingOn(chainId) : undefined];
      if (paying === undefined || (bonded && bonding === undefined)) return undefined;
      return latestFillDeadline({ paying, bonding }, proofWindowSeconds);
    },
    notes: () => [...short.values()],
  };
}
