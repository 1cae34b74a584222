/** Webhooks of the venue: their keys, what posts them, and the worker's part. */

import { createWebhookPoster } from '../../adapters/outbound/webhooks.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Queue } from '../../ports/queue.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import type { WebhookPoster } from '../../ports/stores/webhooks.ts';
import { createWebhookCourier } from '../../venue/webhooks/deliver.ts';
import { createWebhookFanOut } from '../../venue/webhooks/fan-out.ts';
import type { VaultKey } from '../../venue/options.ts';
import { createVault } from '../../venue/webhooks/vault.ts';
import { openSecret, type SecretContext } from '../wiring/keys.ts';
import type { Life } from '../wiring/process.ts';
import type { VenueConfig } from './config.ts';

export function openPoster(
  { webhooks: { allowPrivate, allowHttp, timeoutMs } }: Pick<VenueConfig, 'webhooks'>,
  { life }: { life: Life },
): WebhookPoster {
  const poster = createWebhookPoster({ allowPrivate, allowHttp, timeoutMs });
  life.onStop('webhook connections', () => poster.close());
  return poster;
}

export const readWebhookKeys = (
  { keys }: Pick<VenueConfig, 'keys'>,
  secrets: SecretContext,
): Promise<VaultKey[]> =>
  Promise.all(
    keys.webhooks.map(async ({ id, secret }) => ({
      id,
      secret: Buffer.from(await openSecret(secret, secrets)),
    })),
  );

/**
 * Starts webhooks. Without a key nothing is sent, but events are still passed over, so that later endpoints
 * start clean.
 */
export async function startWebhooks(
  config: Pick<VenueConfig, 'keys' | 'webhooks'>,
  {
    store,
    bus,
    queue,
    chains: ports,
    poster,
    life,
    log,
    metrics,
    secrets,
  }: {
    store: VenueStore;
    bus: Bus;
    queue: Queue;
    chains: ReadonlyMap<number, EvmChain>;
    poster: WebhookPoster;
    life: Life;
    log: Log;
    metrics: Metrics;
    secrets: SecretContext;
  },
): Promise<void> {
  const vault = createVault(await readWebhookKeys(config, secrets));
  const chains = new Map([...ports].map(([id, { chain }]) => [id, chain]));
  const courier =
    vault &&
    createWebhookCourier(
      { store: store.webhooks, poster, vault, queue, clock: systemClock, log, metrics },
      config.webhooks,
    );
  const fanOut = createWebhookFanOut(
    { store, bus, chains, clock: systemClock, log, onDeliveries: (ids) => courier?.wake(ids) },
    config.webhooks,
  );
  life.onStop('webhooks', async () => {
    await fanOut.stop();
    await courier?.stop();
  });
  await fanOut.start();
  await courier?.start();
}
