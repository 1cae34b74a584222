/**
 * What we would about pay, told to venues that show it: a ladder per route from the pricing that quotes, made
 * beside the hot path, a few at a time, at times nobody can foresee. Nothing of it is firm, and nobody is
 * told more than a quote would tell.
 */

import { type Decline, isDecline } from '../../domain/decline.ts';
import { type Address, ZERO_ADDRESS } from '../../domain/hex.ts';
import { hashOf } from '../../domain/text-table.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Random } from '../../ports/random.ts';
import { ladder } from '../../pricing/ladder.ts';
import { price } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import { ten } from '../../pricing/rational.ts';
import type { FromSolver, LinkMessage } from '../../protocol/link/link.ts';
import type { Desk } from './quoting-config.ts';
import type { Guard } from '../risk/guard.ts';
import type { Route } from './route.ts';
import { unhurried } from './turns.ts';

export type LevelsMessage = LinkMessage<'levels', FromSolver>;

export interface LevelsDeps {
  /** The one in force. */
  desk(): Pick<Desk, 'routes' | 'book' | 'config'>;
  /** Whether anybody is to hear of prices now. */
  active(): boolean;
  refusal(route: Route): Decline | undefined;
  guard: Pick<Guard, 'shown'>;
  /** false when it did not go out; it is then said again in the next round. */
  send(message: LevelsMessage): boolean;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface LevelsPublisher {
  start(): void;
  /** A venue that just welcomed us knows none of our ladders. */
  fresh(): void;
  stop(): void;
}

/** Of what we would take at most, in per cent. */
const SHARES = [2, 10, 25, 50, 100] as const;
/** Rounds after which a ladder is said again although it is the same: what is old, venues drop. */
const REPEAT_ROUNDS = 4;

export function createLevels(deps: LevelsDeps): LevelsPublisher {
  const { clock, log } = deps;
  /** A mark of each ladder, not the ladder: there are thousands, and all are made anew in every round. */
  const said = new Map<string, { mark: number; round: number }>();
  let round = 0;
  let stopped = false;
  let cancel = () => {};

  function* publish(): Generator<void> {
    round += 1;
    const seen = new Set<string>();
    for (const route of deps.desk().routes.all) {
      yield;
      if (stopped || !deps.active()) return;
      const key = `${route.input}>${route.output}`;
      seen.add(key);
      const levels = ladderOf(route);
      const mark = markOf(levels);
      const before = said.get(key);
      if (
        before === undefined
          ? levels.length === 0
          : before.mark === mark && (levels.length === 0 || round - before.round < REPEAT_ROUNDS)
      )
        continue;
      if (
        deps.send({ type: 'levels', input: route.input, output: route.output, levels, atMs: clock.nowMs() })
      )
        said.set(key, { mark, round });
    }
    for (const key of said.keys()) if (!seen.has(key)) said.delete(key);
  }

  function ladderOf(route: Route): [string, string][] {
    if (deps.refusal(route) !== undefined) return [];
    const caution = deps.guard.shown(route, clock.nowMs());
    if (isDecline(caution)) return [];
    const { book, config } = deps.desk();
    const worth = book.usd(route.inputToken.symbol);
    if (worth === undefined || worth.num <= 0n) return [];
    const most =
      (BigInt(Math.floor(route.params.maxSize)) * ten(route.inputToken.decimals) * worth.den) / worth.num;
    const inputs = book.inputs(
      route,
      {
        side: 'exactInput',
        amount: most,
        platformFeeBps: 0,
        relayFee: 0n,
        validUntil: book.now(route.origin.id) + config.quoting.validitySeconds,
        taker: NOBODY,
        rfqId: '',
      },
      caution,
    );
    if (isDecline(inputs)) return [];
    // What moves single quotes so that we learn from them has no place in what everybody sees.
    const plain: PriceInputs = { ...inputs, exploreBps: 0 };
    const whole = price(plain);
    const amount = isDecline(whole) ? (whole.maxAmount ?? 0n) : most;
    return amount <= 0n
      ? []
      : ladder({ ...plain, amount }, SHARES).map(({ input, output }): [string, string] => [
          input.toString(),
          output.toString(),
        ]);
  }

  function next(): void {
    const { everyMs } = deps.desk().config.levels;
    // Between three quarters and five quarters of it: whoever watches cannot tell what made us look.
    const part = 0.75 + Number.parseInt(deps.random.bytes32().slice(2, 10), 16) / 2 ** 33;
    cancel = clock.after(everyMs * part, () => {
      const on = deps.desk().config.levels.publish;
      void (on ? unhurried(publish()) : Promise.resolve())
        .catch((error: unknown) => log.error({ error }, 'indicative levels could not be made'))
        .finally(() => stopped || next());
    });
  }

  return {
    start: next,
    fresh: () => said.clear(),
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/**
 * Of two ladders that differ, the same once in four billion times: then venues show the old one for a few
 * rounds more.
 */
function markOf(levels: readonly (readonly [string, string])[]): number {
  return levels.reduce((mark, [input, output]) => hashOf(output, hashOf(input, mark)), levels.length);
}

/** A taker of whom we know nothing. */
const NOBODY: Address = ZERO_ADDRESS;
