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
import { type FirmSetup, MICRO, SKEW_SECONDS, type SpreadAt, spreads, UNIT, UNIT_USD } from './firm-setup.ts';
import { createRandom } from './random.ts';
import { addToSums, noSums, type SumStats } from './sums.ts';
import type { SimWorld } from './world.ts';

export interface FirmResult {
  profit: SumStats;
  pickOff: SumStats;
  /** Trades at the mid of their second, less cost. */
  edge: SumStats;
  position: { squares: number; seconds: number };
  fills: SumStats;
  exercised: SumStats;
  /** Sums payout less C(D), per option. */
  optionError: SumStats;
  optionPaid: SumStats;
  optionCost: SumStats;
  declined: number;
}

export const noResult = (): FirmResult => ({
  profit: noSums(),
  pickOff: noSums(),
  edge: noSums(),
  position: { squares: 0, seconds: 0 },
  fills: noSums(),
  exercised: noSums(),
  optionError: noSums(),
  optionPaid: noSums(),
  optionCost: noSums(),
  declined: 0,
});

const CHAIN = 1;
const BASE: Address = '0x1111111111111111111111111111111111111111';
const QUOTE: Address = '0x2222222222222222222222222222222222222222';
const START = 1_000_000;

interface FirmQuote {
  orderId: string;
  dueAt: number;
  side: 1 | -1;
  money: bigint;
  /** The engine's value of the option, when the taker is a holder. */
  option: number | undefined;
}

interface FirmMaker {
  readonly setup: FirmSetup;
  readonly mids: SimWorld['mids'];
  readonly ledger: Ledger;
  /** Quote tokens at the start, in base units. */
  readonly funds: bigint;
  readonly spreadAt: SpreadAt;
  readonly motion: { deviation: number; jumps: number; jumpBps: number };
  /** Signed quotes in the order of their ends; those before `first` are over. */
  readonly held: FirmQuote[];
  first: number;
  readonly live: { buy: number; sell: number };
  /** The position in units, and since when it is that. */
  q: number;
  changedAt: number;
  /** Sums the squared position over the seconds. */
  squares: number;
  fills: number;
  exercised: number;
  pickOff: number;
  edge: number;
}

export function runFirm(setup: FirmSetup, world: SimWorld, noiseSeed: number, result: FirmResult): void {
  const { theta, engines, noiseBps } = setup;
  const makers = Array.from({ length: engines }, () => createMaker(setup, world));
  const noise = createRandom(noiseSeed);

  for (const [index, { at, side, who, whether }] of world.arrivals.entries()) {
    const mid = world.mids[at] as number;
    let best: { maker: FirmMaker; held: FirmQuote; away: number } | undefined;
    for (const maker of makers) {
      endQuotes(maker, at, result);
      const seen = noiseBps === 0 ? mid : mid + noiseBps * noise.normal();
      const held = quote(maker, `${index}`, side, seen, at);
      if (held === undefined) {
        result.declined += 1;
        continue;
      }
      const away = side * (mid - (Number(held.money) / MICRO - UNIT_USD));
      if (best === undefined || away < best.away) best = { maker, held, away };
    }
    if (best === undefined) continue;
    if (who < theta) best.held.option = optionCost(best.away, best.maker.motion);
    else if (whether < winProbability(best.away, setup)) fill(best.maker, best.held, at);
  }
  for (const maker of makers) addToResult(maker, result);
}

function createMaker(setup: FirmSetup, world: SimWorld): FirmMaker {
  const seconds = setup.validitySeconds + SKEW_SECONDS;
  return {
    setup,
    mids: world.mids,
    ledger: fund(setup.capUnits),
    funds: fundsOf(setup.capUnits),
    spreadAt: spreads(setup, world),
    motion: {
      deviation: perRootSecond(setup.sigma) * Math.sqrt(seconds),
      jumps: (setup.jumpsPerHour / 3600) * seconds,
      jumpBps: setup.jumpBps,
    },
    held: [],
    live: { buy: 0, sell: 0 },
    ...{ first: 0, q: 0, changedAt: 0, squares: 0, fills: 0, exercised: 0, pickOff: 0, edge: 0 },
  };
}

/** Ends the quotes that bind until before `at`: a holder exercises its option if it gains. */
function endQuotes(maker: FirmMaker, at: number, result: FirmResult): void {
  const { held, live, mids } = maker;
  for (let due = held[maker.first]; due !== undefined && due.dueAt < at; due = held[maker.first]) {
    maker.first += 1;
    live[due.side === 1 ? 'buy' : 'sell'] -= 1;
    if (due.option === undefined || due.dueAt > mids.length - 1) continue;
    const gain = due.side * (Number(due.money) / MICRO - UNIT_USD - (mids[due.dueAt] as number));
    addToSums(result.optionPaid, Math.max(gain, 0));
    addToSums(result.optionCost, due.option);
    addToSums(result.optionError, Math.max(gain, 0) - due.option);
    if (gain <= 0) continue;
    maker.pickOff -= gain;
    maker.exercised += 1;
    settle(maker, due, due.dueAt);
  }
  maker.ledger.advance(CHAIN, START + at);
}

/** Holds the output of one unit; undefined at the position limit. */
function quote(
  maker: FirmMaker,
  orderId: string,
  side: 1 | -1,
  mid: number,
  at: number,
): FirmQuote | undefined {
  const { setup, ledger, live, q } = maker;
  const action = side === 1 ? 'buy' : 'sell';
  if (side * q + live[action] + 1 > setup.capUnits) return undefined;
  const charges: Charges = {
    rate: baseUnitRate(
      { num: BigInt(Math.round((UNIT_USD + mid) * MICRO)), den: BigInt(MICRO) },
      action,
      18,
      6,
    ),
    spread: maker.spreadAt(side, q, at),
    feeBps: 0n,
    gas: 0n,
  };
  const money = side === 1 ? exactIn(UNIT, charges) : exactOut(UNIT, charges);
  const [paid, unit] = [
    { token: QUOTE, amount: money },
    { token: BASE, amount: UNIT },
  ] as const;
  const [out, input] = side === 1 ? [paid, unit] : [unit, paid];
  const dueAt = at + setup.validitySeconds + SKEW_SECONDS;
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
  const made: FirmQuote = { orderId, dueAt, side, money, option: undefined };
  maker.held.push(made);
  return made;
}

function fill(maker: FirmMaker, accepted: FirmQuote, at: number): void {
  const { held, live } = maker;
  maker.fills += 1;
  settle(maker, accepted, at);
  live[accepted.side === 1 ? 'buy' : 'sell'] -= 1;
  held.splice(held.indexOf(accepted, maker.first), 1);
}

function settle(maker: FirmMaker, { orderId, side, money }: FirmQuote, at: number): void {
  const { ledger, mids, setup } = maker;
  for (const applied of [
    ledger.apply({ type: 'accepted', orderId }),
    ledger.apply({ type: 'finalised', orderId, id: orderId, received: side === 1 ? UNIT : money }),
  ]) {
    if (!applied.applied)
      throw new InvariantError('The ledger refused the fill of a quote that it holds.', {
        facts: { orderId, why: applied.why },
      });
  }
  maker.edge += side * ((mids[at] as number) - (Number(money) / MICRO - UNIT_USD)) - setup.costBps;
  countPosition(maker, at);
  maker.q += side;
}

function countPosition(maker: FirmMaker, at: number): void {
  maker.squares += maker.q * maker.q * (at - maker.changedAt);
  maker.changedAt = at;
}

/** Ends the last quotes, and adds what the maker has earned. */
function addToResult(maker: FirmMaker, result: FirmResult): void {
  const { ledger, mids, setup, funds } = maker;
  const end = mids.length - 1;
  endQuotes(maker, end + 1, result);
  countPosition(maker, end);
  const [money, base] = [bucketOf(ledger, QUOTE), bucketOf(ledger, BASE)];
  const gained =
    Number(money - funds) / MICRO +
    (Number(base) / 1e18 - setup.capUnits) * (UNIT_USD + (mids[end] as number));
  addToSums(result.profit, gained - setup.costBps * (maker.fills + maker.exercised));
  addToSums(result.pickOff, maker.pickOff);
  addToSums(result.edge, maker.edge);
  addToSums(result.fills, maker.fills);
  addToSums(result.exercised, maker.exercised);
  result.position.squares += maker.squares;
  result.position.seconds += end;
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
