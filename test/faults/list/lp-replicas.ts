/** An LP that is killed, and LPs of several replicas. */

import type { Fault } from '../fault.ts';

const CRASH = 'test/faults/lp-crash.test.ts';

export const LP_REPLICAS: readonly Fault[] = [
  {
    id: 'F41',
    fault: 'an LP is killed with live quotes signed, and the taker accepts all of them at once',
    holds:
      'every signed quote is paid. The next process signs nothing until each quote without a record has expired; after a clean stop it goes on without waiting',
    invariants: ['I4'],
    test: CRASH,
    defences: [
      {
        what: 'the LP waits, by the chain’s clock, until quotes of an earlier process have expired',
        symbol: 'src/inventory/lease.ts#resume',
        becomes: "() => ({ kind: 'resume' })",
      },
      {
        what: 'a clean stop counts for one start: after that the lease counts as that of a crash',
        symbol: 'src/adapters/postgres/lp/lp-store.ts#OPEN_LP',
        becomes: "'update lp_owner set epoch = $1'",
      },
      {
        what: 'a clean stop writes every hold',
        symbol: 'src/adapters/postgres/lp/lp-store.ts#createLpStore',
        becomes: `(...args) => {
          const store = original(...args);
          return { ...store, open: async () => ({ ...(await store.open()), clean: null }) };
        }`,
      },
      {
        what: 'held amounts are not free, for the price and for the next hold',
        symbol: 'src/inventory/bucket.ts#freeOf',
        becomes: '(bucket) => original(bucket) + bucket.held',
      },
    ],
  },
  {
    id: 'F42',
    fault:
      'of two replicas on one inventory one is frozen and thawed, one is killed and started again, and Redis loses all data',
    holds:
      'no unit is promised twice; the survivor goes on quoting, a killed replica as soon as it is back; when Redis has lost its data, no replica signs until every possible signature has expired',
    invariants: ['I4'],
    test: CRASH,
    defences: [
      {
        what: 'every hold is made in the shared inventory before its quote is signed',
        symbol: 'src/lp/quoting/quote.ts#createQuoteHandler',
        becomes: '(deps, ...rest) => original({ ...deps, sharing: undefined }, ...rest)',
      },
      {
        what: 'the sum over all replicas stays within the room',
        symbol: 'src/adapters/redis/scripts.ts#EXCEEDS_ROOM',
        becomes: "'less(h, l, 0, 0)'",
      },
      {
        what: 'a Redis that lost its data is noticed',
        symbol: 'src/adapters/redis/scripts.ts#REFUSE_LOST_MEMORY',
        becomes: "''",
      },
      {
        what: 'replicas wait until everything that lost data may have held has expired',
        symbol: 'src/lp/replicas/sharing.ts#createSharing',
        becomes: `(deps, ...rest) => original({ ...deps, inventory: { ...deps.inventory, join: async (...args) =>
          ({ ...(await deps.inventory.join(...args)), until: new Map() }) } }, ...rest)`,
      },
    ],
  },
  {
    id: 'F44',
    fault: 'an operator’s key is revoked on the chain while its quotes are live',
    holds:
      'the LP signs no more; from that block on the venue shows it offline and refuses its quotes, as does the chain; the taker keeps its money',
    invariants: ['I3'],
    test: 'test/faults/lp-revoked.test.ts',
    defences: [
      {
        what: 'the LP reads the revocation from the chain and stops',
        symbol: 'src/lp/risk/standby.ts#createStandby',
        becomes: `(deps) => {
          const standby = original(deps);
          return { ...standby, report: (kind, note) => (kind === 'operator' ? undefined : standby.report(kind, note)) };
        }`,
      },
      {
        what: 'the venue reads the revocation from the chain and disconnects the solver',
        symbol: 'src/venue/market/liquidity.ts#createLiquidity',
        becomes: '(...args) => ({ ...original(...args), onRevoked: () => {} })',
      },
      {
        what: 'the signer’s authority is read again when an order is submitted',
        symbol: 'src/venue/orders/submit.ts#createSubmitter',
        becomes:
          '(deps) => original({ ...deps, liquidity: { ...deps.liquidity, maySignNow: async () => true } })',
      },
    ],
  },
];
