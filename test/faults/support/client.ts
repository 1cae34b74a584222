/**
 * A taker that trades through failures and records every request and answer, also missing ones, for the
 * checker.
 */

import type { QuoteCandidate } from '../../../src/protocol/api/candidate.ts';
import type { OrderStatusResponse } from '../../../src/protocol/api/status.ts';
import {
  createDemoTaker,
  type HttpAnswer,
  type SignedOrder,
  type DemoTaker,
  type WantedQuote,
} from '../../../src/apps/demo/taker.ts';
import type { Seeded } from '../../kill/seeded.ts';
import type { TestAccount, TestChain } from '../../support/devnet.ts';

/** One line of a client's log. */
export type ClientEntry = { atMs: number; taker: string } & (
  | { kind: 'submitted'; key: string | null; candidate: QuoteCandidate }
  | { kind: 'answered'; key: string | null; quoteId: string; status: number; text: string }
  /** The connection ended without an answer: it may have been accepted or not. */
  | { kind: 'unanswered'; key: string | null; quoteId: string; reason: string }
  | { kind: 'seen'; orderId: string; status: OrderStatusResponse }
);

export interface Prepared {
  candidate: QuoteCandidate;
  submission: SignedOrder;
}

/** On the first of these chains USDC, or else WETH, against a token on the second. */
export interface Wanted {
  from?: TestChain;
  to?: TestChain;
  /** Whole tokens. */
  usdc?: bigint;
  /** Base units. */
  weth?: bigint;
  /** Default: WETH for USDC, and USDC for WETH. */
  take?: 'usdc' | 'weth';
  /** The quote must be firm for at least this long. */
  firmSeconds?: number;
}

export interface Client {
  wallet: TestAccount;
  taker: DemoTaker;
  /** A quote, signed and ready to submit. Asks until there is one. */
  prepare(trade?: Wanted): Promise<Prepared>;
  /** Asks once. undefined: nobody quotes this. */
  quote(trade?: Wanted): Promise<QuoteCandidate | undefined>;
  /** One POST. undefined: no answer within the given time, by default 15 s. */
  submit(prepared: Prepared, key: string | null, timeoutMs?: number): Promise<HttpAnswer | undefined>;
  /** Repeats under the same key until the venue answers 200 or 422. undefined: refused finally. */
  insist(prepared: Prepared, key: string): Promise<string | undefined>;
  /** Polls until the order has settled, or failed with nothing left in escrow. */
  ended(orderId: string): Promise<OrderStatusResponse>;
  /** Asks once. */
  look(orderId: string): Promise<OrderStatusResponse | undefined>;
}

interface ClientOptions {
  wallet: TestAccount;
  venueUrl: string;
  apiKey: string;
  chains: readonly TestChain[];
  log: ClientEntry[];
}

/**
 * Longer than any wait on a very slow machine, and less than a test's timeout, so that the failure names what
 * did not come.
 */
const PATIENCE_MS = 150_000;

/** Polls until there is a result; then gives up with the message of `why`. */
export async function patiently<T>(
  ask: () => Promise<T | undefined>,
  why: () => string = () => 'nothing came',
): Promise<T> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
    if (Date.now() > until) throw new Error(`After ${PATIENCE_MS / 1_000} s: ${why()}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Dollars of a trade that pays for its gas on any chain and that one LP can fill: 100 to 599. */
export const someUsdc = (dice: Seeded): bigint => 100n + BigInt(Math.floor(dice.next() * 500));

const USDC = 1_000_000n;
/** A quote with less time left than this is not submitted. */
const LEAST_SECONDS = 4;

export function createClient({ wallet, venueUrl, apiKey, chains, log }: ClientOptions): Client {
  const taker = createDemoTaker({
    venueUrl,
    apiKey,
    privateKey: wallet.privateKey,
    rpcUrls: new Map(chains.map(({ chain, anvil }) => [chain.id, anvil.url])),
  });
  const note = (
    entry: ClientEntry extends infer E ? (E extends ClientEntry ? Omit<E, 'atMs' | 'taker'> : never) : never,
  ) => void log.push({ ...entry, atMs: Date.now(), taker: wallet.address } as ClientEntry);
  const [home] = chains as [TestChain];

  async function submit(
    { candidate, submission }: Prepared,
    key: string | null,
    timeoutMs?: number,
  ): Promise<HttpAnswer | undefined> {
    note({ kind: 'submitted', key, candidate });
    try {
      const answer = await taker.post(submission, key ?? undefined, timeoutMs);
      note({ kind: 'answered', key, quoteId: candidate.quoteId, status: answer.status, text: answer.text });
      return answer;
    } catch (error) {
      note({ kind: 'unanswered', key, quoteId: candidate.quoteId, reason: String(error) });
      return undefined;
    }
  }

  const asset = ({ chain: { id } }: TestChain, token: string) => `eip155:${id}/erc20:${token}`;
  const wanted = ({ from = home, to = from, usdc = 100n, weth, take, firmSeconds }: Wanted): WantedQuote => ({
    ...(firmSeconds !== undefined && { minValidUntil: Math.floor(Date.now() / 1_000) + firmSeconds }),
    input:
      weth === undefined
        ? { asset: asset(from, from.usdc.address), amount: (usdc * USDC).toString() }
        : { asset: asset(from, from.weth.address), amount: weth.toString() },
    output: { asset: asset(to, to[take ?? (weth === undefined ? 'weth' : 'usdc')].address) },
  });

  async function look(orderId: string): Promise<OrderStatusResponse | undefined> {
    const status = await taker.status(orderId).catch(() => undefined);
    if (status) note({ kind: 'seen', orderId, status });
    return status;
  }

  return {
    wallet,
    taker,
    quote: async (trade = {}) => (await taker.quote(wanted(trade))).quotes[0],
    prepare(trade = {}) {
      let last: unknown = 'no answer';
      return patiently(
        async () => {
          const answer = await taker.quote(wanted(trade)).catch((error: unknown) => void (last = error));
          const candidate = answer?.quotes[0];
          if (answer && !candidate) last = answer;
          if (!candidate) return undefined;
          const prepared = await taker.prepare(candidate).catch((error: unknown) => void (last = error));
          if (!prepared || candidate.validUntil - Date.now() / 1_000 < LEAST_SECONDS) return undefined;
          return { candidate, submission: prepared.submission };
        },
        () =>
          `no quote for ${JSON.stringify(wanted(trade))}; the last answer: ${last instanceof Error ? String(last) : JSON.stringify(last)}`,
      );
    },
    submit,
    async insist(prepared, key) {
      let got: HttpAnswer | undefined;
      const answer = await patiently(
        async () => {
          got = await submit(prepared, key);
          return got?.status === 200 || got?.status === 422 ? got : undefined;
        },
        () => `the submission ${key} was not decided; the last answer: ${got?.status} ${got?.text}`,
      );
      return answer.status === 200 ? (answer.json as { id: string }).id : undefined;
    },
    ended(orderId) {
      let status: OrderStatusResponse | undefined;
      return patiently(
        async () => {
          status = await look(orderId);
          if (
            status?.status === 'settled' ||
            (status?.status === 'failed' && status.failure?.refundableFrom === null)
          )
            return status;
          return undefined;
        },
        () => `order ${orderId} did not end; last seen: ${JSON.stringify(status)}`,
      );
    },
    look,
  };
}
