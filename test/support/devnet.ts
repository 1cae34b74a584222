/**
 * Starts one or two real chains with everything deployed, and accounts that can act on them, for flow tests.
 */

import { encodeFunctionData, erc20Abi } from 'viem';
import { createChain, type EvmChain } from '../../src/adapters/evm/chain/chain.ts';
import { deployDevnet, type Deployment, fundDevnet } from '../../src/adapters/evm/deploy/deploy.ts';
import { ecdsa } from '../../src/adapters/secp256k1/ecdsa.ts';
import { createSigner } from '../../src/adapters/secp256k1/signer.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { type Chain, ETHER, type FinalityStep, type TokenInfo } from '../../src/domain/chain.ts';
import { type Address, type Bytes32, bytesToHex, type Hex, hexToBytes } from '../../src/domain/hex.ts';
import type { Signer } from '../../src/ports/signer.ts';
import { depositCall, setOperatorCall } from '../../src/settlement/call.ts';
import { startAnvil, type TestAnvil } from './anvil.ts';
import { silentLog, silentMetrics } from './silent.ts';

export interface TestAccount {
  privateKey: Hex;
  address: Address;
  signer: Signer;
  /** Signs a digest, without waiting. */
  sign(digest: Bytes32): Hex;
}

/** Returns a distinct and deterministic account; no public chain has funds on these accounts. */
export function account(n: number): TestAccount {
  const privateKey: Hex = `0x${(0xf17a0000n + BigInt(n)).toString(16).padStart(64, '0')}`;
  const signer = createSigner(privateKey);
  return {
    privateKey,
    address: signer.address,
    signer,
    sign(digest) {
      const { signature, recovery } = ecdsa.sign(hexToBytes(digest), hexToBytes(privateKey));
      return `${bytesToHex(signature)}${recovery === 0 ? '1b' : '1c'}`;
    },
  };
}

export const DEPLOYER = account(1);
export const FEE_RECIPIENT = account(2);
/** The three attesters, two of whom suffice. */
export const ATTESTERS = [account(11), account(12), account(13)] as const;

export interface TestChain {
  anvil: TestAnvil;
  chain: Chain;
  port: EvmChain;
  deployment: Deployment;
  usdc: TokenInfo;
  weth: TokenInfo;
  /** Gives native currency and, of every token, this many whole ones. */
  fund(address: Address, wholeTokens?: bigint): Promise<void>;
  /** Funds like `fund`, and in one block for all. */
  fundAll(accounts: readonly { address: Address; wholeTokens: bigint }[]): Promise<void>;
  /** Sends from an impersonated account and waits until it is mined. Throws when it reverts. */
  send(from: Address, to: Address, data: Hex): Promise<Hex>;
  approve(owner: Address, token: Address, spender: Address, amount?: bigint): Promise<void>;
  /** Deposits into the owner's ledger balance. */
  deposit(owner: Address, token: Address, amount: bigint): Promise<void>;
  setOperator(lp: Address, operator: Address, allowed?: boolean): Promise<void>;
}

/** Wei per gas. */
const ARC_BASE_FEE = 20_000_000_000n;

export interface DevnetOptions {
  /** 0 mines each transaction without delay. */
  blockTimeSeconds?: number;
  depth?: number;
  finality?: readonly FinalityStep[];
  landingMarginSeconds?: number;
  proofWindowSeconds?: number;
  rotationDelaySeconds?: number;
  anvilArgs?: readonly string[];
  ws?: boolean;
  /** The chains with Arc's currency: gas is USDC, one balance behind both. */
  arcIds?: readonly number[];
  /** How many plain tokens of 18 decimals there are beside USDC and WETH: T0, T1 ... */
  moreTokens?: number;
}

export interface Devnet {
  chains: TestChain[];
  stop(): Promise<void>;
}

export async function startDevnet(ids: readonly number[], options: DevnetOptions = {}): Promise<Devnet> {
  const chains = await Promise.all(ids.map((id, index) => startChain(id, `chain${index + 1}`, options)));
  return {
    chains,
    async stop() {
      await Promise.all(chains.map(({ port }) => port.close()));
      await Promise.all(chains.map(({ anvil }) => anvil.stop()));
    },
  };
}

async function startChain(
  id: number,
  slug: string,
  {
    blockTimeSeconds = 0,
    depth = 1,
    finality = [],
    landingMarginSeconds = 30,
    proofWindowSeconds = 60,
    rotationDelaySeconds,
    anvilArgs = [],
    ws = false,
    moreTokens = 0,
    arcIds = [],
  }: DevnetOptions,
): Promise<TestChain> {
  const isArc = arcIds.includes(id);
  const anvil = await startAnvil({
    chainId: id,
    blockTimeSeconds,
    args: [...anvilArgs, ...(isArc ? ['--block-base-fee-per-gas', String(ARC_BASE_FEE)] : [])],
  });
  const deployment = await deployDevnet({
    rpcUrl: anvil.url,
    chainId: id,
    deployerPrivateKey: DEPLOYER.privateKey,
    attesters: ATTESTERS.map(({ address }) => address),
    threshold: 2,
    feeRecipient: FEE_RECIPIENT.address,
    minProofWindowSeconds: Math.min(30, proofWindowSeconds),
    ...(rotationDelaySeconds !== undefined && { rotationDelaySeconds }),
    tokens: [
      isArc
        ? { symbol: 'USDC', name: 'USDC', decimals: 6, eip3009: true, priceSymbol: 'USD', paysGas: true }
        : { symbol: 'USDC', name: 'USD Coin', decimals: 6, eip3009: true, priceSymbol: 'USD' },
      { symbol: 'WETH', name: 'Wrapped Ether', decimals: 18, eip3009: false, priceSymbol: 'ETH' },
      ...Array.from({ length: moreTokens }, (_, n) => ({
        symbol: `T${n}`,
        name: `Token ${n}`,
        decimals: 18,
        eip3009: false,
        priceSymbol: null,
      })),
    ],
  });
  const [usdc, weth] = deployment.tokens as [TokenInfo, TokenInfo];
  const chain: Chain = {
    id,
    slug,
    sandbox: true,
    escrow: deployment.escrow,
    oracle: deployment.oracle,
    permit2: deployment.permit2,
    quoteBond: deployment.quoteBond,
    depth,
    finality,
    blockTimeMs: Math.max(1, blockTimeSeconds) * 1_000,
    native: isArc
      ? { symbol: 'USDC', priceSymbol: 'USD', token: { address: usdc.address, decimals: 6 } }
      : ETHER,
    tokens: deployment.tokens,
    landingMarginSeconds,
    proofWindowSeconds,
  };
  const port = createChain(chain, {
    rpcUrls: [ws ? anvil.wsUrl : anvil.url],
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
    maxClockSkewMs: 1e12,
    minBaseFee: isArc ? ARC_BASE_FEE : 0n,
  });
  await port.start();
  await anvil.rpc('anvil_autoImpersonateAccount', [true]);

  /** anvil picks the nonce: two simultaneous sends could get the same one. */
  let sending: Promise<unknown> = Promise.resolve();
  async function send(from: Address, to: Address, data: Hex): Promise<Hex> {
    const sent = sending.then(() =>
      anvil.rpc<Hex>('eth_sendTransaction', [{ from, to, data, gas: '0x1e8480' }]),
    );
    sending = sent.catch(() => {});
    const hash = await sent;
    for (;;) {
      const receipt = await anvil.rpc<{ status: Hex } | null>('eth_getTransactionReceipt', [hash]);
      if (receipt?.status === '0x1') return hash;
      if (receipt) throw new Error(`reverted: ${hash}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  async function approve(
    owner: Address,
    token: Address,
    spender: Address,
    amount = 2n ** 256n - 1n,
  ): Promise<void> {
    await send(
      owner,
      token,
      encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] }),
    );
  }
  const fundAll: TestChain['fundAll'] = (accounts) =>
    fundDevnet({
      rpcUrl: anvil.url,
      chainId: id,
      deployerPrivateKey: DEPLOYER.privateKey,
      native: accounts.map(({ address }) => ({ to: address, wei: 10n ** 20n })),
      mint: accounts
        .filter(({ wholeTokens }) => wholeTokens > 0n)
        .flatMap(({ address, wholeTokens }) =>
          deployment.tokens.map(({ address: token, decimals }) => ({
            token,
            to: address,
            amount: wholeTokens * 10n ** BigInt(decimals),
          })),
        ),
    });
  return {
    anvil,
    chain,
    port,
    deployment,
    usdc,
    weth,
    fund: (address, wholeTokens = 1_000_000n) => fundAll([{ address, wholeTokens }]),
    fundAll,
    send,
    approve,
    async deposit(owner, token, amount) {
      // Both fit into one block: anvil numbers them in this order.
      await Promise.all([
        approve(owner, token, chain.escrow, amount),
        send(owner, chain.escrow, depositCall(token, amount)),
      ]);
    },
    async setOperator(lp, operator, allowed = true) {
      await send(lp, chain.escrow, setOperatorCall(operator, allowed));
    },
  };
}
