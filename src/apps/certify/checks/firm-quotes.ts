/**
 * Sends many requests together, and asks for more than the account can pay: what is signed must be covered.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { CertifyContext, SizedPair } from '../context.ts';
import type { RuleId } from '../rules.ts';
import { untilActive } from './connection.ts';

/** Each of the many requests asks for this fraction of the balance. */
const TINY = 10_000;
/** Each request that drains the balance asks for this fraction of it. */
const LARGE = 5;
const DRAINING = 12;
const AGAIN = 6;
const MOST_AT_ONCE = 64;
const MOST_OVERLOAD = 400;
const FREES_MS = 1_000;
const RECOVER_MS = 5_000;

export async function checkFirmQuotes(context: CertifyContext, sized: SizedPair): Promise<void> {
  const { asking, requests, venue } = context;
  const maxInFlight = venue.hello()?.maxInFlight ?? 1;
  let left = requests;
  let quoted = 0;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const exact = left % 2 === 0;
      const amount = exact ? sized.take(TINY) : sized.give(TINY);
      const { quotes } = await asking.ask(
        asking.request(sized.pair, exact ? 'exactOutput' : 'exactInput', amount),
      );
      quoted += quotes.length;
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxInFlight, MOST_AT_ONCE) }, worker));
  const seen = `${quoted} quotes to ${requests} requests: every signature, time and amount holds`;
  await overload(context, sized, maxInFlight);
  if (!(await untilActive(context))) return;
  await drain(context, sized, seen);
}

/** Sends more requests together than the solver said it takes: it may decline, and must go on. */
async function overload(
  { asking, findings, venue }: CertifyContext,
  sized: SizedPair,
  maxInFlight: number,
): Promise<void> {
  const before = venue.opened.length;
  const overload = Math.min(2 * maxInFlight, MOST_OVERLOAD);
  const rfq = () => asking.request(sized.pair, 'exactInput', sized.give(TINY));
  await Promise.all(Array.from({ length: overload }, () => asking.ask(rfq(), { overload: true })));
  const deadline = performance.now() + RECOVER_MS;
  let answers = false;
  while (!answers && venue.opened.length === before && performance.now() < deadline) {
    const { signed, decline } = await asking.ask(rfq(), { overload: true });
    answers = signed.length > 0 || decline !== undefined;
  }
  if (answers)
    findings.pass(
      'max-in-flight',
      `after ${overload} requests at once (maxInFlight ${maxInFlight}) it answers`,
    );
  else
    findings.fail(
      'max-in-flight',
      venue.opened.length === before
        ? `after ${overload} requests at once (maxInFlight ${maxInFlight}) it answers no more`
        : `it dropped the connection under ${overload} requests at once (maxInFlight ${maxInFlight})`,
    );
}

async function drain(context: CertifyContext, sized: SizedPair, seen: string): Promise<void> {
  const { asking, findings, promises, venue } = context;
  const { dest, account, token } = sized;
  const headroomLeft = () => promises.room(dest, account, token);
  /** Asks for more than is left, and tells whether more was signed than there was room for. */
  async function isOverdrawn(times: number): Promise<boolean> {
    const asked = Array.from({ length: times }, () =>
      asking.ask(asking.request(sized.pair, 'exactOutput', sized.take(LARGE))),
    );
    await Promise.all(asked);
    return (await headroomLeft()) < 0n;
  }
  const judge = (rule: RuleId, overdrawn: boolean, good: string, bad: string) =>
    overdrawn ? findings.fail(rule, bad) : findings.pass(rule, good);

  const drained = await isOverdrawn(DRAINING);
  const live = await promises.live(dest, account, token);
  if (live.length === 0) findings.skip('reserve', 'no quote is live: the solver quoted nothing that holds');
  else
    judge(
      'reserve',
      drained,
      `${seen}, and the ledger balance covers all of them`,
      `live quotes promise ${-(await headroomLeft())} base units more of ${sized.pair.output} than the ledger holds`,
    );
  if (drained || live.length === 0) {
    for (const rule of ['rejected', 'released', 'release-proof'] as const)
      findings.skip(rule, drained ? 'the solver promises too much anyway' : 'no quote is live');
    return;
  }
  const quoteIds = live.slice(-MOST_NAMED).map(({ quoteId }) => quoteId);
  for (const quoteId of quoteIds)
    venue.send({
      type: 'rejected',
      rfqId: null,
      quoteId,
      code: 'duplicate',
      message: 'Another answer was counted instead.',
      field: 'quoteId',
    });
  const steps = [
    ['rejected', 'rejected', undefined],
    ['released', 'released without a proof', null],
    ['release-proof', 'released with a proof that the chain does not confirm', 'nonce_used'],
  ] as const;
  let before = await headroomLeft();
  for (const [rule, says, proof] of steps) {
    if (proof !== undefined) venue.send({ type: 'released', quoteIds, proof });
    // A solver may look at the chain before it frees anything.
    await sleep(FREES_MS);
    await isOverdrawn(AGAIN);
    const after = await headroomLeft();
    judge(
      rule,
      after < 0n && after < before,
      `the money of ${quoteIds.length} quotes stayed reserved after they were ${says}`,
      `money was promised again after its quotes were ${says}, though they can still be executed`,
    );
    before = after;
  }
}

/** The most quotes that one frame may name. */
const MOST_NAMED = 16;
