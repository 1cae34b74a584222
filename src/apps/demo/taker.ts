/** A taker written as an integrator would, on the public API and viem. It signs what preflight asks for. */

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
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import type { Settlement } from '../../domain/delivery.ts';
import type { QuoteCandidate } from '../../protocol/api/candidate.ts';
import {
  type Action,
  type FundingLock,
  type PreflightResponse,
  zPreflightResponse,
} from '../../protocol/api/preflight.ts';
import { zQuoteResponse } from '../../protocol/api/quote.ts';
import { type OrderStatusResponse, zOrderStatusResponse } from '../../protocol/api/status.ts';
import { zOrder } from '../../protocol/api/submit.ts';
import { devWalletAbi } from '../../settlement/abi/dev-wallet.ts';

export interface DemoTakerOptions {
  venueUrl: string;
  apiKey: string;
  privateKey: Hex;
  /** A contract wallet owned by the key; it is the taker. */
  contractWallet?: Address;
  rpcUrls: ReadonlyMap<number, string>;
}

export interface WantedQuote {
  input: { asset: string; amount?: string };
  output: { asset: string; amount?: string };
  receiver?: string;
  minValidUntil?: number;
  maxCandidates?: number;
  splitFill?: 'allow' | 'never';
  settlement?: Settlement;
  solvers?: { include?: string[]; exclude?: string[] };
}

export interface TakeChoices {
  lock?: FundingLock;
  /** Grant Permit2 a standing allowance instead of one lock per trade. */
  standingGrant?: boolean;
  idempotencyKey?: string;
  candidate?: QuoteCandidate;
}

export interface SignedOrder {
  quoteResponse: QuoteCandidate;
  signature: Hex;
  signScheme: 'EIP712' | 'EIP1271';
  permit2Lock?: { signature: Hex; deadline: number };
  eip3009Authorization?: { signature: Hex; validAfter: number; validBefore: number; nonce: string };
}

export interface HttpAnswer {
  status: number;
  text: string;
  json: unknown;
}

export type QuoteResponse = z.infer<typeof zQuoteResponse>;
export type DemoTaker = ReturnType<typeof createDemoTaker>;

const MAX_PREFLIGHTS = 5;
const ANSWER_MS = 15_000;

export function createDemoTaker({ venueUrl, apiKey, privateKey, contractWallet, rpcUrls }: DemoTakerOptions) {
  const owner: PrivateKeyAccount = privateKeyToAccount(privateKey);
  const address = (contractWallet ?? owner.address).toLowerCase() as Address;

  async function call(
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
    if (status !== 200) throw new VenueRefusal(status, text);
    return schema.parse(json);
  }

  const quote = (ask: WantedQuote): Promise<QuoteResponse> =>
    ok(zQuoteResponse, call('POST', '/api/v1/rfq/quotes', { taker: address, ...ask }));
  const preflight = (quoteResponse: unknown, lock?: FundingLock): Promise<PreflightResponse> =>
    ok(
      zPreflightResponse,
      call('POST', '/api/v1/rfq/orders/preflight', { quoteResponse, ...(lock ? { fundingLock: lock } : {}) }),
    );
  const status = (orderId: string): Promise<OrderStatusResponse> =>
    ok(zOrderStatusResponse, call('GET', `/api/v1/rfq/orders/${orderId}`));

  async function signTyped(typedData: { payload: Record<string, unknown> }): Promise<Hex> {
    const definition = typedData.payload as unknown as TypedDataDefinition;
    // An ERC-1271 wallet verifies its owner's signature over the same digest.
    return contractWallet ? owner.sign({ hash: hashTypedData(definition) }) : owner.signTypedData(definition);
  }

  /** Sends a transaction and waits until it is mined, through the contract wallet if there is one. */
  async function send(tx: { to: string; value: string; data: string; chainId: number }): Promise<Hex> {
    const rpcUrl = rpcUrls.get(tx.chainId);
    if (rpcUrl === undefined) throw new Error(`This taker has no node for chain ${tx.chainId}.`);
    const transport = http(rpcUrl, { retryCount: 5 });
    const reader = createPublicClient({ transport, pollingInterval: 200 });
    const wallet = createWalletClient({ account: owner, transport });
    const inner = { to: tx.to as Address, value: BigInt(tx.value), data: tx.data as Hex };
    const outer = contractWallet
      ? {
          to: contractWallet,
          value: 0n,
          data: encodeFunctionData({
            abi: devWalletAbi,
            functionName: 'execute',
            args: [inner.to, inner.value, inner.data],
          }),
        }
      : inner;
    const hash = await wallet.sendTransaction({ ...outer, chain: null });
    const receipt = await reader.waitForTransactionReceipt({ hash, timeout: 30_000 });
    if (receipt.status !== 'success')
      throw new Error(`The taker's transaction ${hash} reverted on chain ${tx.chainId}.`);
    return hash;
  }

  async function prepare(
    candidate: QuoteCandidate,
    how: TakeChoices = {},
  ): Promise<{ submission: SignedOrder; plan: PreflightResponse; broadcasts: Action[]; setUp: string[] }> {
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
          nonce: String(message['nonce']),
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

  /** Polls until the order is settled or failed. Tolerates a venue that is down. */
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

  return {
    address,
    call,
    quote,
    preflight,
    prepare,
    sign,
    signTyped,
    send,
    post,
    submit,
    status,
    finish,
    async take(
      ask: WantedQuote,
      how: TakeChoices = {},
    ): Promise<{
      candidate: QuoteCandidate;
      plan: PreflightResponse;
      submission: SignedOrder;
      orderId: string;
      setUp: string[];
      broadcasts: Action[];
    }> {
      let { candidate } = how;
      if (!candidate) {
        const { quotes, productUnavailable } = await quote(ask);
        candidate = quotes[0];
        if (!candidate)
          throw new NoQuote(
            productUnavailable?.code ?? 'none',
            productUnavailable?.message ?? 'no reason given',
          );
      }
      let prepared = await prepare(candidate, how);
      if (prepared.setUp.length > 0) {
        // Set-up transactions took a few blocks, so the quote is renewed.
        const again = await quote(ask);
        candidate = again.quotes[0];
        if (!candidate)
          throw new NoQuote(
            again.productUnavailable?.code ?? 'none',
            `asked again after set-up: ${again.productUnavailable?.message ?? 'no reason given'}`,
          );
        const { setUp } = prepared;
        prepared = await prepare(candidate, how);
        prepared.setUp.unshift(...setUp);
      }
      const order = await submit(prepared.submission, how.idempotencyKey);
      // walletBroadcast: the taker sends the settlement itself.
      for (const { tx } of prepared.broadcasts) if (tx) await send(tx);
      return { candidate, ...prepared, orderId: order.id };
    },
  };
}

export class VenueRefusal extends Error {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super(`The venue answered ${status}: ${body.slice(0, 400)}`);
    this.status = status;
    this.body = body;
  }
}

export class NoQuote extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(`No quote (${code}): ${message}`);
    this.code = code;
  }
}
