/** Declares what each kind of process needs, as the doctor checks it, and how the doctor reaches a chain. */

import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { createDeployNode, type DeployNode } from '../../adapters/evm/deploy/node.ts';
import type { Migration } from '../../adapters/postgres/migrate.ts';
import type { Log } from '../../ports/log.ts';
import type { FeedSection } from '../config/feeds.ts';
import type { ChainSection } from '../config/parts.ts';
import type { DatabaseSection } from '../wiring/database.ts';
import { expand, type SecretContext } from '../wiring/keys.ts';
import { minBaseFeeWei } from '../wiring/networks.ts';
import type { Expected } from './contracts.ts';
import type { Group, WantedPrice } from './feeds.ts';
import { attempt, type Finding } from './finding.ts';

/** The events of a chain must be readable this far back. */
export const LOOK_BACK_SECONDS = 86_400;
export const CHAIN_TODO = 'Repair the endpoints of the chain first';

/** Names what a kind of process needs beyond its chains. */
export interface Needs {
  chains: readonly ChainSection[];
  lookBackSeconds: number;
  database?: { section: DatabaseSection; schema: string; tables: readonly Migration[] };
  redis: readonly { url: string; use: string }[];
  feeds: {
    sections: Readonly<Record<string, FeedSection>>;
    wanted: readonly (WantedPrice & { use: 'price' | 'reference' })[];
    groups: readonly Group[];
  };
  contracts(chainId: number): readonly Expected[];
  /** Checks everything else: keys, accounts, services. */
  more(tools: DoctorTools, chains: readonly EvmChain[]): Promise<Finding[]>;
}

export interface DoctorTools {
  log: Log;
  secrets: SecretContext;
}

/** Opens one node of the chain for `work`, and closes it after. */
export async function withNode<T>(
  section: ChainSection,
  { secrets }: DoctorTools,
  work: (node: DeployNode) => Promise<T>,
): Promise<T> {
  const { timeoutMs, feeModel, rpcUrls } = section;
  const node = createDeployNode(
    rpcUrls.map((url) => expand(url, secrets)),
    { timeoutMs, feeModel, minBaseFee: minBaseFeeWei(section) },
  );
  try {
    return await work(node);
  } finally {
    node.close();
  }
}

/** Rows of every chain, with a failure for one that cannot be asked. */
export async function onEach(
  chains: readonly EvmChain[],
  check: string,
  checkChain: (chain: EvmChain) => Promise<Finding> | Promise<readonly Finding[]> | readonly Finding[],
  todo = CHAIN_TODO,
): Promise<Finding[]> {
  const rows = await Promise.all(
    chains.map((chain) => attempt(check, chain.chain.slug, async () => checkChain(chain), todo)),
  );
  return rows.flat();
}
