/** Observes a risk control from outside: LP metrics, admin API, roster, and quotes to a taker. */

import * as z from 'zod';
import type { Control } from '../../../domain/decline.ts';
import { CheckFailed, eventually, expect } from '../checks/check.ts';
import { askOf, freshTrade } from '../checks/trade.ts';
import type { WantedQuote } from '../taker.ts';
import { rosterOf, type DemoWorld } from '../world.ts';

const zRisk = z.object({
  tripped: z.array(z.object({ control: z.string(), about: z.string(), detail: z.string() })),
});

export async function watch(world: DemoWorld, id: string, control: Control) {
  const before = await countsOf(world, id, control);
  const declinesBefore = await declinesAtVenue(world, id, control);
  const lp = lpOf(world, id);
  return {
    async tripped(timeoutMs = 10_000): Promise<string> {
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
    /**
     * Waits until the control has refused another request, in the metrics of the LP and the venue. Asks again
     * when the venue closed before the answer.
     */
    async refused(again: () => Promise<unknown>): Promise<void> {
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
    passed: (timeoutMs = 15_000): Promise<void> =>
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

async function countsOf(world: DemoWorld, id: string, control: Control) {
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

async function declinesAtVenue(world: DemoWorld, id: string, control: Control): Promise<number> {
  const text = await (await fetch(world.manifest.venue.metricsUrl)).text();
  const lines = text
    .split('\n')
    .filter(
      (line) =>
        line.startsWith('firmquote_venue_declines_named_total{') &&
        line.includes(`solver="${id}"`) &&
        line.includes(`control="${control}"`),
    );
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

export const untilRoster = (
  world: DemoWorld,
  id: string,
  status: string,
  note: RegExp,
  timeoutMs = 15_000,
): Promise<void> =>
  eventually(`${id} is ${status} on the roster (${note.source})`, timeoutMs, async () => {
    const now = (await rosterOf(world.manifest)).find((solver) => solver.id === id);
    const said = now?.eligibilityNote ?? '';
    expect(now?.status === status && note.test(said), `it is ${now?.status ?? 'unknown'}: ${said}`);
    return true;
  });

export function asking(
  world: DemoWorld,
  id: string,
  corridor?: readonly [string, string],
  sell?: string,
  buy?: string,
) {
  const trade = freshTrade(world, corridor, sell, buy);
  return {
    trade,
    async quotes(amount = { sell: '100' }, more: Partial<WantedQuote> = {}) {
      const ask = askOf(trade, amount, { solvers: { include: [id] }, splitFill: 'never', ...more });
      return (await trade.taker.quote(ask)).quotes;
    },
  };
}

export const quotesAgain = (
  world: DemoWorld,
  id: string,
  corridor?: readonly [string, string],
  timeoutMs = 20_000,
): Promise<void> => {
  const fresh = asking(world, id, corridor);
  return eventually(`${id} quotes again`, timeoutMs, async () => (await fresh.quotes()).length > 0);
};
