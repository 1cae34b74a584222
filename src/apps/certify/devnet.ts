/** Starts two local chains with the contracts, an account with money for each solver, and a taker. */

import { deployDevnet, fundDevnet } from '../../adapters/evm/deploy/deploy.ts';
import { freePort } from '../../adapters/postgres/embedded/embedded.ts';
import { ecdsa } from '../../adapters/secp256k1/ecdsa.ts';
import { assetId } from '../../domain/asset.ts';
import { type Chain, ETHER, type TokenInfo } from '../../domain/chain.ts';
import { UpstreamError } from '../../domain/errors.ts';
import { type Address, bytesToHex, type Hex, hexToBytes } from '../../domain/hex.ts';
import { orderDigest } from '../../domain/order.ts';
import { approveCall, depositCall, setOperatorCall } from '../../settlement/call.ts';
import { encodeFunding } from '../../settlement/funding.ts';
import { rpc, sendUnlocked, startAnvil } from '../demo/chains/anvil.ts';
import { drawKeyPair, type KeyPair } from '../demo/key-pair.ts';
import { openWitness, type Witness } from '../verify/witness.ts';
import { becomesTrue } from './waiting.ts';
import type { CertifiedChain, CertifyTaker, CertifyWorld } from './world.ts';

export interface SolverKeys {
  owner: KeyPair;
  operator: KeyPair;
}

export interface CertifyDevnet {
  world: CertifyWorld & { taker: CertifyTaker };
  /** The solvers, each with its own account and money. */
  solvers: readonly SolverKeys[];
  stop(): Promise<void>;
}

const TOKENS = [
  { symbol: 'USDC', name: 'USD Coin', decimals: 6, eip3009: true, priceSymbol: 'USD' },
  { symbol: 'WETH', name: 'Wrapped Ether', decimals: 18, eip3009: false, priceSymbol: 'ETH' },
] as const;
/** What a solver's account and a taker have in each ledger: whole tokens, in the order of `TOKENS`. */
const WHOLE = [1_000_000n, 400n] as const;
const DEPTH = 1;
const GAS: Hex = '0x493e0';
const STOCK_MS = 60_000;
const NATIVE_WEI = 10n ** 20n;

/** Starts the chains. `ids`: one or two chain ids. `dir`: where the chains keep their files. */
export async function startCertifyDevnet({
  ids,
  dir,
  solvers: count = 1,
}: {
  ids: readonly number[];
  dir: string;
  solvers?: number;
}): Promise<CertifyDevnet> {
  const solvers = Array.from({ length: count }, () => ({ owner: drawKeyPair(), operator: drawKeyPair() }));
  const [deployer, attester, takerKeys] = [drawKeyPair(), drawKeyPair(), drawKeyPair()];
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    await Promise.all(stops.map((one) => one()));
  };
  try {
    const chains = await Promise.all(
      ids.map((id, at) => startOne({ id, slug: `chain${at + 1}`, dir, deployer, attester, stops })),
    );
    await Promise.all(chains.map((chain) => stock(chain, deployer, solvers, takerKeys.address)));
    return { world: worldOf(chains, takerKeys), solvers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startOne({
  id,
  slug,
  dir,
  deployer,
  attester,
  stops,
}: {
  id: number;
  slug: string;
  dir: string;
  deployer: KeyPair;
  attester: KeyPair;
  stops: (() => unknown)[];
}): Promise<CertifiedChain> {
  const anvil = await startAnvil({
    chainId: id,
    port: await freePort(),
    blockSeconds: 1,
    dir: `${dir}/${slug}`,
  });
  stops.push(() => anvil.kill());
  const { rpcUrl } = anvil;
  const { escrow, oracle, permit2, quoteBond, tokens } = await deployDevnet({
    rpcUrl,
    chainId: id,
    deployerPrivateKey: deployer.privateKey,
    attesters: [attester.address],
    threshold: 1,
    feeRecipient: attester.address,
    minProofWindowSeconds: 30,
    tokens: TOKENS,
  });
  const chain: Chain = {
    id,
    slug,
    sandbox: true,
    ...{ escrow, oracle, permit2, quoteBond, tokens },
    depth: DEPTH,
    blockTimeMs: 1_000,
    native: ETHER,
    landingMarginSeconds: 30,
    proofWindowSeconds: 120,
  };
  const witness: Witness = await openWitness(id, rpcUrl, escrow);
  stops.push(() => witness.close());
  return { chain, rpcUrl, views: witness.views };
}

/** Puts money for every account into the escrow's ledger. */
async function stock(
  { chain, rpcUrl, views }: CertifiedChain,
  deployer: KeyPair,
  solvers: readonly SolverKeys[],
  taker: Address,
): Promise<void> {
  const owners = [taker, ...solvers.map(({ owner }) => owner.address)];
  const amounts = chain.tokens.map(
    ({ address, decimals }, at) => [address, (WHOLE[at] as bigint) * 10n ** BigInt(decimals)] as const,
  );
  await fundDevnet({
    rpcUrl,
    chainId: chain.id,
    deployerPrivateKey: deployer.privateKey,
    native: [...owners, ...solvers.map(({ operator }) => operator.address)].map((to) => ({
      to,
      wei: NATIVE_WEI,
    })),
    mint: owners.flatMap((to) => amounts.map(([token, amount]) => ({ token, to, amount }))),
  });
  const send = (from: Address, to: Address, data: Hex) => sendUnlocked(rpcUrl, { from, to, data, gas: GAS });
  for (const { owner, operator } of solvers)
    await send(owner.address, chain.escrow, setOperatorCall(operator.address, true));
  for (const owner of owners)
    for (const [token, amount] of amounts) {
      await send(owner, token, approveCall(chain.escrow, amount));
      await send(owner, chain.escrow, depositCall(token, amount));
    }
  const [lastToken, lastAmount] = amounts.at(-1) as readonly [Address, bigint];
  const stocked = await becomesTrue(STOCK_MS, async () => {
    const held = await Promise.all(owners.map((owner) => views.ledgerBalance(owner, lastToken)));
    return held.every((each) => each === lastAmount);
  });
  if (!stocked)
    throw new UpstreamError('The local chain did not mine the deposits. Run the command again.', {
      code: 'deploy',
    });
}

function worldOf(chains: readonly CertifiedChain[], taker: KeyPair): CertifyDevnet['world'] {
  const asset = ({ chain: { id, tokens } }: CertifiedChain, at: number) =>
    assetId({ chainId: id, token: (tokens[at] as TokenInfo).address });
  const [first, second] = chains as [CertifiedChain, CertifiedChain | undefined];
  return {
    chains,
    pairs: [
      { input: asset(first, 0), output: asset(first, 1) },
      ...(second ? [{ input: asset(first, 0), output: asset(second, 0) }] : []),
    ],
    taker: takerOf(chains, taker),
  };
}

function takerOf(chains: readonly CertifiedChain[], { address, privateKey }: KeyPair): CertifyTaker {
  const on = (chainId: number | bigint): CertifiedChain => {
    const found = chains.find(({ chain }) => chain.id === Number(chainId));
    if (!found) throw new UpstreamError(`There is no chain ${chainId} here.`, { code: 'chain_unavailable' });
    return found;
  };
  return {
    address,
    sign(order) {
      const { chain } = on(order.originChainId);
      const digest = orderDigest({ chainId: chain.id, escrow: chain.escrow }, order);
      const { signature, recovery } = ecdsa.sign(hexToBytes(digest), hexToBytes(privateKey));
      const signed: Hex = `${bytesToHex(signature)}${recovery === 0 ? '1b' : '1c'}`;
      return { signature: signed, funding: encodeFunding({ mode: 'resourceLock', orderSignature: signed }) };
    },
    async send(chainId, data) {
      const { chain, rpcUrl } = on(chainId);
      const gas: Hex = '0x1e8480';
      const txHash = (await rpc(rpcUrl, 'eth_sendTransaction', [
        { from: address, to: chain.escrow, data, gas },
      ])) as Hex;
      let receipt: { status: Hex; blockNumber: Hex } | null = null;
      await becomesTrue(STOCK_MS, async () => {
        receipt = (await rpc(rpcUrl, 'eth_getTransactionReceipt', [txHash])) as typeof receipt;
        return receipt !== null;
      });
      const { status, blockNumber } = (receipt ?? { status: '0x0', blockNumber: '0x0' }) as {
        status: Hex;
        blockNumber: Hex;
      };
      return { succeeded: status === '0x1', txHash, blockNumber: BigInt(blockNumber) };
    },
  };
}
