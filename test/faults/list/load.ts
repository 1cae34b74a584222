/** More than there is room for. */

import type { Fault } from '../fault.ts';

export const LOAD: readonly Fault[] = [
  {
    id: 'F31',
    fault:
      '200 requests and 200 submissions at once on inventory for 10, from an LP that signs whatever it is asked',
    holds: '10 are quoted and accepted, each once; the other 190 hear in words that there is no more',
    invariants: ['I4', 'I6'],
    test: 'test/faults/load.test.ts',
    defences: [
      {
        what: 'right before a candidate is shown, its money is counted again: others may have been shown it meanwhile',
        file: 'src/venue/quoting/quote.ts',
        from: '.filter((candidate) => source.affords(ask, candidate))',
        to: '',
      },
      {
        what: 'the same where the router shows it',
        file: 'src/venue/router/router.ts',
        from: '    const best = rank(intent.side, candidates)\n      .filter(({ first }) => first.stands())',
        to: '    const best = rank(intent.side, candidates)',
      },
      {
        what: 'what has been shown counts as promised until it lapses',
        file: 'src/venue/quoting/exposure.ts',
        from: 'book.total += amount - entry.amount;',
        to: '',
      },
    ],
  },
];
