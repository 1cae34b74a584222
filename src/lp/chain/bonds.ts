/**
 * The LP's bonds, and the least that its venues demand. A venue takes no quote of an LP whose bond is
 * smaller, so nothing is signed then.
 */

import { formatTokens } from '../../domain/amount.ts';
import { type BondDemand, claimedIn, firmBond } from '../../domain/bond.ts';
import { tokenOrAddress } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

export interface Bonds {
  /** Takes in the demands of a venue's welcome; an empty list when the venue demands no bond. */
  demanded(venue: string, demands: readonly BondDemand[]): void;
  /** Reads the demanded bonds when it is time. When a chain does not answer, the last reading counts. */
  refresh(): Promise<void>;
  /**
   * Returns why no venue that demands a bond would take a quote for this route; undefined when the bond
   * suffices.
   */
  shortOn(route: Parameters<typeof claimedIn>[0]): string | undefined;
  /** A text about each bond that is too small. */
  notes(): string[];
}

/** A bond changes by transactions of its owner and by claims alone. */
const READ_EVERY_MS = 2_000;

export function createBonds(
  {
    ports,
    clock,
    log,
  }: { ports: ReadonlyMap<number, Pick<ChainPort, 'chain' | 'bond'>>; clock: Clock; log: Log },
  account: Address,
): Bonds {
  const byVenue = new Map<string, readonly BondDemand[]>();
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
        const found = await Promise.all(largest().map(shortfall));
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
    notes: () => [...short.values()],
  };
}
