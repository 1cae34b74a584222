/** Reads the inputs of one price from JSON. */

import * as z from 'zod';
import { parseUnits } from '../../../domain/amount.ts';
import { isDecline } from '../../../domain/decline.ts';
import { pricingParams, zPricingParams } from '../../../lp/config/params.ts';
import { aggregate, DEFAULT_MID_OPTIONS, type Mid, observe } from '../../../pricing/mid.ts';
import type { PriceDecline } from '../../../pricing/price.ts';
import type { PriceInputs } from '../../../pricing/price-inputs.ts';
import { parseDecimal } from '../../../pricing/rational.ts';
import { describeIssues } from '../../config/load.ts';
import { badRequest } from '../../wiring/bad-request.ts';

const zUnits = z
  .string('must be text, so that no digit is lost: "1000000"')
  .regex(/^(?:0|[1-9][0-9]{0,77})$/, 'must be base units: decimal digits only')
  .transform(BigInt);
const zDecimal = z
  .string('must be text, so that no digit is lost: "2500.10"')
  .regex(/^(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,18})?$/, 'must be a decimal such as "2500.10"');
const natural = z.number().min(0);

const zSource = z.strictObject({
  name: z.string().min(1),
  price: zDecimal.optional(),
  bid: zDecimal.optional(),
  ask: zDecimal.optional(),
  ageSeconds: natural.default(0),
  /** The exchange sends a timestamp; a source without one has half the weight. */
  timed: z.boolean().default(true),
  confidenceBps: natural.default(0),
});

export const zPriceInputs = z
  .strictObject({
    side: z.enum(['exactInput', 'exactOutput']).default('exactInput'),
    amount: zUnits,
    platformFeeBps: z.int().min(0).max(5_000).default(0),
    relayFee: zUnits.default(0n),
    lp: z.enum(['buy', 'sell']),
    baseDecimals: z.int().min(0).max(36),
    quoteDecimals: z.int().min(0).max(36),
    sources: z.array(zSource).min(1).optional(),
    aggregate: z
      .strictObject({
        maxAgeSeconds: natural.default(DEFAULT_MID_OPTIONS.maxAgeMs / 1000),
        maxDeviationBps: natural.default(DEFAULT_MID_OPTIONS.devGuardBps),
        minSources: z.int().min(1).default(DEFAULT_MID_OPTIONS.minSources),
      })
      .optional(),
    mid: zDecimal.optional(),
    confidenceBps: natural.optional(),
    quoteValue: z.number().positive().default(1),
    sigma: natural,
    firmSeconds: z.number(),
    q: z.number().default(0),
    /** Own gas in base units of the output token before its buffer, or the charge in whole tokens. */
    ownGas: zUnits.optional(),
    gas: zDecimal.optional(),
    lockSeconds: natural.default(0),
    adverseBps: z.number().optional(),
    rebalanceBps: z.number().optional(),
    noRebates: z.boolean().optional(),
    walkedImpactBps: natural.optional(),
    hedgeBook: z.array(z.strictObject({ price: z.number().positive(), size: natural })).optional(),
    splitHoldSeconds: natural.optional(),
    exploreBps: z.number().optional(),
    /** The operator's own, as POST /signals takes it. */
    signal: z
      .strictObject({
        skewBps: z.number().default(0),
        fairValueShiftBps: z.number().default(0),
        widthBps: natural.default(0),
      })
      .optional(),
    freeOutput: zUnits.optional(),
    room: z.strictObject({ input: zUnits.optional(), output: zUnits.optional() }).optional(),
    market: z.strictObject({ pair: z.string(), corridor: z.string() }).optional(),
    params: zPricingParams.default({}),
  })
  .superRefine((given, context) => {
    const wrong = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if ((given.sources === undefined) === (given.mid === undefined))
      wrong('sources', 'give either sources, or mid with confidenceBps');
    if (given.sources !== undefined && given.confidenceBps !== undefined)
      wrong('confidenceBps', 'follows from sources: give one of the two');
    if (given.mid !== undefined && given.confidenceBps === undefined)
      wrong('confidenceBps', 'goes with mid: how uncertain it is');
    if (given.mid !== undefined && given.aggregate !== undefined)
      wrong('aggregate', 'goes with sources, not with mid');
    if (given.ownGas !== undefined && given.gas !== undefined)
      wrong('gas', 'give either gas, or ownGas with its buffer');
    if (given.gas !== undefined && given.params.gasBufferBps !== undefined)
      wrong(
        'gas',
        'is what is charged, buffer included: give ownGas instead where params.gasBufferBps is set',
      );
    for (const [at, { price, bid, ask }] of (given.sources ?? []).entries()) {
      if (
        (price === undefined) === (bid === undefined || ask === undefined) ||
        (price !== undefined && (bid ?? ask) !== undefined)
      )
        context.addIssue({
          code: 'custom',
          path: ['sources', at],
          message: 'give either price, or bid and ask',
        });
    }
  });

/** Throws `RequestError` with all problems. Returns a decline when the sources give no mid. */
export function readPriceInputs(
  json: unknown,
  file: string,
): { inputs: PriceInputs; mid: Mid | undefined } | PriceDecline {
  const parsed = zPriceInputs.safeParse(json);
  if (!parsed.success) {
    const list = describeIssues(zPriceInputs, parsed.error).map((problem) => `\n  - ${problem}`);
    throw badRequest(
      `The inputs in ${file} cannot be used.${list.join('')}\nA file that can: docs/examples/worked-example.json`,
    );
  }
  const {
    sources,
    aggregate: options,
    mid: text,
    confidenceBps,
    ownGas,
    gas,
    params,
    signal,
    ...rest
  } = parsed.data;
  const mid = sources && midOf(sources, options, file);
  if (mid !== undefined && isDecline(mid)) return mid;
  const price = mid?.price ?? parseDecimal(text ?? '') ?? { num: 0n, den: 1n };
  const charged =
    gas === undefined
      ? undefined
      : parseUnits(gas, rest.lp === 'buy' ? rest.quoteDecimals : rest.baseDecimals);
  const present = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== undefined),
  ) as typeof rest;
  return {
    mid,
    inputs: {
      ...(present as Omit<PriceInputs, 'mid' | 'confidenceBps' | 'ownGas' | 'params'>),
      mid: price,
      confidenceBps: mid?.confidenceBps ?? confidenceBps ?? 0,
      ownGas: charged ?? ownGas ?? 0n,
      ...(signal && { signal: { id: 'file', ...signal } }),
      params: pricingParams(params, charged === undefined ? {} : { gasBufferBps: 10_000 }),
    },
  };
}

type Parsed = z.infer<typeof zPriceInputs>;

function midOf(
  sources: NonNullable<Parsed['sources']>,
  options: Parsed['aggregate'],
  file: string,
): Mid | PriceDecline {
  // An arbitrary time: only ages matter.
  const nowMs = 1e12;
  const observations = sources.map(
    ({ name, price, bid = price, ask = price, ageSeconds, timed, confidenceBps }) => {
      const atMs = nowMs - Math.round(ageSeconds * 1000);
      const seen = observe({
        source: name,
        bid: bid ?? '',
        ask: ask ?? '',
        receivedMs: atMs,
        exchangeTimeMs: timed ? atMs : null,
        confidenceBps,
      });
      if (seen === undefined)
        throw badRequest(
          `The inputs in ${file} cannot be used.\n  - sources: ${name} has no price: both sides must be positive and the bid not above the ask`,
        );
      return seen;
    },
  );
  const {
    maxAgeSeconds = DEFAULT_MID_OPTIONS.maxAgeMs / 1000,
    maxDeviationBps = DEFAULT_MID_OPTIONS.devGuardBps,
    minSources = DEFAULT_MID_OPTIONS.minSources,
  } = options ?? {};
  return aggregate(observations, nowMs, {
    maxAgeMs: maxAgeSeconds * 1000,
    devGuardBps: maxDeviationBps,
    minSources,
  });
}
