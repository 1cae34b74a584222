/** DEX liquidity from the configuration. */

import * as z from 'zod';
import { createDexVenue } from '../../adapters/dex/venue.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { ROUTE_VENUE_ID, type RouteVenue } from '../../ports/route-venue.ts';
import { zAddress } from '../../protocol/wire.ts';
import { badConfig } from '../wiring/bad-request.ts';

/** Options of each venue whose orders settle in one transaction. */
export const venueOnChain = {
  /** Public, and stored in every order filled through it: never reuse an id. */
  id: z.string().regex(ROUTE_VENUE_ID, 'must be lower-case words joined by hyphens'),
  name: z.string().min(1).max(80),
  /** The tolerated price move; a larger one against the taker blocks the order. */
  toleranceBps: z.int().min(0).max(1_000).default(10),
  validSeconds: z.int().min(1).max(600).default(30),
  timeoutMs: z.int().min(50).default(500),
  maxInFlight: z.int().min(1).default(500),
};

const zPool = z.strictObject({
  tokens: z.tuple([zAddress, zAddress]),
  /**
   * The fee in millionths: selects a concentrated pool. null for constant-product pairs, which have one fee
   * for all.
   */
  fee: z.int().min(1).max(999_999).nullable().default(null),
});

const zDex = z
  .strictObject({
    ...venueOnChain,
    /** constant_product: Uniswap v2 and forks with its fee of 0.3 %. concentrated: Uniswap v3. */
    kind: z.enum(['constant_product', 'concentrated']),
    /**
     * One place per chain: the factory, our filler for it, and the pools that paths may use. Do not list
     * tokens that charge for transfers.
     */
    places: z
      .array(
        z.strictObject({
          chainId: z.int().min(1),
          factory: zAddress,
          filler: zAddress,
          pools: z.array(zPool).min(1).max(200),
        }),
      )
      .min(1),
    maxMoveBps: z.int().min(1).max(9_000).default(1_000),
  })
  .superRefine(({ kind, places }, context) => {
    places.forEach(({ pools }, place) =>
      pools.forEach(({ tokens: [a, b], fee }, pool) => {
        const path = ['places', place, 'pools', pool];
        if (a === b)
          context.addIssue({
            code: 'custom',
            path: [...path, 'tokens'],
            message: 'must be two different tokens',
          });
        if ((fee === null) !== (kind === 'constant_product'))
          context.addIssue({
            code: 'custom',
            path: [...path, 'fee'],
            message:
              kind === 'concentrated'
                ? 'must be given: it tells concentrated pools of two tokens apart'
                : 'must be null: pairs have one fee for all',
          });
      }),
    );
  });

export const zDexes = z
  .array(zDex)
  .superRefine((dexes, context) => {
    if (new Set(dexes.map(({ id }) => id)).size < dexes.length)
      context.addIssue({ code: 'custom', message: 'must have ids that differ' });
    dexes.forEach(({ places }, dex) => {
      if (new Set(places.map(({ chainId }) => chainId)).size < places.length)
        context.addIssue({
          code: 'custom',
          path: [dex, 'places'],
          message: 'must have one place for each chain: list all pools in it',
        });
    });
  })
  .default([]);

/** Throws `RequestError` when a place is on a chain that is not configured. */
export function openDexVenues(
  dexes: z.infer<typeof zDexes>,
  chains: ReadonlyMap<number, ChainPort>,
): RouteVenue[] {
  return dexes.map(
    ({ id, name, kind, places, toleranceBps, maxMoveBps, validSeconds, timeoutMs, maxInFlight }) =>
      createDexVenue({
        id,
        name,
        kind,
        places: places.map(({ chainId, ...place }) => ({
          ...place,
          chain: chainOfPlace(chains, chainId, `DEX "${id}"`),
        })),
        toleranceBps,
        maxMoveBps,
        validSeconds,
        limits: { timeoutMs, maxInFlight },
      }),
  );
}

/** Throws `RequestError` when the chain is not configured. */
export function chainOfPlace(
  chains: ReadonlyMap<number, ChainPort>,
  chainId: number,
  venue: string,
): ChainPort {
  const chain = chains.get(chainId);
  if (!chain)
    throw badConfig(
      `The ${venue} has a place on chain ${chainId}, which is not among the chains. Add the chain or remove the place.`,
    );
  return chain;
}
