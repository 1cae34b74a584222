/**
 * The takers of the soak: they request quotes and trade at a fixed rate, whatever the answers, and record
 * every answer.
 */

import type { FundingLock } from '../../src/protocol/api/preflight.ts';
import type { QuoteCandidate } from '../../src/protocol/api/candidate.ts';
import type { SignedOrder } from '../../src/apps/demo/taker.ts';
import { createClient, type Client, someUsdc } from '../faults/support/client.ts';
import type { Seeded } from '../kill/seeded.ts';
import type { TestAccount, TestChain } from '../support/devnet.ts';
import type { Ground } from './ground.ts';

interface Counts {
  quotes: { asked: number; priced: number; unpriced: number; refused: number; unanswered: number };
  /** Why quotes and submissions failed, and how often. */
  why: Record<string, number>;
  orders: {
    tried: number;
    notPriced: number;
    accepted: number;
    refused: number;
    givenUp: number;
    crossChain: number;
    byLock: Record<FundingLock, number>;
  };
}

export interface Traffic {
  counts: Counts;
  /** Milliseconds of each quote answered since the last call. */
  latencies(): number[];
  /** Trades that are still followed. */
  underWay(): number;
  /** Starts no new trades; open ones are followed to their end. */
  cease(): void;
  /** Ends every client once it has noticed. */
  stop(): Promise<void>;
}

interface Person {
  wallet: TestAccount;
  lock: FundingLock;
  /** The same workspace key at every replica. */
  at: readonly Client[];
}

const LOCKS: readonly FundingLock[] = ['Permit2', 'EIP-3009', 'ResourceLock'];
const PEOPLE_PER_LOCK = 2;
const USDC = 1_000_000n;
/** How long a taker waits for a price, and for an answer after its quote has expired. */
const PATIENCE_MS = 20_000;
const MOST_UNDER_WAY = 400;
/** The most simultaneous connections; each quote has one. */
const MOST_QUOTES_UNDER_WAY = 100;

/** Takers with balances on the chain they pay from, so that a trade needs signatures only. */
export async function gather({ world, doors }: Ground): Promise<Person[]> {
  const people: Person[] = [];
  for (const lock of LOCKS) {
    for (let n = 0; n < PEOPLE_PER_LOCK; n++) {
      const { wallet } = await world.client();
      await Promise.all(
        world.devnet.chains.map(async (chain) => {
          if (lock === 'Permit2')
            await chain.approve(wallet.address, chain.usdc.address, chain.chain.permit2);
          if (lock === 'ResourceLock')
            await chain.deposit(wallet.address, chain.usdc.address, 50_000n * USDC);
        }),
      );
      people.push({
        wallet,
        lock,
        at: [...doors.values()].map(({ url }) =>
          createClient({
            wallet,
            venueUrl: url,
            apiKey: world.apiKey,
            chains: world.devnet.chains,
            log: world.log,
          }),
        ),
      });
    }
  }
  return people;
}

export function startTraffic(
  { world }: Ground,
  people: readonly Person[],
  dice: Seeded,
  { quotesPerSecond, ordersPerSecond }: { quotesPerSecond: number; ordersPerSecond: number },
): Traffic {
  const counts: Counts = {
    quotes: { asked: 0, priced: 0, unpriced: 0, refused: 0, unanswered: 0 },
    why: {},
    orders: {
      tried: 0,
      notPriced: 0,
      accepted: 0,
      refused: 0,
      givenUp: 0,
      crossChain: 0,
      byLock: { Permit2: 0, 'EIP-3009': 0, ResourceLock: 0 },
    },
  };
  let [times, serial, quotesUnderWay, ceased, stopped]: [number[], number, number, boolean, boolean] = [
    [],
    0,
    0,
    false,
    false,
  ];
  const trades = new Set<Promise<void>>();
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const { chains } = world.devnet;

  const note = (what: string, answer: unknown) => {
    const said = answer as
      | {
          error?: { code?: string };
          detail?: { type?: string }[];
          productUnavailable?: { code?: string } | null;
        }
      | undefined;
    const reason = `${what}: ${said?.error?.code ?? said?.detail?.[0]?.type ?? said?.productUnavailable?.code ?? (answer instanceof Error ? answer.name : 'nothing')}`;
    counts.why[reason] = (counts.why[reason] ?? 0) + 1;
  };

  function route() {
    const [from, to] = [dice.pick(chains), dice.pick(chains)];
    return { from, to, usdc: someUsdc(dice) };
  }
  const asset = ({ chain: { id } }: TestChain, token: string) => `eip155:${id}/erc20:${token}`;
  const ask = ({ from, to, usdc }: ReturnType<typeof route>) => ({
    input: { asset: asset(from, from.usdc.address), amount: (usdc * USDC).toString() },
    output: { asset: asset(to, to.weth.address) },
  });

  async function quote(): Promise<void> {
    const { taker } = dice.pick(dice.pick(people).at);
    const body = { taker: taker.address, ...ask(route()) };
    counts.quotes.asked += 1;
    if (quotesUnderWay >= MOST_QUOTES_UNDER_WAY) {
      counts.quotes.unanswered += 1;
      return note('quote', { error: { code: 'too many wait for an answer' } });
    }
    quotesUnderWay += 1;
    const startedMs = performance.now();
    try {
      const { status, json } = await taker.call('POST', '/api/v1/rfq/quotes', body);
      const outcome =
        status !== 200
          ? 'refused'
          : (json as { quotes: unknown[] }).quotes.length === 0
            ? 'unpriced'
            : 'priced';
      counts.quotes[outcome] += 1;
      if (outcome === 'priced') times.push(performance.now() - startedMs);
      else note('quote', json);
    } catch (error) {
      counts.quotes.unanswered += 1;
      note('quote', error);
    } finally {
      quotesUnderWay -= 1;
    }
  }

  async function trade(): Promise<void> {
    const person = dice.pick(people);
    const path = route();
    const manner = dice.next();
    const key = manner < 0.2 ? null : `${person.wallet.address} ${++serial}`;
    let door = Math.floor(dice.next() * person.at.length);
    const here = () => person.at[door % person.at.length] as Client;
    counts.orders.tried += 1;

    const prepared = await prepare(here, () => (door += 1), path, person.lock);
    if (!prepared) return void (counts.orders.notPriced += 1);
    let answer = undefined as Awaited<ReturnType<Client['submit']>>;
    // Some takers submit the same order to every replica at the same time.
    const hurried =
      manner > 0.85 ? await Promise.all(person.at.map((client) => client.submit(prepared, key))) : [];
    answer = hurried.find((each) => each?.status === 200) ?? hurried.find((each) => final(each?.status));
    while (!final(answer?.status)) {
      if (stopped || Date.now() > prepared.candidate.validUntil * 1_000 + PATIENCE_MS)
        return void (counts.orders.givenUp += 1);
      answer = await here().submit(prepared, key);
      if (!final(answer?.status)) {
        door += 1;
        await pause(250);
      }
    }
    if (answer?.status !== 200) {
      note('order', answer?.json);
      return void (counts.orders.refused += 1);
    }
    counts.orders.accepted += 1;
    counts.orders.byLock[person.lock] += 1;
    if (path.from !== path.to) counts.orders.crossChain += 1;
    const { id } = answer.json as { id: string };
    for (const tx of prepared.broadcasts)
      await here()
        .taker.send(tx)
        .catch(() => undefined);
    while (!stopped) {
      await pause(1_500);
      const seen = await here().look(id);
      if (seen?.status === 'settled' || (seen?.status === 'failed' && seen.failure?.refundableFrom === null))
        return;
      door += 1;
    }
  }

  async function prepare(
    here: () => Client,
    next: () => void,
    path: ReturnType<typeof route>,
    lock: FundingLock,
  ) {
    for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs && !stopped; next()) {
      const { taker } = here();
      const prepared = await taker
        .quote(ask(path))
        .then(
          async ({ quotes: [candidate] }) =>
            candidate && { candidate, ...(await taker.prepare(candidate, { lock })) },
        )
        .catch(() => undefined);
      if (prepared)
        return {
          candidate: prepared.candidate satisfies QuoteCandidate,
          submission: prepared.submission satisfies SignedOrder,
          broadcasts: prepared.broadcasts.flatMap(({ tx }) => (tx ? [tx] : [])),
        };
      await pause(250);
    }
    return undefined;
  }

  /** Starts what is due without waiting for earlier work. */
  function at(perSecond: number, begin: () => void): NodeJS.Timeout {
    const startedMs = performance.now();
    let begun = 0;
    return setInterval(() => {
      if (ceased) return;
      const due = Math.floor(((performance.now() - startedMs) / 1_000) * perSecond);
      for (; begun < due; begun++) begin();
    }, 20);
  }
  const quoting = at(quotesPerSecond, () => void quote());
  const trading = at(ordersPerSecond, () => {
    if (trades.size >= MOST_UNDER_WAY) return;
    const mine = trade().finally(() => trades.delete(mine));
    trades.add(mine);
  });

  return {
    counts,
    latencies() {
      const since = times;
      times = [];
      return since;
    },
    underWay: () => trades.size,
    cease: () => void (ceased = true),
    async stop() {
      [ceased, stopped] = [true, true];
      clearInterval(quoting);
      clearInterval(trading);
      await Promise.all(trades);
    },
  };
}

/** Final answers. 409 is not one: another copy of the submission runs, or ran. */
const final = (status: number | undefined): boolean => status === 200 || status === 400 || status === 422;
