/** Prepares a fresh chain: contracts, tokens, balances, and the LPs' inventory in the escrow. */

import { encodeFunctionData, type Hex } from 'viem';
import { parseUnits } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Address } from '../../../domain/hex.ts';
import { deployDex } from '../../../adapters/dex/deploy-dex.ts';
import {
  deployAggregators,
  deployContractWallets,
  deployDevnet,
} from '../../../adapters/evm/deploy/deploy.ts';
import { devTokenAbi } from '../../../adapters/evm/deploy/abi/dev-token.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { postBondCall, setBondTermsCall } from '../../../settlement/bond-call.ts';
import { limitOperatorCall, setOperatorCall } from '../../../settlement/call.ts';
import { rpc } from './anvil.ts';
import { setUpIssuers } from './issuers.ts';
import { ORACLE_DECIMALS } from './oracle.ts';
import type { DemoState } from '../state.ts';

const CALL_GAS = 200_000;
/** Window in which the operator of the LP that `lp init` sets up may spend half of its inventory. */
const LIMIT_WINDOW_SECONDS = 3_600;
/** A bond covers the share of any trade that the inventory can fill: twice half a per cent of it. */
const INVENTORY_PER_BOND = 100n;
const BOND_TERMS = { fillWindowSeconds: 10, wallets: true };
export const PEG = 'USD';

interface Call {
  from: Address;
  to: Address;
  data: Hex;
}

type DemoChain = DemoState['config']['chains'][number];
type ChainToken = Pick<TokenInfo, 'symbol' | 'address' | 'decimals'>;

export async function setUpChain(
  state: DemoState,
  chainId: number,
  rpcUrl: string,
): Promise<DemoState['chains'][number]> {
  const { config, deployer } = state;
  const chain = config.chains.find(({ id }) => id === chainId);
  if (!chain) throw new Error(`The demo has no chain ${chainId}.`);
  const makers = [...state.lps, state.spareLp, state.partner, state.bridge];
  const owners = makers.map(({ owner }) => owner.address);
  const accounts = [
    deployer.address,
    state.relayer.address,
    ...owners,
    ...makers.map(({ operator }) => operator.address),
    ...[...state.takers, ...state.houseTakers, ...state.walletOwners, ...state.attesters].map(
      ({ address }) => address,
    ),
  ];
  const gas = `0x${parseUnits(config.takers.gas, 18).toString(16)}`;
  await Promise.all(accounts.map((address) => rpc(rpcUrl, 'anvil_setBalance', [address, gas])));
  const on = { rpcUrl, chainId, deployerPrivateKey: deployer.privateKey };
  const { escrow, oracle, permit2, batch, quoteBond, tokens } = await deployDevnet({
    ...on,
    attesters: state.attesters.map(({ address }) => address),
    threshold: config.attesters.quorum,
    feeRecipient: state.feeRecipient,
    tokens: config.tokens.map(({ price, ...token }) => ({ ...token, priceSymbol: price })),
    minProofWindowSeconds: chain.proofWindowSeconds,
    withdrawalDelaySeconds: chain.withdrawalDelaySeconds,
  });
  const contractWallets = await deployContractWallets({
    ...on,
    owners: state.walletOwners.map(({ address }) => address),
  });
  const kept = chain === config.chains[0] ? config.exchange.symbols.filter(({ price }) => price !== PEG) : [];
  const aggregators = kept.map(({ price, startMid }) => ({
    description: `${price} / USD`,
    decimals: ORACLE_DECIMALS,
    answer: parseUnits(startMid.toFixed(ORACLE_DECIMALS), ORACLE_DECIMALS),
  }));
  const oracles = await deployAggregators({ ...on, aggregators });
  const [sequencer = null] = chain.sequencerFeed
    ? await deployAggregators({
        ...on,
        aggregators: [{ description: 'L2 sequencer uptime', decimals: 0, answer: 0n }],
      })
    : [];
  const listed = poolsOf(chain, tokens);
  const uniswap = await deployDex({ ...on, escrow, pools: listed });
  const dex = {
    constantProduct: uniswap.constantProduct,
    concentrated: uniswap.concentrated,
    trader: uniswap.trader,
    pools: listed.map(({ tokens: pair, fee }, index) => ({
      address: uniswap.pools[index] as Address,
      tokens: pair,
      fee,
    })),
  };
  const issuers = await setUpIssuers({ ...on, escrow }, chain.issuers, tokens);
  await rpc(rpcUrl, 'anvil_autoImpersonateAccount', [true]);

  const minted: Record<string, string> = {};
  const mints: Call[] = [];
  const deposits: Call[] = [];
  for (const { symbol, address: token, decimals } of tokens) {
    let total = listed.reduce(
      (sum, { tokens: pair, amounts }) =>
        sum + (pair[0] === token ? amounts[0] : 0n) + (pair[1] === token ? amounts[1] : 0n),
      issuers?.minted(token) ?? 0n,
    );
    const mint = (to: Address, whole: string) => {
      const amount = parseUnits(whole, decimals);
      total += amount;
      const data = encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [to, amount] });
      mints.push({ from: deployer.address, to: token, data });
      return amount;
    };
    for (const { address } of [...state.takers, ...state.houseTakers])
      mint(address, config.takers.holdings[symbol] ?? '0');
    if (listed.some(({ tokens: pair }) => pair.includes(token)))
      mint(dex.trader, config.poolKeeper[symbol] ?? '0');
    for (const wallet of contractWallets) mint(wallet, config.takers.holdings[symbol] ?? '0');
    for (const [index, lp] of [...config.lps, config.spareLp, config.partner, config.bridge].entries()) {
      const owner = owners[index] as Address;
      const amount = mint(owner, lp.inventory[chain.slug]?.[symbol] ?? '0');
      mints.push({
        from: owner,
        to: token,
        data: encodeFunctionData({ abi: devTokenAbi, functionName: 'approve', args: [escrow, amount] }),
      });
      if (amount === 0n) continue;
      deposits.push({
        from: owner,
        to: escrow,
        data: encodeFunctionData({ abi: escrowAbi, functionName: 'deposit', args: [token, amount] }),
      });
      const bond = amount / INVENTORY_PER_BOND;
      total += bond;
      mints.push(
        {
          from: deployer.address,
          to: token,
          data: encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [owner, bond] }),
        },
        {
          from: owner,
          to: token,
          data: encodeFunctionData({ abi: devTokenAbi, functionName: 'approve', args: [quoteBond, bond] }),
        },
      );
      deposits.push({ from: owner, to: quoteBond, data: postBondCall(owner, token, bond) });
    }
    minted[symbol] = total.toString();
  }
  deposits.push(...operatorCalls(state, { chain, tokens, escrow, quoteBond }));
  await execute(rpcUrl, mints);
  await execute(rpcUrl, deposits);
  await rpc(rpcUrl, 'anvil_autoImpersonateAccount', [false]);
  return {
    id: chainId,
    slug: chain.slug,
    rpcUrl,
    escrow,
    oracle,
    permit2,
    tokens: tokens.map(({ symbol, address, decimals, eip3009 }) => ({ symbol, address, decimals, eip3009 })),
    contractWallets,
    startBlock: 0,
    batch,
    quoteBond,
    minted,
    oracles: Object.fromEntries(kept.map(({ price }, index) => [price, oracles[index] as Address])),
    sequencer,
    dex,
    ...(issuers && { issuers: issuers.state }),
  };
}

/** Returns the pools of a chain, with the addresses of their tokens and amounts in base units. */
function poolsOf(chain: DemoChain, tokens: readonly ChainToken[]) {
  return chain.pools.map(({ tokens: symbols, fee, amounts }) => {
    const [first, second] = symbols.map((symbol) => tokens.find((token) => token.symbol === symbol));
    if (!first || !second)
      throw new Error(
        `The demo has a pool of ${symbols.join(' and ')}, which are not both among its tokens.`,
      );
    return {
      tokens: [first.address, second.address] as [Address, Address],
      fee,
      amounts: [parseUnits(amounts[0], first.decimals), parseUnits(amounts[1], second.decimals)] as const,
    };
  });
}

/** Allows the operators of all makers, and says what the bonds of the LPs cover. */
function operatorCalls(
  state: DemoState,
  {
    chain,
    tokens,
    escrow,
    quoteBond,
  }: { chain: DemoChain; tokens: readonly ChainToken[]; escrow: Address; quoteBond: Address },
): Call[] {
  const { config } = state;
  const calls: Call[] = [];
  for (const { owner, operator } of state.lps)
    calls.push(
      { from: owner.address, to: escrow, data: setOperatorCall(operator.address, true) },
      { from: owner.address, to: quoteBond, data: setBondTermsCall(BOND_TERMS) },
    );
  for (const { owner, operator } of [state.partner, state.bridge])
    calls.push({ from: owner.address, to: escrow, data: setOperatorCall(operator.address, true) });
  const { owner, operator } = state.spareLp;
  for (const { symbol, address: token, decimals } of tokens) {
    const half = parseUnits(config.spareLp.inventory[chain.slug]?.[symbol] ?? '0', decimals) / 2n;
    calls.push({
      from: owner.address,
      to: escrow,
      data: limitOperatorCall(operator.address, token, half, LIMIT_WINDOW_SECONDS),
    });
  }
  return calls;
}

async function execute(rpcUrl: string, calls: readonly Call[]): Promise<void> {
  const hashes: unknown[] = [];
  for (const call of calls)
    hashes.push(await rpc(rpcUrl, 'eth_sendTransaction', [{ ...call, gas: `0x${CALL_GAS.toString(16)}` }]));
  for (let attempt = 0; attempt < 100; attempt++) {
    await rpc(rpcUrl, 'evm_mine');
    const receipts = (await Promise.all(
      hashes.map((hash) => rpc(rpcUrl, 'eth_getTransactionReceipt', [hash])),
    )) as ({ status: Hex } | null)[];
    if (receipts.every((receipt) => receipt !== null)) {
      const failed = receipts.findIndex(({ status }) => status !== '0x1');
      if (failed >= 0)
        throw new UpstreamError(
          `Setting up the chain failed at transaction ${failed + 1} of ${calls.length} (${calls[failed]?.data.slice(0, 10)}).`,
          { code: 'deploy' },
        );
      return;
    }
  }
  throw new UpstreamError('The chain did not mine the set-up transactions.', { code: 'deploy' });
}
