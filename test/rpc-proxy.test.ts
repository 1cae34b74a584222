/** The node that errs on command does exactly what it is told, or the faults it plays would prove nothing. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RpcProxy, startRpcProxy } from './faults/support/rpc-proxy.ts';
import { startAnvil, type TestAnvil } from './support/anvil.ts';

let anvil: TestAnvil;
let proxy: RpcProxy;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 31_337 });
  await anvil.mine(5);
  proxy = await startRpcProxy(anvil.url);
});

afterAll(async () => {
  await proxy.stop();
  await anvil.stop();
});

const post = async (body: unknown): Promise<unknown> =>
  (await fetch(proxy.url, { method: 'POST', body: JSON.stringify(body) })).json();
const ask = async (
  method: string,
  params: readonly unknown[] = [],
): Promise<{ result?: unknown; error?: unknown }> =>
  (await post({ jsonrpc: '2.0', id: 7, method, params })) as never;

test('one failing method leaves the others working, also within a batch; lifting the fault ends it', async () => {
  const seen = proxy.calls('eth_chainId');
  const lift = proxy.fault('eth_chainId', { do: 'lie', answer: () => '0x1' });
  const batch = [
    { jsonrpc: '2.0', id: 'a', method: 'eth_chainId', params: [] },
    { jsonrpc: '2.0', id: 'b', method: 'eth_blockNumber', params: [] },
  ];
  expect(await post(batch)).toEqual([
    expect.objectContaining({ id: 'a', result: '0x1' }),
    expect.objectContaining({ id: 'b', result: '0x5' }),
  ]);
  lift();
  expect(await ask('eth_chainId')).toMatchObject({ id: 7, result: '0x7a69' });
  expect([proxy.calls('eth_chainId') - seen, proxy.faulted('eth_chainId')]).toEqual([2, 1]);
});

test('a node that is behind has neither later blocks nor later state', async () => {
  const account = `0x${'12'.repeat(20)}`;
  await anvil.mine();
  await anvil.rpc('anvil_setBalance', [account, '0x10']);
  await anvil.mine();
  const head = BigInt(await anvil.rpc<string>('eth_blockNumber'));
  const lift = proxy.fault('*', { do: 'stale', at: head - 2n });
  expect((await ask('eth_getBlockByNumber', ['latest', false])).result).toMatchObject({
    number: `0x${(head - 2n).toString(16)}`,
  });
  expect((await ask('eth_getBlockByNumber', [`0x${head.toString(16)}`, false])).result).toBeNull();
  expect((await ask('eth_getBalance', [account, 'latest'])).result).toBe('0x0');
  expect((await ask('eth_call', [{ to: account }, `0x${head.toString(16)}`])).error).toMatchObject({
    message: 'header not found',
  });
  lift();
  expect((await ask('eth_getBalance', [account, 'latest'])).result).toBe('0x10');
});

test('a reply can be withheld although the node acted; delays end when the fault is lifted', async () => {
  const before = BigInt(await anvil.rpc<string>('eth_blockNumber'));
  proxy.fault('anvil_mine', { do: 'swallow', how: 'hang_up' });
  await expect(ask('anvil_mine', ['0x1'])).rejects.toThrow();
  expect(BigInt(await anvil.rpc<string>('eth_blockNumber'))).toBe(before + 1n);
  proxy.fault('anvil_mine', { do: 'duplicate' });
  await ask('anvil_mine', ['0x1']);
  expect(BigInt(await anvil.rpc<string>('eth_blockNumber'))).toBe(before + 3n);
  proxy.fault('eth_chainId', { do: 'delay', ms: 3_600_000 });
  const late = ask('eth_chainId');
  await expect.poll(() => proxy.waiting().now).toBe(1);
  proxy.heal();
  expect(await late).toMatchObject({ result: '0x7a69' });
});

test('null answers, refusals, requests that never reach the node, and a node that is down', async () => {
  proxy.fault('eth_getBlockByNumber', { do: 'null' }, ([tag]) => tag === '0x1');
  expect((await ask('eth_getBlockByNumber', ['0x1', false])).result).toBeNull();
  expect((await ask('eth_getBlockByNumber', ['0x2', false])).result).toMatchObject({ number: '0x2' });
  proxy.fault('eth_chainId', { do: 'reject', code: -32_005, message: 'too many requests' });
  expect((await ask('eth_chainId')).error).toEqual({ code: -32_005, message: 'too many requests' });
  const head = await anvil.rpc<string>('eth_blockNumber');
  proxy.fault('anvil_mine', { do: 'drop', answer: () => 'done' });
  expect((await ask('anvil_mine', ['0x1'])).result).toBe('done');
  expect(await anvil.rpc<string>('eth_blockNumber')).toBe(head);
  proxy.heal();
  await proxy.down();
  await expect(ask('eth_chainId')).rejects.toThrow();
  await proxy.up();
  expect((await ask('eth_chainId')).result).toBe('0x7a69');
});
