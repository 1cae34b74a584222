/** Tests what nodes answer to raw bytes, in the words of the nodes themselves. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../../test/support/silent.ts';
import { systemClock } from '../../system/clock.ts';
import { createHealth } from '../rpc/health.ts';
import { createRpc, RpcRefusal } from '../rpc/rpc.ts';
import { sendRaw } from './send.ts';

interface Call {
  id: number;
  method: string;
}

describe('endpoints', () => {
  const servers: { url: string; close(): void; answer: (method: string) => object | 'hang' | 'reset' }[] = [];
  async function node(answer: (method: string) => object | 'hang' | 'reset') {
    const entry = { url: '', close: () => {}, answer };
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const asked = JSON.parse(body) as Call | Call[];
        const calls = Array.isArray(asked) ? asked : [asked];
        const first = entry.answer(calls[0]?.method ?? '');
        if (first === 'hang') return;
        if (first === 'reset') return void request.socket.destroy();
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify(
            calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, ...(entry.answer(method) as object) })),
          ),
        );
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    entry.url = `http://user:s3cr3t@127.0.0.1:${(server.address() as AddressInfo).port}/v2/API-KEY`;
    entry.close = () => {
      server.closeAllConnections();
      server.close();
    };
    servers.push(entry);
    return entry;
  }
  let good: Awaited<ReturnType<typeof node>>;
  beforeAll(async () => {
    good = await node(() => ({ result: '0x1' }));
  });
  afterAll(() => {
    for (const { close } of servers) close();
  });

  test('asks the next endpoint when one hangs or resets, and skips one that keeps failing until it recovers', async () => {
    for (const bad of [await node(() => 'hang'), await node(() => 'reset')]) {
      let asked = 0;
      const well = bad.answer;
      bad.answer = (method) => {
        asked += 1;
        return well(method);
      };
      const clock = { ...systemClock };
      const health = createHealth(
        2,
        { chain: 'test', clock, log: silentLog, metrics: silentMetrics },
        { maxLagBlocks: 5, readmitAfterMs: 60_000 },
      );
      const rpc = createRpc([bad.url, good.url], { timeoutMs: 500, tryMs: 50 }, { clock, health });
      for (let n = 0; n < 3; n += 1) expect(await rpc.request('eth_chainId', [])).toBe('0x1');
      expect(health.order()).toEqual([1]);
      const before = asked;
      expect(await rpc.request('eth_chainId', [])).toBe('0x1');
      expect(asked).toBe(before);
      // It answers again, and is believed after a minute of that.
      const sight = { head: 5n, deep: undefined };
      health.round([sight, sight]);
      expect(health.order()).toEqual([1]);
      const { monotonicMs } = systemClock;
      clock.monotonicMs = () => monotonicMs() + 60_000;
      health.round([sight, sight]);
      expect(health.order()).toEqual([0, 1]);
    }
  });

  test('many requests that fail together are one failure, and a request is tried once at each endpoint', async () => {
    let asked = 0;
    const count = () => {
      asked += 1;
      return 'reset' as const;
    };
    const [one, other] = [await node(count), await node(count)];
    const health = createHealth(2, {
      chain: 'test',
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    });
    const rpc = createRpc([one.url, other.url], {}, { clock: systemClock, health });
    await Promise.allSettled(Array.from({ length: 50 }, () => rpc.request('eth_chainId', [])));
    expect(health.inService()).toEqual([0, 1]);
    // One HTTP request of fifty calls to each.
    expect(asked).toBe(2);
  });

  test('no error contains the URL', async () => {
    const leaky = await node(() => ({
      error: { code: -32000, message: 'upstream https://rpc.example/KEY failed' },
    }));
    const urls = [
      leaky.url,
      (await node(() => 'reset')).url,
      (await node(() => 'hang')).url,
      'http://user:s3cr3t@127.0.0.1:9/v2/API-KEY',
    ];
    for (const url of urls) {
      const error = await createRpc([url], { timeoutMs: 300 })
        .request('eth_call', [])
        .catch((caught: unknown) => caught as Error & { cause?: unknown });
      const text = `${(error as Error).message} ${JSON.stringify(error)} ${String((error as Error).stack)} ${String((error as Error).cause)}`;
      expect(text).not.toMatch(/s3cr3t|API-KEY|rpc\.example|127\.0\.0\.1/);
    }
  });

  test('one endpoint that took the bytes suffices; silence counts as sent', async () => {
    const low = await node(() => ({ error: { code: -32000, message: 'nonce too low' } }));
    const mute = await node(() => 'hang');
    expect(await sendRaw(createRpc([low.url, good.url], { timeoutMs: 300 }), '0x02')).toMatchObject({
      kind: 'sent',
    });
    expect(await sendRaw(createRpc([mute.url], { timeoutMs: 300 }), '0x02')).toMatchObject({
      kind: 'indeterminate',
    });
    expect(await sendRaw(createRpc([mute.url, low.url], { timeoutMs: 300 }), '0x02')).toMatchObject({
      kind: 'nonce_too_low',
    });
  });

  test.each([
    ['a node with a full pool', -32_000, 'txpool is full', 'not_now'],
    ['a node that says nothing known', -32_099, 'the moon is in the wrong house', 'not_now'],
    ['a node that has the bytes', -32_000, 'already known', 'sent'],
    ['a node that will never take them', -32_000, 'intrinsic gas too low', 'rejected'],
    [
      'an empty account',
      -32_004,
      'Upfront cost exceeds account balance (transaction up-front cost 0x1)',
      'out_of_funds',
    ],
  ])('%s', async (_, code, message, kind) => {
    const only = await node(() => ({ error: { code, message } }));
    expect(await sendRaw(createRpc([only.url]), '0x02')).toMatchObject({ kind });
  });

  test('one node that refuses for now keeps another from ending the transaction', async () => {
    const never = await node(() => ({ error: { code: -32_000, message: 'oversized data' } }));
    const full = await node(() => ({ error: { code: -32_000, message: 'txpool is full' } }));
    expect(await sendRaw(createRpc([never.url, full.url]), '0x02')).toMatchObject({ kind: 'not_now' });
  });

  test('a refusal is the answer, and no other endpoint is asked', async () => {
    let asked = 0;
    const revert = await node(() => ({ error: { code: 3, message: 'execution reverted', data: '0x1234' } }));
    const other = await node(() => {
      asked += 1;
      return { result: '0x' };
    });
    const error = await createRpc([revert.url, other.url])
      .request('eth_call', [])
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RpcRefusal);
    expect(asked).toBe(0);
  });
});
