/** Causes the faults of the risk checks and undoes them. */

import { readFile, writeFile } from 'node:fs/promises';
import { encodeFunctionData, type Address } from 'viem';
import { devAggregatorAbi } from '../../../adapters/evm/deploy/abi/dev-aggregator.ts';
import { sendUnlocked } from '../chains/anvil.ts';
import { lpProcess } from '../configs.ts';
import type { SimulatedExchanges } from '../exchange.ts';
import type { Layout } from '../layout.ts';
import type { DemoState } from '../state.ts';

const SENDER: Address = '0x0000000000000000000000000000000000facade';

export interface Disturbances {
  exchange: SimulatedExchanges;
  shiftOracles(bps: number): void;
  /** The path of an LP's kill file. */
  killFile: Layout['killFile'];
  denyList: string;
  /** Makes the sequencer of a rollup answer, or not. */
  sequencer(slug: string, up: boolean): Promise<void>;
  /** Changes an LP's configuration and reloads it. Resolves with a function that undoes the change. */
  reconfigure(id: string, change: (lp: Record<string, unknown>) => void): Promise<() => Promise<void>>;
}

export function createDisturbances(
  state: DemoState,
  layout: Layout,
  exchange: SimulatedExchanges,
  shiftOracles: (bps: number) => void,
): Disturbances {
  const adminOf = (id: string) =>
    `http://127.0.0.1:${layout.ports.lpAdmin(state.lps.findIndex((lp) => lp.id === id))}`;

  async function configured(id: string, text: string): Promise<void> {
    await writeFile(layout.config(lpProcess(id)), text, { mode: 0o600 });
    const answer = await fetch(`${adminOf(id)}/reload`, { method: 'POST' });
    if (answer.status !== 200) throw new Error(`${id} refused its new configuration: ${await answer.text()}`);
  }

  return {
    exchange,
    shiftOracles,
    killFile: layout.killFile,
    denyList: layout.denyList,
    async sequencer(slug, up) {
      const chain = state.chains.find((one) => one.slug === slug);
      if (!chain?.sequencer) throw new Error(`The chain "${slug}" has no sequencer feed.`);
      await sendUnlocked(chain.rpcUrl, {
        from: SENDER,
        to: chain.sequencer,
        data: encodeFunctionData({ abi: devAggregatorAbi, functionName: 'push', args: [up ? 0n : 1n] }),
        gas: '0x30d40',
      });
    },
    async reconfigure(id, change) {
      const before = await readFile(layout.config(lpProcess(id)), 'utf8');
      const next = JSON.parse(before) as { lp: Record<string, unknown> };
      change(next.lp);
      await configured(id, JSON.stringify(next, null, 2));
      return () => configured(id, before);
    },
  };
}
