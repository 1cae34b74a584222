/** Opens the configured chains and their transaction senders. */

import { randomUUID } from 'node:crypto';
import { parseUnits } from '../../domain/amount.ts';
import type { Chain } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import { createChain, type EvmChain } from '../../adapters/evm/chain/chain.ts';
import { createLanes } from '../../adapters/evm/transactor/lanes.ts';
import { createTransactor } from '../../adapters/evm/transactor/transactor.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Signer } from '../../ports/signer.ts';
import type { TxStore } from '../../ports/stores/tx-store.ts';
import type { Transactor } from '../../ports/transactor.ts';
import type { ChainSection } from '../config/parts.ts';
import { expand, type SecretContext } from './keys.ts';
import type { Life } from './process.ts';
import { untilUp } from './until-up.ts';

interface NetworkTools {
  life: Life;
  log: Log;
  metrics: Metrics;
  secrets: SecretContext;
}

const CHAIN_FIELDS = [
  'id',
  'slug',
  'sandbox',
  'escrow',
  'oracle',
  'permit2',
  'quoteBond',
  'depth',
  'finality',
  'blockTimeMs',
  'native',
  'landingMarginSeconds',
  'proofWindowSeconds',
  'tokens',
] as const satisfies readonly (keyof Chain)[];

/** Wei that a relayer account needs, whatever gas costs. */
export const leastBalanceWei = (section: Pick<SenderSection, 'minGas'> | undefined): bigint =>
  parseUnits(section?.minGas ?? '0', 18);

/** Wei per gas. */
export const minBaseFeeWei = ({ minBaseFeeGwei }: Pick<ChainSection, 'minBaseFeeGwei'>): bigint =>
  BigInt(Math.round(minBaseFeeGwei * 1e9));

export const chainOf = (section: ChainSection): Chain =>
  Object.fromEntries(CHAIN_FIELDS.map((field) => [field, section[field]])) as unknown as Chain;

const optionsOf = (section: ChainSection, { log, secrets }: Pick<NetworkTools, 'log' | 'secrets'>) => ({
  rpcUrls: section.rpcUrls.map((url) => expand(url, secrets)),
  clock: systemClock,
  log,
  timeoutMs: section.timeoutMs,
  feeModel: section.feeModel,
  minBaseFee: minBaseFeeWei(section),
});

export async function openChains(
  sections: readonly ChainSection[],
  { life, log, metrics, secrets }: NetworkTools,
): Promise<EvmChain[]> {
  const chains = sections.map((section) =>
    createChain(chainOf(section), {
      ...optionsOf(section, { log, secrets }),
      metrics,
      tryMs: section.endpoints.tryTimeoutMs,
      maxLagBlocks: section.endpoints.maxLagBlocks,
      readmitAfterMs: section.endpoints.readmitAfterSeconds * 1_000,
      maxClockSkewMs: section.maxClockSkewMs,
      quorum: section.quorum,
      stopOnDeepReorg: section.stopOnDeepReorg,
    }),
  );
  life.onStop('chains', () => Promise.all(chains.map((chain) => chain.close())));
  await Promise.all(
    chains.map((chain) =>
      // A node on the wrong chain is an error; an unreachable one may come back.
      untilUp(() => chain.start(), { life, log, what: 'the chain', facts: { chain: chain.chain.slug } }),
    ),
  );
  return chains;
}

export const createToolChain = (section: ChainSection, tools: Pick<NetworkTools, 'secrets' | 'log'>) =>
  createChain(chainOf(section), { ...optionsOf(section, tools), metrics: createMetrics() });

export async function withChain<T>(
  section: ChainSection,
  tools: Pick<NetworkTools, 'secrets' | 'log'>,
  work: (chain: EvmChain) => Promise<T>,
): Promise<T> {
  const chain = createToolChain(section, tools);
  try {
    await chain.start();
    return await work(chain);
  } finally {
    await chain.close();
  }
}

type SenderSection = ChainSection & { maxFeeGwei: number; batch?: Address | null; minGas?: string | null };

/** Wei per gas. */
export const feeCapWei = (section: Pick<SenderSection, 'maxFeeGwei'> | undefined): bigint =>
  BigInt(Math.round((section?.maxFeeGwei ?? 500) * 1e9));

export function createTransactors(
  sections: readonly SenderSection[],
  chains: readonly EvmChain[],
  {
    signers,
    store,
    log,
    metrics,
    laneOf = String,
  }: {
    signers: readonly [Signer, ...Signer[]];
    store: TxStore;
    log: Log;
    metrics: Metrics;
    /** Names the signer in metrics. */
    laneOf?: (n: number) => string;
  },
): Map<number, Transactor> {
  const owner = randomUUID();
  const lanes = signers.map(({ address }) => address);
  return new Map(
    chains.map((chain) => {
      const section = sections.find(({ id }) => id === chain.chain.id);
      const options = {
        ...{ owner, lanes, batch: section?.batch ?? null },
        ...{ maxFeePerGasCap: feeCapWei(section), leastBalance: leastBalanceWei(section) },
      };
      const open = (signer: Signer, n: number) =>
        createTransactor(
          { chain, store, signer, clock: systemClock, log, metrics },
          { ...options, lane: laneOf(n) },
        );
      const [first, ...others] = signers;
      return [
        chain.chain.id,
        createLanes([open(first, 0), ...others.map((signer, n) => open(signer, n + 1))]),
      ];
    }),
  );
}
