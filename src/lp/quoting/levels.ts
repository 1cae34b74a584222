/**
 * Publishes indicative prices to venues that show them: one ladder per route from the same pricing as quotes,
 * at random intervals. They are not firm and reveal no more than a quote would.
 */

import { type Decline, isDecline } from '../../domain/decline.ts';
import { ten } from '../../domain/amount.ts';
import { ZERO_ADDRESS } from '../../domain/hex.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Random } from '../../ports/random.ts';
import { ladder } from '../../pricing/ladder.ts';
import { price } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { FromSolver, LinkMessage } from '../../protocol/link/link.ts';
import type { QuotingSnapshot } from './quoting-snapshot.ts';
import type { Guard } from '../risk/guard.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';
import type { QuoteRoute } from '../routes/route.ts';

type LevelsMessage = LinkMessage<'levels', FromSolver>;

interface LevelsDeps {
  quoting(): Pick<QuotingSnapshot, 'routes' | 'context' | 'config'>;
  active(): boolean;
  refusal(route: QuoteRoute): Decline | undefined;
  guard: Pick<Guard, 'adjustIndicative'>;
  /** false when no venue received it; it is then sent again in the next round. */
  send(message: LevelsMessage): boolean;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface LevelsPublisher {
  /** Starts the rounds. */
  start(): void;
  /** Sends every ladder in the next round, because a venue that has just welcomed us has none. */
  resend(): void;
  stop(): void;
}

/** The steps of the ladder, in per cent of the largest amount that we would take. */
const SHARES = [2, 10, 25, 50, 100] as const;
/** An unchanged ladder is sent again after this many rounds, because venues drop old ones. */
const REPEAT_ROUNDS = 4;
const ROUTES_PER_BATCH = 10;

export function createLevelsPublisher(deps: LevelsDeps): LevelsPublisher {
  const { clock, log } = deps;
  const sent = new Map<string, { ladder: string; round: number }>();
  let round = 0;
  let stopped = false;
  let cancel = () => {};

  async function publish(): Promise<void> {
    round += 1;
    const { all } = deps.quoting().routes;
    for (const [index, route] of all.entries()) {
      if (index % ROUTES_PER_BATCH === 0) await yieldToEventLoop();
      if (stopped || !deps.active()) return;
      publishRoute(route);
    }
    const served = new Set(all.map(keyOf));
    for (const key of sent.keys()) if (!served.has(key)) sent.delete(key);
  }

  function publishRoute(route: QuoteRoute): void {
    const { input, output } = route;
    const levels = ladderOf(route);
    const text = levels.join(' ');
    const last = sent.get(keyOf(route));
    const unchanged = (last?.ladder ?? '') === text;
    const recent = last === undefined || levels.length === 0 || round - last.round < REPEAT_ROUNDS;
    if (unchanged && recent) return;
    if (deps.send({ type: 'levels', input, output, levels, atMs: clock.nowMs() }))
      sent.set(keyOf(route), { ladder: text, round });
  }

  function ladderOf(route: QuoteRoute): [string, string][] {
    if (deps.refusal(route) !== undefined) return [];
    const adjustment = deps.guard.adjustIndicative(route, clock.nowMs());
    if (isDecline(adjustment)) return [];
    const { context, config } = deps.quoting();
    const usd = context.usd(route.inputToken.symbol);
    if (usd === undefined || usd.num <= 0n) return [];
    const largest =
      (BigInt(Math.floor(route.params.maxSize)) * ten(route.inputToken.decimals) * usd.den) / usd.num;
    const inputs = context.inputs(
      route,
      {
        side: 'exactInput',
        amount: largest,
        platformFeeBps: 0,
        relayFee: 0n,
        validUntil: context.now(route.origin.id) + config.quoting.validitySeconds,
        // A taker without history.
        taker: ZERO_ADDRESS,
        rfqId: '',
      },
      adjustment,
    );
    if (isDecline(inputs)) return [];
    // Exploration noise belongs to single quotes.
    const plain: PriceInputs = { ...inputs, exploreBps: 0 };
    const whole = price(plain);
    const amount = isDecline(whole) ? (whole.maxAmount ?? 0n) : largest;
    if (amount <= 0n) return [];
    return ladder({ ...plain, amount }, SHARES).map(({ input, output }) => [
      input.toString(),
      output.toString(),
    ]);
  }

  function scheduleNext(): void {
    const { everyMs } = deps.quoting().config.levels;
    // 75 % to 125 % of the interval, so that an observer cannot tell what caused an update.
    const factor = 0.75 + Number.parseInt(deps.random.bytes32().slice(2, 10), 16) / 2 ** 33;
    cancel = clock.after(everyMs * factor, () => {
      const { publish: enabled } = deps.quoting().config.levels;
      void (enabled ? publish() : Promise.resolve())
        .catch((error: unknown) => log.error({ error }, 'indicative prices could not be made'))
        .finally(() => stopped || scheduleNext());
    });
  }

  return {
    start: scheduleNext,
    resend: () => sent.clear(),
    stop() {
      stopped = true;
      cancel();
    },
  };
}

const keyOf = ({ input, output }: QuoteRoute): string => `${input}>${output}`;
