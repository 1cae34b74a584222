/**
 * CPU time that one JSON-RPC call costs the calling process, with our transport and with viem's. A child
 * process serves both. Calls are sequential; the first few are reported separately because they run cold.
 *
 *   npm run bench -- rpc [--questions=2000]
 */

import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { http } from 'viem';
import { createHttpTransport } from '../src/adapters/evm/rpc/http-transport.ts';

const FIRST = 5;
const { values } = parseArgs({ options: { questions: { type: 'string', default: '2000' } } });

if (process.send !== undefined) serve();
else await measure(Number(values.questions));

/** Answers every call with a block header of typical size. */
function serve(): void {
  const block = {
    number: '0x10',
    hash: `0x${'a'.repeat(64)}`,
    parentHash: `0x${'b'.repeat(64)}`,
    timestamp: '0x66b4c000',
    baseFeePerGas: '0x7',
    logsBloom: `0x${'0'.repeat(512)}`,
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const asked = JSON.parse(body) as { id: number } | { id: number }[];
      const answer = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: block });
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)));
    });
  }).listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function measure(questions: number): Promise<void> {
  const node = fork(import.meta.filename, { execArgv: process.execArgv });
  const url = `http://127.0.0.1:${await new Promise<number>((done) => node.once('message', (port) => done(port as number)))}/`;
  const ours = createHttpTransport(url, { timeoutMs: 8_000 });
  const viem = http(url, { retryCount: 0, batch: { batchSize: 100, wait: 0 } })({ retryCount: 0 });
  const question = { method: 'eth_getBlockByNumber', params: ['latest', false] as const };
  const figures = {
    ours: await cpuOf(() => ours.request(question), questions),
    viem: await cpuOf(() => viem.request(question as never), questions),
  };
  ours.close();
  node.kill();
  for (const [name, { first, warm }] of Object.entries(figures))
    console.log(
      `${name.padEnd(6)}the first ${FIRST} ${first.toFixed(0)} µs CPU each, then ${warm.toFixed(0)} µs`,
    );
  console.log(
    JSON.stringify({
      bench: 'rpc',
      questions,
      cpuMicros: figures,
      ratio: Math.round((10 * figures.viem.warm) / figures.ours.warm) / 10,
      machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
    }),
  );
}

/** Microseconds of process CPU per call. */
async function cpuOf(
  ask: () => Promise<unknown>,
  questions: number,
): Promise<{ first: number; warm: number }> {
  const first = await spent(ask, FIRST);
  await spent(ask, questions);
  return { first, warm: await spent(ask, questions) };
}

async function spent(ask: () => Promise<unknown>, times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let left = times; left > 0; left -= 1) await ask();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}
