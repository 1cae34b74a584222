/** A taker on the public API and viem, as an integrator would write it. */

import {
  type Address,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  hashTypedData,
  type Hex,
  http,
  type TypedDataDefinition,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import * as z from 'zod';
import type { QuoteRequestBody } from '../../client/request.ts';
import type { QuoteCandidate } from '../../protocol/api/candidate.ts';
import {
  type FundingLock,
  type PreflightResponse,
  zPreflightResponse,
} from '../../protocol/api/preflight.ts';
import { zQuoteResponse } from '../../protocol/api/quote.ts';
import { type OrderStatusResponse, zOrderStatusResponse } from '../../protocol/api/status.ts';
import { type OrderSubmitRequest, zOrder } from '../../protocol/api/submit.ts';
import { devWalletAbi } from '../../adapters/evm/deploy/abi/dev-wallet.ts';

export interface DemoTakerOptions {
  venueUrl: string;
  apiKey: string;
  privateKey: Hex;
  contractWallet?: Address;
  rpcUrls: ReadonlyMap<number, string>;
}

export type WantedQuote = Omit<QuoteRequestBody, 'taker'>;
export type SignedOrder = OrderSubmitRequest;

export interface TakeChoices {
  lock?: FundingLock;
  standingGrant?: boolean;
  idempotencyKey?: string;
  candidate?: QuoteCandidate;
}

export interface HttpAnswer {
  status: number;
  text: string;
  json: unknown;
}

/** An order that is ready for submission. */
interface PreparedOrder {
  submission: SignedOrder;
  plan: PreflightResponse;
  /** The transactions that the taker sends itself after the submission. */
  broadcasts: PreflightResponse['nextActions'];
  /** The purposes of the transactions that were sent before. */
  setUp: string[];
}

/** Calls throw an `Error` with the venue's answer when it refuses. */
export interface DemoTaker {
  address: Address;
  call: VenueCall;
  quote(ask: WantedQuote): Promise<z.infer<typeof zQuoteResponse>>;
  preflight(quoteResponse: unknown, lock?: FundingLock): Promise<PreflightResponse>;
  /** Sends the transactions that preflight asks for, and signs. */
  prepare(candidate: QuoteCandidate, how?: TakeChoices): Promise<PreparedOrder>;
  sign(candidate: QuoteCandidate, plan: PreflightResponse): Promise<SignedOrder>;
  /** Resolves with the hash of the mined transaction. */
  send(tx: { to: string; value: string; data: string; chainId: number }): Promise<Hex>;
  /** Submits whatever it is given, and returns the answer as it is. */
  post(submission: unknown, idempotencyKey?: string, timeoutMs?: number): Promise<HttpAnswer>;
  submit(submission: SignedOrder, idempotencyKey?: string): Promise<z.infer<typeof zOrder>>;
  status(orderId: string): Promise<OrderStatusResponse>;
  /** Polls to the end. Tolerates a venue that is down. */
  finish(orderId: string, timeoutMs: number): Promise<OrderStatusResponse>;
  /** Trades the best quote, or the chosen candidate, up to the submission. */
  take(
    ask: WantedQuote,
    how?: TakeChoices,
  ): Promise<PreparedOrder & { candidate: QuoteCandidate; orderId: string }>;
}

const MAX_PREFLIGHTS = 5;
const ANSWER_MS = 15_000;

export function createDemoTaker({
  venueUrl,
  apiKey,
  privateKey,
  contractWallet,
  rpcUrls,
}: DemoTakerOptions): DemoTaker {
  const owner = privateKeyToAccount(privateKey);
  const address = (contractWallet ?? owner.address).toLowerCase() as Address;

  const call: VenueCall = (...asked) => callVenue(venueUrl, apiKey, ...asked);

  const quote = (ask: WantedQuote) =>
    ok(zQuoteResponse, call('POST', '/api/v1/rfq/quotes', { taker: address, ...ask }));
  const preflight = (quoteResponse: unknown, lock?: FundingLock) =>
    ok(
      zPreflightResponse,
      call('POST', '/api/v1/rfq/orders/preflight', { quoteResponse, ...(lock ? { fundingLock: lock } : {}) }),
    );
  const status = (orderId: string) => ok(zOrderStatusResponse, call('GET', `/api/v1/rfq/orders/${orderId}`));

  async function signTyped(typedData: { payload: Record<string, unknown> }): Promise<Hex> {
    const definition = typedData.payload as unknown as TypedDataDefinition;
    // An ERC-1271 wallet verifies its owner's signature over the same digest.
    return contractWallet ? owner.sign({ hash: hashTypedData(definition) }) : owner.signTypedData(definition);
  }

  async function send(tx: { to: string; value: string; data: string; chainId: number }): Promise<Hex> {
    const rpcUrl = rpcUrls.get(tx.chainId);
    if (rpcUrl === undefined) throw new Error(`This taker has no node for chain ${tx.chainId}.`);
    const transport = http(rpcUrl, { retryCount: 5 });
    const reader = createPublicClient({ transport, pollingInterval: 200 });
    const wallet = createWalletClient({ account: owner, transport });
    const [to, value, data] = [tx.to as Address, BigInt(tx.value), tx.data as Hex];
    const call = { abi: devWalletAbi, functionName: 'execute', args: [to, value, data] } as const;
    const hash = await wallet.sendTransaction({
      chain: null,
      ...(contractWallet ? { to: contractWallet, data: encodeFunctionData(call) } : { to, value, data }),
    });
    const receipt = await reader.waitForTransactionReceipt({ hash, timeout: 30_000 });
    if (receipt.status !== 'success')
      throw new Error(`The taker's transaction ${hash} reverted on chain ${tx.chainId}.`);
    return hash;
  }

  async function prepare(candidate: QuoteCandidate, how: TakeChoices = {}): Promise<PreparedOrder> {
    const setUp: string[] = [];
    for (let round = 0; round < MAX_PREFLIGHTS; round++) {
      const plan = await preflight(candidate, how.lock);
      const wanted = plan.nextActions.filter(
        ({ type, purpose }) =>
          type === 'evmTransaction' &&
          purpose !== 'settlementBroadcast' &&
          (purpose !== 'permit2Grant' || how.standingGrant === true),
      );
      if (wanted.length === 0)
        return {
          submission: await sign(candidate, plan),
          plan,
          broadcasts: plan.nextActions.filter(({ purpose }) => purpose === 'settlementBroadcast'),
          setUp,
        };
      for (const action of wanted) {
        if (!action.tx) throw new Error(`The plan asks for ${action.purpose} without a transaction.`);
        await send(action.tx);
        setUp.push(action.purpose);
      }
    }
    throw new Error(`After ${MAX_PREFLIGHTS} rounds preflight still asks for transactions.`);
  }

  async function sign(candidate: QuoteCandidate, plan: PreflightResponse): Promise<SignedOrder> {
    const submission: SignedOrder = {
      quoteResponse: candidate,
      signature: '0x',
      signScheme: contractWallet ? 'EIP1271' : 'EIP712',
    };
    for (const action of plan.nextActions) {
      if (action.type !== 'signature' || !action.typedData) continue;
      const signature = await signTyped(action.typedData);
      const message = z.record(z.string(), z.unknown()).parse(action.typedData.payload['message']);
      if (action.purpose === 'orderSignature') submission.signature = signature;
      if (action.purpose === 'permit2Lock')
        submission.permit2Lock = { signature, deadline: Number(message['deadline']) };
      if (action.purpose === 'eip3009Authorization') {
        submission.eip3009Authorization = {
          signature,
          validAfter: Number(message['validAfter']),
          validBefore: Number(message['validBefore']),
          nonce: String(message['nonce']) as Hex,
        };
      }
    }
    return submission;
  }

  const post = (submission: unknown, idempotencyKey?: string, timeoutMs?: number): Promise<HttpAnswer> =>
    call(
      'POST',
      '/api/v1/rfq/orders',
      submission,
      idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      timeoutMs,
    );
  const submit = (submission: SignedOrder, idempotencyKey?: string) =>
    ok(zOrder, post(submission, idempotencyKey));

  async function finish(orderId: string, timeoutMs: number): Promise<OrderStatusResponse> {
    const deadline = performance.now() + timeoutMs;
    for (let last: unknown; ;) {
      const now = await status(orderId).catch((error: unknown) => void (last = error));
      if (now && now.status !== 'pending') return now;
      if (performance.now() > deadline)
        throw new Error(
          `Order ${orderId} was not final after ${timeoutMs / 1000} s${now ? `; it is at stage "${now.stage}"` : `: ${String(last)}`}.`,
        );
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  async function best(ask: WantedQuote): Promise<QuoteCandidate> {
    const { quotes, productUnavailable } = await quote(ask);
    if (quotes[0]) return quotes[0];
    throw new Error(
      `No quote (${productUnavailable?.code ?? 'none'}): ${productUnavailable?.message ?? 'no reason given'}`,
    );
  }

  async function take(ask: WantedQuote, how: TakeChoices = {}) {
    let candidate = how.candidate ?? (await best(ask));
    let prepared = await prepare(candidate, how);
    const { setUp } = prepared;
    if (setUp.length > 0) {
      // Set-up transactions took a few blocks, so the quote is renewed.
      candidate = await best(ask);
      prepared = await prepare(candidate, how);
      prepared.setUp.unshift(...setUp);
    }
    const { id: orderId } = await submit(prepared.submission, how.idempotencyKey);
    for (const { tx } of prepared.broadcasts) if (tx) await send(tx);
    return { candidate, ...prepared, orderId };
  }

  return { address, call, quote, preflight, prepare, sign, send, post, submit, status, finish, take };
}

type VenueCall = (
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
  timeoutMs?: number,
) => Promise<HttpAnswer>;

async function callVenue(
  venueUrl: string,
  apiKey: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  timeoutMs = ANSWER_MS,
): Promise<HttpAnswer> {
  const response = await fetch(`${venueUrl}${path}`, {
    method,
    headers: {
      'x-api-key': apiKey,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    json: text.startsWith('{') || text.startsWith('[') ? (JSON.parse(text) as unknown) : undefined,
  };
}

async function ok<T>(schema: z.ZodType<T>, answer: Promise<HttpAnswer>): Promise<T> {
  const { status, text, json } = await answer;
  if (status !== 200) throw new Error(`The venue answered ${status}: ${text.slice(0, 400)}`);
  return schema.parse(json);
}
