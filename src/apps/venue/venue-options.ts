/** Makes the options of the venue from its configuration, with the secrets that they name. */

import { clientOf } from '../../adapters/http/client-address.ts';
import type { ChainSettings, VenueOptions } from '../../venue/options.ts';
import { openSecret, type SecretContext } from '../wiring/keys.ts';
import type { VenueConfig } from './config.ts';
import { readWebhookKeys } from './webhooks.ts';

export async function venueOptions(config: VenueConfig, secrets: SecretContext): Promise<VenueOptions> {
  const settingsOf = (chain: VenueConfig['chains'][number]): ChainSettings => ({
    executionMode: chain.executionMode,
    settleGas: BigInt(chain.settleGas),
    outputGas: BigInt(chain.outputGas),
    openGas: BigInt(chain.openGas),
    throughGas: BigInt(chain.throughGas),
    relayBufferBps: chain.relayBufferBps,
  });
  const { listedChains, fanOut, router, rates, breaker, sockets, admission, levels, webhooks, sandbox } =
    config;
  return {
    venueId: config.venueId,
    sealKeys: await Promise.all(
      config.keys.seals.map(async ({ id, secret, acceptUntil }) => ({
        kid: id,
        secret: Buffer.from(await openSecret(secret, secrets)),
        acceptUntil,
      })),
    ),
    chainSettings: new Map(config.chains.map((chain) => [chain.id, settingsOf(chain)])),
    listedChains,
    minBond: config.roster.minBond,
    shadows: config.roster.shadows,
    fanOut,
    router,
    rates: { ...rates, trustedIps: rates.trustedIps.map(clientOf) },
    breaker,
    sockets,
    admission,
    levels,
    webhooks,
    sandbox,
    webhookKeys: await readWebhookKeys(config, secrets),
  };
}
