/**
 * What a submission may not do: every mutation, every stale or borrowed signature, every replay is refused
 * without side effects.
 */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FromSolver } from '../../../src/protocol/link/link.ts';
import { encodeFunctionData, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '../../../src/domain/hex.ts';
import { assetId } from '../../../src/domain/asset.ts';
import { settleCall } from '../../../src/settlement/call.ts';
import { invalidateNonceCall } from '../../support/escrow.ts';
import { account, type TestAccount } from '../../support/devnet.ts';
import { signPlan, signTypedData } from '../../support/taker.ts';
import { type Answer, type Json, startTestVenue, type TestVenue, until } from '../../support/venue.ts';

let v: TestVenue;
let key: string;
let usdc: string;
let weth: string;
/** What happens while the node reads for a submission; undefined: nothing. */
let meanwhile: (() => Promise<unknown>) | undefined;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

beforeAll(async () => {
  v = await startTestVenue({
    seen: (port) => ({
      ...port,
      isNonceUsed: async (...of) => (await meanwhile?.(), port.isNonceUsed(...of)),
    }),
  });
  key = await v.key('service');
  usdc = assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address });
  weth = assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address });
  await v.solver(1, (rfq, make) => {
    if (rfq.input === weth) return make.quote(rfq, { output: (BigInt(rfq.amount) * 2_400n) / 10n ** 12n });
    if (BigInt(rfq.amount) > 10n ** 12n) return make.decline(rfq, 'size_above_max', 10n ** 12n);
    if (rfq.side === 'exactInput' && BigInt(rfq.amount) < 2_500_000n)
      return { ...make.decline(rfq, 'size_below_min'), minAmount: '2500000' } as FromSolver;
    return make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n });
  });
});
afterAll(() => v.stop());

const post = (path: string, body: unknown, headers: Record<string, string> = {}, as = key): Promise<Answer> =>
  v.call('POST', path, { key: as, body, headers });
const ask = async (taker: TestAccount, body: object = {}): Promise<Answer> =>
  post('/api/v1/rfq/quotes', {
    taker: taker.address,
    input: { asset: usdc, amount: '1000000000' },
    output: { asset: weth },
    ...body,
  });
const candidateFor = async (taker: TestAccount, body: object = {}): Promise<Json> =>
  (await ask(taker, body)).json['quotes']?.[0] as Json;
const preflight = async (candidate: Json): Promise<Json> =>
  (await post('/api/v1/rfq/orders/preflight', { quoteResponse: candidate })).json;
const refusal = ({ status, json }: Answer): [number, unknown] => [status, json['detail']?.[0]?.['type']];

let takers = 0;
async function fundedTaker(): Promise<TestAccount> {
  const taker = account(4_000 + takers++);
  await v.chain.fund(taker.address, 10_000n);
  return taker;
}
async function ready(
  body: object = {},
): Promise<{ taker: TestAccount; candidate: Json; plan: Json; submission: Record<string, unknown> }> {
  const taker = await fundedTaker();
  const candidate = await candidateFor(taker, body);
  const plan = await preflight(candidate);
  return { taker, candidate, plan, submission: await signPlan(taker, candidate, plan) };
}
const submit = (submission: unknown, headers: Record<string, string> = {}, as = key) =>
  post('/api/v1/rfq/orders', submission, headers, as);

type Path = (string | number)[];
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const children = Array.isArray(value)
    ? value.map((child, index) => pathsOf(child, [...path, index]))
    : Object.entries(value).map(([name, child]) => pathsOf(child, [...path, name]));
  return [...(path.length > 0 ? [path] : []), ...children.flat()];
}
function edit(
  root: Json,
  path: Path,
  change: (parent: Record<string | number, unknown>, last: string | number) => void,
): Json {
  const copy = structuredClone(root) as unknown as Record<string | number, unknown>;
  let parent = copy;
  for (const step of path.slice(0, -1)) parent = parent[step] as Record<string | number, unknown>;
  change(parent, path.at(-1) as string | number);
  return copy as unknown as Json;
}

describe('a changed candidate is refused', () => {
  const mutations: Record<string, (parent: Record<string | number, unknown>, last: string | number) => void> =
    {
      change: (parent, last) => {
        const value = parent[last];
        if (typeof value === 'string')
          parent[last] = value === '' ? 'x' : value.slice(0, -1) + (value.endsWith('1') ? '2' : '1');
        else if (typeof value === 'number') parent[last] = value + 1;
        else if (value === null) parent[last] = 0;
        else if (typeof value === 'boolean') parent[last] = !value;
        else parent[last] = Array.isArray(value) ? [...value, 1] : { ...value, more: 1 };
      },
      remove: (parent, last) =>
        Array.isArray(parent) ? parent.splice(last as number, 1) : delete parent[last],
      null: (parent, last) => (parent[last] = parent[last] === null ? 'x' : null),
      upper: (parent, last) =>
        (parent[last] =
          typeof parent[last] === 'string' && parent[last].toUpperCase() !== parent[last]
            ? parent[last].toUpperCase()
            : 7),
    };

  test('A7: law: a change at any JSON path is refused', async () => {
    const { candidate, submission } = await ready();
    const paths = pathsOf(candidate);
    expect(paths.length).toBeGreaterThan(80);
    const outcomes = await Promise.all(
      paths.flatMap((path) =>
        Object.entries(mutations).map(async ([name, change]) => {
          const mutated = edit(candidate, path, change);
          const answer = await submit({ ...submission, quoteResponse: mutated });
          return `${name} ${path.join('.')}: ${refusal(answer).join(' ')}`;
        }),
      ),
    );
    expect(
      outcomes.filter((outcome) => !/422 (?:integrity_mismatch|extra_forbidden)$/.test(outcome)),
    ).toEqual([]);
    expect(await v.store.openOrders(10)).toEqual([]);
    // And the candidate itself still goes through: nothing above left a trace.
    expect((await submit(submission)).status).toBe(200);
  });

  test('A7, A8: law: reordered arrays and swapped values are refused', async () => {
    const { candidate, submission } = await ready();
    const types = candidate['order']?.['payload']?.['types']?.['StandardOrder'] as unknown as unknown[];
    expect(
      refusal(
        await submit({
          ...submission,
          quoteResponse: edit(
            candidate,
            ['order', 'payload', 'types', 'StandardOrder'],
            (parent, last) => (parent[last] = [...types].reverse()),
          ),
        }),
      ),
    ).toEqual([422, 'integrity_mismatch']);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('preview', 'order', 'validity', 'gas', 'top'),
        fc.stringMatching(/^[a-z]{1,12}$/),
        async (where, name) => {
          const target = (where === 'top' ? candidate : candidate[where]) as unknown as object;
          fc.pre(!(name in target) && name !== 'composite');
          const mutated = edit(
            candidate,
            where === 'top' ? [name] : [where, name],
            (parent, last) => (parent[last] = null),
          );
          // The parser refuses this name in any body, before anybody asks whether the candidate has it.
          const expected = name === 'prototype' ? [422, 'json_invalid'] : [422, 'extra_forbidden'];
          expect(refusal(await submit({ ...submission, quoteResponse: mutated }))).toEqual(expected);
        },
      ),
      {
        numRuns: 25,
        examples: [
          ['preview', 'prototype'],
          ['top', 'prototype'],
        ],
      },
    );
  });

  test('A7: the key order of a candidate does not matter', async () => {
    const { candidate, submission } = await ready();
    const reversed = Object.fromEntries(
      Object.entries(candidate as unknown as Record<string, unknown>).reverse(),
    );
    expect((await submit({ ...submission, quoteResponse: reversed })).status).toBe(200);
  });

  test('A7: preflight refuses the same changes', async () => {
    const { candidate } = await ready();
    expect(
      refusal(
        await post('/api/v1/rfq/orders/preflight', {
          quoteResponse: { ...(candidate as object), validUntil: 4_000_000_000 },
        }),
      ),
    ).toEqual([422, 'integrity_mismatch']);
  });
});

describe('seals of other keys, accounts and namespaces', () => {
  test.each([
    '',
    'x',
    'v1.k1.00.AA',
    `v1.k1.${'zz'.repeat(32)}.AAAA`,
    `v1.k9.${'00'.repeat(32)}.AAAA`,
    `v1.k1.${'00'.repeat(31)}.AAAA`,
  ])('A9: checksum %j', async (integrityChecksum) => {
    const { candidate, submission } = await ready();
    expect(
      refusal(
        await submit({ ...submission, quoteResponse: { ...(candidate as object), integrityChecksum } }),
      ),
    ).toEqual([422, 'integrity_mismatch']);
  });

  test('A10, A38: another workspace, or a key of the other mode, cannot use a candidate', async () => {
    await v.workspace('w2');
    const { candidate, submission } = await ready();
    const foreign = await v.key('service', { workspaceId: 'w2' });
    expect(refusal(await submit(submission, {}, foreign))).toEqual([422, 'integrity_mismatch']);
    expect(
      refusal(await post('/api/v1/rfq/orders/preflight', { quoteResponse: candidate }, {}, foreign)),
    ).toEqual([422, 'integrity_mismatch']);
    expect(refusal(await submit(submission, {}, await v.key('service', { mode: 'live' })))).toEqual([
      422,
      'integrity_mismatch',
    ]);
    // A second key of the same workspace may.
    expect((await submit(submission, {}, await v.key('service'))).status).toBe(200);
  });

  test('A10, A11: a candidate of one namespace is refused in the other, unchanged or relabelled', async () => {
    const { submission, candidate } = await ready();
    expect(refusal(await post('/api/v1/router/orders', submission))).toEqual([422, 'namespace_mismatch']);
    expect(refusal(await post('/api/v1/router/orders/preflight', { quoteResponse: candidate }))).toEqual([
      422,
      'namespace_mismatch',
    ]);
    const { splitFill: _, validity: __, ...shaped } = candidate as unknown as Record<string, unknown>;
    const output = candidate['preview']?.['outputs']?.[0];
    const {
      amountBeforeFees: ___,
      deltaFromMid: ____,
      ...plain
    } = output as unknown as Record<string, unknown>;
    const dressed = {
      ...shaped,
      composite: null,
      preview: { ...(shaped['preview'] as object), outputs: [plain] },
    };
    expect(refusal(await post('/api/v1/router/orders', { ...submission, quoteResponse: dressed }))).toEqual([
      422,
      'integrity_mismatch',
    ]);
    const taker = await fundedTaker();
    const routed = (
      await post('/api/v1/router/quotes', {
        taker: taker.address,
        input: { asset: usdc, amount: '1000000000' },
        output: { asset: weth },
      })
    ).json['quotes']?.[0] as Json;
    expect(refusal(await submit({ ...submission, quoteResponse: routed }))).toEqual([
      422,
      'namespace_mismatch',
    ]);
    expect(refusal(await post('/api/v1/rfq/orders/preflight', { quoteResponse: routed }))).toEqual([
      422,
      'namespace_mismatch',
    ]);
  });

  test('A11: a router candidate sent to the RFQ namespace is refused with the right endpoint', async () => {
    const { candidate, submission } = await ready();
    const { splitFill: _, ...rest } = candidate as unknown as Record<string, unknown>;
    expect(refusal(await submit({ ...submission, quoteResponse: { ...rest, composite: null } }))).toEqual([
      422,
      'namespace_mismatch',
    ]);
  });
});

describe('expiry and one order per quote', () => {
  test("A12: an expired quote is refused by the chain's clock", async () => {
    const { candidate: late, submission } = await ready();
    await v.chain.anvil.advance(70);
    await until(() => (v.chain.port.head()?.timestamp ?? 0) >= (late['validUntil'] as number));
    // Whatever the caller's clock says.
    expect(
      refusal(
        await submit({ ...submission, quoteResponse: late }, { Date: 'Thu, 01 Jan 1970 00:00:00 GMT' }),
      ),
    ).toEqual([422, 'quote_expired']);
    expect(refusal(await post('/api/v1/rfq/orders/preflight', { quoteResponse: late }))).toEqual([
      422,
      'quote_expired',
    ]);
  });

  test('A12: a quote that expires during its submission is refused', async () => {
    const { candidate, submission } = await ready();
    meanwhile = async () => (
      await v.chain.anvil.advance(70),
      until(() => (v.chain.port.head()?.timestamp ?? 0) >= (candidate['validUntil'] as number))
    );
    const late = await submit(submission).finally(() => (meanwhile = undefined));
    expect(refusal(late)).toEqual([422, 'quote_expired']);
  });

  test('A13, A14: the same key and body return the same order byte for byte; another body is refused', async () => {
    const { candidate, submission } = await ready();
    const headers = { 'Idempotency-Key': 'one' };
    const first = await submit(submission, headers);
    const again = await submit(submission, headers);
    expect([again.status, again.text]).toEqual([200, first.text]);
    const other = await ready();
    expect(refusal(await submit(other.submission, headers))).toEqual([422, 'idempotency_key_reuse']);
    // Without the key, or under another one: the same signature and account find the same order.
    expect((await submit(submission, { 'Idempotency-Key': 'two' })).text).toBe(first.text);
    expect((await submit(submission)).text).toBe(first.text);
    expect(
      (await v.store.openOrders(100)).filter(({ quoteId }) => quoteId === (candidate['quoteId'] as unknown))
        .length,
    ).toBe(1);
  });

  test('A14: the same Idempotency-Key in another workspace is a different key', async () => {
    await v.workspace('w3');
    const theirs = await v.key('service', { workspaceId: 'w3' });
    const headers = { 'Idempotency-Key': 'shared' };
    const mine = await submit((await ready()).submission, headers);
    const taker = await fundedTaker();
    const quote = (
      await post(
        '/api/v1/rfq/quotes',
        { taker: taker.address, input: { asset: usdc, amount: '1000000000' }, output: { asset: weth } },
        {},
        theirs,
      )
    ).json['quotes']?.[0] as Json;
    const plan = (await post('/api/v1/rfq/orders/preflight', { quoteResponse: quote }, {}, theirs)).json;
    const other = await submit(await signPlan(taker, quote, plan), headers, theirs);
    expect([mine.status, other.status]).toEqual([200, 200]);
    expect(other.json['id']).not.toBe(mine.json['id']);
  });

  test('A14: twenty concurrent submissions make one order, with one key or twenty', async () => {
    const { submission } = await ready();
    const same = await Promise.all(
      Array.from({ length: 20 }, () => submit(submission, { 'Idempotency-Key': 'crowd' })),
    );
    for (const answer of same) expect([200, 409]).toContain(answer.status);
    const orders = new Set(same.filter(({ status }) => status === 200).map(({ text }) => text));
    expect([...orders]).toEqual([expect.any(String)]);
    for (const { status, headers } of same) if (status === 409) expect(headers.get('retry-after')).toBe('1');
    const other = await ready();
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, n) => submit(other.submission, { 'Idempotency-Key': `crowd-${n}` })),
    );
    expect([...new Set(many.map(({ status, text }) => `${status} ${text}`))]).toEqual([
      expect.stringMatching(/^200 /),
    ]);
  });

  test.each([
    ['empty', ' '],
    ['huge', 'k'.repeat(10_000)],
    ['too long', 'k'.repeat(256)],
    ['not ASCII', 'ké'],
  ])('A14: an Idempotency-Key that is %s is refused', async (_, value) => {
    const { submission } = await ready();
    expect(refusal(await submit(submission, { 'Idempotency-Key': value }))).toEqual([422, 'value_error']);
  });

  test('A13: a sibling candidate of a submitted one is refused: one nonce, one order', async () => {
    await v.solver(2, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_700n }));
    const taker = await fundedTaker();
    const [a, b] = (await ask(taker)).json['quotes'] as unknown as [Json, Json];
    const late = await signPlan(taker, b, await preflight(b));
    expect((await submit(await signPlan(taker, a, await preflight(a)))).status).toBe(200);
    expect(refusal(await submit(late))).toEqual([422, 'nonce_used']);
  });
});

describe('signatures', () => {
  test('A15: signatures by another signer, for another domain or another order are refused', async () => {
    const { taker, candidate, submission } = await ready();
    const payload = candidate['order']?.['payload'] as Json;
    const stranger = account(9_999);
    const elsewhere = async (domain: object) =>
      signTypedData(taker, {
        ...(payload as object),
        domain: { ...(payload['domain'] as object), ...domain },
      } as unknown as Json);
    const older = (await ready()).submission['signature'];
    for (const signature of [
      await signTypedData(stranger, payload),
      await elsewhere({ chainId: 1 }),
      await elsewhere({ verifyingContract: stranger.address }),
      older,
    ]) {
      expect(refusal(await submit({ ...submission, signature }))).toEqual([422, 'invalid_signature']);
    }
  });

  test('A16: malleable and malformed signatures are refused; v 0/1 and compact spellings give the same order', async () => {
    const { submission } = await ready();
    const signature = submission['signature'] as Hex;
    const [r, s, vByte] = [
      signature.slice(2, 66),
      BigInt(`0x${signature.slice(66, 130)}`),
      Number.parseInt(signature.slice(130), 16),
    ];
    const word = (n: bigint) => n.toString(16).padStart(64, '0');
    const bad = [
      `0x${r}${word(N - s)}${vByte === 27 ? '1c' : '1b'}`,
      `0x${word(0n)}${word(s)}1b`,
      `0x${r}${word(0n)}1b`,
      `${signature}00`,
      signature.slice(0, -2) + '1d',
      '0x',
      `0x${'ab'.repeat(4_000)}`,
    ];
    for (const one of bad)
      expect(refusal(await submit({ ...submission, signature: one }))).toEqual([422, 'invalid_signature']);
    for (const one of [signature.slice(2), signature.replace('0x', '0X'), `${signature}0`, 7, null])
      expect((await submit({ ...submission, signature: one })).json['detail']?.[0]?.['loc']).toEqual([
        'body',
        'signature',
      ]);
    const first = await submit(submission);
    expect(first.status).toBe(200);
    const low = `0x${r}${word(s)}${vByte === 27 ? '00' : '01'}`;
    const compact = `0x${r}${word(s | (BigInt(vByte - 27) << 255n))}`;
    for (const same of [low, compact])
      expect((await submit({ ...submission, signature: same })).text).toBe(first.text);
  });

  test('A17, A19: EIP1271 without code at the address, and an ERC-6492 wrapper', async () => {
    const { submission } = await ready();
    expect(refusal(await submit({ ...submission, signScheme: 'EIP1271' }))).toEqual([
      422,
      'invalid_signature',
    ]);
    expect(
      refusal(
        await submit({
          ...submission,
          signScheme: 'EIP1271',
          signature: `${submission['signature'] as string}${'6492'.repeat(16)}`,
        }),
      ),
    ).toEqual([422, 'wallet_not_deployed']);
    expect((await submit({ ...submission, signScheme: 'ERC20' })).json['detail']?.[0]?.['loc']).toEqual([
      'body',
      'signScheme',
    ]);
  });
});

describe('hostile contract wallets', () => {
  /** Runtime code, by hand. */
  const BAD: [string, Hex][] = [
    ['reverts', '0x5f5ffd'],
    ['burns all the gas there is', '0x5b5f56'],
    ['answers with a megabyte', '0x621000005ff3'],
    ['answers with 64 KB of nothing', '0x620100005ff3'],
    ['says another word', `0x7f${'ff'.repeat(32)}5f5260205ff3`],
    ['says the word in four bytes', '0x631626ba7e60e01b5f5260045ff3'],
    ['says the word and more in one', `0x7f1626ba7e${'ff'.repeat(28)}5f5260205ff3`],
    ['returns nothing', '0x00'],
  ];
  const YES: Hex = '0x631626ba7e60e01b5f5260205ff3';
  const become = (taker: TestAccount, code: Hex) => v.chain.anvil.rpc('anvil_setCode', [taker.address, code]);
  /** Funded from the ledger, so that the order's signature is all that is missing. */
  async function deposited(): Promise<{ taker: TestAccount; quoteResponse: Json }> {
    const taker = await fundedTaker();
    await v.chain.deposit(taker.address, v.chain.usdc.address, 2_000_000_000n);
    return { taker, quoteResponse: await candidateFor(taker) };
  }

  test('A17: an EIP1271 wallet with any answer but the magic value is refused at bounded gas', async () => {
    const { taker, quoteResponse } = await deposited();
    for (const [manners, code] of BAD) {
      await become(taker, code);
      expect([
        manners,
        ...refusal(await submit({ quoteResponse, signature: '0x1234', signScheme: 'EIP1271' })),
      ]).toEqual([manners, 422, 'invalid_signature']);
    }
    expect(
      (await v.store.openOrders(1_000)).filter(
        ({ quoteId }) => quoteId === (quoteResponse['quoteId'] as unknown),
      ),
    ).toEqual([]);
  });

  test('A17, A13: a wallet that revokes its approval cannot settle, and another signature is another submission', async () => {
    const { taker, quoteResponse } = await deposited();
    await become(taker, YES);
    const accepted = await submit({ quoteResponse, signature: '0x1234', signScheme: 'EIP1271' });
    expect(accepted.status, accepted.text).toBe(200);
    expect(refusal(await submit({ quoteResponse, signature: '0x5678', signScheme: 'EIP1271' }))).toEqual([
      422,
      'quote_already_used',
    ]);
    expect(
      (
        await submit(
          { quoteResponse, signature: '0x1234', signScheme: 'EIP1271' },
          { 'Idempotency-Key': 'wallet' },
        )
      ).text,
    ).toBe(accepted.text);
    const record = await v.store.order(accepted.json['id'] as unknown as Hex);
    if (!record) throw new Error('no order');
    const settle = {
      from: account(9_998).address,
      to: v.chain.chain.escrow,
      data: settleCall(record.order, record.funding, record.quoteId, record.commitments),
    };
    expect((await v.chain.port.simulate(settle)).ok).toBe(true);
    await become(taker, BAD[0]?.[1] as Hex);
    expect((await v.chain.port.simulate(settle)).ok).toBe(false);
    expect(await v.chain.port.orderStatus(record.orderId)).toBe('none');
  });

  test('A18: an EOA that delegates its code: its own signature settles from the ledger, and a permit only if the code accepts it', async () => {
    const { taker, quoteResponse } = await deposited();
    const delegate = account(9_997);
    await become(delegate, BAD[0]?.[1] as Hex);
    await become(taker, `0xef0100${delegate.address.slice(2)}`);
    const accepted = await submit({
      quoteResponse,
      signature: await signTypedData(taker, quoteResponse['order']?.['payload'] as Json),
    });
    expect(accepted.status, accepted.text).toBe(200);
    const record = await v.store.order(accepted.json['id'] as unknown as Hex);
    if (!record) throw new Error('no order');
    expect(
      (
        await v.chain.port.simulate({
          from: delegate.address,
          to: v.chain.chain.escrow,
          data: settleCall(record.order, record.funding, record.quoteId, record.commitments),
        })
      ).ok,
    ).toBe(true);
    // Permit2 asks the code and not the key: what that would refuse is refused here, before it costs a
    // transaction.
    const other = await fundedTaker();
    await v.chain.approve(other.address, v.chain.weth.address, v.chain.chain.permit2);
    const candidate = await candidateFor(other, {
      input: { asset: weth, amount: '400000000000000000' },
      output: { asset: usdc },
    });
    const submission = await signPlan(other, candidate, await preflight(candidate));
    await become(other, `0xef0100${delegate.address.slice(2)}`);
    expect(refusal(await submit(submission))).toEqual([422, 'lock_invalid']);
    await become(delegate, YES);
    expect((await submit(submission)).status).toBe(200);
  });
});

describe('nonces and locks', () => {
  test('A20: a nonce cancelled on chain is refused', async () => {
    const { taker, candidate, submission } = await ready();
    await v.chain.send(
      taker.address,
      v.chain.chain.escrow,
      invalidateNonceCall(BigInt(candidate['order']?.['payload']?.['message']?.['nonce'] as string)),
    );
    expect(refusal(await submit(submission))).toEqual([422, 'nonce_used']);
    expect(refusal(await post('/api/v1/rfq/orders/preflight', { quoteResponse: candidate }))).toEqual([
      422,
      'nonce_used',
    ]);
  });

  test('A20: a permit nonce invalidated in Permit2 is refused', async () => {
    const taker = await fundedTaker();
    await v.chain.approve(taker.address, v.chain.weth.address, v.chain.chain.permit2);
    const candidate = await candidateFor(taker, {
      input: { asset: weth, amount: '400000000000000000' },
      output: { asset: usdc },
    });
    const submission = await signPlan(taker, candidate, await preflight(candidate));
    const nonce = BigInt(candidate['order']?.['payload']?.['message']?.['nonce'] as string);
    const invalidate = encodeFunctionData({
      abi: parseAbi(['function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)']),
      args: [nonce >> 8n, 1n << (nonce & 0xffn)],
    });
    await v.chain.send(taker.address, v.chain.chain.permit2, invalidate);
    expect(refusal(await submit(submission))).toEqual([422, 'nonce_used']);
  });

  test('A21: no lock', async () => {
    const { submission } = await ready();
    expect(refusal(await submit({ ...submission, eip3009Authorization: null }))).toEqual([
      422,
      'lock_required',
    ]);
  });

  test('A22: EIP-3009: wrong windows, nonces and signers, and a wallet without the money', async () => {
    const { taker, candidate, plan, submission } = await ready();
    const authorization = submission['eip3009Authorization'] as Record<string, unknown>;
    const payload = plan['nextActions']?.[0]?.['typedData']?.['payload'] as Json;
    const validUntil = candidate['validUntil'] as number;
    const resigned = async (change: Record<string, unknown>, who = taker) => {
      const message = { ...(payload['message'] as object), ...change };
      return {
        ...authorization,
        ...change,
        signature: await signTypedData(who, { ...(payload as object), message } as unknown as Json),
      };
    };
    const future = Math.floor(Date.now() / 1000) + 1_000;
    for (const bad of [
      await resigned({ validAfter: future }),
      await resigned({ validBefore: validUntil - 1 }),
      await resigned({ validBefore: 1 }),
      { ...authorization, nonce: `0x${'11'.repeat(32)}` },
      { ...authorization, signature: (await resigned({}, account(9_999))).signature },
    ]) {
      expect(refusal(await submit({ ...submission, eip3009Authorization: bad }))).toEqual([
        422,
        'lock_invalid',
      ]);
    }
    for (const bad of [
      { ...authorization, nonce: '0x11' },
      { ...authorization, validBefore: '1' },
      { ...authorization, more: 1 },
    ])
      expect(
        (await submit({ ...submission, eip3009Authorization: bad })).json['detail']?.[0]?.['loc']?.[1],
      ).toBe('eip3009Authorization');
    const poor = account(9_000);
    const wish = await candidateFor(poor);
    const dream = await preflight(wish);
    expect(dream['ready']).toBe(false);
    expect(refusal(await submit(await signPlan(poor, wish, dream)))).toEqual([422, 'lock_invalid']);
    expect((await submit(submission)).status).toBe(200);
  });

  test('A22: an authorization whose nonce was used', async () => {
    const { taker, plan, submission } = await ready();
    const authorization = submission['eip3009Authorization'] as {
      signature: Hex;
      validAfter: number;
      validBefore: number;
      nonce: Hex;
    };
    const message = (plan['nextActions'] as unknown as Json[]).find(
      ({ purpose }) => (purpose as unknown) === 'eip3009Authorization',
    )?.['typedData']?.['payload']?.['message'] as Json;
    const receive = encodeFunctionData({
      abi: parseAbi([
        'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
      ]),
      args: [
        taker.address,
        v.chain.chain.escrow,
        BigInt(message['value'] as string),
        BigInt(authorization.validAfter),
        BigInt(authorization.validBefore),
        authorization.nonce,
        authorization.signature,
      ],
    });
    await v.chain.anvil.rpc('anvil_setBalance', [v.chain.chain.escrow, '0xde0b6b3a7640000']);
    await v.chain.send(v.chain.chain.escrow, v.chain.usdc.address, receive);
    const refused = await submit(submission);
    expect([refused.status, refused.json['detail']?.[0]?.['loc']]).toEqual([
      422,
      ['body', 'eip3009Authorization', 'nonce'],
    ]);
  });

  test('A21: permit2Lock: expired, too short, out of range, by another signer, not requested', async () => {
    const body = { input: { asset: weth, amount: '400000000000000000' }, output: { asset: usdc } };
    const taker = await fundedTaker();
    await v.chain.approve(taker.address, v.chain.weth.address, v.chain.chain.permit2);
    const candidate = await candidateFor(taker, body);
    const plan = await preflight(candidate);
    const submission = await signPlan(taker, candidate, plan);
    const lock = submission['permit2Lock'] as Record<string, unknown>;
    const validUntil = candidate['validUntil'] as number;
    for (const deadline of [1, validUntil])
      expect(refusal(await submit({ ...submission, permit2Lock: { ...lock, deadline } }))).toEqual([
        422,
        'lock_invalid',
      ]);
    expect((await submit({ ...submission, permit2Lock: { ...lock, deadline: 2 ** 256 } })).status).toBe(422);
    expect(
      refusal(
        await submit({ ...submission, permit2Lock: { ...lock, deadline: (lock['deadline'] as number) + 1 } }),
      ),
    ).toEqual([422, 'lock_invalid']);
    const both = {
      ...submission,
      eip3009Authorization: {
        signature: '0x00',
        validAfter: 0,
        validBefore: 1,
        nonce: `0x${'00'.repeat(32)}`,
      },
    };
    expect(refusal(await submit(both))).toEqual([422, 'lock_invalid']);
    await v.chain.deposit(taker.address, v.chain.weth.address, 10n ** 18n);
    expect(refusal(await submit(submission))).toEqual([422, 'lock_invalid']);
    expect((await submit({ ...submission, permit2Lock: null })).status).toBe(200);
  });
});

describe('impossible requests', () => {
  test('A6, A25: chains of another roster', async () => {
    const taker = account(1);
    const live = await v.key('service', { mode: 'live' });
    const body = { taker: taker.address, input: { asset: usdc, amount: '1' }, output: { asset: weth } };
    expect(refusal(await post('/api/v1/rfq/quotes', body, {}, live))).toEqual([422, 'chain_not_in_roster']);
    expect(refusal(await ask(taker, { output: { asset: `eip155:777/erc20:0x${'ab'.repeat(20)}` } }))).toEqual(
      [422, 'chain_not_in_roster'],
    );
    expect(
      (await ask(taker, { output: { asset: `eip155:2494104990/erc20:0x${'ab'.repeat(20)}` } })).json,
    ).toMatchObject({ quotes: [], productUnavailable: { code: 'pair_not_supported' } });
    expect(
      (await ask(taker, { output: { asset: `eip155:${v.chain.chain.id}/erc20:0x${'ab'.repeat(20)}` } })).json,
    ).toMatchObject({ productUnavailable: { code: 'pair_not_supported' } });
  });

  test('A24: amounts too small for the fees or too large for every LP', async () => {
    const taker = account(1);
    expect((await ask(taker, { input: { asset: usdc, amount: '1' } })).json).toMatchObject({
      quotes: [],
      productUnavailable: { code: 'amount_too_small', corridor: 'chain1-chain1' },
    });
    // Less than the relay fee, and more: both name the least amount, and that one is quoted.
    for (const amount of ['1', '2499999']) {
      const small = await ask(taker, { input: { asset: usdc, amount }, solvers: { include: ['lp-1'] } });
      expect(small.json['productUnavailable']).toEqual({
        code: 'amount_too_small',
        message:
          'The amount does not cover the cost of settling it. The least that would pass now is 2.5 USDC.',
        corridor: 'chain1-chain1',
      });
    }
    const least = await ask(taker, {
      input: { asset: usdc, amount: '2500000' },
      solvers: { include: ['lp-1'] },
    });
    expect(least.json['quotes'], least.text).toHaveLength(1);
    const large = await ask(taker, {
      input: { asset: usdc, amount: '5000000000000' },
      solvers: { include: ['lp-1'] },
    });
    expect(large.json).toMatchObject({ quotes: [], productUnavailable: { code: 'amount_too_large' } });
    expect(large.json['productUnavailable']?.['message']).toContain('1000000 USDC');
    expect((await ask(taker, { minValidUntil: 4_000_000_000 })).json).toMatchObject({
      productUnavailable: { code: 'validity_unavailable' },
    });
  });

  test('a refused value is answered with the rule and a value that keeps it', async () => {
    const answers = [
      await ask(account(1), { taker: 5 }),
      await ask(account(1), { input: { asset: usdc, amount: 1_000_000 } }),
      await ask(account(1), { maxCandidates: 21 }),
      await ask(account(1), { splitFill: 'maybe' }),
    ];
    expect(answers.map(({ status, json }) => [status, json['detail']?.[0]?.['msg']])).toEqual([
      [422, 'must be text in quotes, such as "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"'],
      [422, 'must be text in quotes, such as "1000000"'],
      [422, 'must be at most 20, such as 20'],
      [422, 'must be one of "allow", "never"'],
    ]);
  });

  test('A26: receivers that cannot receive', async () => {
    const taker = account(1);
    const lp = v.venue.roster.entry('lp-1')?.session?.accounts.get(v.chain.chain.id)?.account;
    for (const receiver of [v.chain.chain.escrow, v.chain.weth.address, `0x${'00'.repeat(20)}`, lp]) {
      const answer = await ask(taker, { receiver });
      expect([answer.status, answer.json['detail']?.[0]?.['loc']]).toEqual([422, ['body', 'receiver']]);
    }
    const other = account(4_444);
    const sent = await candidateFor(taker, { receiver: privateKeyToAccount(other.privateKey).address });
    expect(sent['preview']?.['outputs']?.[0]?.['receiver']).toBe(other.address);
  });

  test("A38: another workspace's order is unknown", async () => {
    await v.workspace('w2');
    const { submission } = await ready();
    const { id } = (await submit(submission)).json as unknown as { id: string };
    const [mine, theirs, unknown, odd] = await Promise.all([
      v.call('GET', `/api/v1/rfq/orders/${id}`, { key }),
      v.call('GET', `/api/v1/rfq/orders/${id}`, { key: await v.key('service', { workspaceId: 'w2' }) }),
      v.call('GET', `/api/v1/rfq/orders/0x${'12'.repeat(32)}`, { key }),
      v.call('GET', '/api/v1/rfq/orders/nonsense', { key }),
    ]);
    expect(mine.status).toBe(200);
    expect([theirs.status, theirs.text]).toEqual([404, unknown.text]);
    expect([odd.status, odd.text]).toEqual([404, unknown.text]);
  });
});
