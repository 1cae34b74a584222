/** The risk controls as docs/lp/risk.md and the operator's tools print them. */

import type { Control } from '../domain/control.ts';

interface ControlCard {
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
      'the operator engages it (kill file, POST /pause, SIGUSR2), or losses reach the kill level of `drawdown`',
    does: 'the LP signs nothing and goes on standby; live quotes stay honoured; lasts across restarts until the operator resumes (or removes the file)',
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
    does: 'priced at the market, without inventory rebates',
    keys: ['prices.*.guards', 'prices.*.depegBps'],
  },
  sequencer: {
    trips: 'a rollup reports its sequencer down, or up for less than the grace',
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
  limit_venue: {
    trips:
      'of several venues, one holds more than `venueShare` of a token or cap in quotes without a trade; less while almost none of its quotes is filled',
    does: 'the request is refused, with the largest size that would pass',
    keys: ['risk.venueShare'],
  },
  free_option: {
    trips:
      'a taker requests many seconds of firm quotes and accepts few, or accepts late and only after the price moved against us',
    does: 'first a higher option premium, then the shortest tenor too, then no quotes; decays over `memorySeconds`',
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
      'the independent check before a signature: spread out of bounds, output above the market, size above the cap, or another claim of the price that fails; at start: decimals that differ from the chain',
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
