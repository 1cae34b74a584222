/** Checks a route partner over HTTP: one trade, and each of its failures, after which it trades again. */

import type { WrongPartner } from '../../bridges/wrong-partner.ts';
import { trustlessTaker, viewChain, type DemoWorld } from '../../world.ts';
import {
  type DemoCheck,
  eventually,
  expect,
  expectEqual,
  expectSettled,
  type DemoOrderCounts,
} from '../check.ts';
import { inTokens, SETTLE_TIMEOUT_MS } from '../trade.ts';

/** The venue reads the partner's terms once a second here. */
const NOTICED_MS = 10_000;
const WRONG_QUOTES = 2;

export const partnerCheck: DemoCheck = {
  name: 'a payout partner over HTTP: trades, closed, late, down, wrong amounts, and never delivers',
  async run(world, tally) {
    const story = storyOf(world);
    const { partner, supervisor } = world;
    const settled = await story.trade(tally);
    try {
      const opensAt = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
      await partner.configure({ hours: { days: everyDayBut(new Date()), ...DAYTIME } });
      const closed = await story.refusal();
      expect(
        /closed/i.test(closed) && closed.includes(opensAt),
        `the answer does not say until when the partner is closed: ${closed}`,
      );
      await partner.configure({});
      await story.quotesAgain();

      const pid = supervisor.pid(partner.process);
      expect(pid !== undefined, 'the partner does not run');
      process.kill(pid, 'SIGSTOP');
      const late = await story.refusal().finally(() => process.kill(pid, 'SIGCONT'));
      await story.quotesAgain();

      await supervisor.hold(partner.process);
      await story.refusal();
      const wrong = await partner.startWrong();
      const unoffered = await story.neverOffered(wrong).finally(async () => {
        await wrong.stop();
        await supervisor.release(partner.process);
      });
      await story.quotesAgain();

      await partner.configure({ holdDeliveries: true });
      const refunded = await story.neverDelivered(tally);
      return `${settled}; closed: "${closed}"; stopped: "${late}"; ${unoffered}; ${refunded}`;
    } finally {
      await partner.configure({});
    }
  },
};

const DAYTIME = { from: '00:00', cutOff: '23:00', to: '23:59' };
const everyDayBut = (day: Date): number[] => [0, 1, 2, 3, 4, 5, 6].filter((each) => each !== day.getUTCDay());

function storyOf(world: DemoWorld) {
  const { id, tokens } = world.partner;
  const [sell, buy] = tokens;
  const [base, arc] = [viewChain(world.manifest, 'base'), viewChain(world.manifest, 'arc')];
  const { client, taker, wallet } = trustlessTaker(world, 'router');
  const request = {
    taker,
    input: { asset: base.asset(sell), amount: base.units(sell, '500') },
    output: { asset: arc.asset(buy) },
    solvers: { include: [id] },
  };
  const held = () => Promise.all([base.balance(taker, sell), arc.balance(taker, buy)]);
  const trade = () => client.trade({ request, wallet, signal: AbortSignal.timeout(2 * SETTLE_TIMEOUT_MS) });

  return {
    async trade(tally: DemoOrderCounts): Promise<string> {
      const before = await held();
      const { checked, status } = await trade();
      expectSettled(status, tally);
      const legs = ('composite' in checked.candidate && checked.candidate.composite?.legs) || [];
      expectEqual(legs.map(({ kind, venue }) => `${kind} ${venue}`).join(), `fiat ${id}`, 'legs');
      const after = await held();
      const shown = BigInt(checked.candidate.preview.outputs[0]?.amount ?? 0);
      expectEqual(after[1] - before[1], shown, `${buy} received by the taker`);
      expectEqual(before[0] - after[0], BigInt(request.input.amount), `${sell} paid by the taker`);
      return `500 ${sell} on base -> ${inTokens(arc, buy, shown)} on arc by ${id}`;
    },
    /** Returns why there is no quote. */
    async refusal(): Promise<string> {
      let why = '';
      await eventually('the partner is not offered', NOTICED_MS, async () => {
        const { quotes, productUnavailable } = await client.requestQuotes(request);
        why = productUnavailable?.message ?? '';
        return quotes.length === 0;
      });
      return why;
    },
    /** The venue believes no amount that it did not ask for. */
    async neverOffered(wrong: WrongPartner): Promise<string> {
      await eventually('the partner has quoted wrong amounts', NOTICED_MS, async () => {
        const { quotes } = await client.requestQuotes(request);
        expectEqual(quotes.length, 0, 'quotes of a partner with wrong amounts');
        return wrong.quotes() >= WRONG_QUOTES;
      });
      return `wrong amounts: ${WRONG_QUOTES} quotes, none of them shown`;
    },
    quotesAgain: () =>
      eventually('the partner is offered again', SETTLE_TIMEOUT_MS, async () => {
        const { quotes } = await client.requestQuotes(request);
        return quotes[0]?.solverId === id;
      }),
    async neverDelivered(tally: DemoOrderCounts): Promise<string> {
      const before = await held();
      const { status } = await trade();
      expectEqual(status.status, 'failed', 'status of the order that is never delivered');
      tally.failed += 1;
      await eventually('the input is back', 2 * SETTLE_TIMEOUT_MS, async () => {
        const after = await held();
        return after[0] === before[0] && after[1] === before[1];
      });
      tally.refunded += 1;
      return `never delivered: ${status.failure?.code ?? 'failed'}, and all of it was refunded`;
    },
  };
}
