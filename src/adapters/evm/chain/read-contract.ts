/** Makes one view call by ABI: encodes the arguments and decodes the answer. */

import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  parseAbi,
  prepareEncodeFunctionData,
} from 'viem';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';

type View = 'pure' | 'view';
type Call = (to: Address, data: Hex, at?: bigint) => Promise<Hex | undefined>;

interface ContractRead<TAbi, TName, TArgs> {
  abi: TAbi;
  address: Address;
  functionName: TName;
  args?: TArgs;
}

/** undefined when the call reverts or the answer does not match the ABI. Throws when no node answers. */
export async function tryReadContract<
  const TAbi extends Abi,
  TName extends ContractFunctionName<TAbi, View>,
  const TArgs extends ContractFunctionArgs<TAbi, View, TName>,
>(
  call: Call,
  { abi, address, functionName, args }: ContractRead<TAbi, TName, TArgs>,
  at?: bigint,
): Promise<ContractFunctionReturnType<TAbi, View, TName, TArgs> | undefined> {
  const view = preparedView(abi, functionName);
  const calldata = encodeFunctionData({ ...view, args } as Parameters<typeof encodeFunctionData>[0]);
  const data = await call(address, calldata, at);
  if (data === undefined) return undefined;
  try {
    // Without a name viem takes the only function of the ABI.
    const answer = { abi: view.abi, functionName: undefined, args, data };
    const decoded = decodeFunctionResult(answer as Parameters<typeof decodeFunctionResult>[0]);
    return decoded as ContractFunctionReturnType<TAbi, View, TName, TArgs>;
  } catch {
    return undefined;
  }
}

type PreparedView = ReturnType<typeof prepareEncodeFunctionData<Abi, string>>;

const preparedViews = new WeakMap<Abi, Map<string, PreparedView>>();

/**
 * Finds the view in the ABI and hashes its selector, once; viem would do both for every call. No ABI that we
 * read has overloaded views.
 */
function preparedView(abi: Abi, functionName: string): PreparedView {
  const views = preparedViews.get(abi) ?? new Map<string, PreparedView>();
  preparedViews.set(abi, views);
  const view = views.get(functionName) ?? prepareEncodeFunctionData({ abi, functionName });
  views.set(functionName, view);
  return view;
}

/** Throws `ViewError`. */
export async function readContract<
  const TAbi extends Abi,
  TName extends ContractFunctionName<TAbi, View>,
  const TArgs extends ContractFunctionArgs<TAbi, View, TName>,
>(
  call: Call,
  request: ContractRead<TAbi, TName, TArgs>,
  at?: bigint,
): Promise<ContractFunctionReturnType<TAbi, View, TName, TArgs>> {
  const result = await tryReadContract(call, request, at);
  if (result === undefined) throw new ViewError(request.functionName);
  return result;
}

class ViewError extends UpstreamError {
  constructor(view: string) {
    super(
      `The contract's ${view} view gave no valid answer. Check that the configured address is the ` +
        'right contract on this chain.',
      { code: 'view_failed', facts: { view } },
    );
  }
}

export const erc1271Abi = parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)']);
export const eip3009Abi = parseAbi(['function authorizationState(address, bytes32) view returns (bool)']);
export const gasPriceOracleAbi = parseAbi([
  'function getL1Fee(bytes) view returns (uint256)',
  'function getL1FeeUpperBound(uint256) view returns (uint256)',
  'function getOperatorFee(uint256) view returns (uint256)',
]);
/** `decimals` is a uint8, read as a uint256 so that an absurd value is recognised. */
export const aggregatorAbi = parseAbi([
  'function decimals() view returns (uint256)',
  'function latestRoundData() view returns (uint80, int256 answer, uint256, uint256, uint80)',
]);
export const v2FactoryAbi = parseAbi(['function getPair(address, address) view returns (address)']);
export const v2PairAbi = parseAbi(['function getReserves() view returns (uint112, uint112, uint32)']);
export const v3FactoryAbi = parseAbi(['function getPool(address, address, uint24) view returns (address)']);
/** `slot0` has more fields; their types differ between forks of Uniswap v3. */
export const v3PoolAbi = parseAbi([
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick)',
  'function liquidity() view returns (uint128)',
  'function tickSpacing() view returns (int24)',
  'function tickBitmap(int16) view returns (uint256)',
  'function ticks(int24) view returns (uint128 liquidityGross, int128 liquidityNet)',
  'function token0() view returns (address)',
  'function token1() view returns (address)',
  'function observe(uint32[]) view returns (int56[] tickCumulatives, uint160[])',
]);
