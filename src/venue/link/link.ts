/** The venue's end of the LP link. No frame of a solver can make this code throw. */

import type { BondDemand } from '../../domain/bond.ts';
import { parseCorridor } from '../../domain/corridor.ts';
import { type Address, isBytes32 } from '../../domain/hex.ts';
import type { Socket, SocketRoute, SocketListener } from '../../ports/http.ts';
import type { FirmnessStore } from '../../ports/stores/firmness.ts';
import type { ApiKey, OrderStore } from '../../ports/stores/store.ts';
import {
  type Award,
  type FromSolver,
  type FromVenue,
  type Hello,
  LINK_HEARTBEAT_SECONDS,
  LINK_MAX_PAYLOAD_BYTES,
  LINK_MISSED_HEARTBEATS,
  LINK_PATH,
  LINK_PROTOCOL_VERSION,
  readFromSolver,
  SOLVER_TYPES,
} from '../../protocol/link/link.ts';
import { linkProofDigest } from '../../protocol/link/link-proof.ts';
import type { VenueDeps } from '../deps.ts';
import type { VenueOptions } from '../options.ts';
import type { FanOut } from '../quoting/fan-out.ts';
import type { SolverLevels } from '../solvers/levels.ts';
import type { Liquidity } from '../market/liquidity.ts';
import { tradesOn } from '../market/markets.ts';
import { createBuckets, frameLimit } from '../access/token-buckets.ts';
import type { Roster, SolverSession } from '../solvers/roster.ts';
import { awardOf } from '../orders/award.ts';
import { ORDERS_TOPIC } from '../orders/submit.ts';

export type LinkDeps = Pick<
  VenueDeps,
  'chains' | 'queue' | 'recovery' | 'clock' | 'random' | 'log' | 'metrics'
> & {
  store: OrderStore & Pick<FirmnessStore, 'putSolverAccounts'>;
  roster: Roster;
  fanOut: FanOut;
  levels: SolverLevels;
  liquidity: Liquidity;
  bondDemands: readonly BondDemand[];
};

const HANDSHAKE_MS = 10_000;
/** A solver that does not read is disconnected. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** With this many unsent bytes a solver is not asked: it would read a request after its deadline. */
const BUSY_BYTES = 128 * 1024;
/** Of one connection and kind; beyond it the connection is closed. */
const FRAMES_PER_SECOND: Readonly<Record<string, number>> = { answer: 50_000, levels: 4_000, fill: 1_000 };
const OTHER_FRAMES_PER_SECOND = 100;
const ANSWERS: ReadonlySet<string> = new Set(['quote', 'partial', 'decline', 'commit']);
const KINDS: readonly string[] = [...SOLVER_TYPES, 'invalid', 'unknown_type'];
/** What its frames are counted against. */
const limitOf = (kind: string): string => (ANSWERS.has(kind) ? 'answer' : kind);
/** Each frame to the solver allows this many answers more. */
const ANSWERS_PER_REQUEST = 16;
const SPARE_ANSWERS = 2_000;
const MAX_SPARE_ANSWERS = 20_000;
/** Of one solver. Each hello costs signature recoveries and chain reads. */
const HELLOS = { perSecond: 4, burst: 10 };
/** Further hints of a second are dropped: each costs a job. */
const FILL_HINTS_PER_SECOND = 100;
/** Each costs a query. */
const RESYNC_EVERY_MS = 2_000;
/** A frame of the link holds 64 KB. */
const RESYNC_PIECE_CHARS = 40_000;

export function createLinkDoor(
  deps: LinkDeps,
  { venueId, shadows = true }: Pick<VenueOptions, 'venueId' | 'shadows'>,
): SocketRoute {
  const { chains, store, queue, roster, fanOut, levels, liquidity, bondDemands, recovery } = deps;
  const { clock, random, log, metrics } = deps;
  const frames = metrics.counter('firmquote_venue_link_frames_total', 'Frames from solvers', { kind: KINDS });
  const floods = metrics.counter(
    'firmquote_venue_link_floods_total',
    'Connections of solvers closed because of too many frames',
    { kind: [...new Set(KINDS.map(limitOf))] },
  );
  const hellos = createBuckets(clock, HELLOS);

  liquidity.onRevoked((chainId, account, operator) => {
    for (const session of [...roster.entries()].flatMap(({ sessions }) => sessions)) {
      const mine = session.accounts.get(chainId);
      if (mine?.account !== account || mine.operator !== operator) continue;
      roster.leave(session, 'operator revoked on chain');
      session.end(1008, 'operator revoked on chain');
    }
  });

  function open(socket: Socket, key: ApiKey): SocketListener {
    const nonce = random.bytes32();
    const solverId = key.solverId ?? '';
    let session: SolverSession | undefined;
    let greeting = false;
    let closed = false;
    let missed = 0;
    let warned = false;
    const limits = new Map<string, () => boolean>();
    let spareAnswers = SPARE_ANSWERS;
    const mayHint = frameLimit(clock, FILL_HINTS_PER_SECOND);
    let resyncing = false;
    let resyncAgain = false;
    let cancelResync = () => {};
    const accounts = new Map<number, { account: Address; operator: Address }>();
    let cancelTimer = clock.after(HANDSHAKE_MS, () =>
      refuse('handshake_timeout', 'No proof of identity came in time.'),
    );

    function push(text: string | Buffer) {
      if (socket.bufferedBytes() > MAX_BUFFERED_BYTES) socket.terminate();
      else socket.send(text);
    }
    const say = (message: FromVenue) => socket.send(JSON.stringify(message));
    const ours = [...chains.values()].filter(({ chain }) => tradesOn(chain, key.mode));

    function refuse(code: string, message: string) {
      if (closed) return;
      closed = true;
      log.warn({ solver: solverId, code }, 'solver refused');
      say({ type: 'refused', code, message });
      socket.close(1008, code);
    }

    async function greet(hello: Hello) {
      if (hello.solverId !== solverId) return refuse('wrong_solver', 'This key belongs to another solver.');
      if (hello.protocolVersion !== LINK_PROTOCOL_VERSION)
        return refuse('protocol_version', `This venue speaks version ${LINK_PROTOCOL_VERSION} of the link.`);
      if (new Set(hello.accounts.map(({ chainId }) => chainId)).size < hello.accounts.length)
        return refuse('duplicate_chain', 'A hello names one account per chain, and this one names several.');
      const shadow = hello.shadow === true;
      if (shadow && !shadows)
        return refuse(
          'no_shadows',
          'This venue shows its requests to no solver that signs nothing. Say hello without shadow.',
        );
      for (const { chainId, account, operator, signature } of shadow ? [] : hello.accounts) {
        const port = ours.find(({ chain }) => chain.id === chainId);
        if (!port) continue;
        const digest = linkProofDigest(
          { chainId, escrow: port.chain.escrow },
          { nonce, venueId, solverId, account },
        );
        if (recovery.recover(digest, signature) !== operator)
          return refuse(
            'bad_proof',
            `The proof for chain ${chainId} is not signed by the operator it names.`,
          );
        if (await liquidity.watch(chainId, account, operator)) accounts.set(chainId, { account, operator });
        if (closed) return unfollow();
      }
      if (accounts.size === 0 && !shadow)
        return refuse(
          'not_operator',
          'This operator may sign for its account on no chain of this key. Register it with setOperator on the escrow.',
        );
      session = {
        solverId,
        replica: hello.replica,
        shadow,
        mode: key.mode,
        accounts,
        corridors: hello.corridors.filter(
          (corridor) =>
            parseCorridor(
              corridor,
              ours.map(({ chain }) => chain),
            ) !== undefined,
        ),
        maxInFlight: hello.maxInFlight,
        // It is asked only after it reported `active`.
        status: 'standby',
        note: null,
        inFlight: 0,
        readsInTime: () => socket.bufferedBytes() < BUSY_BYTES,
        send(text) {
          spareAnswers = Math.min(spareAnswers + ANSWERS_PER_REQUEST, MAX_SPARE_ANSWERS);
          push(text);
        },
        notify: push,
        end: (code, reason) => socket.close(code, reason),
      };
      if (!roster.join(session))
        return refuse(
          'not_on_roster',
          'This solver is not on the roster, or has been disabled by the venue.',
        );
      cancelTimer();
      if (!shadow)
        store
          .putSolverAccounts(
            solverId,
            [...accounts].map(([chainId, { account }]) => ({ chainId, account })),
          )
          .catch((error: unknown) =>
            log.warn({ solver: solverId, error }, "a solver's accounts could not be stored"),
          );
      say({
        type: 'welcome',
        sessionId: random.bytes32().slice(2, 34),
        heartbeatSeconds: LINK_HEARTBEAT_SECONDS,
        ...(bondDemands.length > 0 && {
          minBond: bondDemands.map(({ amount, ...where }) => ({ ...where, amount: amount.toString() })),
        }),
      });
      cancelTimer = clock.after(LINK_HEARTBEAT_SECONDS * 1_000, beat);
    }

    function unfollow() {
      for (const [chainId, { account }] of accounts) liquidity.unwatch(chainId, account);
      accounts.clear();
    }

    function mayRead(kind: string): boolean {
      const limit = limits.get(kind) ?? frameLimit(clock, FRAMES_PER_SECOND[kind] ?? OTHER_FRAMES_PER_SECOND);
      limits.set(kind, limit);
      return limit() && (kind !== 'answer' || spareAnswers-- > 0);
    }

    function endFlood(kind: string) {
      closed = true;
      const reason = `too many frames: ${kind}`;
      floods.add({ kind });
      log.warn({ solver: solverId, kind }, 'a solver sent too many frames');
      roster.recordFault(solverId, 'invalid');
      if (session) roster.leave(session, reason);
      socket.close(1008, reason);
    }

    function beat() {
      if (closed) return;
      if (missed >= LINK_MISSED_HEARTBEATS) {
        if (session) roster.leave(session, 'heartbeat lost');
        socket.terminate();
        return;
      }
      missed++;
      say({ type: 'ping' });
      cancelTimer = clock.after(LINK_HEARTBEAT_SECONDS * 1_000, beat);
    }

    function handle(message: FromSolver) {
      if (message.type === 'ping') return say({ type: 'pong' });
      if (message.type === 'pong') return;
      if (!session) {
        if (message.type !== 'hello' || greeting) return refuse('hello_first', 'Say hello first, once.');
        greeting = true;
        if (!hellos.take(solverId).ok)
          return refuse('try_later', 'This solver says hello too often. Pause longer between connections.');
        void greet(message).catch((error: unknown) => {
          log.warn({ solver: solverId, error }, 'a solver could not be verified');
          refuse('try_later', 'The chain could not be asked about this operator. Try again shortly.');
        });
        return;
      }
      // No account backs what it says, and its status is always standby.
      if (session.shadow) return;
      switch (message.type) {
        case 'status':
          return roster.setStatus(session, message.status, message.note);
        case 'quote':
        case 'partial':
        case 'decline':
        case 'commit':
          return fanOut.receive(session, message);
        case 'levels':
          // Other rejected ladders are only counted.
          if (levels.accept(session, message) === 'broken') roster.recordFault(solverId, 'invalid');
          return;
        case 'fill':
          return wake(message.orderId);
        case 'resync':
          return resyncSoon(session);
        case 'hello':
          return refuse('hello_once', 'This connection has proven its identity already.');
      }
    }

    /** Only a hint: the worker reads the chain. */
    function wake(orderId: string) {
      if (isBytes32(orderId) && mayHint()) queue.wake(ORDERS_TOPIC, orderId).catch(() => {});
    }

    function resyncSoon(to: SolverSession) {
      if (resyncing) return void (resyncAgain = true);
      resyncing = true;
      resyncAgain = false;
      resync(to)
        .catch((error: unknown) => log.warn({ solver: solverId, error }, 'a resync could not be answered'))
        .finally(() => {
          if (closed) return;
          cancelResync = clock.after(RESYNC_EVERY_MS, () => {
            resyncing = false;
            if (resyncAgain) resyncSoon(to);
          });
        });
    }

    async function resync(to: SolverSession) {
      let piece: Omit<Award, 'type'>[] = [];
      let chars = 0;
      const flush = () => {
        to.send(JSON.stringify({ type: 'resync', awards: piece }));
        piece = [];
        chars = 0;
      };
      for (const record of await store.openOrdersOf(solverId)) {
        if (record.mode !== key.mode) continue;
        const { type: _, ...award } = awardOf(record, solverId);
        const size = JSON.stringify(award).length;
        if (chars + size > RESYNC_PIECE_CHARS && piece.length > 0) flush();
        piece.push(award);
        chars += size;
      }
      flush();
    }

    say({
      type: 'challenge',
      nonce,
      venueId,
      protocolVersion: LINK_PROTOCOL_VERSION,
      chains: ours.map(({ chain }) => ({
        chainId: chain.id,
        slug: chain.slug,
        escrow: chain.escrow,
        oracle: chain.oracle,
        ...(chain.quoteBond && { quoteBond: chain.quoteBond }),
      })),
    });

    return {
      message(text) {
        if (closed) return;
        missed = 0;
        const read = readFromSolver(text);
        const type = read.ok ? read.message.type : read.kind;
        const kind = limitOf(type);
        if (!mayRead(kind)) return endFlood(kind);
        frames.add({ kind: type });
        if (read.ok) return handle(read.message);
        if (read.kind === 'invalid') {
          roster.recordFault(solverId, 'invalid');
          if (!session) return refuse('invalid', 'That is not a message of the link.');
          if (read.broken) fanOut.rejectBroken(session, read.broken);
        }
        if (!warned)
          log.warn(
            { solver: solverId, kind: read.kind, detail: read.detail },
            'a frame was ignored; further ones are only counted',
          );
        warned = true;
      },
      pong: () => void (missed = 0),
      closed() {
        closed = true;
        cancelTimer();
        cancelResync();
        unfollow();
        if (!session) return;
        roster.leave(session, 'disconnected');
        fanOut.forget(session);
        levels.forget(session);
      },
    };
  }

  return {
    path: LINK_PATH,
    keyKinds: ['solver'],
    maxPayloadBytes: LINK_MAX_PAYLOAD_BYTES,
    maxPerKey: 8,
    open,
  };
}
