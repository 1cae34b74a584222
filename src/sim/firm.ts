/**
 * The firm-quote backtest (section 5.4 of the model). One unit is $10,000 of base: one bps of it is $1. A
 * quote binds one second longer than its validity; holders use all of it.
 */

import { isDecline } from '../domain/decline.ts';
import { InvariantError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import { createLedger, type Ledger } from '../inventory/ledger.ts';
import { baseUnitRate, type Charges, exactIn, exactOut } from '../pricing/amounts.ts';
import { winProbability } from '../pricing/firmness-premium.ts';
import { optionCost, perRootSecond } from '../pricing/option.ts';
import { DEFAULT_PARAMS, type PricingParams } from '../pricing/params.ts';
import type { PriceInputs } from '../pricing/price-inputs.ts';
import { spreadInteger, spreadTerms } from '../pricing/spread.ts';
import { createRandom } from './random.ts';
import { addToSums, noSums } from './sums.ts';
import type { SimWorld } from './world.ts';

export const STRATEGIES = ['fixed', 'symmetric', 'skew', 'full'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface FirmSetup {
  strategy: Strategy;
  theta: number;
  validitySeconds: number;
  sigma: number;
  jumpsPerHour: number;
  jumpBps: number;
  alpha: number;
  beta: number;
  costBps: number;
  fixedBps: number;
  capUnits: number;
  gamma: number;
  arrival: number;
  decay: number;
  believed: { sigma: number; alpha: number; beta: number };
  engines: number;
  noiseBps: number;
  confidence: boolean;
}

export const FIRM: FirmSetup = {
  strategy: 'full',
  theta: 0.2,
  validitySeconds: 60,
  sigma: 0.9,
  jumpsPerHour: 1,
  jumpBps: 30,
  alpha: -2,
  beta: 0.25,
  costBps: 0.5,
  fixedBps: 8,
  capUnits: 20,
  gamma: 5e-4,
  arrival: 0.02,
  decay: 0.2,
  believed: { sigma: 1, alpha: 1, beta: 1 },
  engines: 1,
  noiseBps: 0,
  confidence: false,
};

export type FirmResult = ReturnType<typeof noResult>;

export const noResult = () => ({
  profit: noSums(),
  pickOff: noSums(),
  /** Trades at the mid of their second, less cost. */
  edge: noSums(),
  position: { squares: 0, seconds: 0 },
  fills: noSums(),
  exercised: noSums(),
  /** Sums payout less C(D), per option. */
  optionError: noSums(),
  optionPaid: noSums(),
  optionCost: noSums(),
  declined: 0,
});

const UNIT = 10n ** 18n;
const UNIT_USD = 10_000;
const MICRO = 1_000_000;
const CHAIN = 1;
const BASE: Address = '0x1111111111111111111111111111111111111111';
const QUOTE: Address = '0x2222222222222222222222222222222222222222';
const SKEW_SECONDS = 1;
const START = 1_000_000;

interface FirmQuote {
  orderId: string;
  dueAt: number;
  side: 1 | -1;
  money: bigint;
  /** The engine's value of the option, when the taker is a holder. */
  option: number | undefined;
}

export function runFirm(setup: FirmSetup, world: SimWorld, noiseSeed: number, result: FirmResult): void {
  const { theta, validitySeconds, engines, noiseBps } = setup;
  const seconds = world.mids.length - 1;
  const makers = Array.from({ length: engines }, () => createMaker(setup, world));
  const noise = createRandom(noiseSeed);

  for (const [index, { at, side, who, whether }] of world.arrivals.entries()) {
    const mid = world.mids[at] as number;
    let best: { maker: (typeof makers)[number]; held: FirmQuote; away: number } | undefined;
    for (const maker of makers) {
      maker.until(at);
      const seen = noiseBps === 0 ? mid : mid + noiseBps * noise.normal();
      const held = maker.quote(`${index}`, side, seen, at);
      if (held === undefined) continue;
      const away = side * (mid - (Number(held.money) / MICRO - UNIT_USD));
      if (best === undefined || away < best.away) best = { maker, held, away };
    }
    if (best === undefined) continue;
    if (who < theta) best.maker.sellOption(best.held, best.away);
    else if (whether < winProbability(best.away, setup)) best.maker.fill(best.held, at);
  }
  for (const maker of makers) maker.end(seconds, result);

  function createMaker(setup: FirmSetup, world: SimWorld) {
    const { capUnits, costBps } = setup;
    const ledger = fund(capUnits);
    const funds = fundsOf(capUnits);
    const spreadAt = spreads(setup, world);
    const held: FirmQuote[] = [];
    const motion = {
      deviation: perRootSecond(setup.sigma) * Math.sqrt(validitySeconds + SKEW_SECONDS),
      jumps: (setup.jumpsPerHour / 3600) * (validitySeconds + SKEW_SECONDS),
      jumpBps: setup.jumpBps,
    };
    let [first, q, changedAt, squares, fills, exercised, pickOff, edge] = [0, 0, 0, 0, 0, 0, 0, 0];
    const live = { buy: 0, sell: 0 };

    function settle(quote: FirmQuote, at: number): void {
      const { orderId, side, money } = quote;
      for (const applied of [
        ledger.apply({ type: 'accepted', orderId }),
        ledger.apply({ type: 'finalised', orderId, id: orderId, received: side === 1 ? UNIT : money }),
      ]) {
        if (!applied.applied)
          throw new InvariantError('The ledger refused the fill of a quote that it holds.', {
            facts: { orderId, why: applied.why },
          });
      }
      edge += side * ((world.mids[at] as number) - (Number(money) / MICRO - UNIT_USD)) - costBps;
      squares += q * q * (at - changedAt);
      [q, changedAt] = [q + side, at];
    }

    const maker = {
      until(at: number): void {
        for (let quote = held[first]; quote !== undefined && quote.dueAt < at; quote = held[first]) {
          first += 1;
          live[quote.side === 1 ? 'buy' : 'sell'] -= 1;
          if (quote.option === undefined || quote.dueAt > seconds) continue;
          const gain =
            quote.side * (Number(quote.money) / MICRO - UNIT_USD - (world.mids[quote.dueAt] as number));
          addToSums(result.optionPaid, Math.max(gain, 0));
          addToSums(result.optionCost, quote.option);
          addToSums(result.optionError, Math.max(gain, 0) - quote.option);
          if (gain <= 0) continue;
          pickOff -= gain;
          exercised += 1;
          settle(quote, quote.dueAt);
        }
        ledger.advance(CHAIN, START + at);
      },

      quote(orderId: string, side: 1 | -1, mid: number, at: number): FirmQuote | undefined {
        const action = side === 1 ? 'buy' : 'sell';
        if (side * q + live[action] + 1 > capUnits) {
          result.declined += 1;
          return undefined;
        }
        const charges: Charges = {
          rate: baseUnitRate(
            { num: BigInt(Math.round((UNIT_USD + mid) * MICRO)), den: BigInt(MICRO) },
            action,
            18,
            6,
          ),
          spread: spreadAt(side, q, at),
          feeBps: 0n,
          gas: 0n,
        };
        const money = side === 1 ? exactIn(UNIT, charges) : exactOut(UNIT, charges);
        const [paid, unit] = [
          { token: QUOTE, amount: money },
          { token: BASE, amount: UNIT },
        ] as const;
        const [out, input] = side === 1 ? [paid, unit] : [unit, paid];
        const dueAt = at + validitySeconds + SKEW_SECONDS;
        const answer = ledger.hold(
          {
            orderId,
            chainId: CHAIN,
            ...out,
            input: { chainId: CHAIN, ...input },
            group: orderId,
            lapsesAt: START + dueAt,
            taker: 'taker',
            pair: 'U-USD',
            side: action,
            notional: BigInt(UNIT_USD * MICRO),
          },
          START + at,
        );
        if (isDecline(answer))
          throw new InvariantError('The ledger refused a quote within the position limit.', {
            facts: { declined: answer.declined, detail: answer.detail },
          });
        live[action] += 1;
        const quote: FirmQuote = { orderId, dueAt, side, money, option: undefined };
        held.push(quote);
        return quote;
      },

      sellOption(quote: FirmQuote, away: number): void {
        quote.option = optionCost(away, motion);
      },

      fill(quote: FirmQuote, at: number): void {
        fills += 1;
        settle(quote, at);
        live[quote.side === 1 ? 'buy' : 'sell'] -= 1;
        held.splice(held.indexOf(quote, first), 1);
      },

      end(at: number, into: FirmResult): void {
        maker.until(at + 1);
        squares += q * q * (at - changedAt);
        const [money, base] = [bucketOf(ledger, QUOTE), bucketOf(ledger, BASE)];
        const gained =
          Number(money - funds) / MICRO +
          (Number(base) / 1e18 - capUnits) * (UNIT_USD + (world.mids[at] as number));
        addToSums(into.profit, gained - costBps * (fills + exercised));
        addToSums(into.pickOff, pickOff);
        addToSums(into.edge, edge);
        addToSums(into.fills, fills);
        addToSums(into.exercised, exercised);
        into.position.squares += squares;
        into.position.seconds += at;
      },
    };
    return maker;
  }
}

const fundsOf = (capUnits: number): bigint => BigInt(4 * capUnits * UNIT_USD * MICRO);

function fund(capUnits: number): Ledger {
  const ledger = createLedger({
    buckets: [
      { chainId: CHAIN, token: BASE, asset: 'U', decimals: 18 },
      { chainId: CHAIN, token: QUOTE, asset: 'USD', decimals: 6 },
    ],
    graceSeconds: () => 0,
    limits: {},
    rememberSeconds: 0,
    rememberSpentSeconds: 0,
  });
  // Base up to the cap exactly, so that the ledger is the limit.
  for (const [token, amount] of [
    [BASE, BigInt(capUnits) * UNIT],
    [QUOTE, fundsOf(capUnits)],
  ] as const)
    ledger.apply({ type: 'deposited', chainId: CHAIN, token, id: token, amount });
  return ledger;
}

function bucketOf(ledger: Ledger, token: Address): bigint {
  const bucket = ledger.bucket(CHAIN, token);
  if (bucket === undefined || bucket.shortfall > 0n)
    throw new InvariantError('A ledger lost money or a bucket.');
  return bucket.onchain;
}

export function firmInputs(setup: FirmSetup): Omit<PriceInputs, 'side' | 'amount' | 'lp' | 'mid' | 'q'> {
  const { strategy, theta, believed, capUnits } = setup;
  const premium = strategy === 'symmetric' || strategy === 'full';
  const params: PricingParams = {
    ...DEFAULT_PARAMS,
    alpha: setup.alpha * believed.alpha,
    beta: setup.beta * believed.beta,
    omega: premium ? theta / ((1 - theta) * 0.5) : 0,
    gamma: strategy === 'skew' || strategy === 'full' ? setup.gamma : 0,
    jumpsPerSecond: setup.jumpsPerHour / 3600,
    jumpBps: setup.jumpBps,
    arrival: setup.arrival,
    decay: setup.decay,
    rivals: setup.engines,
    unit: UNIT_USD,
    halfBand: capUnits * UNIT_USD,
    impactFactor: 0,
    capitalRate: 0,
    maxSize: Number.MAX_SAFE_INTEGER / MICRO / 2,
  };
  return {
    platformFeeBps: 0,
    relayFee: 0n,
    baseDecimals: 18,
    quoteDecimals: 6,
    quoteValue: 1,
    confidenceBps: setup.confidence ? setup.noiseBps : 0,
    sigma: setup.sigma * believed.sigma,
    firmSeconds: setup.validitySeconds + SKEW_SECONDS,
    ownGas: 0n,
    lockSeconds: 0,
    adverseBps: setup.costBps,
    params,
  };
}

/** Returns the spread by side and position, in 1e-4 bps. Constant volatility allows caching. */
function spreads(setup: FirmSetup, { sigmas }: SimWorld): (side: 1 | -1, q: number, at: number) => bigint {
  if (setup.strategy === 'fixed') {
    const fixed = BigInt(Math.round(setup.fixedBps * 1e4));
    return () => fixed;
  }
  const common = firmInputs(setup);
  const compute = (side: 1 | -1, q: number, sigma: number) =>
    spreadInteger(
      spreadTerms(
        {
          ...common,
          side: 'exactInput',
          amount: UNIT,
          lp: side === 1 ? 'buy' : 'sell',
          mid: { num: BigInt(UNIT_USD), den: 1n },
          q: q / setup.capUnits,
          sigma,
        },
        UNIT_USD,
        0,
      ),
    );
  if (sigmas !== undefined)
    return (side, q, at) => compute(side, q, (sigmas[at] as number) * setup.believed.sigma);
  const cache = new Map<number, bigint>();
  return (side, q) => {
    const key = side * (q + 1000);
    const found = cache.get(key);
    if (found !== undefined) return found;
    const made = compute(side, q, common.sigma);
    cache.set(key, made);
    return made;
  };
}
