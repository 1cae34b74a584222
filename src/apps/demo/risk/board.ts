/** Observes a risk control from outside: LP metrics, admin API, roster, and quotes to a taker. */

import { z } from 'zod';
import type { Control } from '../../../domain/control.ts';
import { zSolversResponse } from '../../../protocol/api/roster.ts';
import type { QuoteCandidate } from '../../../protocol/api/candidate.ts';
import { CheckFailed, eventually, expect } from '../checks/check.ts';
import { askOf, type DemoTrade, tradeOf } from '../checks/trade.ts';
import type { WantedQuote } from '../taker.ts';
import { takerFor, type DemoWorld } from '../world.ts';

export interface Counts {
  trips: number;
  refusals: number;
  tripped: boolean;
}

const zRisk = z.object({
  tripped: z.array(z.object({ control: z.string(), about: z.string(), detail: z.string() })),
});

/** One control of one LP, from before it trips until it has passed. */
export interface WatchedControl {
  /** Waits until it has tripped again in metrics and admin API. Returns its detail. */
  tripped(timeoutMs?: number): Promise<string>;
  /**
   * Waits until it has refused another request, in the LP's and the venue's metrics. Asks again when the
   * venue closed before the answer.
   */
  refused(again: () => Promise<unknown>): Promise<void>;
  passed(timeoutMs?: number): Promise<void>;
}

export async function watch(world: DemoWorld, id: string, control: Control): Promise<WatchedControl> {
  const [before, declinesBefore] = [
    await countsOf(world, id, control),
    await declinesAtVenue(world, id, control),
  ];
  const lp = lpOf(world, id);
  return {
    async tripped(timeoutMs = 10_000) {
      let detail = '';
      await eventually(`${control} trips at ${id}`, timeoutMs, async () => {
        const now = await countsOf(world, id, control);
        const door = zRisk
          .parse(await (await fetch(`${lp.adminUrl}/risk`)).json())
          .tripped.find((each) => each.control === control);
        detail = door?.detail ?? '';
        return now.tripped && now.trips > before.trips && door !== undefined;
      });
      return detail;
    },
    async refused(again) {
      await eventually(`${control} of ${id} refuses`, 10_000, async () => {
        if (
          (await countsOf(world, id, control)).refusals > before.refusals &&
          (await declinesAtVenue(world, id, control)) > declinesBefore
        )
          return true;
        await again();
        return false;
      });
    },
    passed: (timeoutMs = 15_000) =>
      eventually(
        `${control} of ${id} passes`,
        timeoutMs,
        async () => !(await countsOf(world, id, control)).tripped,
      ),
  };
}

export function lpOf(world: DemoWorld, id: string): DemoWorld['lps'][number] {
  const lp = world.lps.find((one) => one.id === id);
  if (lp === undefined) throw new CheckFailed(`there is no LP called ${id}`);
  return lp;
}

async function countsOf(world: DemoWorld, id: string, control: Control): Promise<Counts> {
  const text = await (await fetch(lpOf(world, id).metricsUrl)).text();
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`firmquote_lp_risk_${name}{control="${control}"}`))
        ?.split(' ')
        .at(-1) ?? Number.NaN,
    );
  const [trips, refusals, tripped] = [value('trips_total'), value('refusals_total'), value('tripped')];
  expect(![trips, refusals, tripped].some(Number.isNaN), `the metrics of ${id} do not show ${control}`);
  return { trips, refusals, tripped: tripped === 1 };
}

/** Declines that the venue counted for this control. */
async function declinesAtVenue(world: DemoWorld, id: string, control: Control): Promise<number> {
  const text = await (await fetch(world.manifest.venue.metricsUrl)).text();
  const lines = text
    .split('\n')
    .filter(
      (line) =>
        line.startsWith('firmquote_venue_declines_total{') &&
        line.includes(`solver="${id}"`) &&
        line.includes(`control="${control}"`),
    );
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

export async function rosterOf(world: DemoWorld, id: string): Promise<{ status: string; note: string }> {
  const answer = await takerFor(world.manifest, { privateKey: `0x${'11'.repeat(32)}` }).call(
    'GET',
    '/api/v1/solvers',
  );
  const found = zSolversResponse.parse(answer.json).solvers.find((solver) => solver.id === id);
  return { status: found?.status ?? 'unknown', note: found?.eligibilityNote ?? '' };
}

export const untilRoster = (
  world: DemoWorld,
  id: string,
  status: string,
  note: RegExp,
  timeoutMs = 15_000,
): Promise<void> =>
  eventually(`${id} is ${status} on the roster (${note.source})`, timeoutMs, async () => {
    const now = await rosterOf(world, id);
    if (now.status !== status || !note.test(now.note))
      throw new CheckFailed(`it is ${now.status}: ${now.note}`);
    return true;
  });

/** A request that goes to this LP only. */
export interface Asking {
  trade: DemoTrade;
  /** Candidates; empty when it declined. */
  quotes(amount?: { sell: string }, more?: Partial<WantedQuote>): Promise<QuoteCandidate[]>;
}

export function asking(
  world: DemoWorld,
  id: string,
  corridor: readonly [string, string] = ['base', 'base'],
  sell = 'USDC',
  buy = 'WETH',
): Asking {
  const trade = tradeOf(world, world.freshTaker(), corridor, sell, buy);
  return {
    trade,
    async quotes(amount = { sell: '100' }, more = {}) {
      return (
        await trade.taker.quote(
          askOf(trade, amount, { solvers: { include: [id] }, splitFill: 'never', ...more }),
        )
      ).quotes;
    },
  };
}

/** Waits until it quotes a fresh taker. */
export const quotesAgain = (
  world: DemoWorld,
  id: string,
  corridor?: readonly [string, string],
  timeoutMs = 20_000,
): Promise<void> => {
  const fresh = asking(world, id, corridor);
  return eventually(`${id} quotes again`, timeoutMs, async () => (await fresh.quotes()).length > 0);
};
