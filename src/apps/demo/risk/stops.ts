/** Risk checks that stop an LP entirely. */

import { rm, writeFile } from 'node:fs/promises';
import { encodeAbiParameters, keccak256, type Address, type Hex } from 'viem';
import { lpProcess } from '../configs.ts';
import { type DemoCheck, eventually, expect, expectEqual } from '../checks/check.ts';
import { viewChain, type DemoWorld } from '../world.ts';
import { rpc } from '../chains/anvil.ts';
import { asking, lpOf, quotesAgain, untilRoster, watch } from './board.ts';

const post = async (world: DemoWorld, id: string, path: string): Promise<void> =>
  expectEqual(
    (await fetch(`${lpOf(world, id).adminUrl}${path}`, { method: 'POST' })).status,
    200,
    `POST ${path}`,
  );

async function stopped(world: DemoWorld, id: string): Promise<void> {
  expectEqual((await asking(world, id).quotes()).length, 0, `quotes of ${id} while it is stopped`);
}

export const killApiCheck = (id: string): DemoCheck => ({
  name: 'kill_switch: by the admin API',
  async run(world) {
    const seen = await watch(world, id, 'kill_switch');
    await post(world, id, '/pause?note=enough');
    try {
      await stopped(world, id);
      await seen.tripped();
      await untilRoster(world, id, 'standby', /^paused:/);
    } finally {
      await post(world, id, '/resume');
    }
    await quotesAgain(world, id);
    await seen.passed();
    return 'POST /pause: standby as "paused" on the roster, no quotes; POST /resume: quoting';
  },
});

export const killFileCheck = (id: string): DemoCheck => ({
  name: 'kill_switch: by a file',
  async run(world) {
    const seen = await watch(world, id, 'kill_switch');
    const path = world.disturbances.killFile(id);
    const { adminUrl } = lpOf(world, id);
    await writeFile(path, '');
    const madeAt = performance.now();
    let tookMs = 0;
    try {
      for (;;) {
        const { status } = (await (await fetch(`${adminUrl}/status`)).json()) as { status: string };
        tookMs = performance.now() - madeAt;
        if (status === 'standby') break;
        expect(tookMs < 3_000, 'the LP did not stop within 3 s');
      }
      await stopped(world, id);
      await seen.tripped();
      await untilRoster(world, id, 'standby', /^killed:/);
      await post(world, id, '/resume');
      await stopped(world, id);
    } finally {
      await rm(path, { force: true });
    }
    await quotesAgain(world, id);
    await seen.passed();
    return `file created: standby after ${tookMs.toFixed(0)} ms; removed: quoting again`;
  },
});

export const killSignalCheck = (id: string): DemoCheck => ({
  name: 'kill_switch: by SIGUSR2, and it survives a crash',
  async run(world) {
    const seen = await watch(world, id, 'kill_switch');
    const pid = world.supervisor.pid(lpProcess(id));
    expect(pid !== undefined, `${id} is not running`);
    process.kill(pid, 'SIGUSR2');
    await seen.tripped();
    await untilRoster(world, id, 'standby', /^killed:/);
    await stopped(world, id);
    await world.supervisor.crash(lpProcess(id));
    await untilRoster(world, id, 'standby', /^killed:/, 60_000);
    await post(world, id, '/resume');
    await quotesAgain(world, id, undefined, 90_000);
    return 'signal: standby; after a crash and restart: still standby; resumed: quoting';
  },
});

export const drawdownCheck = (id: string): DemoCheck => ({
  name: 'drawdown: the market falls and the inventory loses value',
  async run(world) {
    const undo = await world.disturbances.reconfigure(id, (lp) => {
      lp['risk'] = { ...(lp['risk'] as object), drawdown: { hourBps: 20, dayBps: 20, killTimes: 3 } };
    });
    const { exchange } = world.disturbances;
    const [seen, kill] = [await watch(world, id, 'drawdown'), await watch(world, id, 'kill_switch')];
    const start = exchange.mid('ETH');
    const to = (share: number) => exchange.jump('ETH', ((start * share) / exchange.mid('ETH') - 1) * 1e4);
    try {
      to(0.986);
      await seen.tripped();
      to(0.95);
      const said = await kill.tripped();
      await untilRoster(world, id, 'standby', /^killed:/);
      await stopped(world, id);
      to(1);
      await post(world, id, '/resume');
      await quotesAgain(world, id, undefined, 30_000);
      await seen.passed();
      return `down 1.4 %: sizes cut; down 5 %: kill switch ("${said}"); resumed by the operator: quoting`;
    } finally {
      to(1);
      await undo();
      await post(world, id, '/resume');
    }
  },
});

async function balanceSlot(
  rpcUrl: string,
  escrow: Address,
  account: Address,
  token: Address,
  balance: bigint,
): Promise<Hex> {
  const nested = (outer: Address, inner: Address, slot: bigint): Hex => {
    const first = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [outer, slot]));
    return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [inner, first]));
  };
  for (let slot = 0n; slot < 32n; slot++) {
    for (const place of [nested(account, token, slot), nested(token, account, slot)]) {
      if (BigInt(String(await rpc(rpcUrl, 'eth_getStorageAt', [escrow, place, 'latest']))) === balance)
        return place;
    }
  }
  throw new Error('The storage slot of the balance was not found.');
}

export const driftCheck = (id: string): DemoCheck => ({
  name: 'drift: a token amount is missing in the escrow without an event',
  async run(world) {
    const base = viewChain(world.manifest, 'base');
    const { account } = lpOf(world, id);
    const { rpcUrl, escrow } = base.chain;
    const token = base.token('DAI').address;
    const seen = await watch(world, id, 'drift');
    const balance = await base.ledger(account, 'DAI');
    const place = await balanceSlot(rpcUrl, escrow, account, token, balance);
    const word = (amount: bigint) => `0x${amount.toString(16).padStart(64, '0')}`;
    const quotes = () => asking(world, id, ['base', 'base'], 'WETH', 'DAI').quotes({ sell: '0.05' });
    await eventually(`${id} quotes DAI`, 30_000, async () => (await quotes()).length > 0);
    try {
      await rpc(rpcUrl, 'anvil_setStorageAt', [escrow, place, word(balance - 1n)]);
      await seen.tripped(30_000);
      expectEqual((await quotes()).length, 0, 'quotes of the token');
      await seen.refused(quotes);
      await untilRoster(world, id, 'active', /^drift:/);
      await quotesAgain(world, id);
    } finally {
      await rpc(rpcUrl, 'anvil_setStorageAt', [escrow, place, word(balance)]);
    }
    await seen.passed(30_000);
    await eventually('the token is quoted again', 10_000, async () => (await quotes()).length > 0);
    return 'one base unit of DAI missing: DAI is frozen, other tokens are quoted; restored: DAI is quoted';
  },
});
