/**
 * The client against a venue that lies: one test a lie, each refused under its own name, before anything is
 * signed or sent.
 */

import { join } from 'node:path';
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  http,
  keccak256,
  maxUint256,
  parseAbi,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Client,
  type ClientOptions,
  createClient,
  DISTRUST_CODES,
  type DistrustCode,
  type DistrustError,
  type TradeRequest,
  type Wallet,
} from '../../src/client/client.ts';
import { matchLegs, type ReadCandidate } from '../../src/client/candidate.ts';
import { assetId } from '../../src/domain/asset.ts';
import { decodeContext, encodeContext, type OutputContext } from '../../src/domain/context.ts';
import { addressToBytes32, type Address, type Hex } from '../../src/domain/hex.ts';
import type { StandardOrder } from '../../src/domain/order.ts';
import type { QuoteCandidate } from '../../src/protocol/api/candidate.ts';
import type { Action } from '../../src/protocol/api/preflight.ts';
import type { Leg } from '../../src/protocol/api/router.ts';
import { decodeCommitments, encodeCommitments, formatSeal, parseSeal } from '../../src/protocol/seal-wire.ts';
import {
  limitOperatorCall,
  permit2GrantCall,
  requestWithdrawalCall,
  setOperatorCall,
} from '../../src/settlement/call.ts';
import { invalidateNonceCall } from '../support/escrow.ts';
import { eip3009TypedData, permit2LockTypedData } from '../../src/settlement/funding.ts';
import { account, type TestAccount, type TestChain } from '../support/devnet.ts';
import { forge, type Liar, startLiar } from '../support/liar.ts';
import { type Json, startTestVenue, type TestVenue } from '../support/venue.ts';

let v: TestVenue;
let liar: Liar;
let key: string;
let origin: TestChain;
let dest: TestChain;
let lps: { id: string; lp: TestAccount; operator: TestAccount }[];
let taker: TestAccount;
let takers = 0;

const thief = account(666).address;
const usdc = () => assetId({ chainId: origin.chain.id, token: origin.usdc.address });
const weth = (chain = origin) => assetId({ chainId: chain.chain.id, token: chain.weth.address });
const WETH_OUT = 399_600_000_000_000_000n;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_411, 31_412] });
  [origin, dest] = v.devnet.chains as [TestChain, TestChain];
  liar = await startLiar(v.url);
  key = await v.key('service');
  lps = [];
  // The last two are for tests that spoil them.
  for (const n of [1, 2, 5, 6])
    lps.push(
      await v.solver(n, (rfq, make) => ({
        ...make.quote(
          rfq,
          rfq.output === usdc()
            ? { output: 2_400_000_000n }
            : rfq.side === 'exactInput'
              ? { output: WETH_OUT }
              : { input: 1_000_000_000n },
        ),
        more: false,
      })),
    );
  // Ladders only: together they make a split.
  for (const n of [3, 4])
    lps.push(
      await v.solver(n, (rfq) => ({
        type: 'partial',
        rfqId: rfq.rfqId,
        ladder: [[(BigInt(rfq.amount) / 2n).toString(), (WETH_OUT / 2n).toString()]],
        validUntil: rfq.minValidUntil ?? Math.floor(Date.now() / 1000) + 60,
      })),
    );
  taker = await fundedTaker();
});
afterAll(async () => {
  await liar.stop();
  await v.stop();
});
beforeEach(() => liar.tell());

async function fundedTaker(): Promise<TestAccount> {
  const one = account(7_000 + takers++);
  await origin.fund(one.address, 10_000n);
  return one;
}

const rpc = (chain: TestChain) => createPublicClient({ transport: http(chain.anvil.url), cacheTime: 0 });
const clientOf = (options: Partial<ClientOptions> = {}): Client =>
  createClient({
    url: liar.url,
    key,
    chains: {
      [origin.chain.id]: { rpc: rpc(origin), escrow: origin.chain.escrow, oracles: [origin.chain.oracle] },
      [dest.chain.id]: { rpc: rpc(dest), escrow: dest.chain.escrow, oracles: [dest.chain.oracle] },
    },
    ...options,
  });
const walletOf = (who = taker, chain = origin): Wallet =>
  createWalletClient({ account: privateKeyToAccount(who.privateKey), transport: http(chain.anvil.url) });

const request = (more: Partial<TradeRequest> = {}): TradeRequest => ({
  taker: taker.address,
  input: { asset: usdc(), amount: 1_000_000_000n },
  output: { asset: weth() },
  splitFill: 'never',
  solvers: { include: ['lp-1', 'lp-2'] },
  ...more,
});
/** The venue may not yet have read what the test before this one changed on the chain. */
async function quoted(client: Client, asked: TradeRequest = request()): Promise<QuoteCandidate> {
  return vi.waitFor(
    async () => {
      const { quotes, productUnavailable } = await client.requestQuotes(asked);
      if (!quotes[0]) throw new Error(`no quote: ${JSON.stringify(productUnavailable)}`);
      return quotes[0];
    },
    { timeout: 20_000, interval: 100 },
  );
}
const refusal = (work: Promise<unknown>): Promise<DistrustError> =>
  work.then(
    (value) =>
      Promise.reject(
        new Error(
          `believed: ${JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one))}`,
        ),
      ),
    (error: unknown) => error as DistrustError,
  );

/** One lie about a candidate; the LP signs it too where a signer is given. */
const overOrder =
  (change: (order: StandardOrder) => StandardOrder, together = true) =>
  (candidate: QuoteCandidate) =>
    forge(candidate, change, together ? lps[0]?.operator : undefined);
const overOutput = (
  change: (
    output: StandardOrder['outputs'][number],
    order: StandardOrder,
  ) => Partial<StandardOrder['outputs'][number]>,
  together = true,
) =>
  overOrder(
    (order) => ({
      ...order,
      outputs: order.outputs.map((output) => ({ ...output, ...change(output, order) })),
    }),
    together,
  );
const overContext = (change: (context: OutputContext) => Partial<OutputContext>) =>
  overOutput(({ context }) => {
    const decoded = decodeContext(context) as OutputContext;
    return { context: encodeContext({ ...decoded, ...change(decoded) }) };
  });
const overPayload = (change: (payload: Json) => void) => (candidate: QuoteCandidate) => {
  const copy = structuredClone(candidate);
  change(copy.order?.payload as Json);
  return copy;
};
const shownOutput = (candidate: QuoteCandidate, change: object): QuoteCandidate => ({
  ...candidate,
  preview: {
    ...candidate.preview,
    outputs: candidate.preview.outputs.map((output) => ({ ...output, ...change })),
  },
});
const shownInput = (candidate: QuoteCandidate, change: object): QuoteCandidate => ({
  ...candidate,
  preview: {
    ...candidate.preview,
    inputs: candidate.preview.inputs.map((input) => ({ ...input, ...change })),
  },
});

describe('honest answers pass', () => {
  test.each([
    'same chain',
    'cross chain',
    'split',
    'exact output',
    'to somebody else',
    'into the ledger',
  ] as const)('%s', async (kind) => {
    const asked: TradeRequest = {
      ...request(),
      ...(kind === 'cross chain' ? { output: { asset: weth(dest) } } : {}),
      ...(kind === 'split' ? { splitFill: 'allow' as const, solvers: { include: ['lp-3', 'lp-4'] } } : {}),
      ...(kind === 'exact output'
        ? { input: { asset: usdc() }, output: { asset: weth(), amount: WETH_OUT } }
        : {}),
      ...(kind === 'to somebody else' ? { receiver: account(9_999).address } : {}),
      ...(kind === 'into the ledger' ? { settlement: 'ledger' as const } : {}),
    };
    const client = clientOf();
    const candidate = await quoted(client, asked);
    expect(candidate.splitFill === null).toBe(kind !== 'split');
    const checked = await client.check(candidate, {
      request: asked,
      minOutput: WETH_OUT - 1n,
      maxInput: 1_000_000_000n,
    });
    const id = await rpc(origin).readContract({
      address: origin.chain.escrow,
      abi: parseAbi([
        'struct M { bytes32 oracle; bytes32 settler; uint256 chainId; bytes32 token; uint256 amount; bytes32 recipient; bytes callbackData; bytes context; }',
        'struct O { address user; uint256 nonce; uint256 originChainId; uint32 expires; uint32 fillDeadline; address inputOracle; uint256[2][] inputs; M[] outputs; }',
        'function orderIdentifier(O order) view returns (bytes32)',
      ]),
      functionName: 'orderIdentifier',
      args: [
        {
          ...checked.order,
          inputs: checked.order.inputs.map(([a, b]) => [a, b] as const),
          outputs: [...checked.order.outputs],
        },
      ],
    });
    expect(checked.orderId).toBe(id);
    expect(checked).toMatchObject({
      inputAmount: 1_000_000_000n,
      platformFeeBps: 2,
      receiver: asked.receiver ?? taker.address,
    });
  });

  test('an escrow pinned by code hash instead of address', async () => {
    const code = await rpc(origin).getCode({ address: origin.chain.escrow });
    const client = clientOf({
      chains: { [origin.chain.id]: { rpc: rpc(origin), escrow: { codeHash: keccak256(code ?? '0x') } } },
    });
    expect(await client.check(await quoted(client), { request: request() })).toBeTruthy();
  });
});

/** name, what is changed, under which name it is refused */
type CandidateLie = [
  string,
  (candidate: QuoteCandidate) => QuoteCandidate,
  DistrustCode,
  Partial<{ limits: object; request: () => TradeRequest }>?,
];
const CANDIDATE_LIES: CandidateLie[] = [
  ["the order takes somebody else's money", overOrder((order) => ({ ...order, user: thief })), 'taker'],
  ['the order pays the venue', overOutput(() => ({ recipient: addressToBytes32(thief) })), 'receiver'],
  [
    "the order pays into the receiver's ledger, unasked",
    overOutput(({ settler }) => ({ recipient: settler, callbackData: `0x0100${taker.address.slice(2)}` })),
    'receiver',
  ],
  [
    "the order pays into somebody else's ledger",
    overOutput(({ settler }) => ({ recipient: settler, callbackData: `0x0100${thief.slice(2)}` })),
    'receiver',
    { request: () => request({ settlement: 'ledger' }) },
  ],
  [
    'the preview names another receiver',
    (candidate) => shownOutput(candidate, { receiver: thief }),
    'preview',
  ],
  [
    'the order takes more',
    overOrder((order) => ({ ...order, inputs: [[order.inputs[0]?.[0] ?? 0n, 2_000_000_000n]] })),
    'input_amount',
  ],
  [
    'the preview shows less going in',
    (candidate) => shownInput(candidate, { amount: '900000000' }),
    'preview',
  ],
  [
    'the order takes a second token',
    overOrder((order) => ({ ...order, inputs: [...order.inputs, [BigInt(origin.weth.address), 1n]] })),
    'input_asset',
  ],
  [
    'the order takes another token',
    overOrder((order) => ({ ...order, inputs: [[BigInt(origin.weth.address), 1_000_000_000n]] })),
    'input_asset',
  ],
  [
    'the order delivers another token',
    overOutput(() => ({ token: addressToBytes32(origin.usdc.address) })),
    'output_asset',
  ],
  [
    'the order delivers on another chain',
    overOutput(() => ({ chainId: BigInt(dest.chain.id) })),
    'output_asset',
  ],
  [
    'the order enforces less than the preview promises',
    overOutput(({ amount }) => ({ amount: amount - 1n })),
    'minimum_amount',
  ],
  [
    'the preview promises more than its own minimum',
    (candidate) => shownOutput(candidate, { amount: (WETH_OUT * 2n).toString() }),
    'preview',
  ],
  [
    'preview and order agree on a worse price',
    (candidate) =>
      shownOutput(overOutput(() => ({ amount: 1n }))(candidate), { amount: '1', minimumAmount: '1' }),
    'price_limit',
    { limits: { minOutput: WETH_OUT } },
  ],
  [
    'exact output, and less of it',
    (candidate) =>
      shownOutput(overOutput(() => ({ amount: 1n }))(candidate), { amount: '1', minimumAmount: '1' }),
    'output_amount',
    { request: () => request({ input: { asset: usdc() }, output: { asset: weth(), amount: WETH_OUT } }) },
  ],
  [
    'exact output, for more input than wanted',
    (candidate) => candidate,
    'price_limit',
    {
      limits: { maxInput: 999_999_999n },
      request: () => request({ input: { asset: usdc() }, output: { asset: weth(), amount: WETH_OUT } }),
    },
  ],
  ['a token shown with other decimals', (candidate) => shownOutput(candidate, { decimals: 12 }), 'decimals'],
  [
    'an escrow of its own',
    overPayload(
      (payload) =>
        ((payload['domain'] as unknown as { verifyingContract: string }).verifyingContract = thief),
    ),
    'escrow',
  ],
  [
    "a domain that only looks like the escrow's",
    overPayload((payload) => ((payload['domain'] as unknown as { name: string }).name = 'EscrowV1')),
    'envelope',
  ],
  [
    "an order of another chain under this chain's domain",
    overOrder((order) => ({ ...order, originChainId: 1n })),
    'chain',
  ],
  [
    'a chain that the caller knows nothing of',
    (candidate) =>
      overPayload((payload) => ((payload['domain'] as unknown as { chainId: number }).chainId = 1))(
        overOrder((order) => ({ ...order, originChainId: 1n }))(candidate),
      ),
    'chain',
  ],
  [
    "a payload whose types are another struct's",
    overPayload((payload) =>
      Object.assign(payload['types'] as object, { StandardOrder: [{ name: 'user', type: 'address' }] }),
    ),
    'envelope',
  ],
  [
    'a payload of another type',
    (candidate) => ({ ...candidate, order: { type: 'permit', payload: candidate.order?.payload ?? {} } }),
    'envelope',
  ],
  ['no payload', (candidate) => ({ ...candidate, order: null }), 'order_missing'],
  ['an oracle that vouches for itself', overOrder((order) => ({ ...order, inputOracle: thief })), 'oracle'],
  ['an output oracle of its own', overOutput(() => ({ oracle: addressToBytes32(thief) })), 'oracle'],
  ['a settler of its own', overOutput(() => ({ settler: addressToBytes32(thief) })), 'settler'],
  ['a call upon delivery', overOutput(() => ({ callbackData: '0x1234' })), 'callback'],
  ['a context that lets anybody fill', overOutput(() => ({ context: '0x' })), 'context'],
  [
    'exclusivity that ends before the deadline',
    overContext(({ startTime }) => ({ startTime: startTime - 10 })),
    'exclusivity',
  ],
  [
    'exclusive to somebody who has promised nothing',
    overContext(() => ({ exclusiveFor: thief })),
    'operator',
  ],
  ['half of the input for nothing', overContext(() => ({ portionBps: 5_000 })), 'context'],
  [
    'a platform fee beyond the expected one',
    overContext(() => ({ feeBps: 90 })),
    'platform_fee',
    { limits: { maxPlatformFeeBps: 10 } },
  ],
  [
    'a platform fee other than the shown one',
    (candidate) => ({ ...candidate, platformFeeBps: 1 }),
    'preview',
  ],
  ['a relay fee that eats the trade', overContext(() => ({ relayFee: 900_000_000n })), 'relay_fee'],
  [
    'gas to pay on a quote that needs none',
    (candidate) => ({ ...candidate, gas: { native: '1000000000000000', usd: null } }),
    'gas',
  ],
  ['times out of order', overOrder((order) => ({ ...order, expires: order.fillDeadline })), 'clock_law'],
  [
    'a refund in ten years',
    overOrder((order) => ({ ...order, expires: order.expires + 315_360_000 })),
    'clock_law',
  ],
  [
    'time enough to open it behind the back of its settlement',
    overOrder((order) => ({ ...order, expires: order.fillDeadline + 1_800 })),
    'clock_law',
  ],
  [
    'valid beyond what was signed',
    (candidate) => ({ ...candidate, validUntil: candidate.validUntil + 1_000, validity: null }),
    'clock_law',
  ],
  [
    'a validity window that says something else',
    (candidate) => ({
      ...candidate,
      validity: { validUntil: candidate.validUntil + 10, minValidUntil: null },
    }),
    'preview',
  ],
  [
    'a quote that lapses sooner than asked',
    (candidate) => candidate,
    'validity',
    { request: () => request({ minValidUntil: Math.floor(Date.now() / 1000) + 3_000 }) },
  ],
  [
    'slices that are not there',
    (candidate) => ({
      ...candidate,
      splitFill: {
        fills: [
          { solverId: 'lp-1', portionBps: 5_000 },
          { solverId: 'lp-2', portionBps: 5_000 },
        ],
        executionModel: 'atomic',
      },
    }),
    'split',
  ],
  [
    'a solver that was left out',
    (candidate) => ({ ...candidate, solverId: 'lp-9' }),
    'solver',
    { request: () => request({ solvers: { include: ['lp-1'] } }) },
  ],
  [
    'no commitment',
    (candidate) => ({
      ...candidate,
      integrityChecksum: formatSeal({ kid: 'k1', mac: '0'.repeat(64), commitments: 'AAAA', route: null }),
    }),
    'commitments',
  ],
  [
    'a commitment to another order',
    overOrder((order) => ({ ...order, nonce: order.nonce + 1n }), false),
    'operator',
  ],
  [
    'a commitment to another quote',
    (candidate) => ({ ...candidate, quoteId: `0x${'77'.repeat(32)}` }),
    'operator',
  ],
  [
    'a commitment signed by a stranger',
    (candidate) => forge(candidate, (order) => order, account(667)),
    'operator',
  ],
  [
    'a commitment that nobody signed',
    (candidate) =>
      resealed(candidate, (commitment) => ({ ...commitment, signature: `0x${'11'.repeat(64)}1b` })),
    'commitment_signature',
  ],
  [
    'a commitment in the other half of the curve',
    (candidate) =>
      resealed(candidate, ({ signature, ...rest }) => ({ ...rest, signature: mirrored(signature) })),
    'commitment_signature',
  ],
  [
    'a commitment that ends before the order does',
    (candidate) => resealed(candidate, ({ deadline, ...rest }) => ({ ...rest, deadline: deadline - 1 })),
    'clock_law',
  ],
  ['a quoteId that is none', (candidate) => ({ ...candidate, quoteId: 'Q1' }), 'quote_id'],
];

function resealed(
  candidate: QuoteCandidate,
  change: (commitment: { lp: Address; deadline: number; signature: `0x${string}` }) => {
    lp: Address;
    deadline: number;
    signature: `0x${string}`;
  },
): QuoteCandidate {
  const seal = parseSeal(candidate.integrityChecksum);
  if (!seal) throw new Error('no seal');
  return {
    ...candidate,
    integrityChecksum: formatSeal({
      ...seal,
      commitments: encodeCommitments((decodeCommitments(seal.commitments) ?? []).map(change)),
    }),
  };
}

/** The same signature with s in the upper half: it recovers the same signer, and the escrow refuses it. */
function mirrored(signature: `0x${string}`): `0x${string}` {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
  return `0x${signature.slice(2, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`;
}

describe('a lying candidate is refused', () => {
  test.each(CANDIDATE_LIES)('%s', async (_, change, code, { limits = {}, request: asked = request } = {}) => {
    liar.tell((answer, path) => {
      if (path.endsWith('/quotes'))
        answer['quotes'] = (answer['quotes'] as unknown as QuoteCandidate[]).map(change) as never;
    });
    const client = clientOf();
    // Asked without the floor that the lie is about to break, so that there is something to lie about.
    const { minValidUntil: __, ...toVenue } = asked();
    const error = await refusal(client.check(await quoted(client, toVenue), { request: asked(), ...limits }));
    expect([error.name, error.code, error.message]).toEqual(['DistrustError', code, error.message]);
    expect(liar.heard.filter(({ path }) => path.endsWith('/orders'))).toEqual([]);
  });

  test('across chains: wrong settler or oracle on either side', async () => {
    const client = clientOf();
    const asked = request({ output: { asset: weth(dest) } });
    const candidate = await quoted(client, asked);
    for (const [change, code] of [
      [overOutput(() => ({ settler: addressToBytes32(thief) })), 'settler'],
      [overOutput(() => ({ oracle: addressToBytes32(thief) })), 'oracle'],
      [overOrder((order) => ({ ...order, inputOracle: thief })), 'oracle'],
      [overOrder((order) => ({ ...order, expires: order.expires + 315_360_000 })), 'lock_up'],
    ] as const)
      expect((await refusal(client.check(change(candidate), { request: asked }))).code).toBe(code);
    const blind = clientOf({
      chains: {
        [origin.chain.id]: { rpc: rpc(origin), escrow: origin.chain.escrow },
        [dest.chain.id]: { rpc: rpc(dest), escrow: dest.chain.escrow },
      },
    });
    expect((await refusal(blind.check(candidate, { request: asked }))).code).toBe('oracle');
  });

  test('an endpoint of another chain, other code at the pinned address, a contract that is not an escrow', async () => {
    const candidate = await quoted(clientOf());
    const chains = { [origin.chain.id]: { rpc: rpc(dest), escrow: origin.chain.escrow } };
    expect((await refusal(clientOf({ chains }).check(candidate, { request: request() }))).code).toBe('chain');
    const code = { [origin.chain.id]: { rpc: rpc(origin), escrow: { codeHash: keccak256('0x1234') } } };
    expect((await refusal(clientOf({ chains: code }).check(candidate, { request: request() }))).code).toBe(
      'escrow_code',
    );
    const token = { [origin.chain.id]: { rpc: rpc(origin), escrow: origin.usdc.address } };
    const elsewhere = overPayload(
      (payload) =>
        ((payload['domain'] as unknown as { verifyingContract: string }).verifyingContract =
          origin.usdc.address),
    )(
      overOutput(() => ({
        settler: addressToBytes32(origin.usdc.address),
        oracle: addressToBytes32(origin.usdc.address),
      }))(overOrder((order) => ({ ...order, inputOracle: origin.usdc.address }))(candidate)),
    );
    expect((await refusal(clientOf({ chains: token }).check(elsewhere, { request: request() }))).code).toBe(
      'escrow_domain',
    );
  });

  test('a malformed answer', async () => {
    liar.tell(() => ({ quotes: 'many' }));
    expect((await refusal(clientOf().requestQuotes(request()))).code).toBe('malformed_answer');
  });
});

describe('chain state is checked', () => {
  test('an operator revoked after the quote', async () => {
    const client = clientOf();
    const asked = request({ solvers: { include: ['lp-5'] } });
    const second = lps.find(({ id }) => id === 'lp-5');
    const candidate = await quoted(client, asked);
    await origin.send(
      second?.lp.address as Address,
      origin.chain.escrow,
      setOperatorCall(second?.operator.address as Address, false),
    );
    expect((await refusal(client.check(candidate, { request: asked }))).code).toBe('operator');
  });

  test('an LP without the bond that the taker demands', async () => {
    const asked = request({ solvers: { include: ['lp-2'] } });
    const { escrow } = origin.chain;
    const { quoteBond } = origin.deployment;
    const client = clientOf({ chains: { [origin.chain.id]: { rpc: rpc(origin), escrow, quoteBond } } });
    const candidate = await quoted(client, asked);
    expect((await refusal(client.check(candidate, { request: asked, bond: 'required' }))).code).toBe('bond');
  });

  test("an operator whose limit the quote exceeds, and one whose limit's window has ended", async () => {
    const client = clientOf();
    const asked = request({ solvers: { include: ['lp-6'] } });
    const { lp, operator } = lps.find(({ id }) => id === 'lp-6') ?? expect.fail();
    const candidate = await quoted(client, asked);
    const set = (data: Hex) => origin.send(lp.address, origin.chain.escrow, data);
    const { address: token } = origin.weth;
    await set(limitOperatorCall(operator.address, token, 1n, 3_600));
    expect((await refusal(client.check(candidate, { request: asked }))).code).toBe('operator_limit');
    await set(limitOperatorCall(operator.address, token, 10n ** 24n, 3_600));
    expect(await client.check(candidate, { request: asked })).toBeTruthy();
    await set(setOperatorCall(operator.address, true));
    expect(await client.check(candidate, { request: asked })).toBeTruthy();
  });

  test('a balance that is being withdrawn, and one that never existed', async () => {
    const client = clientOf();
    const asked = request({ solvers: { include: ['lp-6'] } });
    const first = lps.find(({ id }) => id === 'lp-6');
    const candidate = await quoted(client, asked);
    const huge = shownOutput(
      forge(
        candidate,
        (order) => ({
          ...order,
          outputs: order.outputs.map((output) => ({ ...output, amount: 10n ** 30n })),
        }),
        first?.operator,
      ),
      { amount: (10n ** 30n).toString(), minimumAmount: (10n ** 30n).toString() },
    );
    expect((await refusal(client.check(huge, { request: asked }))).code).toBe('ledger_balance');
    const all = await origin.port.ledgerBalance(first?.lp.address as Address, origin.weth.address);
    await origin.send(
      first?.lp.address as Address,
      origin.chain.escrow,
      requestWithdrawalCall(origin.weth.address, all),
    );
    expect((await refusal(client.check(candidate, { request: asked }))).code).toBe('ledger_balance');
    await origin.send(
      first?.lp.address as Address,
      origin.chain.escrow,
      requestWithdrawalCall(origin.weth.address, 0n),
    );
    expect(await client.check(candidate, { request: asked })).toBeTruthy();
  });

  test('a quote that lives longer than the withdrawal delay', async () => {
    const client = clientOf();
    const candidate = await quoted(client);
    const long = {
      ...overOrder((order) => ({
        ...order,
        fillDeadline: order.fillDeadline + 3_000,
        expires: order.expires + 3_000,
        outputs: order.outputs.map((output) => ({
          ...output,
          context: encodeContext({
            ...(decodeContext(output.context) as OutputContext),
            startTime: order.fillDeadline + 3_001,
          }),
        })),
      }))(candidate),
    };
    expect((await refusal(client.check(long, { request: request() }))).code).toBe('withdrawal_delay');
  });

  test('a nonce that has been used', async () => {
    const client = clientOf();
    const user = await fundedTaker();
    const asked = request({ taker: user.address });
    const candidate = await quoted(client, asked);
    const { order } = await client.check(candidate, { request: asked });
    await origin.send(user.address, origin.chain.escrow, invalidateNonceCall(order.nonce));
    expect((await refusal(client.check(candidate, { request: asked }))).code).toBe('nonce_used');
  });

  test('chain time past the quote', async () => {
    const client = clientOf();
    const asked = request({ output: { asset: weth(dest) } });
    const candidate = await quoted(client, asked);
    const late = {
      ...candidate,
      validUntil: Number((await rpc(origin).getBlock()).timestamp),
      validity: null,
    };
    expect((await refusal(client.check(late, { request: asked }))).code).toBe('expired');
  });
});

/** An honest plan of a kind, and a lie about it. */
type PlanLie = [
  string,
  'eip3009' | 'permit2' | 'deposit' | 'broadcast',
  (actions: Action[], answer: Json) => void,
  DistrustCode,
];
const actionOf = (
  actions: Action[],
  purpose: Action['purpose'],
): Action & { tx: NonNullable<Action['tx']> } => {
  const action = actions.find((one) => one.purpose === purpose);
  if (!action) throw new Error(`no ${purpose} in ${actions.map((one) => one.purpose).join()}`);
  return action as Action & { tx: NonNullable<Action['tx']> };
};
const approveData = (spender: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
const unsigned = (signed: Action): Action => {
  const { typedData: _, ...action } = signed;
  return action;
};
const overTyped = (purpose: Action['purpose'], change: (payload: Json) => void) => (actions: Action[]) =>
  change(actionOf(actions, purpose).typedData?.payload as Json);
const PLAN_LIES: PlanLie[] = [
  [
    'an approval of the venue itself',
    'broadcast',
    (actions) => (actionOf(actions, 'tokenApproval').tx.data = approveData(thief, 1_000_000_000n)),
    'action_spender',
  ],
  [
    'an unlimited approval',
    'broadcast',
    (actions) => (actionOf(actions, 'tokenApproval').tx.data = approveData(origin.chain.escrow, maxUint256)),
    'action_amount',
  ],
  [
    'an approval of another token',
    'broadcast',
    (actions) => (actionOf(actions, 'tokenApproval').tx.to = origin.weth.address),
    'action_token',
  ],
  [
    'a transfer where an approval should be',
    'broadcast',
    (actions) =>
      (actionOf(actions, 'tokenApproval').tx.data = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [thief, 1_000_000_000n],
      })),
    'action_calldata',
  ],
  [
    'calldata that is none',
    'broadcast',
    (actions) => (actionOf(actions, 'tokenApproval').tx.data = '0x12'),
    'action_calldata',
  ],
  [
    'native currency along with it',
    'broadcast',
    (actions) => (actionOf(actions, 'tokenApproval').tx.value = '1000000000000000000'),
    'action_value',
  ],
  [
    'a transaction on another chain',
    'broadcast',
    (actions) => (actionOf(actions, 'tokenApproval').tx.chainId = 1),
    'action_chain',
  ],
  [
    'an action on another chain',
    'broadcast',
    (actions) => (actionOf(actions, 'orderSignature').chainId = 1),
    'action_chain',
  ],
  [
    'a transaction of somebody else',
    'broadcast',
    (actions) => (actionOf(actions, 'tokenApproval').tx.from = thief),
    'action_sender',
  ],
  [
    'the settlement sent to another contract',
    'broadcast',
    (actions) => (actionOf(actions, 'settlementBroadcast').tx.to = thief),
    'action_target',
  ],
  [
    'the settlement of another order',
    'broadcast',
    (actions) =>
      (actionOf(actions, 'settlementBroadcast').tx.data = actionOf(
        actions,
        'settlementBroadcast',
      ).tx.data.replace(taker.address.slice(2), thief.slice(2))),
    'action_calldata',
  ],
  [
    'another order to sign',
    'eip3009',
    overTyped(
      'orderSignature',
      (payload) => ((payload['message'] as unknown as { nonce: string }).nonce = '1'),
    ),
    'action_typed_data',
  ],
  [
    'an authorization that pays the venue',
    'eip3009',
    overTyped(
      'eip3009Authorization',
      (payload) => ((payload['message'] as unknown as { to: string }).to = thief),
    ),
    'action_typed_data',
  ],
  [
    'an authorization of more',
    'eip3009',
    overTyped(
      'eip3009Authorization',
      (payload) => ((payload['message'] as unknown as { value: string }).value = '10000000000'),
    ),
    'action_typed_data',
  ],
  [
    'an authorization that anybody can send',
    'eip3009',
    overTyped('eip3009Authorization', (payload) => {
      const types = payload['types'] as unknown as Record<string, unknown>;
      types['TransferWithAuthorization'] = types['ReceiveWithAuthorization'];
      payload['primaryType'] = 'TransferWithAuthorization' as never;
    }),
    'action_typed_data',
  ],
  [
    'an authorization for ever',
    'eip3009',
    overTyped(
      'eip3009Authorization',
      (payload) => ((payload['message'] as unknown as { validBefore: string }).validBefore = '99999999999'),
    ),
    'action_window',
  ],
  [
    'an authorization over another token',
    'eip3009',
    overTyped(
      'eip3009Authorization',
      (payload) =>
        ((payload['domain'] as unknown as { verifyingContract: string }).verifyingContract =
          origin.weth.address),
    ),
    'action_typed_data',
  ],
  [
    'a permit besides the authorization',
    'eip3009',
    (actions) => {
      const { order, domain } = honest as NonNullable<typeof honest>;
      actions.unshift({
        ...actionOf(actions, 'eip3009Authorization'),
        purpose: 'permit2Lock',
        typedData: {
          type: 'eip712',
          payload: permit2LockTypedData(domain, origin.chain.permit2, order, BigInt(order.fillDeadline))
            .typedData,
        },
      });
    },
    'action_unexpected',
  ],
  [
    'the same authorization twice',
    'eip3009',
    (actions) => actions.unshift(actionOf(actions, 'eip3009Authorization')),
    'action_unexpected',
  ],
  [
    'a grant where none belongs',
    'eip3009',
    (actions) =>
      actions.unshift({
        ...unsigned(actionOf(actions, 'orderSignature')),
        type: 'evmTransaction',
        purpose: 'permit2Grant',
        tx: {
          to: origin.chain.permit2,
          value: '0',
          data: permit2GrantCall(origin.usdc.address, thief, 1n, 1),
          chainId: origin.chain.id,
          from: taker.address,
          gas: 1,
          gasPrice: 1,
        },
      }),
    'action_unexpected',
  ],
  [
    'a permit for another spender',
    'permit2',
    overTyped(
      'permit2Lock',
      (payload) => ((payload['message'] as unknown as { spender: string }).spender = thief),
    ),
    'action_typed_data',
  ],
  [
    'a permit of another amount',
    'permit2',
    overTyped('permit2Lock', (payload) =>
      Object.assign(payload['message'] as object, {
        permitted: [{ token: origin.weth.address, amount: maxUint256.toString() }],
      }),
    ),
    'action_typed_data',
  ],
  [
    'a permit for ever',
    'permit2',
    overTyped(
      'permit2Lock',
      (payload) => ((payload['message'] as unknown as { deadline: string }).deadline = maxUint256.toString()),
    ),
    'action_window',
  ],
  [
    'an EIP-3009 payload in the place of a permit',
    'permit2',
    (actions) =>
      (actionOf(actions, 'permit2Lock').typedData = {
        type: 'eip712',
        payload: {
          ...eip3009TypedData(
            { chainId: origin.chain.id, address: origin.usdc.address, name: 'USD Coin', version: '2' },
            {
              from: taker.address,
              to: thief,
              value: 1n,
              validAfter: 0n,
              validBefore: 1n,
              nonce: `0x${'00'.repeat(32)}`,
            },
          ).typedData,
        },
      }),
    'action_window',
  ],
  [
    'an approval of something else than Permit2',
    'permit2',
    (actions) => (actionOf(actions, 'tokenApproval').tx.data = approveData(thief, 1_000_000_000n)),
    'action_spender',
  ],
  [
    'a standing grant to somebody else',
    'permit2',
    (actions) =>
      (actionOf(actions, 'permit2Grant').tx.data = permit2GrantCall(origin.weth.address, thief, 1n, 1)),
    'action_spender',
  ],
  [
    'a standing grant of everything',
    'permit2',
    (actions) =>
      (actionOf(actions, 'permit2Grant').tx.data = permit2GrantCall(
        origin.weth.address,
        origin.chain.escrow,
        (1n << 160n) - 1n,
        1,
      )),
    'action_amount',
  ],
  [
    'a standing grant for ever',
    'permit2',
    (actions) =>
      (actionOf(actions, 'permit2Grant').tx.data = permit2GrantCall(
        origin.weth.address,
        origin.chain.escrow,
        1n,
        2 ** 47,
      )),
    'action_window',
  ],
  [
    'a standing grant in another Permit2',
    'permit2',
    (actions) => (actionOf(actions, 'permit2Grant').tx.to = thief),
    'action_target',
  ],
  [
    'a deposit somewhere else',
    'deposit',
    (actions) => (actionOf(actions, 'resourceLockDeposit').tx.to = thief),
    'action_target',
  ],
  [
    'a deposit of more',
    'deposit',
    (actions) =>
      (actionOf(actions, 'resourceLockDeposit').tx.data = encodeFunctionData({
        abi: parseAbi(['function deposit(address token, uint256 amount)']),
        functionName: 'deposit',
        args: [origin.usdc.address, 10n ** 12n],
      })),
    'action_amount',
  ],
  [
    'a deposit to somebody else',
    'deposit',
    (actions) =>
      (actionOf(actions, 'resourceLockDeposit').tx.data = encodeFunctionData({
        abi: parseAbi(['function depositFor(address account, address token, uint256 amount)']),
        functionName: 'depositFor',
        args: [thief, origin.usdc.address, 1n],
      })),
    'action_calldata',
  ],
  [
    'the plan of another quote',
    'eip3009',
    (_, answer) => (answer['quoteId'] = `0x${'12'.repeat(32)}` as never),
    'quote_id',
  ],
  [
    'a lock on an order that the wallet sends',
    'broadcast',
    (_, answer) => (answer['fundingLock'] = 'Permit2' as never),
    'action_unexpected',
  ],
];
let honest: Awaited<ReturnType<Client['check']>> | undefined;

describe('a dishonest plan is refused', () => {
  test.each(PLAN_LIES)('%s', async (_, kind, change, code) => {
    v.relayer.healthy = kind !== 'broadcast';
    const client = clientOf();
    const asked =
      kind === 'permit2'
        ? request({ input: { asset: weth(), amount: 10n ** 18n }, output: { asset: usdc() } })
        : request();
    const candidate = await quoted(client, asked).finally(() => (v.relayer.healthy = true));
    honest = await client.check(candidate, { request: asked, maxRelayFee: 10n ** 18n });
    const options = kind === 'deposit' ? { fundingLock: 'ResourceLock' as const } : {};
    expect((await client.preflight(honest, options)).steps.length).toBeGreaterThan(1);
    liar.tell((answer) => void change(answer['nextActions'] as unknown as Action[], answer));
    const error = await refusal(client.preflight(honest, options));
    expect([error.name, error.code, error.message]).toEqual(['DistrustError', code, error.message]);
  });

  test('a standing Permit2 approval is limited to what the caller allows', async () => {
    const client = clientOf();
    const user = await fundedTaker();
    const asked = request({
      taker: user.address,
      input: { asset: weth(), amount: 10n ** 18n },
      output: { asset: usdc() },
    });
    const checked = await client.check(await quoted(client, asked), {
      request: asked,
      maxRelayFee: 10n ** 18n,
    });
    const plan = await client.preflight(checked, { tradesAhead: 3 });
    const done = await client.runActions(checked, plan, walletOf(user));
    expect([done.sent.map(({ purpose }) => purpose), Object.keys(done.locks)]).toEqual([
      ['tokenApproval'],
      ['permit2Lock'],
    ]);
    expect(
      await rpc(origin).readContract({
        address: origin.weth.address,
        abi: erc20Abi,
        functionName: 'allowance',
        args: [user.address, origin.chain.permit2],
      }),
    ).toBe(3n * 10n ** 18n);
    const order = await client.submit(checked, {
      signature: await client.sign(checked, walletOf(user)),
      ...done.locks,
    });
    expect(order).toMatchObject({ id: checked.orderId, status: 'pending' });
  });
});

describe('nothing unchecked is sent', () => {
  test('a candidate, plan or wallet that was not made by the client', async () => {
    const client = clientOf();
    const checked = await client.check(await quoted(client), { request: request() });
    const plan = await client.preflight(checked);
    const copy = { ...checked };
    for (const work of [
      () => client.preflight(copy),
      () => client.sign(copy, walletOf()),
      () => client.submit(copy, { signature: '0x' }),
      () => client.runActions(checked, { ...plan }, walletOf()),
    ])
      expect((await refusal(work())).code).toBe('not_checked');
    expect(() => ((checked.order as { nonce: bigint }).nonce = 1n)).toThrow(TypeError);
    await expect(client.sign(checked, walletOf(account(7_999)))).rejects.toMatchObject({
      name: 'WalletError',
      code: 'wrong_account',
    });
  });

  test('a wallet with too little money signs nothing', async () => {
    const poor = account(7_998);
    const client = clientOf();
    const asked = request({ taker: poor.address });
    const checked = await client.check(await quoted(client, asked), { request: asked });
    await expect(
      client.runActions(checked, await client.preflight(checked), walletOf(poor)),
    ).rejects.toMatchObject({ name: 'WalletError', code: 'insufficient_balance' });
  });

  test('a transaction whose simulation fails is not sent', async () => {
    const poor = account(7_997);
    await origin.fund(poor.address, 0n);
    const client = clientOf();
    const asked = request({ taker: poor.address });
    const checked = await client.check(await quoted(client, asked), { request: asked });
    const plan = await client.preflight(checked, { fundingLock: 'ResourceLock' });
    await expect(client.runActions(checked, plan, walletOf(poor))).rejects.toMatchObject({
      name: 'WalletError',
      code: 'would_revert',
    });
  });

  test('a wallet on another chain sends nothing', async () => {
    v.relayer.healthy = false;
    const client = clientOf();
    const checked = await quoted(client)
      .then((candidate) => client.check(candidate, { request: request() }))
      .finally(() => (v.relayer.healthy = true));
    const plan = await client.preflight(checked);
    await expect(client.runActions(checked, plan, walletOf(taker, dest))).rejects.toMatchObject({
      code: 'wrong_wallet_chain',
    });
  });
});

describe('submission and settlement', () => {
  async function ready(): Promise<{
    client: Client;
    checked: Awaited<ReturnType<Client['check']>>;
    submission: { signature: `0x${string}` };
  }> {
    const user = await fundedTaker();
    const client = clientOf();
    const asked = request({ taker: user.address });
    const checked = await client.check(await quoted(client, asked), { request: asked });
    const { locks } = await client.runActions(checked, await client.preflight(checked), walletOf(user));
    return {
      client,
      checked,
      submission: { signature: await client.sign(checked, walletOf(user)), ...locks },
    };
  }

  test('a lost answer: the same key is sent again and one order exists', async () => {
    const { client, checked, submission } = await ready();
    const before = liar.heard.length;
    liar.cut(2);
    const order = await client.submit(checked, submission);
    const keys = liar.heard.slice(before).map(({ key: sent }) => sent);
    expect([keys.length, new Set(keys).size, order.id]).toEqual([3, 1, checked.orderId]);
    expect(v.woken.filter((id) => id === checked.orderId)).toHaveLength(1);
    // Again later, as after a restart.
    expect(await clientOf().order(order.id)).toMatchObject({ status: 'pending' });
    expect(await client.submit(checked, submission)).toEqual(order);
  });

  test('no answer: reported as unknown, with the key to retry', async () => {
    const { client, checked, submission } = await ready();
    liar.cut(1_000);
    const error = await client
      .submit(checked, { ...submission, attempts: 2 })
      .catch((thrown: unknown) => thrown);
    liar.cut(0);
    expect(error).toMatchObject({
      name: 'SubmissionUnknownError',
      code: 'submission_unknown',
      retry: 'later',
      idempotencyKey: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(await client.submit(checked, submission)).toMatchObject({ id: checked.orderId });
  });

  test("another taker's order in the answer", async () => {
    const { client, checked, submission } = await ready();
    liar.tell((answer) => void (answer['id'] = `0x${'ab'.repeat(32)}` as never));
    expect((await refusal(client.submit(checked, submission))).code).toBe('order_id');
    expect((await refusal(client.order(checked.orderId))).code).toBe('order_id');
    expect((await refusal(client.follow(checked.orderId).final)).code).toBe('order_id');
  });

  test('"settled" without evidence on the chain', async () => {
    const { client, checked, submission } = await ready();
    await client.submit(checked, submission);
    liar.tell((answer) => void Object.assign(answer, { status: 'settled', settledAmounts: {} }));
    const events = [];
    const following = client.follow(checked.orderId, { pollMs: 20 });
    for await (const event of following) events.push(event.type);
    expect([events, (await following.final).status]).toEqual([['order.created', 'order.settled'], 'settled']);
    expect((await refusal(client.confirm(checked))).code).toBe('not_settled');
  });

  test('every refusal of the venue has its error type', async () => {
    const { client, checked, submission } = await ready();
    await expect(
      client.submit(checked, { ...submission, signature: `0x${'11'.repeat(65)}` }),
    ).rejects.toMatchObject({
      name: 'VenueError',
      code: 'invalid_signature',
      status: 422,
      retry: 'never',
      details: [{ loc: ['body', 'signature'] }],
    });
    await expect(clientOf({ key: 'fq_test_nobody' }).pairs()).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
    });
    await expect(client.order(`0x${'00'.repeat(32)}`)).rejects.toMatchObject({
      code: 'not_found',
      status: 404,
    });
    await expect(client.requestQuotes({ ...request(), taker: 'nobody' })).rejects.toMatchObject({
      code: 'value_error',
      details: [{ loc: ['body', 'taker'] }],
    });
    await expect(clientOf({ url: 'http://127.0.0.1:9' }).pairs()).rejects.toMatchObject({
      name: 'UnreachableError',
      code: 'unreachable',
      retry: 'later',
    });
    liar.tell(() => undefined);
    expect(await client.pairs()).toMatchObject({ chain1: origin.chain.id });
    expect((await client.solvers({ status: ['active'] })).map(({ id }) => id)).toContain('lp-1');
  });
});

describe('legs that do not belong to the trade', () => {
  const [a, b, c] = ['A', 'B', 'C'].map(
    (letter) => `eip155:1/erc20:0x${letter.repeat(40).toLowerCase()}`,
  ) as [string, string, string];
  const leg = (
    index: number,
    from: string,
    to: string,
    amounts: [string, string, string | null],
    dependsOn: number[] = [],
  ): Leg => ({
    index,
    kind: 'dex',
    solverId: 's',
    venue: 's',
    chainId: 1,
    input: { asset: from, amount: amounts[0] },
    output: { asset: to, amount: amounts[1], minimumAmount: amounts[2] },
    eta: null,
    dependsOn,
  });
  const hops = [leg(0, a, b, ['100', '50', null]), leg(1, b, c, ['50', '70', '69'], [0])];
  const match = (legs: Leg[], executionModel: 'atomic' | 'sequential' = 'atomic', enforced = 69n) =>
    matchLegs(
      {
        composite: { legs, executionModel },
        sequential: executionModel === 'sequential',
        preview: { inputs: [], outputs: [{ asset: c, amount: '70' }] },
      } as unknown as ReadCandidate,
      { input: a, output: c, inputAmount: 100n, enforced },
    );

  test('hops, slices and a firm first leg pass', () => {
    match(hops);
    match([leg(0, a, c, ['40', '30', '29']), leg(1, a, c, ['60', '40', '40'])]);
    match([leg(0, a, b, ['100', '50', '50']), leg(1, b, c, ['50', '70', null], [0])], 'sequential', 50n);
  });

  test.each<[string, Leg[], bigint?]>([
    [
      'beginning with another asset',
      [{ ...(hops[0] as Leg), input: { asset: b, amount: '100' } }, hops[1] as Leg],
    ],
    [
      'ending in another asset',
      [hops[0] as Leg, { ...(hops[1] as Leg), output: { asset: b, amount: '70', minimumAmount: '69' } }],
    ],
    ['with a gap', [hops[0] as Leg, { ...(hops[1] as Leg), input: { asset: c, amount: '50' } }]],
    ['taking more', [{ ...(hops[0] as Leg), input: { asset: a, amount: '101' } }, hops[1] as Leg]],
    [
      'giving less',
      [hops[0] as Leg, { ...(hops[1] as Leg), output: { asset: c, amount: '60', minimumAmount: '60' } }],
    ],
    ['promising more than is enforced', hops, 60n],
    ['in a circle', [{ ...(hops[0] as Leg), dependsOn: [1] }, hops[1] as Leg]],
  ])('%s', (_, legs, enforced) => {
    expect(() => match(legs, 'atomic', enforced)).toThrow(expect.objectContaining({ code: 'composite' }));
  });
});

test('this file and that of payouts test every named way of lying', async () => {
  const { readFile } = await import('node:fs/promises');
  const files = [import.meta.filename, join(import.meta.dirname, 'payouts.test.ts')];
  const source = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('');
  expect(DISTRUST_CODES.filter((code) => !source.includes(`'${code}'`))).toEqual([]);
});
