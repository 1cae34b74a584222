/** Risk checks of prices and chains. They affect every LP: in sequence. */

import type { Control } from '../../../domain/decline.ts';
import { type DemoCheck, eventually, expect, expectEqual } from '../checks/check.ts';
import { outputOf } from '../checks/trade.ts';
import { viewChain, type DemoWorld } from '../world.ts';
import { rpc } from '../chains/anvil.ts';
import { asking, quotesAgain, untilRoster, watch } from './board.ts';

type Corridor = readonly [string, string];

const amountFor = async (...request: Parameters<typeof asking>): Promise<number> => {
  const [best] = await asking(...request).quotes({ sell: request[3] === 'WETH' ? '0.1' : '100' });
  return best ? Number(outputOf(best)) : 0;
};

const disturbed = (
  id: string,
  control: Control,
  name: string,
  {
    corridor,
    begin,
    end,
    meanwhile,
    timeoutMs,
    recoveryMs,
  }: {
    corridor?: Corridor;
    begin(world: DemoWorld): unknown;
    end(world: DemoWorld): unknown;
    meanwhile(world: DemoWorld, detail: string): Promise<string> | string;
    timeoutMs?: number;
    /** A chain needs this long to recover. The control must pass before quotes are expected. */
    recoveryMs?: number;
  },
): DemoCheck => ({
  name: `${control}: ${name}`,
  async run(world) {
    const seen = await watch(world, id, control);
    try {
      await begin(world);
      const detail = await seen.tripped(timeoutMs);
      const { quotes } = asking(world, id, corridor);
      expectEqual((await quotes()).length, 0, `quotes of ${id}`);
      await seen.refused(quotes);
      return await meanwhile(world, detail);
    } finally {
      await end(world);
      if (recoveryMs !== undefined) await seen.passed(recoveryMs);
      await quotesAgain(world, id, corridor);
      await seen.passed(timeoutMs);
    }
  },
});

export const outlierCheck = (id: string): DemoCheck => ({
  name: 'outlier: one of three price sources is off and is ignored',
  async run(world) {
    const { exchange } = world.disturbances;
    const before = await amountFor(world, id);
    exchange.shift('played-one', 120);
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const during = await amountFor(world, id);
      expect(
        during > 0 && Math.abs(during / before - 1) < 0.002,
        `the price went from ${before} to ${during}`,
      );
      return 'quotes moved by less than 20 bps while one source was off by 120';
    } finally {
      exchange.shift('played-one', 0);
    }
  },
});

const shiftTwo = ({ disturbances: { exchange } }: DemoWorld, bps: number): void => {
  exchange.shift('played-one', bps);
  exchange.shift('played-three', -bps);
};
const agreeAgain = (_: DemoWorld, detail: string) => `${detail}: no quotes; in agreement again: quoting`;

export const confidenceCheck = (id: string): DemoCheck =>
  disturbed(id, 'confidence', 'price sources disagree', {
    begin: (world) => shiftTwo(world, 35),
    end: (world) => shiftTwo(world, 0),
    meanwhile: agreeAgain,
  });

export const deviationCheck = (id: string): DemoCheck =>
  disturbed(id, 'deviation', 'oracle and exchanges disagree', {
    begin: ({ disturbances }) => disturbances.shiftOracles(250),
    end: ({ disturbances }) => disturbances.shiftOracles(0),
    meanwhile: agreeAgain,
    timeoutMs: 20_000,
  });

export const staleCheck = (id: string): DemoCheck =>
  disturbed(id, 'stale_mid', 'the exchanges send no prices', {
    begin: ({ disturbances }) => disturbances.exchange.hush(true),
    async meanwhile(world) {
      await untilRoster(world, id, 'standby', /^price:/, 20_000);
      return 'no quotes, then standby; prices back: active and quoting';
    },
    async end(world) {
      world.disturbances.exchange.hush(false);
      await untilRoster(world, id, 'active', /^/, 20_000);
    },
  });

export const depegCheck = (id: string): DemoCheck => ({
  name: 'depeg: the dollar token is not worth one dollar',
  async run(world) {
    const seen = await watch(world, id, 'depeg');
    const { exchange } = world.disturbances;
    const price = () => amountFor(world, id, ['base', 'base'], 'WETH', 'USDC');
    const before = await price();
    try {
      exchange.jump('USDC', -45);
      const detail = await seen.tripped();
      let paid = 0;
      await eventually(
        'quotes follow the market',
        10_000,
        async () => (paid = await price()) / before > 1.002,
      );
      return `${detail}: the same WETH buys ${((paid / before - 1) * 1e4).toFixed(0)} bps more USDC`;
    } finally {
      exchange.jump('USDC', (1 / exchange.mid('USDC') - 1) * 1e4);
      await seen.passed();
      await quotesAgain(world, id);
    }
  },
});

export const spikeCheck = (id: string): DemoCheck => ({
  name: 'vol_spike: the price jumps twice',
  async run(world) {
    const seen = await watch(world, id, 'vol_spike');
    const { exchange } = world.disturbances;
    const life = async () =>
      Math.max(...(await asking(world, id).quotes()).map(({ validUntil }) => validUntil - Date.now() / 1000));
    const before = await life();
    exchange.jump('ETH', 40);
    await seen.tripped();
    const wild = await life();
    expect(wild < before && wild < 7, `tenors are ${wild.toFixed(1)} s; they were ${before.toFixed(1)} s`);
    const minValidUntil = Math.floor(Date.now() / 1000) + 12;
    const long = () => asking(world, id).quotes({ sell: '100' }, { minValidUntil });
    expectEqual((await long()).length, 0, 'quotes with a tenor of 12 s in a volatile market');
    await seen.refused(long);
    exchange.jump('ETH', -80);
    await untilRoster(world, id, 'standby', /^risk:/);
    expectEqual((await asking(world, id).quotes()).length, 0, 'quotes while it is stopped');
    exchange.jump('ETH', 40);
    await seen.passed(60_000);
    await quotesAgain(world, id);
    return `first jump: tenors fall from ${before.toFixed(0)} s to ${wild.toFixed(0)} s; second: stopped; calm again: quoting`;
  },
});

export const sequencerCheck = (id: string): DemoCheck =>
  disturbed(id, 'sequencer', 'the sequencer of a rollup is down', {
    corridor: ['base', 'arc'],
    begin: ({ disturbances }) => disturbances.sequencer('arc', false),
    end: ({ disturbances }) => disturbances.sequencer('arc', true),
    async meanwhile(world, detail) {
      await quotesAgain(world, id);
      await untilRoster(world, id, 'active', /^risk:/);
      return `${detail.slice(0, 60)}: its corridors are not quoted, the other chain is; up again: quoting after the grace period`;
    },
    timeoutMs: 20_000,
    recoveryMs: 20_000,
  });

const mineEvery = ({ manifest }: DemoWorld, seconds: number) =>
  rpc(viewChain(manifest, 'arc').chain.rpcUrl, 'evm_setIntervalMining', [seconds]);

export const lagCheck = (id: string): DemoCheck =>
  disturbed(id, 'chain_lag', 'a chain stops producing blocks', {
    corridor: ['arc', 'arc'],
    begin: (world) => mineEvery(world, 0),
    end: (world) => mineEvery(world, 1),
    async meanwhile(world, detail) {
      await quotesAgain(world, id);
      await untilRoster(world, id, 'active', /^lag:/);
      return `${detail}: the chain is not quoted, the other one is; blocks again: quoting`;
    },
    timeoutMs: 30_000,
    recoveryMs: 30_000,
  });
