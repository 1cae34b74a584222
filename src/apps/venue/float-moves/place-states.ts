/** Reads what a bridge venue's float has on each chain, and whether its mover may move that now. */

import { freeOfFloat, readFloat } from '../../../adapters/bridges/venue/float.ts';
import type { FloatState } from '../../../adapters/bridges/venue/refill-plan.ts';
import type { FloatAsset } from '../../../adapters/bridges/venue/venue.ts';
import { tokenOf, type TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { FloatBlock, FloatStore } from '../../../ports/stores/floats.ts';
import { whyNotMovable } from './mover.ts';

type FloatAt = FloatAsset['on'][number];

export interface PlaceReader {
  readonly deps: { chains: ReadonlyMap<number, ChainPort>; floats: FloatStore; clock: Clock };
  /** `id`: of the route venue. */
  readonly options: { id: string; account: Address; operator: Address; mover: Address };
  /** The monotonic time at which the account could be moved, by chain. */
  readonly movableAtMs: Map<number, number>;
}

/** Holds the figures of a place at a block, with the sums of the database. */
interface FloatReading {
  held: bigint;
  asOf: FloatBlock;
  free: bigint;
  promised: bigint;
  /** A withdrawal is requested and has not lapsed. */
  isRequested: boolean;
}

export interface PlaceState extends FloatState, Pick<FloatReading, 'isRequested'> {
  info: TokenInfo;
  chain: ChainPort;
}

/** An account that may be moved is not read again for this long. */
const MOVABLE_MS = 60_000;

/** undefined: the chain cannot be read now. Rejects when it, or the database, does not answer. */
export async function placeState(reader: PlaceReader, place: FloatAt): Promise<PlaceState | undefined> {
  const chain = reader.deps.chains.get(place.chainId);
  const info = tokenAt(reader, place);
  const seen = await readPlace(reader, place);
  if (!chain || !info || !seen) return undefined;
  const { free, promised, isRequested } = seen;
  return {
    ...{ ...place, info, chain, isRequested, free, owned: free + promised, decimals: info.decimals },
    fixed: await fixedAt(reader, chain),
  };
}

export async function readPlace(
  { deps: { chains, floats }, options: { id, account, operator } }: PlaceReader,
  { chainId, token, keep }: FloatAt,
): Promise<FloatReading | undefined> {
  const chain = chains.get(chainId);
  const head = chain?.head();
  if (!chain || !head) return undefined;
  const place = { venueId: id, account, chainId, token };
  const owed = await floats.owed(place);
  const float = await readFloat(chain, token, head, { account, operator, keep, fillWei: 0n }, owed);
  const use = await floats.use(place, float.asOf, chainTimes(chains));
  // What the operator may spend does not bound what the mover moves.
  const free = freeOfFloat({ most: float.held, held: float.held }, use);
  const isRequested =
    float.asOf.requested > 0n &&
    (await chain.pendingWithdrawal(account, token, head.number)).lapsesAt >= head.timestamp;
  return { held: float.held, asOf: float.asOf, free, promised: use.promised, isRequested };
}

/** Why no money can be moved on this chain now; undefined: it can. */
async function fixedAt(
  { deps: { clock }, options, movableAtMs }: PlaceReader,
  chain: ChainPort,
): Promise<string | undefined> {
  const sick = chain.healthIssue();
  if (sick !== undefined) return `${chain.chain.slug} is not followed reliably now: ${sick}`;
  const chainId = chain.chain.id;
  if (clock.monotonicMs() - (movableAtMs.get(chainId) ?? -Infinity) < MOVABLE_MS) return undefined;
  const why = await whyNotMovable(chain, options);
  if (why === undefined) movableAtMs.set(chainId, clock.monotonicMs());
  return why;
}

/** The time of the newest block of each chain that has been seen. */
export const chainTimes = (chains: ReadonlyMap<number, ChainPort>): Map<number, UnixSeconds> =>
  new Map(
    [...chains].flatMap(([chainId, chain]) => {
      const time = chain.head()?.timestamp;
      return time === undefined ? [] : [[chainId, time] as const];
    }),
  );

export function tokenAt(
  { deps: { chains } }: Pick<PlaceReader, 'deps'>,
  { chainId, token }: { chainId: number; token: Address },
): TokenInfo | undefined {
  const chain = chains.get(chainId)?.chain;
  return chain && tokenOf(chain, token);
}
