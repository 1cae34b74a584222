/** The venue's end of the LP link. No frame of a solver can make this code throw. */

import { type Address, isBytes32 } from '../../domain/hex.ts';
import type { Socket, SocketListener, SocketRoute } from '../../ports/http.ts';
import type { ApiKey } from '../../ports/stores/store.ts';
import {
  type FromSolver,
  LINK_ANSWERS,
  LINK_FRAMES_PER_SECOND,
  LINK_MAX_PAYLOAD_BYTES,
  LINK_OTHER_FRAMES_PER_SECOND,
  LINK_PATH,
  LINK_PROTOCOL_VERSION,
  readFromSolver,
  SOLVER_TYPES,
} from '../../protocol/link/link.ts';
import { tradesOn } from '../market/markets.ts';
import { createBuckets, frameLimit } from '../access/token-buckets.ts';
import { ORDERS_TOPIC } from '../orders/submit.ts';
import {
  type LinkConnection,
  type LinkDoor,
  type LinkDeps,
  type LinkOptions,
  refuse,
  say,
  unfollow,
} from './connection.ts';
import { greet } from './hello.ts';
import { resyncSoon } from './resync.ts';

const HANDSHAKE_MS = 10_000;
/** The limit of one connection for each kind of frame; beyond it the connection is closed. */
const FRAMES_PER_SECOND: Readonly<Record<string, number>> = { ...LINK_FRAMES_PER_SECOND, answer: 50_000 };

const KINDS: readonly string[] = [...SOLVER_TYPES, 'invalid', 'unknown_type'];

/** The kind against whose limit a frame counts. */
const limitOf = (kind: string): string => (LINK_ANSWERS.has(kind) ? 'answer' : kind);
const SPARE_ANSWERS = 2_000;

/** The limit of one solver. Each hello costs signature recoveries and chain reads. */
const HELLOS = { perSecond: 4, burst: 10 };
/** Further hints of a second are dropped: each costs a job. */
const FILL_HINTS_PER_SECOND = 100;

export function createLinkDoor(deps: LinkDeps, options: LinkOptions): SocketRoute {
  const door: LinkDoor = {
    shadows: options.shadows ?? true,
    frames: deps.metrics.counter('firmquote_venue_link_frames_total', 'Frames from solvers', { kind: KINDS }),
    floods: deps.metrics.counter(
      'firmquote_venue_link_floods_total',
      'Connections of solvers closed because of too many frames',
      { kind: [...new Set(KINDS.map(limitOf))] },
    ),
    hellos: createBuckets(deps.clock, HELLOS),
  };
  deps.liquidity.onRevoked((chainId, account, operator) => {
    for (const session of [...deps.roster.entries()].flatMap(({ sessions }) => sessions)) {
      const mine = session.accounts.get(chainId);
      if (mine?.account !== account || mine.operator !== operator) continue;
      deps.roster.leave(session, 'operator revoked on chain');
      session.end(1008, 'operator revoked on chain');
    }
  });
  return {
    path: LINK_PATH,
    keyKinds: ['solver'],
    maxPayloadBytes: LINK_MAX_PAYLOAD_BYTES,
    maxPerKey: 8,
    open: (socket, key) => open(deps, options, door, socket, key),
  };
}

function open(
  deps: LinkDeps,
  options: LinkOptions,
  door: LinkDoor,
  socket: Socket,
  key: ApiKey,
): SocketListener {
  const connection: LinkConnection = {
    socket,
    key,
    nonce: deps.random.bytes32(),
    solverId: key.solverId ?? '',
    session: undefined,
    greeting: false,
    closed: false,
    missed: 0,
    warned: false,
    limits: new Map<string, () => boolean>(),
    spareAnswers: SPARE_ANSWERS,
    mayHint: frameLimit(deps.clock, FILL_HINTS_PER_SECOND),
    resyncing: false,
    resyncAgain: false,
    cancelResync: () => {},
    accounts: new Map<number, { account: Address; operator: Address }>(),
    cancelTimer: deps.clock.after(HANDSHAKE_MS, () =>
      refuse(deps, connection, 'handshake_timeout', 'No proof of identity came in time.'),
    ),
    ours: [...deps.chains.values()].filter(({ chain }) => tradesOn(chain, key.mode)),
  };
  say(connection, {
    type: 'challenge',
    nonce: connection.nonce,
    venueId: options.venueId,
    protocolVersion: LINK_PROTOCOL_VERSION,
    chains: connection.ours.map(({ chain }) => ({
      chainId: chain.id,
      slug: chain.slug,
      escrow: chain.escrow,
      oracle: chain.oracle,
      ...(chain.quoteBond && { quoteBond: chain.quoteBond }),
    })),
  });
  return {
    message: (text) => receive(deps, options, door, connection, text),
    pong: () => void (connection.missed = 0),
    closed: () => closed(deps, connection),
  };
}

function receive(
  deps: LinkDeps,
  options: LinkOptions,
  door: LinkDoor,
  connection: LinkConnection,
  text: string,
): void {
  if (connection.closed) return;
  connection.missed = 0;
  const read = readFromSolver(text);
  const type = read.ok ? read.message.type : read.kind;
  const kind = limitOf(type);
  if (!mayRead(deps, connection, kind)) return endFlood(deps, door, connection, kind);
  door.frames.add({ kind: type });
  if (read.ok) return handle(deps, options, door, connection, read.message);
  if (read.kind === 'invalid') {
    deps.roster.recordFault(connection.solverId, 'invalid');
    if (!connection.session) return refuse(deps, connection, 'invalid', 'That is not a message of the link.');
    if (read.broken) deps.fanOut.rejectBroken(connection.session, read.broken);
  }
  if (!connection.warned)
    deps.log.warn(
      { solver: connection.solverId, kind: read.kind, detail: read.detail },
      'a frame was ignored; further ones are only counted',
    );
  connection.warned = true;
}

/** Counts the frame against the limit of its kind. */
function mayRead(deps: LinkDeps, connection: LinkConnection, kind: string): boolean {
  const limit =
    connection.limits.get(kind) ??
    frameLimit(deps.clock, FRAMES_PER_SECOND[kind] ?? LINK_OTHER_FRAMES_PER_SECOND);
  connection.limits.set(kind, limit);
  return limit() && (kind !== 'answer' || connection.spareAnswers-- > 0);
}

/** Disconnects a solver that sends too many frames. */
function endFlood(deps: LinkDeps, door: LinkDoor, connection: LinkConnection, kind: string): void {
  connection.closed = true;
  const reason = `too many frames: ${kind}`;
  door.floods.add({ kind });
  deps.log.warn({ solver: connection.solverId, kind }, 'a solver sent too many frames');
  deps.roster.recordFault(connection.solverId, 'invalid');
  if (connection.session) deps.roster.leave(connection.session, reason);
  connection.socket.close(1008, reason);
}

function handle(
  deps: LinkDeps,
  options: LinkOptions,
  door: LinkDoor,
  connection: LinkConnection,
  message: FromSolver,
): void {
  if (message.type === 'ping') return say(connection, { type: 'pong' });
  if (message.type === 'pong') return;
  if (!connection.session) {
    if (message.type !== 'hello' || connection.greeting)
      return refuse(deps, connection, 'hello_first', 'Say hello first, once.');
    connection.greeting = true;
    if (!door.hellos.take(connection.solverId).ok)
      return refuse(
        deps,
        connection,
        'try_later',
        'This solver says hello too often. Pause longer between connections.',
      );
    void greet(deps, options, door, connection, message).catch((error: unknown) => {
      deps.log.warn({ solver: connection.solverId, error }, 'a solver could not be verified');
      refuse(
        deps,
        connection,
        'try_later',
        'The chain could not be asked about this operator. Try again shortly.',
      );
    });
    return;
  }
  // No account backs what it says, and its status is always standby.
  if (connection.session.shadow) return;
  switch (message.type) {
    case 'status':
      return deps.roster.setStatus(connection.session, message.status, message.note);
    case 'quote':
    case 'partial':
    case 'decline':
    case 'commit':
      return deps.fanOut.receive(connection.session, message);
    case 'levels':
      // Other rejected ladders are only counted.
      if (deps.levels.accept(connection.session, message) === 'broken')
        deps.roster.recordFault(connection.solverId, 'invalid');
      return;
    case 'fill':
      return wake(deps, connection, message.orderId);
    case 'resync':
      return resyncSoon(deps, connection, connection.session);
    case 'hello':
      return refuse(deps, connection, 'hello_once', 'This connection has proven its identity already.');
  }
}

/**
 * Tells the order's worker to read the chain now. The message is a hint: the worker trusts only the chain.
 */
function wake(deps: LinkDeps, connection: LinkConnection, orderId: string): void {
  if (isBytes32(orderId) && connection.mayHint()) deps.queue.wake(ORDERS_TOPIC, orderId).catch(() => {});
}

function closed(deps: LinkDeps, connection: LinkConnection): void {
  connection.closed = true;
  connection.cancelTimer();
  connection.cancelResync();
  unfollow(deps, connection);
  if (!connection.session) return;
  deps.roster.leave(connection.session, 'disconnected');
  deps.fanOut.forget(connection.session);
  deps.levels.forget(connection.session);
}
