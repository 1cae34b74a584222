/** Route partners from the configuration. */

import * as z from 'zod';
import { createOutbound } from '../../adapters/outbound/request.ts';
import { createPartnerClient, type PartnerClient } from '../../adapters/partners/client.ts';
import { createPartnerVenue, type PartnerVenue } from '../../adapters/partners/venue.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { ROUTE_VENUE_ID } from '../../ports/route-venue.ts';
import { PARTNER_KINDS } from '../../protocol/partner/messages.ts';
import { partnerPublicKey, partnerSigningKey, publicKeyText } from '../../protocol/partner/signature.ts';
import { badConfig, badRequest } from '../wiring/bad-request.ts';
import type { SecretSource } from '../config/parts.ts';
import { openSecret, type SecretContext } from '../wiring/keys.ts';
import type { Life } from '../wiring/process.ts';

const zPublicKey = z.string().refine((text) => {
  try {
    partnerPublicKey(text);
    return true;
  } catch {
    return false;
  }
}, 'must be an Ed25519 public key: the line between BEGIN and END of `openssl pkey -in partner.pem -pubout`');

const zPartner = z.strictObject({
  /** Public, and stored in every order filled by it: never reuse an id. */
  id: z.string().regex(ROUTE_VENUE_ID, 'must be lower-case words joined by hyphens'),
  name: z.string().min(1).max(80),
  kind: z.enum(PARTNER_KINDS),
  /** Base of its paths. A private address needs `outbound.allowPrivate`. */
  url: z
    .url({ protocol: /^https?$/ })
    .refine((text) => !/[?#]|\/$/.test(text), {
      error: 'must end without a slash and have no query, such as https://partner.example/firmquote',
    }),
  /** The partner's keys, one of which signs its answers. Two while it replaces its key. */
  publicKeys: z.array(zPublicKey).min(1).max(4),
  /** The timeout of a price, and of a reservation. */
  timeoutMs: z.int().min(50).max(10_000).default(500),
  maxInFlight: z.int().min(1).default(50),
  termsSeconds: z.int().min(1).max(3_600).default(30),
  /** The timeout of each request about an order. */
  orderTimeoutMs: z.int().min(50).max(60_000).default(5_000),
  /** The wait until the chain shows a delivery that the partner has begun; the venue then asks again. */
  fillSeconds: z.int().min(1).max(600).default(30),
  /** An order that is not being delivered is given up when less than this is left to its fill deadline. */
  cancelSeconds: z.int().min(0).max(600).default(10),
});

export const zPartners = z
  .array(zPartner)
  .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'must have ids that differ')
  .default([]);

interface PartnersConfig {
  partners: z.infer<typeof zPartners>;
  keys: { partners: readonly SecretSource[] };
  outbound: { allowPrivate: boolean };
}

interface PartnerClients {
  of(id: string): PartnerClient;
  /** The keys with which partners verify what we ask. */
  publicKeys: readonly string[];
  close(): void;
}

/** Throws `RequestError` without a key of the venue. */
export async function openPartnerClients(
  { partners, keys, outbound: { allowPrivate } }: PartnersConfig,
  { metrics, secrets }: { metrics: Metrics; secrets: SecretContext },
): Promise<PartnerClients> {
  if (keys.partners.length === 0)
    throw badConfig(
      'The configuration has partners and no key to sign what we ask them. Name a file in keys.partners that was made with: openssl genpkey -algorithm ed25519',
    );
  const signing = await Promise.all(
    keys.partners.map(async (source) => partnerSigningKey(await openSecret(source, secrets))),
  );
  const outbound = createOutbound({
    allowHosts: partners.map(({ url }) => new URL(url).hostname),
    allowPrivate,
  });
  const clients = new Map(
    partners.map(({ id, url, publicKeys }) => [
      id,
      createPartnerClient(
        { id, url, keys: signing, partnerKeys: publicKeys.map(partnerPublicKey) },
        { outbound, clock: systemClock, random: systemRandom, metrics },
      ),
    ]),
  );
  return {
    of(id) {
      const client = clients.get(id);
      if (client === undefined)
        throw badRequest(
          `The configuration has no partner ${id}${partners.length === 0 ? '' : `, only ${[...clients.keys()].join(', ')}`}.`,
        );
      return client;
    },
    publicKeys: signing.map(publicKeyText),
    close: () => outbound.close(),
  };
}

interface PartnerTools {
  chains: ReadonlyMap<number, ChainPort>;
  life: Life;
  log: Log;
  metrics: Metrics;
  secrets: SecretContext;
}

/** A partner that does not answer at the start serves nothing until it does. */
export async function openPartnerVenues(
  config: PartnersConfig,
  { chains, life, log, metrics, secrets }: PartnerTools,
): Promise<PartnerVenue[]> {
  if (config.partners.length === 0) return [];
  const clients = await openPartnerClients(config, { metrics, secrets });
  life.onStop('partner connections', () => clients.close());
  log.info({ publicKeys: clients.publicKeys }, 'partners verify what we ask by these public keys');
  return config.partners.map(
    ({ id, name, kind, publicKeys, timeoutMs, maxInFlight, orderTimeoutMs, ...seconds }) => {
      const venue = createPartnerVenue(
        { client: clients.of(id), chains, clock: systemClock, log },
        {
          ...{ id, name, kind, publicKeys, limits: { timeoutMs, maxInFlight }, orderTimeoutMs },
          termsMs: seconds.termsSeconds * 1_000,
          fillMs: seconds.fillSeconds * 1_000,
          cancelSeconds: seconds.cancelSeconds,
        },
      );
      life.onStop(`partner ${id}`, () => venue.stop());
      void venue.start();
      return venue;
    },
  );
}
