/** Risk checks of prices and chains. They affect every LP, so they run in sequence. */

import { type DemoCheck, eventually, expect, expectEqual } from '../checks/check.ts';
import { viewChain, type DemoWorld } from '../world.ts';
import { rpc } from '../chains/anvil.ts';
import { asking, quotesAgain, untilRoster, watch, type WatchedControl } from './board.ts';

const out = (candidate: { preview: { outputs: readonly { amount: string }[] } } | undefined): number =>
  Number(candidate?.preview.outputs[0]?.amount ?? 0);

async function refused(
  world: DemoWorld,
  seen: WatchedControl,
  id: string,
  corridor?: readonly [string, string],
): Promise<void> {
  const { quotes } = asking(world, id, corridor);
  expectEqual((await quotes()).length, 0, `quotes of ${id}`);
  await seen.refused(quotes);
}

export const outlierCheck = (id: string): DemoCheck => ({
  name: 'outlier: one of three price sources is off and is ignored',
  async run({ disturbances, ...rest }) {
    const world = { disturbances, ...rest };
    const taker = asking(world, id);
    const before = out((await taker.quotes())[0]);
    disturbances.exchange.shift('played-one', 120);
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const during = out((await asking(world, id).quotes())[0]);
      expect(
        during > 0 && Math.abs(during / before - 1) < 0.002,
        `the price went from ${before} to ${during}`,
      );
      return 'quotes moved by less than 20 bps while one source was off by 120';
    } finally {
      disturbances.exchange.shift('played-one', 0);
    }
  },
});

export const confidenceCheck = (id: string): DemoCheck => ({
  name: 'confidence: price sources disagree',
  async run(world) {
    const seen = await watch(world, id, 'confidence');
    const { exchange } = world.disturbances;
    try {
      exchange.shift('played-one', 35);
      exchange.shift('played-three', -35);
      const detail = await seen.tripped();
      await refused(world, seen, id);
      return `${detail}: no quotes; in agreement again: quoting`;
    } finally {
      exchange.shift('played-one', 0);
      exchange.shift('played-three', 0);
      await quotesAgain(world, id);
      await seen.passed();
    }
  },
});

export const deviationCheck = (id: string): DemoCheck => ({
  name: 'deviation: oracle and exchanges disagree',
  async run(world) {
    const seen = await watch(world, id, 'deviation');
    try {
      world.disturbances.shiftOracles(250);
      const detail = await seen.tripped(20_000);
      await refused(world, seen, id);
      return `${detail}: no quotes; in agreement again: quoting`;
    } finally {
      world.disturbances.shiftOracles(0);
      await quotesAgain(world, id);
      await seen.passed();
    }
  },
});

export const staleCheck = (id: string): DemoCheck => ({
  name: 'stale_mid: the exchanges send no prices',
  async run(world) {
    const seen = await watch(world, id, 'stale_mid');
    try {
      world.disturbances.exchange.hush(true);
      await seen.tripped();
      await refused(world, seen, id);
      await untilRoster(world, id, 'standby', /fresh|ETH/, 20_000);
      return 'no quotes, then standby; prices back: active and quoting';
    } finally {
      world.disturbances.exchange.hush(false);
      await quotesAgain(world, id);
      await untilRoster(world, id, 'active', /^/);
      await seen.passed();
    }
  },
});

export const depegCheck = (id: string): DemoCheck => ({
  name: 'depeg: the dollar token is not worth one dollar',
  async run(world) {
    const seen = await watch(world, id, 'depeg');
    const { exchange } = world.disturbances;
    const price = async () =>
      out((await asking(world, id, ['base', 'base'], 'WETH', 'USDC').quotes({ sell: '0.1' }))[0]);
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
    const floor = Math.floor(Date.now() / 1000) + 12;
    expectEqual(
      (await asking(world, id).quotes({ sell: '100' }, { minValidUntil: floor })).length,
      0,
      'quotes with a tenor of 12 s in a volatile market',
    );
    await seen.refused(() => asking(world, id).quotes({ sell: '100' }, { minValidUntil: floor }));
    exchange.jump('ETH', -80);
    await untilRoster(world, id, 'standby', /spikes/);
    expectEqual((await asking(world, id).quotes()).length, 0, 'quotes while it is stopped');
    exchange.jump('ETH', 40);
    await seen.passed(60_000);
    await quotesAgain(world, id);
    return `first jump: tenors fall from ${before.toFixed(0)} s to ${wild.toFixed(0)} s; second: stopped; calm again: quoting`;
  },
});

export const sequencerCheck = (id: string): DemoCheck => ({
  name: 'sequencer: the sequencer of a rollup is down',
  async run(world) {
    const seen = await watch(world, id, 'sequencer');
    try {
      await world.disturbances.sequencer('arc', false);
      const detail = await seen.tripped(20_000);
      await refused(world, seen, id, ['base', 'arc']);
      await quotesAgain(world, id);
      await untilRoster(world, id, 'active', /sequencer/);
      return `${detail.slice(0, 60)}: its corridors are not quoted, the other chain is; up again: quoting after the grace period`;
    } finally {
      await world.disturbances.sequencer('arc', true);
      await seen.passed(20_000);
      await quotesAgain(world, id, ['base', 'arc']);
    }
  },
});

export const lagCheck = (id: string): DemoCheck => ({
  name: 'chain_lag: a chain stops producing blocks',
  async run(world) {
    const seen = await watch(world, id, 'chain_lag');
    const { rpcUrl } = viewChain(world.manifest, 'arc').chain;
    try {
      await rpc(rpcUrl, 'evm_setIntervalMining', [0]);
      const detail = await seen.tripped(30_000);
      await refused(world, seen, id, ['arc', 'arc']);
      await quotesAgain(world, id);
      await untilRoster(world, id, 'active', /arc/);
      return `${detail}: the chain is not quoted, the other one is; blocks again: quoting`;
    } finally {
      await rpc(rpcUrl, 'evm_setIntervalMining', [1]);
      await seen.passed(30_000);
      await quotesAgain(world, id, ['arc', 'arc']);
    }
  },
});
