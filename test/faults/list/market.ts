/** Prices, clocks, attesters and keys. */

import type { Fault } from '../fault.ts';

export const MARKET: readonly Fault[] = [
  {
    id: 'F33',
    fault:
      'of three attesters, of whom two are needed, one has lost its key, another one is away, and then two are late',
    holds:
      'one is not missed; without two nothing is quoted or filled that crosses, and what does not cross goes on; what was filled is proven and claimed when they are back; while proofs take longer than there is time for, nothing new is promised',
    invariants: ['I2', 'I5', 'I9'],
    test: 'test/faults/attesters.test.ts',
    defences: [
      {
        what: 'an LP that hears too few attesters promises nothing across',
        file: 'src/lp/risk/standby.ts',
        from: ' ?? unproven.get(route.origin.id)));',
        to: '));',
      },
      {
        what: 'a fill is sent when enough attesters answer at that moment',
        file: 'src/lp/settlement/advance.ts',
        from: 'if (deps.proving && !(await deps.proving.sure(origin.chain.id)))',
        to: 'if (deps.proving && !(await Promise.resolve(true)))',
      },
      {
        what: 'who has not a key of the committee is no attester',
        file: 'src/adapters/attestations/client.ts',
        from: 'answer.signer === undefined || committee.signers.has(answer.signer)',
        to: "answer.signer !== '0x'",
      },
      {
        what: 'the time that proofs take counts, also while one is waited for',
        file: 'src/lp/settlement/proving.ts',
        from: 'needed = Math.max(claimSeconds, Math.ceil(late) + Math.ceil(claimSeconds / 2));',
        to: 'needed = Math.max(claimSeconds, Math.ceil(late * 0));',
      },
    ],
  },
  {
    id: 'F43',
    fault:
      'of three exchanges one lies by five per cent, then another one is gone too, then all repeat themselves and say nothing new',
    holds:
      'no quote is made of a price older than allowed or of one that a single exchange says; who stands alone is dropped, and without two who agree nothing is quoted until there are',
    invariants: ['I4'],
    test: 'test/faults/feeds.test.ts',
    defences: [
      {
        what: 'a price that is too old is none',
        file: 'src/pricing/mid.ts',
        from: 'const why = age > (seen.maxAgeMs ?? maxAgeMs) ?',
        to: 'const why = age > (seen.maxAgeMs ?? maxAgeMs) * 1_000 ?',
      },
      {
        what: 'who is far from the median is dropped',
        file: 'src/pricing/mid.ts',
        from: '* 1_000_000n > guard * first)',
        to: '* 0n > guard * first)',
      },
      {
        what: 'one source alone makes no price',
        file: 'src/pricing/mid.ts',
        from: 'if (kept.length < Math.max(minSources, 1))',
        to: 'if (kept.length < 1)',
      },
    ],
  },
];
