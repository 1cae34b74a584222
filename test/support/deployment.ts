/** Chains to deploy on and files of parameters, for tests of `firmquote deploy`. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { writeSecretFile } from '../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../src/adapters/keystore/keystore.ts';
import type { ContractKey } from '../../src/apps/config/deployment.ts';
import { type DeployConfig, zDeployConfig } from '../../src/apps/deploy/config.ts';
import { type Contract, contractsOf } from '../../src/apps/deploy/contracts.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import { startAnvil, type TestAnvil } from './anvil.ts';
import { commandHere, type Ended } from './command.ts';
import { account } from './devnet.ts';

export const SENDER = account(71);
export const SAFE = account(72).address;
export const SIGNERS = [account(74), account(75), account(76)].map(({ address }) => address);
const ETHER = 10n ** 18n;
const PASSWORD = 'a password for tests';

export interface Deploying {
  file: string;
  /** The folder of the records. */
  folder: string;
  config: DeployConfig;
  /** Returns a contract as it is on the first chain. */
  contract(key: ContractKey): Contract;
  plan(...words: string[]): Promise<Ended>;
  run(...words: string[]): Promise<Ended>;
  verify(...words: string[]): Promise<Ended>;
}

export interface DeployWorld {
  chains: TestAnvil[];
  /** Parameters of their own for each test: another salt gives other addresses on the same chains. */
  parameters(salt: string, changes?: object): Promise<Deploying>;
  stop(): Promise<void>;
}

/** Chains "one", "two" and so on, which mine each transaction without delay. */
export async function startDeployWorld(
  ids: readonly number[],
  args: readonly string[] = [],
): Promise<DeployWorld> {
  const root = await mkdtemp(join(tmpdir(), 'fq-deploy-'));
  const chains = await Promise.all(ids.map((chainId) => startAnvil({ chainId, args })));
  for (const { rpc } of chains) {
    await rpc('anvil_setBalance', [SENDER.address, `0x${(100n * ETHER).toString(16)}`]);
    await rpc('anvil_setCode', [SAFE, '0x00']);
    await rpc('anvil_autoImpersonateAccount', [true]);
  }
  const [key, passwordFile] = [join(root, 'key.json'), join(root, 'password')];
  await writeSecretFile(passwordFile, PASSWORD);
  await writeSecretFile(key, await encryptKey(SENDER, PASSWORD, { n: 1 << 10 }));
  return {
    chains,
    async parameters(salt, changes = {}) {
      const folder = join(root, salt);
      const json = {
        app: 'deploy',
        keys: { deployer: { keystore: key, passwordFile } },
        deployments: folder,
        salt,
        escrow: { feeRecipient: SAFE },
        oracle: {
          initialOwner: SENDER.address,
          initialCommittee: { signers: SIGNERS, threshold: 2 },
          rotationDelaySeconds: 3_600,
        },
        quoteBond: { forfeitTo: SAFE },
        owner: SAFE,
        chains: chains.map(({ url, chainId }, at) => ({
          ...{ id: chainId, slug: ['one', 'two'][at], rpcUrls: [url], depth: 0 },
        })),
        ...changes,
      };
      const file = join(root, `${salt}.json`);
      await writeFile(file, JSON.stringify(json));
      const config = zDeployConfig.parse(json);
      const contracts = contractsOf(config, config.chains[0] as DeployConfig['chains'][number]);
      const command =
        (...first: string[]) =>
        (...words: string[]) =>
          commandHere('deploy', ...first, '-c', file, ...words);
      return {
        ...{ file, folder, config },
        contract: (key) => contracts.find((one) => one.key === key) as Contract,
        plan: command('plan'),
        run: command('run', '--yes'),
        verify: command('verify'),
      };
    },
    async stop() {
      await Promise.all(chains.map((chain) => chain.stop()));
      await rm(root, { recursive: true, force: true });
    },
  };
}

export const codeAt = ({ rpc }: TestAnvil, address: Address) => rpc<Hex>('eth_getCode', [address, 'latest']);

/** Transactions that the deployer's account has had mined. */
export const sentBy = async ({ rpc }: TestAnvil, address: Address = SENDER.address): Promise<number> =>
  Number(await rpc<Hex>('eth_getTransactionCount', [address, 'latest']));

/** Mined, from an account whose key is not needed. */
export async function sendAs({ rpc }: TestAnvil, from: Address, to: Address, data: Hex): Promise<void> {
  await rpc('anvil_setBalance', [from, '0x8ac7230489e80000']);
  const hash = await rpc<Hex>('eth_sendTransaction', [{ from, to, data, gas: '0x989680' }]);
  let receipt: { status: Hex } | null = null;
  while (receipt === null) receipt = await rpc<{ status: Hex } | null>('eth_getTransactionReceipt', [hash]);
  expect(receipt.status).toBe('0x1');
}
