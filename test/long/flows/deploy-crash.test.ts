/**
 * `firmquote deploy run` killed at every transaction, refused by its node, and undone by a reorganisation:
 * it goes on from what the chain shows, and no transaction is mined twice.
 */

import { readFile, rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readDeployment } from '../../../src/apps/config/deployment.ts';
import { createDeployNode } from '../../../src/adapters/evm/deploy/node.ts';
import { runtimeOf } from '../../../src/apps/deploy/code.ts';
import type { DeployChain } from '../../../src/apps/deploy/config.ts';
import { createPatience } from '../../../src/apps/deploy/patience.ts';
import { runChain } from '../../../src/apps/deploy/run.ts';
import { type RpcFault, type RpcProxy, startRpcProxy } from '../../faults/support/rpc-proxy.ts';
import type { Hex } from '../../../src/domain/hex.ts';
import type { TestAnvil } from '../../support/anvil.ts';
import { type Running, startFirmquote } from '../../support/command.ts';
import {
  codeAt,
  type Deploying,
  type DeployWorld,
  SAFE,
  SENDER,
  sentBy,
  startDeployWorld,
} from '../../support/deployment.ts';
import { until } from '../../support/venue.ts';

/** Permit2, four contracts, and the offer of the oracle to its owner. */
const STEPS = 6;
const KEYS = ['escrow', 'oracle', 'quoteBond', 'batch'] as const;
const SEND = 'eth_sendRawTransaction';
const ESTIMATE = 'eth_estimateGas';

let world: DeployWorld;
let chain: TestAnvil;
let node: RpcProxy;

beforeAll(async () => {
  world = await startDeployWorld([31_631, 31_632]);
  node = await startRpcProxy(world.chains[0]?.url as string);
}, 60_000);
afterAll(async () => {
  await node?.stop();
  await world?.stop();
});
afterEach(() => node.heal());

/** The first run on a chain has to deploy Permit2 as well. */
const stepsFrom = (sent: number): number => (sent === 0 ? STEPS : STEPS - 1);

/** Wei per gas, of the next block. */
const setBaseFee = (wei: number) => chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`]);

const through = (rpcUrl: string, more: object = {}) => ({
  chains: [{ id: chain.chainId, slug: 'one', rpcUrls: [rpcUrl], depth: 0, ...more }],
});

const start = ({ file }: Deploying, ...words: string[]) =>
  startFirmquote(['deploy', 'run', '--yes', '-c', file, ...words]);

async function whileMining<T>(work: Promise<T>): Promise<T> {
  const mining = setInterval(() => void chain.mine(), 200);
  return work.finally(() => clearInterval(mining));
}

/** A reorganisation removes three transactions of the run, which is stopped until the count shows that. */
async function takeBackThree({ child }: Running, before: number): Promise<void> {
  child.kill('SIGSTOP');
  expect((await sentBy(chain)) - before).toBe(STEPS - 1);
  await chain.rpc('anvil_reorg', [3, []]);
  expect((await sentBy(chain)) - before).toBe(STEPS - 1 - 3);
  child.kill('SIGCONT');
}

async function expectDeployed(deployed: Deploying): Promise<void> {
  const { contracts } = readDeployment(`${deployed.folder}/one.json`);
  for (const key of KEYS) {
    const contract = deployed.contract(key);
    expect(await codeAt(chain, contract.address)).toBe(runtimeOf(contract));
    const block = contracts[key]?.block as number;
    const [before, after] = await Promise.all(
      [block - 1, block].map((at) => chain.rpc('eth_getCode', [contract.address, `0x${at.toString(16)}`])),
    );
    expect([key, before, after === '0x']).toEqual([key, '0x', false]);
  }
  expect((await deployed.verify()).stdout).toContain(`who has to accept. The multisig signs`);
}

describe('killed at each transaction', () => {
  beforeAll(() => void (chain = world.chains[0] as TestAnvil));

  test.each<[string, RpcFault, number]>([
    ['before the node has it', { do: 'reject', code: -32_000, message: 'txpool is full' }, 0],
    ['after the node has it', { do: 'swallow', how: 'silence' }, 1],
  ])('%s', async (name, fault, minedEach) => {
    const killed = await world.parameters(`killed ${minedEach}`, through(node.url));
    const before = await sentBy(chain);
    const steps = stepsFrom(before);
    for (let step = 0; step < steps; step += 1) {
      const seen = node.faulted(SEND);
      // Each process gets one transaction further than the one before it.
      const skip = minedEach === 1 ? 0 : step > 0 ? 1 : 0;
      let passed = 0;
      node.heal();
      node.fault(SEND, fault, () => (passed += 1) > skip);
      const run = start(killed);
      await until(async () => node.faulted(SEND) > seen);
      run.child.kill('SIGKILL');
      await run.ended;
    }
    node.heal();
    const last = start(killed);
    expect([name, await last.ended, last.output()]).toEqual([
      name,
      0,
      expect.stringContaining('everything is deployed'),
    ]);
    expect((await sentBy(chain)) - before).toBe(steps);
    await expectDeployed(killed);
  });

  test.each([
    ['plans', false],
    ['sends', true],
  ])('mined after the next run looked at the chain, while it %s: it goes on', async (when, afterPlan) => {
    const late = await world.parameters(`late ${when}`, through(node.url));
    const before = await sentBy(chain);
    const steps = stepsFrom(before);
    const held = node.faulted(ESTIMATE);
    await chain.rpc('evm_setAutomine', [false]);
    const killed = start(late);
    await killed.says('sent the transaction to deploy');
    killed.child.kill('SIGKILL');
    await killed.ended;
    const asked = node.calls(ESTIMATE);
    await late.plan();
    let skipped = afterPlan ? node.calls(ESTIMATE) - asked : 0;
    node.fault(ESTIMATE, { do: 'delay', ms: 1_000 }, () => (skipped -= 1) < 0);
    const next = start(late);
    await until(async () => node.faulted(ESTIMATE) > held);
    await chain.rpc('evm_setAutomine', [true]);
    await chain.mine();
    expect((await sentBy(chain)) - before).toBe(1);
    expect([when, await next.ended, (await sentBy(chain)) - before]).toEqual([when, 0, steps]);
    await expectDeployed(late);
  });

  test('while the node keeps it waiting: the next run does not add another', async () => {
    const waiting = await world.parameters('waiting', through(chain.url));
    const before = await sentBy(chain);
    await setBaseFee(1_000_000_000);
    await chain.mine();
    await chain.rpc('evm_setAutomine', [false]);
    const first = start(waiting);
    await first.says('sent the transaction to deploy Escrow');
    first.child.kill('SIGKILL');
    await first.ended;
    // The second run offers other fees, so its bytes differ. The first one's fees still suffice.
    await setBaseFee(1_500_000_000);
    const second = start(waiting);
    await second.says(/to deploy Escrow/);
    const pool = await chain.rpc<{ pending: string; queued: string }>('txpool_status');
    expect(pool).toEqual({ pending: '0x1', queued: '0x0' });
    await chain.rpc('evm_setAutomine', [true]);
    await chain.mine();
    expect(await second.ended).toBe(0);
    expect((await sentBy(chain)) - before).toBe(STEPS - 1);
    await expectDeployed(waiting);
  });
});

describe('a node that refuses for a while', () => {
  beforeAll(() => void (chain = world.chains[0] as TestAnvil));

  test.each<[string, string, RpcFault]>([
    ['everything', '*', { do: 'reject', code: -32_005, message: 'daily request count exceeded' }],
    ['receipts', 'eth_getTransactionReceipt', { do: 'reject', code: -32_603, message: 'Internal error' }],
  ])('%s: the run waits and goes on', async (what, method, fault) => {
    const refused = await world.parameters(`refused ${what}`, through(node.url));
    const before = await sentBy(chain);
    node.fault(method, fault);
    const run = start(refused);
    await run.says('Asking again.');
    node.heal();
    expect([what, await run.ended]).toEqual([what, 0]);
    expect((await sentBy(chain)) - before).toBe(STEPS - 1);
    await expectDeployed(refused);
  });

  test('for longer than --patience: it ends, says what to do, and the next run goes on', async () => {
    const away = await world.parameters('away', through(node.url));
    const before = await sentBy(chain);
    let sent = 0;
    node.fault(SEND, { do: 'reject', code: -32_000, message: 'txpool is full' }, () => (sent += 1) > 2);
    const run = start(away, '--patience', '1');
    expect([await run.ended, run.output()]).toEqual([
      1,
      expect.stringMatching(
        /does not confirm it yet: .*txpool is full[\s\S]*is not mined[\s\S]*Nothing is lost: run again/,
      ),
    ]);
    expect((await sentBy(chain)) - before).toBe(2);
    node.heal();
    const next = start(away);
    expect([await next.ended, (await sentBy(chain)) - before]).toEqual([0, STEPS - 1]);
  });

  test('one chain that is away does not stop the other', async () => {
    const both = await world.parameters('both', {
      chains: world.chains.map(({ url, chainId }, at) => ({
        ...{ id: chainId, slug: ['one', 'two'][at], rpcUrls: [at === 0 ? node.url : url], depth: 0 },
      })),
    });
    node.fault(SEND, { do: 'reject', code: -32_000, message: 'txpool is full' });
    const run = start(both, '--patience', '1');
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('two: everything is deployed');
    expect(await codeAt(world.chains[1] as TestAnvil, both.contract('batch').address)).not.toBe('0x');
  });

  test('with another chain id: nothing is sent', async () => {
    const stray = await world.parameters('stray', { chains: [{ id: 1, slug: 'one', rpcUrls: [chain.url] }] });
    const refused = await stray.run();
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`The node configured for one (chain 1) is on chain ${chain.chainId}`),
    ]);
  });
});

test('a node without old state: the record is kept, and a block that is not in it is asked for', async () => {
  chain = world.chains[0] as TestAnvil;
  const pruned = await world.parameters('pruned', through(node.url));
  expect((await pruned.run()).status).toBe(0);
  const file = `${pruned.folder}/one.json`;
  const record = await readFile(file, 'utf8');
  await chain.mine(5);
  const head = BigInt(await chain.rpc<Hex>('eth_blockNumber'));
  node.fault(
    'eth_getTransactionCount',
    { do: 'reject', code: -32_000, message: 'missing trie node' },
    ([, tag]) => tag !== 'latest' && BigInt(tag as Hex) < head,
  );
  expect((await pruned.run()).status).toBe(0);
  expect(await readFile(file, 'utf8')).toBe(record);
  await rm(file);
  const asked = await pruned.run('--patience', '0');
  expect([asked.status, asked.stdout]).toEqual([1, expect.stringContaining('Add an archive endpoint')]);
  node.heal();
  expect((await pruned.run()).status).toBe(0);
  expect(await readFile(file, 'utf8')).toBe(record);
});

test('a transaction whose fees have become too low is sent again with higher ones', async () => {
  chain = world.chains[0] as TestAnvil;
  const stuck = await world.parameters('stuck', through(chain.url));
  const before = await sentBy(chain);
  const lines: string[] = [];
  const report = (line: string) => void lines.push(line);
  const [section] = stuck.config.chains as [DeployChain];
  const direct = createDeployNode(section.rpcUrls, { timeoutMs: 10_000, feeModel: 'auto', minBaseFee: 0n });
  await chain.rpc('evm_setAutomine', [false]);
  const running = runChain(direct, stuck.config, section, {
    ...{ signer: SENDER.signer, report, bumpAfterMs: 500 },
    patience: createPatience({ slug: 'one', report, patienceMs: 60_000, pollMs: 50 }),
  });
  await until(async () => lines.length > 0);
  // More than the transaction offers; it waits in the pool.
  await setBaseFee(100_000_000_000);
  await chain.mine();
  expect(await sentBy(chain)).toBe(before);
  await until(async () => lines.length > 1);
  await chain.rpc('evm_setAutomine', [true]);
  await chain.mine();
  await running.finally(() => direct.close());
  expect((await sentBy(chain)) - before).toBe(STEPS - 1);
  const hashes = lines.slice(0, 2).map((line) => /to deploy Escrow: (0x\w+)/.exec(line)?.[1]);
  expect(new Set(hashes).size).toBe(2);
  await expectDeployed(stuck);
});

test('a run that was killed before the last blocks were deep: the next one waits for that depth', async () => {
  chain = world.chains[0] as TestAnvil;
  const young = await world.parameters('young', through(chain.url, { depth: 4 }));
  const before = await sentBy(chain);
  const killed = start(young);
  await killed.says('waiting for 4 more blocks');
  killed.child.kill('SIGKILL');
  await killed.ended;
  const next = start(young);
  await next.says('waiting for 4 more blocks');
  await takeBackThree(next, before);
  await until(async () => (await sentBy(chain)) - before === STEPS - 1);
  expect(await whileMining(next.ended)).toBe(0);
  await expectDeployed(young);
  // Everything is on record, and no new block comes.
  const again = await young.run();
  expect([again.status, again.stdout]).toEqual([0, expect.stringContaining('everything is deployed')]);
  expect(again.stdout).not.toContain('waiting for');
});

test('what a reorganisation takes back is sent again', async () => {
  chain = world.chains[0] as TestAnvil;
  const taken = await world.parameters('taken', through(chain.url, { depth: 4 }));
  const before = await sentBy(chain);
  const run = start(taken);
  await run.says('waiting for 4 more blocks');
  await takeBackThree(run, before);
  await until(async () => (await sentBy(chain)) - before === STEPS - 1);
  expect(await whileMining(run.ended)).toBe(0);
  expect((await sentBy(chain)) - before).toBe(STEPS - 1);
  await expectDeployed(taken);
  expect(readDeployment(`${taken.folder}/one.json`).oracle.owner).toBe(SAFE);
});
