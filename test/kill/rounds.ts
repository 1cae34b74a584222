/**
 * The property: kill any one process of the demo at any time and restart it, and every accepted order ends
 * settled, failed or refunded, with every base unit accounted for.
 */

import type { DemoProcess } from './demo-process.ts';
import { book, booksAstray, differences, readHoldings, unaccounted } from './ledger.ts';
import type { Seeded } from './seeded.ts';
import { type Accepted, ended, patiently, tradeOnce } from './trades.ts';

export interface Round {
  killed: string;
  afterMs: number;
  settled: number;
  failed: number;
  refused: number;
}

/** The demo itself, whose death ends all others. */
const SUPERVISOR = 'demo';
const TRADES = 5;
/** The longest life of an order here: quote, landing margin, proof window, and the time of a restart. */
const END_TIMEOUT_MS = 150_000;

export async function killRound(
  demo: DemoProcess,
  random: Seeded,
  number: number,
  say: (line: string) => void,
  only?: readonly string[],
): Promise<Round> {
  const manifest = demo.manifest();
  const takers = manifest.takers.slice(0, TRADES);
  const expected = await readHoldings(
    manifest,
    takers.map(({ address }) => address),
  );
  const victims = only ?? [...Object.keys(manifest.processes).sort(), SUPERVISOR];
  const killed = random.pick(victims);
  const afterMs = Math.floor(random.next() * 7_000);
  say(`round ${number}: SIGKILL of ${killed} after ${afterMs} ms`);

  const trading = Promise.all(
    takers.map(async ({ privateKey }, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 700));
      return tradeOnce(manifest, privateKey, index, random, `kill-${number}-${index}-${Date.now()}`);
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  await kill(demo, killed);
  const accepted = (await trading).filter((trade): trade is Accepted => trade !== undefined);

  const ends = await Promise.all(
    accepted.map(async (trade) => ({ trade, status: await ended(trade, END_TIMEOUT_MS) })),
  );
  for (const { trade, status } of ends) book(expected, trade.taker.address, trade.candidate, status);
  await patiently(20_000, async () => {
    const found = await readHoldings(
      demo.manifest(),
      takers.map(({ address }) => address),
    );
    const problems = [
      ...differences(expected, found),
      ...(await unaccounted(demo.manifest())),
      ...(await booksAstray(demo.manifest())),
    ];
    if (problems.length > 0)
      throw new Error(`After the SIGKILL of ${killed} the books do not agree:\n${problems.join('\n')}`);
  });
  const settled = ends.filter(({ status }) => status.status === 'settled').length;
  const round = {
    killed,
    afterMs,
    settled,
    failed: ends.length - settled,
    refused: takers.length - accepted.length,
  };
  say(
    `round ${number}: ${settled} settled, ${round.failed} failed with nothing lost, ${round.refused} never accepted; balances hold`,
  );
  return round;
}

/**
 * Kills one process and waits until it lives under another pid. Its supervisor restarts it; the test restarts
 * the supervisor.
 */
async function kill(demo: DemoProcess, name: string): Promise<void> {
  if (name === SUPERVISOR) return demo.killAndStartAgain();
  const pid = demo.manifest().processes[name];
  if (pid === undefined) throw new Error(`demo.json names no process "${name}".`);
  process.kill(pid, 'SIGKILL');
  await patiently(60_000, async () => {
    const now = demo.manifest().processes[name];
    if (now === undefined || now === pid) throw new Error(`${name} was not started again.`);
  });
}
