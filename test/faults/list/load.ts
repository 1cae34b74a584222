/** More demand than there is inventory. */

import type { Fault } from '../fault.ts';

const TEST = 'test/faults/load.test.ts';

export const LOAD: readonly Fault[] = [
  {
    id: 'F31',
    fault:
      '200 requests and 200 submissions at once on inventory for 10, from an LP that signs every request',
    holds: '10 are quoted and accepted, each once; the other 190 are told that there is no more inventory',
    invariants: ['I4', 'I6'],
    test: TEST,
    defences: [
      {
        what: 'right before a candidate is shown its backing is checked again: other takers may have been shown it',
        symbol: 'src/venue/quoting/rfq-source.ts#createRfqSource',
        becomes: '(...args) => ({ ...original(...args), isStillBacked: () => true })',
      },
      {
        what: 'quotes that were shown count as exposure until they expire',
        symbol: 'src/venue/market/open-quotes.ts#createOpenQuotes',
        becomes: '(...args) => ({ ...original(...args), promised: () => 0n })',
      },
    ],
  },
];
