/** An LP that dies, and LPs of several replicas. */

import type { Fault } from '../fault.ts';

export const LP_REPLICAS: readonly Fault[] = [
  {
    id: 'F41',
    fault: 'An LP is killed with live quotes signed, and the taker accepts all of them at once.',
    holds:
      'Every quote that was ever signed is paid. The next process signs nothing until each that it does not know of has lapsed, then goes on; after a clean stop it knows them and goes on at once.',
    invariants: ['I4'],
    test: 'test/faults/lp-crash.test.ts',
    defences: [
      {
        what: 'What an earlier process may have signed is waited out, by the chain’s clock',
        file: 'src/lp/replicas/lease.ts',
        from: `if (resumption.kind === 'wait') waits.set(chainId, resumption.until);`,
        to: '',
      },
      {
        what: 'A clean stop is good for one start: from then on the lease counts as that of a crash',
        file: 'src/adapters/postgres/lp/lp-store.ts',
        from: `await session.query('update lp_owner set epoch = $1, clean = null', [taken]);`,
        to: `await session.query('update lp_owner set epoch = $1', [taken]);`,
      },
      {
        what: 'A clean stop writes every hold',
        file: 'src/adapters/postgres/lp/lp-store.ts',
        from: `const clean = owner?.stopped === true ? await readClean(session) : null;`,
        to: `const clean = null;`,
      },
      {
        what: 'What is promised counts as gone, for the price and for the next promise',
        file: 'src/inventory/bucket.ts',
        from: `bucket.committed - bucket.held - bucket.buffer`,
        to: `bucket.committed - bucket.buffer`,
      },
    ],
  },
  {
    id: 'F42',
    fault:
      'Of two replicas on one inventory one is frozen and thawed, one is killed and started again, and Redis forgets everything.',
    holds:
      'No unit is promised twice: whoever takes all that either signed is paid. The survivor goes on quoting; a replica that was killed does so as soon as it is back; when Redis has forgotten, nobody signs until every signature that could exist has lapsed.',
    invariants: ['I4'],
    test: 'test/faults/lp-crash.test.ts',
    defences: [
      {
        what: 'Every promise is made in the shared inventory before it is signed',
        file: 'src/lp/quoting/quote.ts',
        from: `if (held.length > 0 && deps.sharing !== undefined) return shared(`,
        to: `if (held.length > 1_000 && deps.sharing !== undefined) return shared(`,
      },
      {
        what: 'The sum over all replicas stays within the room',
        file: 'src/adapters/redis/scripts.ts',
        from: `if less(gh, gl, h, l) and less(fh, fl, h, l) then`,
        to: `if less(h, l, 0, 0) then`,
      },
      {
        what: 'A memory that was emptied is noticed',
        file: 'src/adapters/redis/scripts.ts',
        from: `if redis.call('HGET', META, 'epoch') ~= q.epoch then return {'forgotten'} end`,
        to: '',
      },
      {
        what: 'What a lost memory may have held is waited out',
        file: 'src/lp/replicas/sharing.ts',
        from: `if (now > until) waits.delete(chainId);`,
        to: `if (now > until - 1e6) waits.delete(chainId);`,
      },
    ],
  },
  {
    id: 'F44',
    fault: 'An operator’s key is revoked on the chain while its quotes are live.',
    holds:
      'The LP signs no more, the venue shows it offline from that block on, a submission of its quotes is refused, the chain refuses them too, and the taker keeps its money.',
    invariants: ['I3'],
    test: 'test/faults/lp-revoked.test.ts',
    defences: [
      {
        what: 'The LP hears of it from the chain and stops',
        file: 'src/lp/node.ts',
        from: `standby.set('operator', allowed ? undefined : 'the operator key was revoked');`,
        to: '',
      },
      {
        what: 'The venue hears of it from the chain and lets the solver go',
        file: 'src/venue/market/liquidity.ts',
        from: `if (!event.allowed) for (const listener of revoked) listener(ledger.port.chain.id, event.account, event.operator);`,
        to: '',
      },
      {
        what: 'Who signed is asked again when an order is submitted',
        file: 'src/venue/orders/submit.ts',
        from: `return signer !== undefined && liquidity.mayBindNow(dest.id, commitment.lp, signer);`,
        to: `return signer !== undefined;`,
      },
    ],
  },
];
