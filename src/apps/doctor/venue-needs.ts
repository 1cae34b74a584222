/** Checks what a venue needs: its contracts and fillers, relayers, floats, attesters and services. */

import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import type { Address } from '../../domain/hex.ts';
import type { KeySource } from '../config/parts.ts';
import type { VenueConfig } from '../venue/config.ts';
import { wantedPrices } from '../venue/reference.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../venue/schema.ts';
import { expand, type SecretContext } from '../wiring/keys.ts';
import { feeCapWei } from '../wiring/networks.ts';
import { checkAttesters } from './accounts.ts';
import type { Expected } from './contracts.ts';
import { attempt, type Finding } from './finding.ts';
import { checkFloats } from './floats.ts';
import { CHAIN_TODO, LOOK_BACK_SECONDS, type Needs, onEach } from './needs.ts';
import { checkWebhook } from './reach.ts';
import { checkGas, checkSigner } from './signers.ts';

/** Size of a settlement that the relayer sends, unsigned. */
const SETTLE_BYTES = 1_200;

const ISSUER_FILLERS = { vault: 'VaultFiller', peg: 'PegFiller', wrap: 'WrapFiller' } as const;

export function venueNeeds(config: VenueConfig, secrets: SecretContext): Needs {
  const { database, chains, keys, feeds, prices, attesters, outbound, travelRule, screening, dex, issuers } =
    config;
  const redisUrl = secrets.env['REDIS_URL'] ?? config.queue.redisUrl;
  const relayers: KeySource[] = [keys.relayer].flat();
  const webhooks = [
    { name: 'travel rule', url: travelRule.url },
    { name: 'screening', url: screening.provider.url },
  ];
  return {
    chains,
    lookBackSeconds: LOOK_BACK_SECONDS,
    database: { section: database, schema: VENUE_SCHEMA, tables: VENUE_TABLES },
    redis: redisUrl ? [{ url: redisUrl, use: 'queue' }] : [],
    feeds: { sections: feeds, wanted: wantedPrices(prices), groups: [] },
    contracts: (chainId) => [
      ...chains.flatMap(({ id, batch, escrow }): Expected[] =>
        id === chainId && batch !== null
          ? [{ option: 'batch', address: batch, ours: { name: 'Batch', escrow } }]
          : [],
      ),
      ...dex.flatMap(({ id, kind, places }) =>
        places
          .filter((place) => place.chainId === chainId)
          .flatMap(({ filler, factory }): Expected[] => [
            {
              option: `filler of ${id}`,
              address: filler,
              ours: {
                name: kind === 'concentrated' ? 'ConcentratedFiller' : 'ConstantProductFiller',
                escrow: chains.find((chain) => chain.id === chainId)?.escrow as Address,
                factory,
              },
            },
            { option: `factory of ${id}`, address: factory },
          ]),
      ),
      ...issuers.flatMap(({ id, kind, places }) =>
        places
          .filter((place) => place.chainId === chainId)
          .flatMap(({ filler, products }) =>
            products.flatMap(({ tokens, psm }): Expected[] => [
              {
                option: `filler of ${id}`,
                address: filler,
                ours: {
                  name: ISSUER_FILLERS[kind],
                  escrow: chains.find((chain) => chain.id === chainId)?.escrow as Address,
                  psm,
                },
              },
              ...[...tokens, ...(psm === null ? [] : [psm])].map((address) => ({
                option: `product of ${id}`,
                address,
              })),
            ]),
          ),
      ),
    ],
    async more(tools, opened) {
      const rows: Finding[] = [];
      const feeCap = (chainId: number) => feeCapWei(chains.find(({ id }) => id === chainId));
      for (const [n, source] of relayers.entries()) {
        const name = relayers.length === 1 ? 'relayer' : `relayer ${n}`;
        const { row, address } = await checkSigner(name, source, tools);
        rows.push(row);
        if (address !== undefined)
          rows.push(
            ...(await onEach(opened, 'gas', (chain) => {
              const section = chains.find(({ id }) => id === chain.chain.id);
              return checkGas(chain, name, address, {
                gas: BigInt(section?.settleGas ?? 0),
                bytes: SETTLE_BYTES,
                feeCap: feeCap(chain.chain.id),
                least: undefined,
              });
            })),
          );
      }
      rows.push(...(await checkFloats(config.bridges, { chains: opened, sections: chains, tools, feeCap })));
      rows.push(
        ...(await attempt(
          'attesters',
          'all chains',
          () => checkAttesters(attesters, opened, { log: tools.log, metrics: createMetrics() }),
          CHAIN_TODO,
        )),
      );
      for (const { name, url } of webhooks)
        if (url !== null)
          rows.push(
            ...(await attempt(
              'webhook',
              name,
              () => checkWebhook(name, expand(url, secrets), outbound),
              'Correct it',
            )),
          );
      return rows;
    },
  };
}
