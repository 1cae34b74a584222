/** Replicas of the venue, its queue and its streams. */

import type { Fault } from '../fault.ts';

const TEST = 'test/faults/venue-replicas.test.ts';
const SUBMITTER = 'src/venue/orders/submit.ts#createSubmitter';

export const VENUE_REPLICAS: readonly Fault[] = [
  {
    id: 'F10',
    fault:
      'Redis is flushed, killed and started empty, or comes back with half of its log, under load and before the workers start',
    holds: 'every accepted order settles, once',
    invariants: ['I2', 'I5'],
    test: TEST,
    defences: [
      {
        what: 'a sweep over the open orders of the database finds orders whose wake-up was lost',
        symbol: 'src/venue/orders/advance/advancer.ts#createOrderAdvancer',
        becomes:
          '(deps, options) => original({ ...deps, store: { ...deps.store, openOrders: async () => [] } }, options)',
      },
    ],
  },
  {
    id: 'F11',
    fault: 'Redis is a black hole: connections stay open and nothing answers',
    holds: 'submissions are answered with 200; workers start, settle and stop without it',
    invariants: ['I2', 'I5'],
    test: TEST,
    defences: [
      {
        what: 'a wake-up that fails does not fail the order',
        symbol: SUBMITTER,
        becomes: `(deps) => original({ ...deps, store: { ...deps.store, accept: async (...args) => {
          const acceptance = await deps.store.accept(...args);
          await deps.queue.wake(ORDERS_TOPIC, args[0].orderId);
          return acceptance;
        } } })`,
      },
      {
        what: 'no process waits longer than two seconds for its queue, neither at the start nor at the stop',
        symbol: 'src/adapters/bullmq/queue.ts#withinAnswerTime',
        becomes: '(answer) => answer',
      },
    ],
  },
  {
    id: 'F35',
    fault:
      'one LP of a split is offline, signs with a wrong key, or loses its authority after all have signed',
    holds: 'the whole order settles in one transaction, or nothing moves',
    invariants: ['I1', 'I8'],
    test: 'test/faults/split.test.ts',
    defences: [
      {
        what: 'a slice counts only with a signature of a key that may sign for its LP',
        symbol: 'src/venue/quoting/verify.ts#verifyCommitment',
        becomes: `(deps, ...rest) =>
          original({ ...deps, liquidity: { ...deps.liquidity, maySign: () => true } }, ...rest)`,
      },
      {
        what: 'a split with a missing slice is no candidate',
        symbol: 'src/venue/quoting/split-round.ts#hasAllSlices',
        becomes: '() => true',
      },
    ],
  },
  {
    id: 'F36',
    fault:
      'api replicas are killed under event streams; one listener reads nothing for long, another’s connection goes half dead',
    holds:
      'each listener, resuming at its cursor at any replica, gets every event once and in order; polling answers the same',
    invariants: ['I2'],
    test: TEST,
    defences: [
      {
        what: 'a stream that resumes is replayed from its cursor, at any replica',
        symbol: 'src/venue/stream/order-topics.ts#createOrderStream',
        becomes: `(...args) => {
          const stream = original(...args);
          return { ...stream, joinAll: (client) => stream.joinAll(client, undefined) };
        }`,
      },
    ],
  },
  {
    id: 'F37',
    fault:
      'every api replica and worker is stopped with SIGTERM and started again under load, one of them twice',
    holds:
      'no order is lost or doubled; each process ends within ten seconds; listeners are sent elsewhere with 1012',
    invariants: ['I1', 'I2', 'I5'],
    test: TEST,
    defences: [
      {
        what: 'open sockets do not delay a process that stops',
        symbol: 'src/adapters/http/sockets/socket-server.ts#serveSockets',
        becomes: '(...args) => ({ ...original(...args), close: () => {} })',
      },
      {
        what: 'a replica that stops tells its streams to reconnect, which brings them to another one',
        symbol: 'src/adapters/http/sockets/socket-server.ts#askToReconnect',
        becomes: '(client) => client.terminate()',
      },
    ],
  },
  {
    id: 'F39',
    fault: 'the sealing key and the API key that asked are rotated while quotes are live',
    holds:
      'every replica accepts quotes under the old seal until they expire, not after; the revoked key is refused everywhere; its quotes and orders stay the workspace’s',
    invariants: ['I2', 'I6'],
    test: TEST,
    defences: [
      {
        what: 'a rotated key still verifies what it sealed',
        symbol: 'src/auction/seal.ts#createSealer',
        becomes: `(keys) => {
          const sealer = original(keys);
          return { ...sealer, verify: (kid, ...rest) => kid === sealer.kid && sealer.verify(kid, ...rest) };
        }`,
      },
      {
        what: 'and only until its last quote can be valid',
        symbol: 'src/auction/seal.ts#createSealer',
        becomes: '(keys) => original(keys.map((key) => ({ ...key, acceptUntil: null })))',
      },
      {
        what: 'an Idempotency-Key belongs to the workspace, and not to the API key that it came with',
        symbol: SUBMITTER,
        becomes: `(deps) => {
          const submitter = original(deps);
          return { ...submitter, submit: (request, caller) =>
            submitter.submit(request, { ...caller, workspace: { ...caller.workspace, id: caller.key.id } }) };
        }`,
      },
    ],
  },
  {
    id: 'F45',
    fault:
      'of three replicas, each behind its own URL, one after the other is killed and restarted while takers trade',
    holds:
      'a client that has all URLs reports no error; each trade is one order and settles; every solver learns of every award',
    invariants: ['I1', 'I2', 'I5'],
    test: 'test/faults/client-failover.test.ts',
    defences: [
      {
        what: 'the client repeats a call at the next replica',
        symbol: 'src/client/transport.ts#createTransport',
        becomes: '(options) => original({ ...options, url: [options.url].flat()[0] as string })',
      },
    ],
  },
];
