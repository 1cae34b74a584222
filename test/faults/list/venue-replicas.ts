/** Replicas of the venue, its queue and its streams. */

import type { Fault } from '../fault.ts';

const TEST = 'test/faults/venue-replicas.test.ts';

export const VENUE_REPLICAS: readonly Fault[] = [
  {
    id: 'F10',
    fault:
      'Redis is flushed, killed and started empty, or comes back with the first half of its log, under load and before the workers start',
    holds: 'every accepted order settles, once',
    invariants: ['I2', 'I5'],
    test: TEST,
    defences: [
      {
        what: 'a sweep over the open orders of the database finds what no wake-up told of',
        file: 'src/venue/orders/advance/advancer.ts',
        from: 'const page = await store.openOrders(PAGE, after);',
        to: 'const page = (await store.openOrders(PAGE, after)).slice(0, 0);',
      },
    ],
  },
  {
    id: 'F11',
    fault: 'Redis is a black hole: connections stay open and nothing answers',
    holds: 'a submission commits and is answered with 200, and workers start, settle and stop without it',
    invariants: ['I2', 'I5'],
    test: TEST,
    defences: [
      {
        what: 'a wake-up that fails is no failure of the order that it was for',
        file: 'src/venue/orders/submit.ts',
        from: 'queue.wake(ORDERS_TOPIC, order.orderId).catch((error: unknown) =>',
        to: 'await queue.wake(ORDERS_TOPIC, order.orderId).then((error: unknown) =>',
      },
      {
        what: 'a worker does not wait for its queue to come up',
        file: 'src/adapters/bullmq/queue.ts',
        from: 'await inTime(start()).catch(warn(topic));',
        to: 'await start();',
      },
      {
        what: 'a queue that does not answer is left without a farewell',
        file: 'src/adapters/bullmq/queue.ts',
        from: 'inTime(end.close()).catch(() => inTime(end.disconnect()))',
        to: 'end.close()',
      },
    ],
  },
  {
    id: 'F35',
    fault:
      'one LP of a split is offline, signs with a wrong key, or loses its authority after everybody has signed',
    holds: 'the whole order is settled in one transaction, or nothing moves',
    invariants: ['I1', 'I8'],
    test: 'test/faults/split.test.ts',
    defences: [
      {
        what: 'every slice is signed by whoever may sign for its LP',
        file: 'src/venue/quoting/verify.ts',
        from: "if (signer === undefined || !liquidity.mayBind(dest.id, lp, signer)) return 'signature';",
        to: "if (signer === undefined) return 'signature';",
      },
      {
        what: 'a plan of which one slice is missing is no candidate',
        file: 'src/venue/quoting/split-round.ts',
        from: 'if (committed.size !== sessions.length) return { missing };',
        to: '',
      },
    ],
  },
  {
    id: 'F36',
    fault:
      'api replicas are killed under event streams, one listener reads nothing for long, and the cable of another goes half dead',
    holds:
      'each listener, resuming at its cursor at whichever replica, hears every event once and in order, and polling says the same',
    invariants: ['I2'],
    test: TEST,
    defences: [
      {
        what: 'a stream that resumes is replayed from its cursor, whichever replica it comes to',
        file: 'src/venue/stream/order-topics.ts',
        from: 'place: since ?? tail.place(), live: since === undefined, missed: false }',
        to: 'place: tail.place(), live: true, missed: false }',
      },
    ],
  },
  {
    id: 'F37',
    fault:
      'every api replica and worker is stopped with SIGTERM and started again under load, one of them twice',
    holds:
      'no order is lost or doubled, each process ends within ten seconds, and listeners are sent elsewhere with 1012',
    invariants: ['I1', 'I2', 'I5'],
    test: TEST,
    defences: [
      {
        what: 'sockets that are open do not hold up a process that stops',
        file: 'src/adapters/http/server.ts',
        from: '      sockets.close();\n',
        to: '',
      },
      {
        what: 'a replica that stops tells its streams to come back, to another one',
        file: 'src/adapters/ws/doors.ts',
        from: "client.close(CLOSE.restarting, 'the venue is restarting');",
        to: 'client.terminate();',
      },
    ],
  },
  {
    id: 'F39',
    fault: 'the key that seals quotes and the API key that asked for them are rotated while they are out',
    holds:
      'what the old seal sealed is taken by every replica until its time is over, and not after; the revoked key is refused everywhere, and what it asked for and submitted stays the workspace’s',
    invariants: ['I2', 'I6'],
    test: TEST,
    defences: [
      {
        what: 'a key that seals no more still verifies what it sealed',
        file: 'src/auction/seal.ts',
        from: 'const key = byId.get(kid);',
        to: 'const key = kid === current.kid ? byId.get(kid) : undefined;',
      },
      {
        what: 'and only until the time that its last quote can be valid',
        file: 'src/auction/seal.ts',
        from: '(key.acceptUntil === null || now <= key.acceptUntil)',
        to: '(key.acceptUntil === null || now > 0)',
      },
      {
        what: 'an Idempotency-Key belongs to the workspace, and not to the API key that it came with',
        file: 'src/venue/orders/submit.ts',
        from: 'return { workspaceId: workspace.id, namespace, mode: key.mode, key: parsed.data',
        to: 'return { workspaceId: key.id, namespace, mode: key.mode, key: parsed.data',
      },
    ],
  },
];
