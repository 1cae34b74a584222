/**
 * What each control watches, does, and is set by: the table that docs/lp/risk.md prints and the operator's
 * tools show.
 */

import type { Control } from '../domain/control.ts';

export interface ControlCard {
  /** When it trips. */
  trips: string;
  /** What follows. */
  does: string;
  /** Where it is set, below `lp.` in the configuration. */
  keys: readonly string[];
}

export const CONTROL_CARDS: Record<Control, ControlCard> = {
  kill_switch: {
    trips:
      'the operator says so: the kill file exists, POST /pause, SIGUSR2; or losses reach the kill level of `drawdown`',
    does: 'nothing is signed from that moment on, standby with a note, live quotes stay honoured; survives a restart until the operator resumes (or removes the file)',
    keys: ['risk.killFile'],
  },
  stale_mid: {
    trips: 'fewer than `minSources` fresh prices that agree',
    does: 'no quote on the pair; standby after `standbyAfterSeconds` when nothing else can be quoted',
    keys: ['prices.*.maxAgeMs', 'prices.*.minSources', 'risk.standbyAfterSeconds'],
  },
  deviation: {
    trips:
      'the mid is further from a fresh oracle or time-weighted price than `guardBps` (or the oracle’s own lag) allows, or none of them is fresh',
    does: 'no quote on the pair',
    keys: ['prices.*.references', 'prices.*.guardBps'],
  },
  confidence: {
    trips: 'the sources disagree by more than `maxConfidenceBps`',
    does: 'no quote on the pair',
    keys: ['pairs.*.params.maxConfidenceBps'],
  },
  depeg: {
    trips: 'a fixed price is further than `depegBps` from what `depegSources` of its guards say',
    does: 'priced at the market, and no rebates: nobody is paid to take our position over',
    keys: ['prices.*.guards', 'prices.*.depegBps'],
  },
  sequencer: {
    trips: 'a rollup says that its sequencer is down, or it came up less than the grace ago',
    does: 'its corridors are not quoted',
    keys: ['networks.*.sequencer'],
  },
  chain_lag: {
    trips:
      'the newest block of a chain is older than `maxHeadAgeMs` (default: three block times, five seconds at least)',
    does: 'no quote on any corridor of the chain',
    keys: ['chains.*.maxHeadAgeMs'],
  },
  vol_spike: {
    trips:
      'volatility of the last minute above `sigmaTimes` times that of the day, or one move above `tickTimes` standard deviations of a second',
    does: 'shortest validity, smaller sizes, higher volatility in the price; a second trip within `againSeconds` stops the pair for `haltSeconds`',
    keys: ['risk.volSpike', 'risk.leastValiditySeconds'],
  },
  gap_loss: {
    trips:
      'a jump of the mid would cost more on the live quotes of one asset and side than `budgetBps` of net asset value',
    does: 'no new quote on that side',
    keys: ['risk.gapLoss'],
  },
  rate_limit: {
    trips: 'a taker asks more often than `perSecond`, beyond a `burst`',
    does: 'the request is refused',
    keys: ['risk.rate'],
  },
  limit_taker: {
    trips: 'live quotes of one taker reach the cap',
    does: 'the request is refused, with the largest size that would pass',
    keys: ['limits.perTaker'],
  },
  limit_taker_pair: {
    trips: 'live quotes of one taker on one pair reach the cap',
    does: 'the request is refused, with the largest size that would pass',
    keys: ['limits.perTakerPair'],
  },
  limit_pair: {
    trips: 'live quotes of one pair reach the cap',
    does: 'the request is refused, with the largest size that would pass',
    keys: ['limits.perPair'],
  },
  limit_side: {
    trips: 'live quotes of one side of a pair reach the cap',
    does: 'the request is refused, with the largest size that would pass',
    keys: ['limits.perPairSide'],
  },
  limit_total: {
    trips: 'live quotes in all reach the cap, or `totalBps` of net asset value',
    does: 'the request is refused, with the largest size that would pass',
    keys: ['limits.total', 'risk.totalBps'],
  },
  free_option: {
    trips:
      'a taker asks for many seconds of firm quotes and takes next to none, or takes late and only after the price moved against us',
    does: 'its quotes cost more of the option, then are as short as possible too, then are refused; fades with `memorySeconds`',
    keys: ['risk.freeOption', 'risk.leastValiditySeconds'],
  },
  burst: {
    trips:
      'more than `fills` fills on one side of a pair, or a net change above `deltaUsd`, within `withinSeconds`',
    does: 'the pair is frozen for `freezeSeconds`',
    keys: ['risk.burst'],
  },
  drawdown: {
    trips:
      'net asset value at the market is `hourBps` below the start of the hour, or `dayBps` below the start of the day',
    does: 'sizes times `sizeFactor`; at `killTimes` the limit: kill switch',
    keys: ['risk.drawdown'],
  },
  fat_finger: {
    trips:
      'the second computation before a signature: spread out of bounds, output above the market, size above the cap, or any claim of the price that does not hold; at start: decimals that differ from the chain',
    does: 'the quote is refused and paged (fatal in the log); with wrong decimals the LP does not start',
    keys: ['risk.fatFinger'],
  },
  band: {
    trips: 'the position in an asset, or on a chain, is beyond its hard band',
    does: 'only quotes that bring it back',
    keys: ['assets.*.hardBand', 'assets.*.chains.*.hardShare'],
  },
  drift: {
    trips: 'ledger and chain disagree and no event explains it',
    does: 'that token on that chain is not quoted',
    keys: ['reconcileSeconds'],
  },
};
