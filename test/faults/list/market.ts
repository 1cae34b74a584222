/** Prices and attesters. */

import type { Fault } from '../fault.ts';

export const MARKET: readonly Fault[] = [
  {
    id: 'F33',
    fault: 'of three attesters, two needed, one has lost its key, another is away, then two are late',
    holds:
      'one may be missing; without two nothing cross-chain is quoted or filled, and same-chain trades go on; earlier fills are proven and claimed later; while proofs take longer than the proof window, nothing new is quoted',
    invariants: ['I2', 'I5', 'I9'],
    test: 'test/faults/attesters.test.ts',
    defences: [
      {
        what: 'an LP that reaches too few attesters makes no cross-chain quote',
        symbol: 'src/lp/risk/standby.ts#createStandby',
        becomes: '(deps) => original({ ...deps, proving: undefined })',
      },
      {
        what: 'a fill is sent only when enough attesters answer right before it',
        symbol: 'src/lp/settlement/advance.ts#createAwardRunner',
        becomes: `(deps, ...rest) => original({ ...deps,
          proving: deps.proving && { ...deps.proving, sure: async () => true } }, ...rest)`,
      },
      {
        what: 'an attester without a key of the committee does not count',
        symbol: 'src/adapters/attestations/client.ts#isMember',
        becomes: '() => true',
      },
      {
        what: 'the time that proofs take counts, also while one is waited for',
        symbol: 'src/lp/settlement/proving.ts#secondsNeeded',
        becomes: '(claimSeconds) => claimSeconds',
      },
    ],
  },
  {
    id: 'F43',
    fault:
      'of three exchanges one is wrong by five per cent, then another is gone too, then all repeat old prices',
    holds:
      'no quote uses a price older than allowed or of a single exchange; a source far from the others is dropped; without two that agree nothing is quoted',
    invariants: ['I4'],
    test: 'test/faults/feeds.test.ts',
    defences: [
      {
        what: 'a price that is too old is dropped',
        symbol: 'src/pricing/mid.ts#aggregate',
        becomes: `(observations, ...rest) =>
          original([...observations].map((each) => ({ ...each, maxAgeMs: Number.POSITIVE_INFINITY })), ...rest)`,
      },
      {
        what: 'a source far from the median is dropped',
        symbol: 'src/pricing/mid.ts#aggregate',
        becomes: `(observations, nowMs, options) =>
          original(observations, nowMs, { ...DEFAULT_MID_OPTIONS, ...options, devGuardBps: 1_000_000 })`,
      },
      {
        what: 'a single source makes no price',
        symbol: 'src/pricing/mid.ts#aggregate',
        becomes: `(observations, nowMs, options) =>
          original(observations, nowMs, { ...DEFAULT_MID_OPTIONS, ...options, minSources: 1 })`,
      },
    ],
  },
];
