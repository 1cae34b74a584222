/** Risk checks of prices and chains. They affect every LP, so they run in sequence. */

import { type DemoCheck, eventually, expect, expectEqual } from '../checks/check.ts';
import { viewChain, type DemoWorld } from '../world.ts';
import { rpc } from '../chains/anvil.ts';
import { asking, quotesAgain, untilRoster, watch, type WatchedControl } from './board.ts';

const out = (candidate: { preview: { outputs: readonly { amount: string }[] } } | undefined): number =>
  Number(candidate?.preview.outputs[0]?.amount ?? 0);

/** Checks that the LP sends no candidate, and that the control is counted. */
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
  name: 'one source of three says something else: left out, and quoting goes on',
  async run({ stage, ...rest }) {
    const world = { stage, ...rest };
    const taker = asking(world, id);
    const before = out((await taker.quotes())[0]);
    stage.exchange.shift('played-one', 120);
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const during = out((await asking(world, id).quotes())[0]);
      expect(
        during > 0 && Math.abs(during / before - 1) < 0.002,
        `the price went from ${before} to ${during}`,
      );
      return 'its price moved by less than 20 bps while one source was 120 off';
    } finally {
      stage.exchange.shift('played-one', 0);
    }
  },
});

export const confidenceCheck = (id: string): DemoCheck => ({
  name: 'confidence: the sources disagree',
  async run(world) {
    const seen = await watch(world, id, 'confidence');
    const { exchange } = world.stage;
    try {
      exchange.shift('played-one', 35);
      exchange.shift('played-three', -35);
      const detail = await seen.tripped();
      await refused(world, seen, id);
      return `${detail}: no quote; agreed again: quoting`;
    } finally {
      exchange.shift('played-one', 0);
      exchange.shift('played-three', 0);
      await quotesAgain(world, id);
      await seen.passed();
    }
  },
});

export const deviationCheck = (id: string): DemoCheck => ({
  name: 'deviation: the oracle says something else than the exchanges',
  async run(world) {
    const seen = await watch(world, id, 'deviation');
    try {
      world.stage.shiftOracles(250);
      const detail = await seen.tripped(20_000);
      await refused(world, seen, id);
      return `${detail}; back in line: quoting`;
    } finally {
      world.stage.shiftOracles(0);
      await quotesAgain(world, id);
      await seen.passed();
    }
  },
});

export const staleCheck = (id: string): DemoCheck => ({
  name: 'stale_mid: the exchanges fall silent',
  async run(world) {
    const seen = await watch(world, id, 'stale_mid');
    try {
      world.stage.exchange.hush(true);
      await seen.tripped();
      await refused(world, seen, id);
      await untilRoster(world, id, 'standby', /fresh|ETH/, 20_000);
      return 'refused within seconds, standby when it lasted; prices back: active and quoting';
    } finally {
      world.stage.exchange.hush(false);
      await quotesAgain(world, id);
      await untilRoster(world, id, 'active', /^/);
      await seen.passed();
    }
  },
});

export const depegCheck = (id: string): DemoCheck => ({
  name: 'depeg: the dollar token is off one',
  async run(world) {
    const seen = await watch(world, id, 'depeg');
    const { exchange } = world.stage;
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
      return `${detail}: ${((paid / before - 1) * 1e4).toFixed(0)} bps more of it for the same ether`;
    } finally {
      exchange.jump('USDC', (1 / exchange.mid('USDC') - 1) * 1e4);
      await seen.passed();
      await quotesAgain(world, id);
    }
  },
});

export const spikeCheck = (id: string): DemoCheck => ({
  name: 'vol_spike: the price jumps, and jumps again',
  async run(world) {
    const seen = await watch(world, id, 'vol_spike');
    const { exchange } = world.stage;
    const life = async () =>
      Math.max(...(await asking(world, id).quotes()).map(({ validUntil }) => validUntil - Date.now() / 1000));
    const before = await life();
    exchange.jump('ETH', 40);
    await seen.tripped();
    const wild = await life();
    expect(
      wild < before && wild < 7,
      `quotes live ${wild.toFixed(1)} s where they lived ${before.toFixed(1)} s`,
    );
    const floor = Math.floor(Date.now() / 1000) + 12;
    expectEqual(
      (await asking(world, id).quotes({ sell: '100' }, { minValidUntil: floor })).length,
      0,
      'quotes for twelve seconds in a wild market',
    );
    await seen.refused(() => asking(world, id).quotes({ sell: '100' }, { minValidUntil: floor }));
    exchange.jump('ETH', -80);
    await untilRoster(world, id, 'standby', /spikes/);
    expectEqual((await asking(world, id).quotes()).length, 0, 'quotes while it is stopped');
    exchange.jump('ETH', 40);
    await seen.passed(60_000);
    await quotesAgain(world, id);
    return `first: ${before.toFixed(0)} s of validity became ${wild.toFixed(0)}; second: stopped; calm again: quoting`;
  },
});

export const sequencerCheck = (id: string): DemoCheck => ({
  name: 'sequencer: a rollup says that its sequencer is down',
  async run(world) {
    const seen = await watch(world, id, 'sequencer');
    try {
      await world.stage.sequencer('arc', false);
      const detail = await seen.tripped(20_000);
      await refused(world, seen, id, ['base', 'arc']);
      await quotesAgain(world, id);
      await untilRoster(world, id, 'active', /sequencer/);
      return `${detail.slice(0, 60)}: its corridors are out, the other chain is quoted; up again: quoting after the grace`;
    } finally {
      await world.stage.sequencer('arc', true);
      await seen.passed(20_000);
      await quotesAgain(world, id, ['base', 'arc']);
    }
  },
});

export const lagCheck = (id: string): DemoCheck => ({
  name: 'chain_lag: a chain makes no more blocks',
  async run(world) {
    const seen = await watch(world, id, 'chain_lag');
    const { rpcUrl } = viewChain(world.manifest, 'arc').chain;
    try {
      await rpc(rpcUrl, 'evm_setIntervalMining', [0]);
      const detail = await seen.tripped(30_000);
      await refused(world, seen, id, ['arc', 'arc']);
      await quotesAgain(world, id);
      await untilRoster(world, id, 'active', /arc/);
      return `${detail}: not quoted, the other chain is; mining again: quoting`;
    } finally {
      await rpc(rpcUrl, 'evm_setIntervalMining', [1]);
      await seen.passed(30_000);
      await quotesAgain(world, id, ['arc', 'arc']);
    }
  },
});
