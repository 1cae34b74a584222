/** Requests that the venue must refuse without side effects. */

import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { QuoteCandidate } from '../../../protocol/api/candidate.ts';
import type { HttpAnswer } from '../taker.ts';
import { readerFor } from '../world.ts';
import { type DemoCheck, expect, expectEqual, expectSettled } from './check.ts';
import {
  askOf,
  balancesOf,
  type DemoTrade,
  inputOf,
  SETTLE_TIMEOUT_MS,
  freshTrade,
  tradeOf,
} from './trade.ts';

const zValidation = z.object({
  detail: z
    .array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string(), type: z.string() }))
    .min(1),
});
const zError = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

async function candidateFor(trade: DemoTrade, sell = '100'): Promise<QuoteCandidate> {
  const { quotes, productUnavailable } = await trade.taker.quote(askOf(trade, { sell }));
  const [candidate] = quotes;
  expect(candidate !== undefined, `no quote: ${productUnavailable?.message ?? ''}`);
  return candidate;
}

async function signedFor(trade: DemoTrade, sell?: string) {
  const candidate = await candidateFor(trade, sell);
  return { candidate, submission: (await trade.taker.prepare(candidate)).submission };
}

function expectRefusal(answer: HttpAnswer, types: readonly string[], what: string): void {
  expectEqual(answer.status, 422, `${what}: status of the refusal (${answer.text.slice(0, 200)})`);
  const { detail } = zValidation.parse(answer.json);
  expect(
    detail.some(({ type }) => types.includes(type)),
    `${what}: refused as ${detail.map(({ type }) => type).join(', ')} instead of ${types.join(' or ')}`,
  );
}

async function untouched(trade: DemoTrade, work: () => Promise<void>): Promise<void> {
  const before = await balancesOf(trade);
  await work();
  // A transaction caused by a refused submission would be mined within two blocks.
  const head = await trade.source.client.getBlockNumber();
  while ((await trade.source.client.getBlockNumber()) < head + 2n) await sleep(200);
  expectEqual((await balancesOf(trade)).join(), before.join(), 'balances of the taker after the refusals');
}

export const refusalChecks: readonly DemoCheck[] = [
  {
    name: 'refused: expired quote',
    async run(world) {
      const trade = freshTrade(world);
      const { candidate, submission } = await signedFor(trade);
      await untouched(trade, async () => {
        while (Date.now() / 1000 <= candidate.validUntil + 1) await sleep(250);
        expectRefusal(await trade.taker.post(submission), ['quote_expired'], 'expired quote');
      });
      return 'one second after validUntil: quote_expired';
    },
  },
  {
    name: 'refused: any field of the candidate changed',
    async run(world) {
      // Uses the other workspace's key, because so many submissions exhaust the key's rate limit.
      const trade = tradeOf(world, world.freshTaker(world.manifest.venue.keys.otherService));
      let leaves = 0;
      await untouched(trade, async () => {
        let { submission, changed } = await signedAndChanged(trade);
        for (let index = 0; index < changed.length; index++) {
          // A quote may expire before the list is done.
          if (Date.now() / 1000 > submission.quoteResponse.validUntil - 2)
            ({ submission, changed } = await signedAndChanged(trade));
          const mutation = changed[index];
          if (!mutation) break;
          const answer = await retryWhileLimited(() =>
            trade.taker.post({ ...submission, quoteResponse: mutation.candidate }),
          );
          expect(
            answer.status === 422,
            `changed ${mutation.path}: answered ${answer.status} ${answer.text.slice(0, 120)}`,
          );
          leaves += 1;
        }
      });
      return `${leaves} fields changed one at a time, ${leaves} refusals`;
    },
  },
  {
    name: 'refused: wrong signer',
    async run(world) {
      const trade = freshTrade(world);
      const thief = world.freshTaker();
      await untouched(trade, async () => {
        const candidate = await candidateFor(trade);
        const plan = await trade.taker.preflight(candidate);
        const stolen = await thief.sign(candidate, plan);
        expectRefusal(
          await trade.taker.post(stolen),
          ['invalid_signature', 'lock_invalid'],
          "another account's signature",
        );
        const own = await trade.taker.sign(candidate, plan);
        const flipped = `${own.signature.slice(0, -2)}${own.signature.endsWith('1b') ? '1c' : '1b'}`;
        expectRefusal(
          await trade.taker.post({ ...own, signature: flipped }),
          ['invalid_signature'],
          'signature with its last byte changed',
        );
      });
      return "another account's signature and a damaged one: invalid_signature";
    },
  },
  {
    name: 'refused: nonce used twice',
    async run(world, tally) {
      const trade = freshTrade(world);
      const { quotes } = await trade.taker.quote(askOf(trade, { sell: '100' }, { maxCandidates: 3 }));
      const [first, second] = quotes;
      expect(first !== undefined && second !== undefined, 'fewer than two candidates share the nonce');
      const prepared = await trade.taker.prepare(first);
      const other = await trade.taker.prepare(second);
      const before = await trade.source.balance(trade.taker.address, 'USDC');
      const order = await trade.taker.submit(prepared.submission);
      expectRefusal(
        await trade.taker.post(other.submission),
        ['nonce_used', 'quote_already_used'],
        'second candidate of the same answer, before settlement',
      );
      expectSettled(await trade.taker.finish(order.id, SETTLE_TIMEOUT_MS), tally, 'first candidate');
      expectRefusal(
        await trade.taker.post(other.submission),
        ['nonce_used', 'quote_already_used', 'quote_expired'],
        'second candidate after settlement',
      );
      expectEqual(
        before - (await trade.source.balance(trade.taker.address, 'USDC')),
        inputOf(first),
        'USDC paid',
      );
      return 'two candidates of one answer share a nonce: the first settled, the second was refused before and after';
    },
  },
  {
    name: 'refused: API key of the wrong kind',
    async run(world) {
      const trade = freshTrade(world);
      const { workspaceAdmin, solver } = world.manifest.venue.keys;
      await untouched(trade, async () => {
        const { submission } = await signedFor(trade);
        for (const [name, key] of [
          ['workspace', workspaceAdmin],
          ['solver', solver],
        ] as const) {
          const answer = await readerFor(world.manifest, key).post(submission);
          expectEqual(answer.status, 403, `submission with a ${name} key`);
          const { code } = zError.parse(answer.json).error;
          expectEqual(code, 'wrong_key_kind', `submission with a ${name} key`);
        }
        const unknown = await readerFor(
          world.manifest,
          `${world.manifest.venue.keys.service.slice(0, -4)}AAAA`,
        ).post(submission);
        expectEqual(unknown.status, 401, 'submission with an unknown key');
        expectEqual(zError.parse(unknown.json).error.code, 'unauthorized', 'submission with an unknown key');
        const foreign = await retryWhileLimited(() =>
          readerFor(world.manifest, world.manifest.venue.keys.otherService).post(submission),
        );
        expectRefusal(foreign, ['integrity_mismatch'], "submission under another workspace's key");
      });
      return 'workspace and solver keys: 403; unknown key: 401; key of another workspace: integrity_mismatch';
    },
  },
  {
    name: 'one Idempotency-Key makes one order',
    async run(world, tally) {
      const trade = freshTrade(world);
      const { candidate, submission } = await signedFor(trade);
      const before = await trade.source.balance(trade.taker.address, 'USDC');
      const key = `demo-${candidate.quoteId.slice(2, 18)}`;
      const answers = await Promise.all([1, 2, 3].map(() => trade.taker.post(submission, key)));
      const again = await trade.taker.post(submission, key);
      expect(
        answers.every(({ status }) => status === 200 || status === 409),
        `answers ${answers.map(({ status }) => status).join(', ')}`,
      );
      const good = [...answers, again].filter(({ status }) => status === 200);
      expectEqual(new Set(good.map(({ text }) => text)).size, 1, 'different answers to one key');
      expectEqual(again.status, 200, 'repeated later');
      const { id } = z.object({ id: z.string() }).parse(again.json);
      const otherBody = await signedFor(trade, '150');
      expectRefusal(
        await trade.taker.post(otherBody.submission, key),
        ['idempotency_key_reuse'],
        'the key with another body',
      );
      expectSettled(await trade.taker.finish(id, SETTLE_TIMEOUT_MS), tally, 'the one order');
      expectEqual(
        before - (await trade.source.balance(trade.taker.address, 'USDC')),
        inputOf(candidate),
        'USDC paid once',
      );
      return `${good.length} identical answers, one order, paid once; another body with the same key: idempotency_key_reuse`;
    },
  },
  {
    name: 'an amount larger than all inventory gets no quote',
    async run(world) {
      const trade = freshTrade(world);
      const { quotes, productUnavailable } = await trade.taker.quote(askOf(trade, { buy: '1000000' }));
      expectEqual(quotes.length, 0, 'quotes');
      expectEqual(productUnavailable?.code, 'amount_too_large', 'productUnavailable code');
      expectEqual(productUnavailable?.corridor, 'base-base', 'corridor');
      return `amount_too_large: ${productUnavailable?.message ?? ''}`;
    },
  },
];

async function signedAndChanged(trade: DemoTrade) {
  const { candidate, submission } = await signedFor(trade);
  return { submission, changed: mutations(candidate) };
}

function mutations(candidate: QuoteCandidate): { path: string; candidate: unknown }[] {
  return leafPaths(candidate, []).map((path) => {
    const copy = structuredClone(candidate) as unknown;
    const holder = path
      .slice(0, -1)
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], copy) as Record<string, unknown>;
    const last = path.at(-1) ?? '';
    holder[last] = changed(holder[last]);
    return { path: path.join('.'), candidate: copy };
  });
}

function leafPaths(value: unknown, path: string[]): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leafPaths(inner, [...path, key]));
}

function changed(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return 1;
  const last = value.at(-1);
  return `${value.slice(0, -1)}${last === '1' ? '2' : '1'}`;
}

async function retryWhileLimited<T extends { status: number }>(post: () => Promise<T>): Promise<T> {
  let answer = await post();
  for (let tries = 0; answer.status === 429 && tries < 20; tries++) {
    await sleep(500);
    answer = await post();
  }
  return answer;
}
