/** Processes that die or stop, and messengers that nobody can rely on. */

import type { Fault } from '../fault.ts';

const STORE = 'src/adapters/postgres/venue/order-store.ts';
const TRANSACTOR = 'src/adapters/evm/transactor/transactor.ts';
const KEY_WITH_ORDER = {
  what: 'the Idempotency-Key is written in the statement that writes the order',
  file: STORE,
  from: 'from placed where $${N + 2}::text is not null',
  to: 'from placed where $${N + 2}::text is not null and false',
};

export const CRASHES: readonly Fault[] = [
  {
    id: 'F1',
    fault: 'kill -9 of the venue between verifying a submission and committing it',
    holds: 'nothing is kept of it, and its repetition makes exactly one order, at whichever process',
    invariants: ['I2', 'I6'],
    test: 'test/faults/crashes.test.ts',
    defences: [
      {
        what: 'a quote is sealed and not remembered, under a key that outlives the process',
        file: 'src/apps/venue/main.ts',
        from: 'secret: Buffer.from(await openSecret(secret, secrets))',
        to: 'secret: Buffer.from(String(process.pid).padEnd(64, (await openSecret(secret, secrets)).slice(0, 1)))',
      },
    ],
  },
  {
    id: 'F2',
    fault: 'kill -9 of the venue after the commit, before the answer',
    holds: 'the repetition is answered with the same order, under the same key, another or none',
    invariants: ['I2', 'I6'],
    test: 'test/faults/crashes.test.ts',
    defences: [
      KEY_WITH_ORDER,
      {
        what: 'a candidate that is an order already is answered with that order',
        file: STORE,
        from: 'if (sameOrder && sameAccount) {',
        to: 'if (sameOrder && sameAccount && scope === undefined) {',
      },
      {
        what: 'nothing is answered before the commit',
        file: 'src/venue/orders/submit.ts',
        from: 'const acceptance = await store.accept(order, response, scope);',
        to: "void store.accept(order, response, scope);\n    await new Promise((resolve) => setTimeout(resolve, 0));\n    const acceptance = { kind: 'accepted', response } as Awaited<ReturnType<typeof store.accept>>;",
      },
    ],
  },
  {
    id: 'F3',
    fault: 'kill -9 of a worker after it claimed an order, before it signed anything',
    holds: 'the claim lapses, another worker takes the order and settles it with one transaction',
    invariants: ['I1', 'I5'],
    test: 'test/faults/crashes.test.ts',
    defences: [
      {
        what: 'a claim is a lease: once it has lapsed the order is free',
        file: STORE,
        from: '(lease_until < clock_timestamp() or owner = $2)',
        to: '(owner is null or owner = $2)',
      },
    ],
  },
  {
    id: 'F4',
    fault: 'kill -9 with signed bytes in the database that no node has seen',
    holds: 'the very same bytes are sent after the restart: one nonce, one attempt',
    invariants: ['I1', 'I5'],
    test: 'test/faults/crashes.test.ts',
    defences: [
      {
        what: 'bytes that may never have left are sent again at the start',
        file: TRANSACTOR,
        from: 'broadcast([...live.values()].filter((',
        to: 'broadcast([...live.values()].slice(live.size).filter((',
      },
      {
        what: 'bytes are in the database before a node sees them',
        file: TRANSACTOR,
        from: 'if (!(await store.addAttempts(held',
        to: 'for (const { attempt: signed } of made) await chain.sendRaw(signed.raw);\n    if (!(await store.addAttempts(held',
      },
    ],
  },
  {
    id: 'F5',
    fault: 'kill -9 after broadcasting, before writing down that it has, and nothing is mined meanwhile',
    holds: 'the transaction is found by its hash, no second nonce is used for the step',
    invariants: ['I1'],
    test: 'test/faults/crashes.test.ts',
    defences: [
      {
        what: 'whoever starts takes on the open slots of before',
        file: TRANSACTOR,
        from: 'for (const slot of slots) if (!live.has(slot.id)) remember(slot, head);',
        to: 'for (const slot of slots.slice(slots.length)) if (!live.has(slot.id)) remember(slot, head);',
      },
    ],
  },
  {
    id: 'F6',
    fault:
      'kill -9 of an LP when its fill is mined, before or after it wrote that down, and before it has claimed; the venue is away too',
    holds: 'the restarted LP sees its fill on the chain, proves and claims it, and fills nothing twice',
    invariants: ['I1', 'I2', 'I9'],
    test: 'test/faults/cross-chain.test.ts',
    defences: [
      {
        what: 'awards outlive the process',
        file: 'src/adapters/postgres/lp/lp-store.ts',
        from: 'if (await owned(whole)) return true;',
        to: "if (await owned((session) => (process.uptime() < 0 ? whole(session) : session.query('select 1')))) return true;",
      },
      {
        what: 'what was filled is asked of the chain, not remembered',
        file: 'src/lp/chain/restore.ts',
        from: 'const crossed = slice',
        to: 'const crossed = false && slice',
      },
    ],
  },
  {
    id: 'F7',
    fault: 'a worker is frozen with an order in hand, another takes it over, the first is thawed',
    holds: 'the stale claim writes nothing, even where nobody else has written yet',
    invariants: ['I1'],
    test: 'test/faults/workers.test.ts',
    defences: [
      {
        what: 'every write shows the fence of its claim',
        file: STORE,
        from: 'where o.fence = a.fence and o.last_seq = a.seq',
        to: 'where (o.fence = a.fence or true) and o.last_seq = a.seq',
      },
      {
        what: 'every claim raises the fence',
        file: STORE,
        from: 'set owner = $2, fence = fence + 1',
        to: 'set owner = $2, fence = greatest(fence, 1)',
      },
    ],
  },
  {
    id: 'F9',
    fault:
      "a worker's event loop is blocked for longer than its leases, with a transaction signed and not yet written down",
    holds:
      'another sends the step; the first may not write, so it does not send; /readyz is 503 until it keeps up again',
    invariants: ['I1'],
    test: 'test/faults/workers.test.ts',
    defences: [
      {
        what: 'bytes are written down only under the fence of the signer',
        file: 'src/adapters/postgres/tx-store.ts',
        from: 'and fence = $3 for share',
        to: 'and (fence = $3 or true) for share',
      },
      {
        what: 'a process that stood still says so',
        file: 'src/adapters/process/loop-watch.ts',
        from: 'if (delayMs >= MAX_DELAY_MS)',
        to: 'if (delayMs >= MAX_DELAY_MS * 1_000)',
      },
    ],
  },
  {
    id: 'F12',
    fault:
      'the database is killed while an order commits: before the statement arrived, and after the commit whose answer never came',
    holds: 'the taker hears 503; the repetition finds the order or makes it, once',
    invariants: ['I2', 'I6'],
    test: 'test/faults/crashes.test.ts',
    defences: [
      KEY_WITH_ORDER,
      {
        what: 'connections that break are replaced, not died of',
        file: 'src/adapters/postgres/pool.ts',
        from: "pool.on('error', (error) =>",
        to: "pool.on('drain' as 'error', (error: Error) =>",
      },
    ],
  },
  {
    id: 'F40',
    fault: 'jobs, announcements, chain events and awards come twice, late and in another order',
    holds: 'every fact once, every event once, in the order in which things happen; what is over stays over',
    invariants: ['I1', 'I6', 'I10'],
    test: 'test/faults/cross-chain.test.ts',
    defences: [
      {
        what: 'only what is news is recorded',
        file: 'src/venue/orders/advance/observe.ts',
        from: 'return !progress.opened;',
        to: 'return true;',
      },
      {
        what: 'facts are recorded in the order of their kinds',
        file: 'src/venue/orders/advance/observe.ts',
        from: '.sort((x, y) => RANK[x.kind] - RANK[y.kind])',
        to: '.sort((x, y) => RANK[y.kind] - RANK[x.kind])',
      },
    ],
  },
];
