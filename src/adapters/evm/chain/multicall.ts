/** Bundles one tick's view calls at the same block into one Multicall3 call. */

import { decodeFunctionResult, encodeFunctionData, multicall3Abi, prepareEncodeFunctionData } from 'viem';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import { type ChainRpc, RpcRefusal } from '../rpc/rpc.ts';

export const MULTICALL3_ADDRESS: Address = '0xca11bde05977b3631167028862be2a173976ca11';
const MAX_BUNDLE = 150;
/** Prepared once, so that its selector is hashed once. */
const AGGREGATE = prepareEncodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3' });

export type ViewCaller = (to: Address, data: Hex, at: bigint | undefined) => Promise<Hex | undefined>;

interface Pending {
  to: Address;
  data: Hex;
  resolve(result: Hex | undefined): void;
  reject(error: unknown): void;
}

export function createViewCaller(rpc: Pick<ChainRpc, 'request'>): ViewCaller {
  const bundles = new Map<string, Pending[]>();
  let hasMulticall: Promise<boolean> | undefined;

  function multicall(): Promise<boolean> {
    hasMulticall ??= rpc.request<Hex>('eth_getCode', [MULTICALL3_ADDRESS, 'latest']).then(
      (code) => code !== '0x',
      () => ((hasMulticall = undefined), false),
    );
    return hasMulticall;
  }

  async function flush(tag: string): Promise<void> {
    const calls = bundles.get(tag) ?? [];
    bundles.delete(tag);
    for (let from = 0; from < calls.length; from += MAX_BUNDLE)
      void send(calls.slice(from, from + MAX_BUNDLE), tag);
  }

  async function send(calls: readonly Pending[], tag: string): Promise<void> {
    const alone = (call: Pending) => single(rpc, call, tag).then(call.resolve, call.reject);
    try {
      const bundled = calls.length > 1 && (await multicall());
      if (!bundled) return void (await Promise.all(calls.map(alone)));
      const data = encodeFunctionData({
        ...AGGREGATE,
        args: [calls.map(({ to, data: callData }) => ({ target: to, allowFailure: true, callData }))],
      });
      const answer = await rpc.request<Hex>('eth_call', [{ to: MULTICALL3_ADDRESS, data }, tag]);
      // The answer is empty at a block older than the Multicall3 contract.
      if (answer === '0x') return void (await Promise.all(calls.map(alone)));
      const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer });
      await Promise.all(
        calls.map((call, index) => {
          const result = results[index];
          // A contract of the bundle may have used up the gas of those after it.
          return result?.success ? call.resolve(result.returnData) : alone(call);
        }),
      );
    } catch (error) {
      if (calls.length > 1 && isOfOneContract(error)) return void (await Promise.all(calls.map(alone)));
      for (const call of calls) call.reject(error);
    }
  }

  return (to, data, at) => {
    const tag = at === undefined ? 'latest' : `0x${at.toString(16)}`;
    return new Promise((resolve, reject) => {
      const pending = { to, data, resolve, reject };
      const bundle = bundles.get(tag);
      if (bundle) return void bundle.push(pending);
      bundles.set(tag, [pending]);
      setImmediate(() => void flush(tag));
    });
  };
}

/** Returns true for errors of one contract: it can use up the gas of a bundle, or answer with megabytes. */
const isOfOneContract = (error: unknown): boolean =>
  error instanceof RpcRefusal
    ? isRevert(error)
    : error instanceof UpstreamError && error.code === 'rpc_too_large';

async function single(
  rpc: Pick<ChainRpc, 'request'>,
  { to, data }: Pending,
  tag: string,
): Promise<Hex | undefined> {
  try {
    return await rpc.request<Hex>('eth_call', [{ to, data }, tag]);
  } catch (error) {
    if (error instanceof RpcRefusal && isRevert(error)) return undefined;
    throw error;
  }
}

export const isRevert = ({ meaning }: RpcRefusal): boolean => meaning === 'reverted';

export function revertData({ data, words }: RpcRefusal): Hex {
  const nested =
    typeof data === 'object' && data !== null && 'data' in data ? (data as { data: unknown }).data : data;
  if (typeof nested === 'string' && /^0x[0-9a-f]*$/i.test(nested)) return nested as Hex;
  return (/0x[0-9a-f]{8,}/i.exec(words)?.[0] as Hex | undefined) ?? '0x';
}
