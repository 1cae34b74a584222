/** Issuers on chain from the configuration: vaults, peg-stability modules, native wrappers. */

import * as z from 'zod';
import { createIssuerVenue } from '../../adapters/issuers/venue.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { RouteVenue } from '../../ports/route-venue.ts';
import { zAddress } from '../../protocol/wire.ts';
import { chainOfPlace, venueOnChain } from './dex.ts';

const zProduct = z.strictObject({
  /** `vault`: asset, share. `peg`: the module's gem, dai. `wrap`: two wrappers of the native currency. */
  tokens: z.tuple([zAddress, zAddress]).refine(([a, b]) => a !== b, 'must be two different tokens'),
  /** The peg-stability module that the filler was deployed for. null for other kinds. */
  psm: zAddress.nullable().default(null),
  /**
   * Gas limit of the filler, which the trade pays the relayer for. null: that of a plain contract; vaults
   * that lend on need more.
   */
  gas: z.int().min(50_000).max(3_000_000).nullable().default(null),
});

const zIssuer = z
  .strictObject({
    ...venueOnChain,
    /** vault: ERC-4626. peg: a module with the interface of Maker's LitePSM. wrap: WETH9 and its like. */
    kind: z.enum(['vault', 'peg', 'wrap']),
    /** A filler of ours and what it fills from. A peg filler fills from one module. */
    places: z
      .array(
        z.strictObject({
          chainId: z.int().min(1),
          filler: zAddress,
          products: z.array(zProduct).min(1).max(200),
        }),
      )
      .min(1),
  })
  .superRefine(({ kind, places }, context) => {
    const seen = new Set<string>();
    places.forEach(({ chainId, products }, place) =>
      products.forEach(({ tokens, psm }, product) => {
        const issue = (path: string, message: string) =>
          context.addIssue({ code: 'custom', path: ['places', place, 'products', product, path], message });
        if ((psm === null) !== (kind !== 'peg'))
          issue('psm', kind === 'peg' ? 'must be given' : 'must be null: only a peg has a module');
        const key = `${chainId} ${[...tokens].sort().join(' ')}`;
        if (seen.has(key))
          issue('tokens', 'must be a pair that no other product has: list the other in an issuer of its own');
        seen.add(key);
      }),
    );
  });

export const zIssuers = z
  .array(zIssuer)
  .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'must have ids that differ')
  .default([]);

/** Throws `RequestError` when a place is on a chain that is not configured. */
export const openIssuerVenues = (
  issuers: z.infer<typeof zIssuers>,
  chains: ReadonlyMap<number, ChainPort>,
): RouteVenue[] =>
  issuers.map(({ places, timeoutMs, maxInFlight, ...issuer }) =>
    createIssuerVenue({
      ...issuer,
      places: places.map(({ chainId, filler, products }) => ({
        chain: chainOfPlace(chains, chainId, `issuer "${issuer.id}"`),
        filler,
        products: products.map(({ gas, ...product }) => ({
          ...product,
          gas: gas === null ? null : BigInt(gas),
        })),
      })),
      limits: { timeoutMs, maxInFlight },
    }),
  );
