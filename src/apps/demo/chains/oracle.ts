/** Updates the demo's price oracles on a price move and on a heartbeat. */

import { encodeFunctionData } from 'viem';
import type { Address } from '../../../domain/hex.ts';
import { devAggregatorAbi } from '../../../adapters/evm/deploy/abi/dev-aggregator.ts';
import { repeat } from '../repeat.ts';
import { sendUnlocked } from './anvil.ts';

export const ORACLE_DECIMALS = 8;
const MOVED_BPS = 25;
const HEARTBEAT_MS = 60_000;
const POLL_MS = 1_000;
const KEEPER: Address = '0x0000000000000000000000000000000000c0ffee';

interface KeptOracle {
  rpcUrl: string;
  address: Address;
  mid(): number;
}

export function keepOracles(
  oracles: readonly KeptOracle[],
  trouble: (error: unknown) => void,
): { stop(): void } {
  const last = new Map<Address, { mid: number; atMs: number }>();

  async function pushPrice({ rpcUrl, address, mid }: KeptOracle): Promise<void> {
    const [now, price] = [performance.now(), mid()];
    const pushed = last.get(address);
    if (
      pushed !== undefined &&
      now - pushed.atMs < HEARTBEAT_MS &&
      Math.abs(price / pushed.mid - 1) * 10_000 < MOVED_BPS
    )
      return;
    const data = encodeFunctionData({
      abi: devAggregatorAbi,
      functionName: 'push',
      args: [BigInt(Math.round(price * 10 ** ORACLE_DECIMALS))],
    });
    await sendUnlocked(rpcUrl, { from: KEEPER, to: address, data, gas: '0x30d40' });
    last.set(address, { mid: price, atMs: now });
  }

  return repeat(POLL_MS, () => Promise.all(oracles.map((oracle) => pushPrice(oracle).catch(trouble))));
}
