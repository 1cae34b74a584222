/** Replicas of the venue, its queue and its streams. */

import type { Fault } from '../fault.ts';

export const VENUE_REPLICAS: readonly Fault[] = [
  {
    id: 'F35',
    fault: 'one LP of a split is offline, signs with a wrong key, or loses its authority after everybody has signed',
    holds: 'the whole order is settled in one transaction, or nothing moves',
    invariants: ['I1', 'I8'],
    test: 'test/faults/split.test.ts',
    defences: [
      {
        what: 'every slice is signed by whoever may sign for its LP',
        file: 'src/venue/verify.ts',
        from: "commitment: { lp, deadline, signature } })) return 'signature';",
        to: "commitment: { lp, deadline, signature } }) && lp.length === 0) return 'signature';",
      },
      {
        what: 'a plan of which one slice is missing is no candidate',
        file: 'src/venue/split-round.ts',
        from: 'if (committed.size !== sessions.length) return { missing };',
        to: '',
      },
    ],
  },
];
