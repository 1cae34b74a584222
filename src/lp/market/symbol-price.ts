/**
 * One price symbol: mid, reference checks and peg. Evaluated when a message arrives or a source ages, not per
 * quote.
 */

import { type Control, type Decline, isDecline } from '../../domain/decline.ts';
import { RequestError } from '../../domain/errors.ts';
import {
  aggregate,
  deviationBps,
  type Mid,
  type MidOptions,
  type Observation,
  sourceTexts,
} from '../../pricing/mid.ts';
import { parseDecimal, type Rational, toNumber } from '../../pricing/rational.ts';
import type { LpPriceConfig } from '../config/config.ts';
import { aged, neverGave, type RefusalsOf, refusalTexts } from './source-texts.ts';

export interface Condition {
  code: Extract<Control, 'stale_mid' | 'deviation' | 'depeg' | 'sequencer' | 'confidence'>;
  detail: string;
  /** The text for the public, which does not reveal the sources. */
  brief: string;
  /** true: nothing is priced. false: priced with a risk adjustment. */
  blocks: boolean;
  sinceMs: number;
}

export interface ReferenceValue {
  price: Rational;
  atMs: number;
}

export interface CheckedReference {
  source: string;
  value: number;
  atMs: number;
  /** Deviation from the mid, and the allowed deviation, in bps of the mid. */
  deviationBps: number;
  allowedBps: number;
  stale: boolean;
}

/** One evaluation, immutable: quotes and explanations keep it by reference. */
export interface PriceState {
  mid: Mid | undefined;
  condition: Condition | undefined;
  /** The market left a fixed price: `mid` is the market's. */
  depegged: boolean;
  references: readonly CheckedReference[];
  sigmaFloor: number;
}

/** A reload keeps this of a symbol, whatever becomes of its sources. */
interface SymbolMemory {
  pegBroken: boolean;
  trouble: { code: string; sinceMs: number } | undefined;
  goodUntilMs: number;
}

export interface SymbolPrice {
  /** Returns what the same symbol of the replacing market must know. */
  memory(): SymbolMemory;
  /** Takes over the memory: a peg that broke stays broken, and a trouble keeps its beginning. */
  resume(before: SymbolMemory): void;
  /** Takes in the price of a source. */
  take(observation: Observation): void;
  /** Takes in the price of a reference. */
  check(source: string, reference: ReferenceValue): void;
  /** Evaluates the sources; returns the same object until something changes. On the quote path. */
  state(nowMs: number): PriceState;
}

/** Expiry of a fixed price: it never ages. */
export const ALWAYS = Number.MAX_SAFE_INTEGER;
const DEPEGGED_SIGMA = 0.4;
/**
 * The limit of disagreement while a peg breaks. Sources then disagree, which widens the spread and in the end
 * stops pricing.
 */
const DEPEGGED_GUARD_BPS = 100;

/** Tolerance for floats made from exact fractions: a value on the limit is within it. */
const NOISE_BPS = 1e-6;

type Evaluation = Omit<PriceState, 'condition'> & {
  condition: Omit<Condition, 'sinceMs'> | undefined;
  untilMs: number;
};

const NONE: readonly never[] = [];

/** A condition names ages and refusals, which change without a price. */
const CONDITION_VALID_MS = 1_000;

export function createSymbolPrice(config: LpPriceConfig, nowMs: number, refusalsOf: RefusalsOf): SymbolPrice {
  const seen = new Map<string, Observation>();
  const references = new Map<string, ReferenceValue & { value: number }>();
  const peg = { broken: false };
  const evaluate =
    'fixed' in config
      ? pegged(config, peg, seen, refusalsOf)
      : floating(config, seen, references, refusalsOf);
  let cached: { state: PriceState; fromMs: number; untilMs: number } | undefined;
  let trouble: SymbolMemory['trouble'];
  let goodUntilMs = nowMs;

  return {
    memory: () => ({ pegBroken: peg.broken, trouble, goodUntilMs }),
    resume(before) {
      peg.broken = before.pegBroken;
      ({ trouble, goodUntilMs } = before);
      if (cached !== undefined) cached.untilMs = -1;
    },
    take(observation) {
      seen.set(observation.source, observation);
      if (cached !== undefined) cached.untilMs = -1;
    },
    check(source, reference) {
      references.set(source, { ...reference, value: displayPrice(reference.price) });
      if (cached !== undefined) cached.untilMs = -1;
    },
    state(now) {
      if (cached !== undefined && now <= cached.untilMs && now >= cached.fromMs) return cached.state;
      const { mid, condition, depegged, references: checked, sigmaFloor, untilMs } = evaluate(now);
      if (condition === undefined) trouble = undefined;
      else if (trouble?.code !== condition.code)
        trouble = {
          code: condition.code,
          sinceMs: condition.code === 'stale_mid' ? Math.min(goodUntilMs, now) : now,
        };
      if (condition?.blocks !== true) goodUntilMs = untilMs;
      const state: PriceState = {
        mid,
        condition: condition && { ...condition, sinceMs: trouble?.sinceMs ?? now },
        depegged,
        references: checked,
        sigmaFloor,
      };
      const validUntilMs = condition === undefined ? untilMs : Math.min(untilMs, now + CONDITION_VALID_MS);
      cached ??= { state, fromMs: now, untilMs: validUntilMs };
      [cached.state, cached.fromMs, cached.untilMs] = [state, now, validUntilMs];
      return state;
    },
  };
}

function floating(
  config: Extract<LpPriceConfig, { sources: unknown }>,
  seen: ReadonlyMap<string, Observation>,
  references: ReadonlyMap<string, ReferenceValue & { value: number }>,
  refusalsOf: RefusalsOf,
): (nowMs: number) => Evaluation {
  const options: MidOptions = {
    maxAgeMs: config.maxAgeMs,
    devGuardBps: config.maxDeviationBps,
    minSources: config.minSources ?? (config.sources.length >= 3 ? 2 : 1),
  };
  const guards = config.references.map((reference) => ({
    ...reference,
    source: `${reference.feed}|${reference.symbol}`,
  }));

  return (nowMs) => {
    const answer = aggregate(seen.values(), nowMs, options);
    const common = { depegged: false, sigmaFloor: config.sigmaFloor };
    if (guards.length === 0 && !isDecline(answer))
      return {
        mid: answer,
        condition: undefined,
        depegged: false,
        references: NONE,
        sigmaFloor: config.sigmaFloor,
        untilMs: nextChange(answer.seen, nowMs, options.maxAgeMs),
      };
    if (isDecline(answer))
      return {
        ...common,
        mid: undefined,
        references: [],
        untilMs: nextChange(seen.values(), nowMs, options.maxAgeMs),
        condition: {
          code: 'stale_mid',
          blocks: true,
          brief: answer.brief,
          detail: [
            answer.detail,
            ...neverGave(config.sources, seen),
            ...refusalTexts(config.sources, refusalsOf, nowMs),
          ].join('; '),
        },
      };
    const checked = guards.flatMap((guard): CheckedReference[] => {
      const reference = references.get(guard.source);
      if (reference === undefined) return [];
      return [
        {
          source: guard.source,
          value: reference.value,
          atMs: reference.atMs,
          deviationBps: deviationBps(answer.price, reference.price),
          allowedBps: Math.max(guard.deviationBps + 2 * answer.confidenceBps, config.guardBps),
          stale: Math.abs(nowMs - reference.atMs) > guard.maxAgeMs,
        },
      ];
    });
    const fresh = checked.filter(({ stale }) => !stale);
    const apart = fresh.find((each) => each.deviationBps > each.allowedBps + NOISE_BPS);
    const untilMs = Math.min(
      nextChange(answer.seen, nowMs, options.maxAgeMs),
      ...fresh.map(
        ({ source, atMs }) => atMs + (guards.find((guard) => guard.source === source)?.maxAgeMs ?? 0),
      ),
    );
    const doubt =
      apart !== undefined
        ? [
            `${apart.source} says ${apart.value}, ${apart.deviationBps.toFixed(1)} bps from the mid: ${apart.allowedBps.toFixed(1)} are allowed`,
            `the mid is ${displayPrice(answer.price)}`,
            ...sourceTexts(answer),
          ]
        : // A configured guard that has no price fails the check.
          guards.length > 0 && fresh.length === 0
          ? [
              'no reference is fresh, so nothing checks the mid',
              ...guards.flatMap(({ source, maxAgeMs }) => {
                const reference = references.get(source);
                return reference === undefined
                  ? []
                  : [aged(source, reference.value, reference.atMs, maxAgeMs, nowMs)];
              }),
              ...neverGave(config.references, references),
              ...refusalTexts(config.references, refusalsOf, nowMs),
            ]
          : undefined;
    return {
      ...common,
      mid: answer,
      references: checked,
      untilMs,
      condition:
        doubt === undefined
          ? undefined
          : {
              code: 'deviation',
              blocks: true,
              brief: apart === undefined ? 'its price cannot be checked' : 'its price is doubted',
              detail: doubt.join('; '),
            },
    };
  };
}

/** A fixed price holds until enough guards disagree; from then on the market's price is used. */
function pegged(
  config: Extract<LpPriceConfig, { fixed: string }>,
  peg: { broken: boolean },
  seen: ReadonlyMap<string, Observation>,
  refusalsOf: RefusalsOf,
): (nowMs: number) => Evaluation {
  const price = parseDecimal(config.fixed);
  if (price === undefined || price.num === 0n)
    throw new RequestError(`The fixed price "${config.fixed}" is not a positive decimal.`, {
      code: 'bad_config',
    });
  const fixed: Mid = {
    price,
    value: Number(config.fixed),
    confidenceBps: 0,
    atMs: ALWAYS,
    used: [],
    dropped: [],
    seen: [],
  };
  const { guards, guardMaxAgeMs, depegBps } = config;
  const need = Math.min(config.depegSources ?? 2, guards.length);

  return (nowMs) => {
    const holds = { mid: fixed, references: [], depegged: false, sigmaFloor: 0 };
    if (guards.length === 0) return { ...holds, condition: undefined, untilMs: ALWAYS };
    const fresh = [...seen.values()]
      .filter(({ atMs, maxAgeMs }) => Math.abs(nowMs - atMs) <= (maxAgeMs ?? guardMaxAgeMs))
      .map((each) => ({ ...each, offBps: offBps(each, price) }));
    const untilMs = nextChange(seen.values(), nowMs, guardMaxAgeMs);
    const off = fresh.filter((each) => each.offBps > depegBps + NOISE_BPS);
    if (off.length >= need) peg.broken = true;
    // Hysteresis: half the limit.
    else if (
      peg.broken &&
      fresh.length >= need &&
      fresh.every((each) => each.offBps <= depegBps / 2 + NOISE_BPS)
    )
      peg.broken = false;
    const depegged = peg.broken;
    const halt = (code: 'depeg' | 'stale_mid', detail: string): Evaluation => ({
      ...holds,
      mid: undefined,
      depegged,
      untilMs,
      condition: {
        code,
        blocks: true,
        brief: code === 'depeg' ? 'its peg cannot be relied on' : 'no fresh price',
        detail,
      },
    });

    const guardTexts = () => [
      ...[...seen.values()].map(
        (each) =>
          `${aged(each.source, displayPrice(middleOf(each)), each.atMs, each.maxAgeMs ?? guardMaxAgeMs, nowMs)}, ${offBps(each, price).toFixed(1)} bps off`,
      ),
      ...neverGave(guards, seen),
      ...refusalTexts(guards, refusalsOf, nowMs),
    ];

    if (!depegged) {
      if (fresh.length === 0)
        return halt('stale_mid', ['no guard of the peg is fresh', ...guardTexts()].join('; '));
      const lone = off[0];
      if (lone !== undefined && fresh.length < need)
        return halt(
          'depeg',
          [
            `${lone.source} is ${lone.offBps.toFixed(0)} bps off ${config.fixed} (${depegBps} allowed), and no second source is fresh to say whether that is so`,
            ...guardTexts(),
          ].join('; '),
        );
      return { ...holds, condition: undefined, untilMs };
    }
    const market = aggregate(seen.values(), nowMs, {
      maxAgeMs: guardMaxAgeMs,
      devGuardBps: DEPEGGED_GUARD_BPS,
      minSources: need,
    });
    if (isDecline(market))
      return halt(
        'depeg',
        [
          `off its peg of ${config.fixed} (${depegBps} bps allowed), and ${market.brief}`,
          ...guardTexts(),
        ].join('; '),
      );
    return {
      mid: market,
      references: [],
      depegged: true,
      sigmaFloor: DEPEGGED_SIGMA,
      untilMs,
      condition: {
        code: 'depeg',
        blocks: false,
        brief: 'off its peg',
        detail: [
          `${market.value} instead of ${config.fixed} (${depegBps} bps allowed): priced at market, without rebates`,
          ...guardTexts(),
        ].join('; '),
      },
    };
  };
}

/**
 * Returns the time at which age alone next changes the result: a source becomes stale or is no longer in the
 * future.
 */
function nextChange(seen: Iterable<Observation>, nowMs: number, commonAgeMs: number): number {
  let next = ALWAYS;
  for (const { atMs, maxAgeMs = commonAgeMs } of seen) {
    if (atMs - maxAgeMs > nowMs) next = Math.min(next, atMs - maxAgeMs - 1);
    else if (atMs + maxAgeMs >= nowMs) next = Math.min(next, atMs + maxAgeMs);
  }
  return next;
}

function offBps(observation: Observation, price: Rational): number {
  return deviationBps(price, middleOf(observation));
}

const TWICE = 2n * 10n ** 18n;

export const middleOf = ({ bid, ask }: Observation): Rational => ({ num: bid + ask, den: TWICE });

export const displayPrice = (price: Rational): number => Number(toNumber(price).toPrecision(12));

export const declineOf = (symbol: string, { code, detail }: Condition): Decline => ({
  declined: 'stale_price',
  control: code,
  detail: `${symbol}: ${detail}`,
});
