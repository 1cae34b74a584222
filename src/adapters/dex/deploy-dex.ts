/** Deploys Uniswap v2 and v3 on a development chain, with pools and our fillers. */

import { readFileSync } from 'node:fs';
import { type Abi, encodeFunctionData, parseAbi } from 'viem';
import type { Address, Hex } from '../../domain/hex.ts';
import { concentratedFillerAbi } from '../../settlement/abi/concentrated-filler.ts';
import { constantProductFillerAbi } from '../../settlement/abi/constant-product-filler.ts';
import { devPoolTraderAbi } from '../evm/deploy/abi/dev-pool-trader.ts';
import { devTokenAbi } from '../evm/deploy/abi/dev-token.ts';
import { devPackageFile } from '../system/dev-packages.ts';
import { rootDown } from './root.ts';
import { connectDev, type Dev, type DevAccess } from '../evm/deploy/deploy.ts';
import { creationCodeOf } from '../evm/deploy/creation-code.ts';

export interface DevPool {
  tokens: readonly [Address, Address];
  /** Millionths: 500, 3000 or 10000. null: a constant-product pair. */
  fee: number | null;
  amounts: readonly [bigint, bigint];
}

export interface DexDeployment {
  constantProduct: { factory: Address; filler: Address };
  concentrated: { factory: Address; filler: Address };
  pools: Address[];
  trader: Address;
}

const FACTORY = parseAbi([
  'function createPair(address a, address b) returns (address)',
  'function getPair(address a, address b) view returns (address)',
  'function createPool(address a, address b, uint24 fee) returns (address)',
  'function getPool(address a, address b, uint24 fee) view returns (address)',
]);
const POOL = parseAbi([
  'function initialize(uint160 sqrtPriceX96)',
  'function mint(address to) returns (uint256)',
]);
const TICK_SPACINGS: Readonly<Record<number, number>> = { 500: 10, 3_000: 60, 10_000: 200 };
const MAX_TICK = 887_272;

export async function deployDex({
  escrow,
  pools,
  ...access
}: DevAccess & { escrow: Address; pools: readonly DevPool[] }): Promise<DexDeployment> {
  const dev = await connectDev(access);
  const v2Factory = dev.create({
    ...artifact('@uniswap/v2-core/build/UniswapV2Factory.json'),
    args: [dev.address],
  });
  const v3Factory = dev.create(
    artifact('@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json'),
  );
  const trader = dev.create({ abi: devPoolTraderAbi, bytecode: creationCodeOf('devnet/DevPoolTrader') });
  const constantProduct = {
    factory: v2Factory,
    filler: dev.create({
      abi: constantProductFillerAbi,
      bytecode: creationCodeOf('ConstantProductFiller'),
      args: [escrow, v2Factory],
    }),
  };
  const concentrated = {
    factory: v3Factory,
    filler: dev.create({
      abi: concentratedFillerAbi,
      bytecode: creationCodeOf('ConcentratedFiller'),
      args: [escrow, v3Factory],
    }),
  };
  for (const { tokens, fee } of pools) {
    if (fee === null)
      dev.send(v2Factory, encodeFunctionData({ abi: FACTORY, functionName: 'createPair', args: tokens }));
    else
      dev.send(
        v3Factory,
        encodeFunctionData({ abi: FACTORY, functionName: 'createPool', args: [...tokens, fee] }),
      );
  }
  await dev.settled();
  const addresses = await Promise.all(pools.map((pool) => addressOf(dev, pool, { v2Factory, v3Factory })));
  pools.forEach((pool, index) => provide(dev, pool, addresses[index] as Address, trader));
  await dev.settled();
  return { constantProduct, concentrated, pools: addresses, trader };
}

async function addressOf(
  dev: Dev,
  { tokens, fee }: DevPool,
  { v2Factory, v3Factory }: { v2Factory: Address; v3Factory: Address },
): Promise<Address> {
  const question =
    fee === null
      ? { to: v2Factory, data: encodeFunctionData({ abi: FACTORY, functionName: 'getPair', args: tokens }) }
      : {
          to: v3Factory,
          data: encodeFunctionData({ abi: FACTORY, functionName: 'getPool', args: [...tokens, fee] }),
        };
  const answer = (await dev.rpc('eth_call', [question, 'latest'])) as Hex;
  return `0x${answer.slice(-40)}`;
}

function provide(dev: Dev, { tokens, fee, amounts }: DevPool, pool: Address, trader: Address): void {
  const mint = (token: Address, to: Address, amount: bigint) =>
    dev.send(token, encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [to, amount] }));
  tokens.forEach((token, index) => mint(token, fee === null ? pool : trader, amounts[index] as bigint));
  if (fee === null)
    return dev.send(pool, encodeFunctionData({ abi: POOL, functionName: 'mint', args: [dev.address] }));
  const [amount0, amount1] = tokens[0] < tokens[1] ? amounts : [amounts[1], amounts[0]];
  dev.send(
    pool,
    encodeFunctionData({
      abi: POOL,
      functionName: 'initialize',
      args: [rootDown((amount1 << 192n) / amount0)],
    }),
  );
  const spacing = TICK_SPACINGS[fee] as number;
  const edge = Math.floor(MAX_TICK / spacing) * spacing;
  // Slightly less: the price is rounded, and the pool rounds its demand up.
  const liquidity = (rootDown(amount0 * amount1) * 999_999n) / 1_000_000n;
  dev.send(
    trader,
    encodeFunctionData({ abi: devPoolTraderAbi, functionName: 'mint', args: [pool, -edge, edge, liquidity] }),
  );
}

function artifact(path: string): { abi: Abi; bytecode: Hex } {
  const { abi, bytecode } = JSON.parse(readFileSync(devPackageFile(path), 'utf8')) as {
    abi: Abi;
    bytecode: string;
  };
  return { abi, bytecode: `0x${bytecode.replace(/^0x/, '')}` };
}
