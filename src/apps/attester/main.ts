/** `firmquote attester`: wires a watcher that signs final fills. */

import { attestationRoutes } from '../../adapters/attestations/routes.ts';
import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { startOps } from '../../adapters/http/ops.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { createAttester } from '../../attester/attester.ts';
import { loadConfig } from '../config/load.ts';
import { openChains } from '../wiring/networks.ts';
import { liveAs, openHealth, processContext } from '../wiring/process.ts';
import { openSigner } from '../wiring/signers.ts';
import { zAttesterConfig } from './config.ts';

interface AttesterGround {
  chains: readonly EvmChain[];
}

export async function runAttester(
  { config: file }: { config: string },
  { wrap = (ground) => ground }: { wrap?: (ground: AttesterGround) => AttesterGround } = {},
): Promise<void> {
  const { config } = await loadConfig(zAttesterConfig, file, process.env);
  const { log, secrets } = processContext('attester', config);

  await liveAs('attester', log, async (life) => {
    const { metrics, readyWhen } = await openHealth(life, log, config.ops);
    const signer = await openSigner(config.keys.attester, { life, log, metrics, secrets });
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
    readyWhen(async () => attester.ready());
    const door = await startOps({ ...config.http, log, routes: attestationRoutes(attester) });
    life.onStop('door', () => door.close());
    log.info({ attester: signer.address, url: door.url }, 'attester is open');
  });
}
