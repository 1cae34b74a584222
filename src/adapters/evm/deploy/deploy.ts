/** Prepares a development chain: Permit2, Multicall3, our contracts, and tokens. */

import {
  createWalletClient,
  type EncodeDeployDataParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  http,
  type PublicActions,
  publicActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import { UpstreamError } from '../../../domain/errors.ts';
import { attestationOracleAbi } from '../../../settlement/abi/attestation-oracle.ts';
import { batchAbi } from '../../../settlement/abi/batch.ts';
import { devAggregatorAbi } from './abi/dev-aggregator.ts';
import { devGasUsdAbi } from './abi/dev-gas-usd.ts';
import { devTokenAbi } from './abi/dev-token.ts';
import { devUsdAbi } from './abi/dev-usd.ts';
import { devWalletAbi } from './abi/dev-wallet.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { permit2Address, permit2Salt } from '../../../settlement/abi/permit2.ts';
import { quoteBondAbi } from '../../../settlement/abi/quote-bond.ts';
import { MULTICALL3_ADDRESS } from '../chain/multicall.ts';
import { creationCodeOf } from './creation-code.ts';

/** Arachnid's CREATE2 deployer, preinstalled in anvil. */
const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c';

/** The address of USDC on Arc. */
const GAS_USD: Address = '0x3600000000000000000000000000000000000000';

interface DevToken {
  symbol: string;
  name: string;
  decimals: number;
  eip3009: boolean;
  priceSymbol: string | null;
  /** Shows and spends native balances, at the address that USDC has on Arc. */
  paysGas?: boolean;
}

export interface DevAccess {
  rpcUrl: string;
  chainId: number;
  deployerPrivateKey: Hex;
}

interface DeployOptions extends DevAccess {
  attesters: readonly Address[];
  threshold: number;
  feeRecipient: Address;
  tokens: readonly DevToken[];
  maxFeeBps?: number;
  withdrawalDelaySeconds?: number;
  minProofWindowSeconds?: number;
  /** The time from an LP's request until it can take its bond back. */
  takeBackDelaySeconds?: number;
  /** The time from the owner's call until other attesters count. */
  rotationDelaySeconds?: number;
}

export interface Deployment {
  escrow: Address;
  oracle: Address;
  permit2: Address;
  batch: Address;
  quoteBond: Address;
  tokens: TokenInfo[];
}

const WITHDRAWAL_WINDOW_SECONDS = 86_400n;
const BOND_SHARE_BPS = 50n;

/** Sends all transactions in parallel, so that a chain with one-second blocks needs one block. */
export async function deployDevnet(options: DeployOptions): Promise<Deployment> {
  const dev = await connectDev(options);
  const runtime = (await dev.rpc('eth_call', [
    { data: creationCodeOf('devnet/Multicall3') },
    'latest',
  ])) as Hex;
  await dev.rpc('anvil_setCode', [MULTICALL3_ADDRESS, runtime]);
  const permit2 = lower(permit2Address);
  dev.send(CREATE2_DEPLOYER, `${permit2Salt}${creationCodeOf('Permit2').slice(2)}`);
  const signers = [...options.attesters].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const oracle = dev.create({
    abi: attestationOracleAbi,
    bytecode: creationCodeOf('AttestationOracle'),
    args: [dev.address, signers, BigInt(options.threshold), BigInt(options.rotationDelaySeconds ?? 86_400)],
  });
  const escrow = dev.create({
    abi: escrowAbi,
    bytecode: creationCodeOf('Escrow'),
    args: [
      permit2,
      options.feeRecipient,
      BigInt(options.maxFeeBps ?? 100),
      BigInt(options.withdrawalDelaySeconds ?? 900),
      WITHDRAWAL_WINDOW_SECONDS,
      BigInt(options.minProofWindowSeconds ?? 1_800),
    ],
  });
  const predeploys: { from: Address; place: Address }[] = [];
  const tokens = options.tokens.map((token): TokenInfo => {
    const { symbol, name, decimals, eip3009, priceSymbol } = token;
    const facts = { symbol, name, decimals, priceSymbol, eip3009: eip3009 ? { name, version: '2' } : null };
    if (token.paysGas === true) {
      predeploys.push({
        from: dev.create({ abi: devGasUsdAbi, bytecode: creationCodeOf('devnet/DevGasUsd') }),
        place: GAS_USD,
      });
      return { ...facts, address: GAS_USD };
    }
    const address = eip3009
      ? dev.create({ abi: devUsdAbi, bytecode: creationCodeOf('devnet/DevUsd'), args: [name] })
      : dev.create({
          abi: devTokenAbi,
          bytecode: creationCodeOf('devnet/DevToken'),
          args: [name, symbol, decimals],
        });
    return { ...facts, address };
  });
  const batch = dev.create({ abi: batchAbi, bytecode: creationCodeOf('Batch'), args: [escrow] });
  const quoteBond = dev.create({
    abi: quoteBondAbi,
    bytecode: creationCodeOf('QuoteBond'),
    args: [escrow, options.feeRecipient, BOND_SHARE_BPS, BigInt(options.takeBackDelaySeconds ?? 86_400)],
  });
  await dev.settled();
  for (const { from, place } of predeploys)
    await dev.rpc('anvil_setCode', [place, await dev.rpc('eth_getCode', [from, 'latest'])]);
  return { escrow, oracle, permit2, batch, quoteBond, tokens };
}

export async function fundDevnet({
  mint,
  native,
  ...access
}: DevAccess & {
  mint: readonly { token: Address; to: Address; amount: bigint }[];
  native: readonly { to: Address; wei: bigint }[];
}): Promise<void> {
  const dev = await connectDev(access);
  await Promise.all(native.map(({ to, wei }) => dev.rpc('anvil_setBalance', [to, `0x${wei.toString(16)}`])));
  for (const { token, to, amount } of mint)
    dev.send(token, encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [to, amount] }));
  await dev.settled();
}

export async function deployAggregators({
  aggregators,
  ...access
}: DevAccess & {
  aggregators: readonly { description: string; decimals: number; answer: bigint }[];
}): Promise<Address[]> {
  const dev = await connectDev(access);
  const addresses = aggregators.map(({ description, decimals, answer }) => {
    const address = dev.create({
      abi: devAggregatorAbi,
      bytecode: creationCodeOf('devnet/DevAggregator'),
      args: [description, decimals],
    });
    dev.send(address, encodeFunctionData({ abi: devAggregatorAbi, functionName: 'push', args: [answer] }));
    return address;
  });
  await dev.settled();
  return addresses;
}

export async function deployContractWallets({
  owners,
  ...access
}: DevAccess & { owners: readonly Address[] }): Promise<Address[]> {
  const dev = await connectDev(access);
  const wallets = owners.map((owner) =>
    dev.create({ abi: devWalletAbi, bytecode: creationCodeOf('devnet/DevWallet'), args: [owner] }),
  );
  await dev.settled();
  return wallets;
}

/** The deployer of a development chain. Its transactions are sent at once, and mined together. */
export interface Dev {
  address: Address;
  rpc(method: string, params: readonly unknown[]): Promise<unknown>;
  /** `to` null creates a contract. */
  send(to: Address | null, data: Hex): void;
  /** Returns the address that the contract will have. */
  create(parameters: EncodeDeployDataParameters): Address;
  /** Resolves when all that was sent is mined. Throws `UpstreamError` when one reverted. */
  settled(): Promise<void>;
}

export async function connectDev({ rpcUrl, chainId, deployerPrivateKey }: DevAccess): Promise<Dev> {
  const account = privateKeyToAccount(deployerPrivateKey);
  const chain = {
    id: chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  };
  const client = createWalletClient({ account, chain, transport: http(rpcUrl, { batch: true }) }).extend(
    publicActions as never,
  ) as ReturnType<typeof createWalletClient> & PublicActions;
  const rpc = (method: string, params: readonly unknown[]) =>
    client.request({ method, params } as never) as Promise<unknown>;
  await rpc('anvil_setBalance', [account.address, `0x${(10n ** 22n).toString(16)}`]);
  let nonce = await client.getTransactionCount({ address: account.address, blockTag: 'pending' });
  let sent: { nonce: number; raw: Promise<Hex>; hash: Promise<Hex> }[] = [];
  const send = (to: Address | null, data: Hex) => {
    // A fixed gas limit, because estimation would need the earlier transactions to be mined.
    const request = {
      account,
      chain,
      to,
      data,
      nonce: nonce++,
      gas: 8_000_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    };
    const raw = client.signTransaction(request);
    sent.push({
      nonce: request.nonce,
      raw,
      hash: raw.then((serializedTransaction) => client.sendRawTransaction({ serializedTransaction })),
    });
  };

  /**
   * anvil leaves out transactions that did not fit into a block, or blocks all behind one; both are sent
   * again.
   */
  async function nudge(stuckAt: number | undefined): Promise<number> {
    const next = await client.getTransactionCount({ address: account.address, blockTag: 'latest' });
    if (next === stuckAt) {
      // anvil cannot drop a single pending transaction.
      await rpc('anvil_removePoolTransactions', [account.address]);
      for (const { nonce: waiting, raw } of sent)
        if (waiting >= next) await client.sendRawTransaction({ serializedTransaction: await raw });
    }
    await rpc('evm_mine', []);
    return next;
  }

  return {
    address: lower(account.address),
    rpc,
    send,
    create(parameters) {
      const address = getContractAddress({ from: account.address, nonce: BigInt(nonce) });
      send(null, encodeDeployData(parameters));
      return lower(address);
    },
    async settled() {
      const hashes = await Promise.all(sent.map(({ hash }) => hash));
      let stuckAt: number | undefined;
      const nudges = setInterval(
        () =>
          void nudge(stuckAt).then(
            (next) => (stuckAt = next),
            () => {},
          ),
        NUDGE_MS,
      );
      const receipts = await Promise.all(
        hashes.map((hash) =>
          client.waitForTransactionReceipt({ hash, pollingInterval: 50, timeout: 60_000 }),
        ),
      ).finally(() => clearInterval(nudges));
      sent = [];
      const failed = receipts.find(({ status }) => status !== 'success');
      if (failed)
        throw new UpstreamError(
          'A deployment transaction reverted on the development chain. Restart the chain.',
          { code: 'deploy_failed', facts: { txHash: failed.transactionHash } },
        );
    },
  };
}

const NUDGE_MS = 1_000;
const lower = (address: string): Address => address.toLowerCase() as Address;
