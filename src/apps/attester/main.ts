/** `firmquote attester`: wires a watcher that signs final fills. */

import { attestationRoutes } from '../../adapters/attestations/routes.ts';
import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { healthRoutes, startOps } from '../../adapters/http/ops.ts';
import { createLog } from '../../adapters/pino/log.ts';
import { createRedactor } from '../../adapters/pino/redact.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { createAttester } from '../../attester/attester.ts';
import { loadConfig } from '../config/load.ts';
import { openSigner } from '../keys.ts';
import { openChains } from '../networks.ts';
import { liveAs } from '../process.ts';
import { zAttesterConfig } from './config.ts';

export interface AttesterGround {
  chains: readonly EvmChain[];
}

/** `wrap` may replace parts, for fault injection and recording. */
export async function runAttester(
  { config: file }: { config: string },
  { wrap = (ground) => ground }: { wrap?: (ground: AttesterGround) => AttesterGround } = {},
): Promise<void> {
  const { config } = await loadConfig(zAttesterConfig, file, process.env);
  const redactor = createRedactor();
  const log = createLog({ app: 'attester', level: config.log.level, redactor });
  const secrets = { env: process.env, redactor };

  await liveAs('attester', log, async (life) => {
    const metrics = createMetrics();
    const startup = { ready: (): readonly string[] => ['starting'] };
    const ops = await startOps({
      ...config.ops,
      log,
      routes: healthRoutes({ ready: async () => startup.ready(), metrics }),
    });
    life.onStop('operator door', () => ops.close());
    const signer = await openSigner(config.keys.attester, secrets);
    const { chains } = wrap({ chains: await openChains(config.chains, { life, log, metrics, secrets }) });
    const attester = createAttester(
      {
        chains: new Map(chains.map((chain) => [chain.chain.id, chain])),
        signer,
        clock: systemClock,
        log,
        metrics,
      },
      { lookBackSeconds: config.lookBackSeconds, staleMs: config.staleMs },
    );
    life.onStop('attester', () => attester.stop());
    await attester.start();
    startup.ready = () => attester.ready();
    const door = await startOps({ ...config.http, log, routes: attestationRoutes(attester) });
    life.onStop('door', () => door.close());
    log.info({ attester: signer.address, url: door.url }, 'attester is open');
  });
}
