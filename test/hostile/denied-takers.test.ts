/** A denied address gets nothing, however its letters are cased on the list or in the request. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDenyList, type DenyList } from '../../src/adapters/screening/deny-list.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { assetId } from '../../src/domain/asset.ts';
import { account } from '../support/devnet.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { signPlan } from '../support/taker.ts';
import { type Answer, type Json, startTestVenue, type TestVenue } from '../support/venue.ts';

const lower = account(8_401).address;
const upper = `0x${lower.slice(2).toUpperCase()}`;
const spellings = [lower, upper, getAddress(lower)];
const free = account(8_402);
let folder: string;
let denyList: DenyList;
let v: TestVenue;
let key: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-denied-'));
  denyList = createDenyList(
    { clock: systemClock, log: silentLog, metrics: silentMetrics },
    { path: join(folder, 'deny.txt') },
  );
  await list('');
  await denyList.start();
  v = await startTestVenue({ chainIds: [31_456], screeners: [denyList] });
  key = await v.key('service');
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }));
  await v.chain.fund(free.address, 10_000n);
});
afterAll(async () => {
  await v.stop();
  denyList.stop();
  await rm(folder, { recursive: true });
});

const list = (address: string) => writeFile(join(folder, 'deny.txt'), `# version: now\n${address}\n`);
const post = (path: string, body: unknown) => v.call('POST', `/api/v1/rfq/${path}`, { key, body });
const ask = (taker: string, receiver = taker): Promise<Answer> =>
  post('quotes', {
    taker,
    receiver,
    input: { asset: asset('usdc'), amount: '1000000000' },
    output: { asset: asset('weth') },
  });
const asset = (name: 'usdc' | 'weth') => assetId({ chainId: v.chain.chain.id, token: v.chain[name].address });
const refusal = ({ status, json }: Answer) => [status, json['detail']?.[0]?.['type']];

test.each(spellings)('listed as %s, asked for in any case, as taker or receiver', async (listed) => {
  await list(listed);
  expect(await denyList.reload()).toBe(true);
  for (const spelling of spellings) {
    expect(refusal(await ask(spelling))).toEqual([422, 'address_denied']);
    expect(refusal(await ask(free.address, spelling))).toEqual([422, 'address_denied']);
  }
  expect((await ask(free.address)).status).toBe(200);
});

test('a taker that is listed between preflight and submission places no order', async () => {
  const quote = (await ask(free.address)).json['quotes']?.[0] as Json;
  const submission = await signPlan(
    free,
    quote,
    (await post('orders/preflight', { quoteResponse: quote })).json,
  );
  await list(getAddress(free.address));
  await denyList.reload();
  expect(refusal(await post('orders', submission))).toEqual([422, 'address_denied']);
  expect(v.solvers[0]?.received.filter(({ type }) => type === 'award')).toEqual([]);
});
