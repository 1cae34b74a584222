/** The state of the simulated LP: its ledger, and what it knows of each of its markets. */

import type { Band } from '../../inventory/bands.ts';
import type { LedgerEvent } from '../../inventory/event.ts';
import { createLedger, type Ledger } from '../../inventory/ledger.ts';
import { UNSEEN, type Volatility } from '../../pricing/volatility.ts';
import { NEW_PAIR_RISK, type PairRisk } from '../../risk/pair-risk.ts';
import { createSimInventory, type SimInventory } from '../transfers.ts';
import { type ControlState, newControls } from './controls.ts';
import { type MakerPair, type MakerSetup, pairName } from './setup.ts';

export interface MakerState {
  setup: MakerSetup;
  ledger: Ledger;
  inventory: SimInventory;
  pairs: readonly PairState[];
  controls: ControlState;
  due: { atSecond: number; event: LedgerEvent }[];
  chains: readonly number[];
  /** The asset in which all pairs are priced. */
  quote: string;
  startQuote: bigint;
  longestSeconds: number;
  midAtMs: number;
}

/** Holds what the LP knows of one of its markets, and what that market did to its balances. */
export interface PairState {
  setup: MakerPair;
  name: string;
  /** Balance of the base asset at the start, 1e-18 of a whole token, as the target. */
  start: bigint;
  target: bigint;
  mid: number;
  volatility: Volatility;
  risk: PairRisk;
  /** Earned less spent of the quote asset, 1e-18 of a whole token. */
  cash: bigint;
  gasUsd: number;
}

const ATTO = 1e18;

export function startOf(setup: MakerSetup): MakerState {
  const { quoting, buckets, graceSeconds, limits } = setup;
  const ledger = createLedger({
    buckets,
    graceSeconds: () => graceSeconds,
    limits,
    rememberSpentSeconds: 60,
  });
  for (const { chainId, token, start } of buckets)
    ledger.apply({ type: 'deposited', chainId, token, id: `start ${chainId} ${token}`, amount: start });
  const quote = setup.pairs[0]?.quote ?? '';
  const pairs = setup.pairs.map((pair) => createPair(pair, ledger.exposure(pair.base).owned));
  const usd = (asset: string): number | undefined =>
    asset === quote ? 1 : pairs.find(({ setup: { base } }) => base === asset)?.mid || undefined;
  return {
    setup,
    ledger,
    inventory: createSimInventory({ ledger, usd }, setup.places ?? new Map(), setup.transfers),
    pairs,
    controls: newControls(),
    due: [],
    chains: [...new Set(buckets.map(({ chainId }) => chainId))],
    quote,
    startQuote: ledger.exposure(quote).owned,
    longestSeconds: Math.max(quoting.validitySeconds, ...quoting.pointsSeconds),
    midAtMs: 0,
  };
}

const createPair = (setup: MakerPair, start: bigint): PairState => ({
  setup,
  name: pairName(setup),
  start,
  target: setup.target === null ? start : atto(setup.target),
  mid: 0,
  volatility: UNSEEN,
  risk: { ...NEW_PAIR_RISK },
  cash: 0n,
  gasUsd: 0,
});

/** Sums what the LP has of an asset on all chains, and what accepted orders will take of it. */
export function heldOf(ledger: Ledger, asset: string): bigint {
  const { owned, committed } = ledger.exposure(asset);
  return owned + committed;
}

export function bandOf({ setup: { routes, softBand, hardBand }, mid, target }: PairState): Band {
  const soft = softBand ?? (routes[0]?.params.halfBand ?? 0) / mid;
  return { target, soft: atto(soft), hard: atto(hardBand ?? 2 * soft) };
}

const atto = (tokens: number): bigint => BigInt(Math.round(tokens * 1e9)) * BigInt(ATTO / 1e9);
