/**
 * One venue's conversation: proves who we are, answers what it asks, believes nothing it says that a chain
 * could say better.
 */

import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Link } from '../../ports/link.ts';
import type { Log } from '../../ports/log.ts';
import type { Signer } from '../../ports/signer.ts';
import {
  LINK_HEARTBEAT_SECONDS,
  LINK_MISSED_HEARTBEATS,
  LINK_PROTOCOL_VERSION,
  type FromSolver,
  type FromVenue,
  type LinkMessage,
  readFromVenue,
  type Rfq,
  type SliceRequest,
} from '../../protocol/link/link.ts';
import { linkProofDigest } from '../../protocol/link/link-proof.ts';
import type { Awards } from '../settlement/awards.ts';
import type { LpConfig } from '../config/config.ts';
import type { Desk } from './quoting-config.ts';
import type { LpMetrics } from '../metrics.ts';
import { decline } from './quote.ts';
import type { LpChain } from './route.ts';

export interface Session {
  start(): void;
  /** Tells the venue how we are; also right after `welcome`. */
  status(): void;
  tell(orderId: Bytes32, stage: string, txHash: Hex | null): void;
  /** Indicative prices; false when nobody is there to hear. */
  levels(message: LinkMessage<'levels', FromSolver>): boolean;
  /** Says hello anew: what it said of our corridors is not true any more. */
  renew(reason: string): void;
  readonly welcome: boolean;
  readonly name: string;
  stop(): Promise<void>;
}

export interface SessionDeps {
  link: Link;
  clock: Clock;
  log: Log;
  metrics: LpMetrics;
  signer: Signer;
  /** The one in force; another from one request to the next. */
  desk(): Desk;
  awards: Awards;
  chains: ReadonlyMap<number, LpChain>;
  state(): { status: 'active' | 'standby'; note: string | null };
  /** Something was awarded: look at it now. */
  awarded(): void;
  /** It knows who we are from now on. */
  welcomed(): void;
  /** Its name among several replicas. */
  replica?: string | undefined;
  /** The venue says that these can no longer execute: the taker took another quote of the same request. */
  released(quoteIds: readonly Bytes32[]): void;
}

/**
 * A request that has waited for more than this share of its time gets no answer that could still be in time.
 */
const IN_TIME = 0.8;

export function createSession(deps: SessionDeps, { solver }: Pick<LpConfig, 'solver'>): Session {
  const { link, clock, metrics } = deps;
  const log = deps.log.child({ venue: link.name });
  const warned = new Set<string>();
  let welcome = false;
  let heardMs = 0;
  let stopped = false;
  let cancelBeat = () => {};
  let inFlight = 0;

  const send = (message: FromSolver): boolean => link.send(JSON.stringify(message));

  async function challenged({
    nonce,
    venueId,
    protocolVersion,
    chains,
  }: LinkMessage<'challenge', FromVenue>): Promise<void> {
    if (protocolVersion !== LINK_PROTOCOL_VERSION)
      return link.reconnect(
        `the venue speaks protocol ${protocolVersion}, we speak ${LINK_PROTOCOL_VERSION}`,
      );
    const accounts: LinkMessage<'hello', FromSolver>['accounts'] = [];
    for (const { chainId, escrow, oracle } of chains) {
      const ours = deps.chains.get(chainId);
      if (ours === undefined) continue;
      // A venue on another escrow would have us sign promises that our money does not stand behind.
      if (ours.chain.escrow !== escrow || ours.chain.oracle !== oracle) {
        log.error(
          { chainId, escrow, oracle },
          'the venue names another escrow or oracle than our configuration: this chain is left out',
        );
        continue;
      }
      const account: Address = ours.config.account;
      accounts.push({
        chainId,
        account,
        operator: deps.signer.address,
        signature: await deps.signer.sign(
          linkProofDigest({ chainId, escrow }, { nonce, venueId, solverId: solver.id, account }),
        ),
      });
    }
    if (accounts.length === 0) return link.reconnect('the venue and this LP have no chain in common');
    const { routes, config } = deps.desk();
    send({
      type: 'hello',
      solverId: solver.id,
      ...(deps.replica !== undefined && { replica: deps.replica }),
      kind: solver.kind,
      name: solver.name,
      accounts,
      corridors: [...routes.corridors],
      maxInFlight: config.quoting.maxInFlight,
      protocolVersion: LINK_PROTOCOL_VERSION,
    });
  }

  function beat(heartbeatSeconds: number): void {
    cancelBeat = clock.after(heartbeatSeconds * 1000, () => {
      if (clock.monotonicMs() - heardMs > LINK_MISSED_HEARTBEATS * heartbeatSeconds * 1000)
        return link.reconnect('the venue fell silent');
      send({ type: 'ping' });
      beat(heartbeatSeconds);
    });
  }

  /** The venue has gone on without us; it hears why, and nothing is held or signed for it. */
  function tooLate(question: Rfq | SliceRequest, quoteId?: Bytes32): void {
    metrics.late.add();
    send(decline(question, { declined: 'limit' }, quoteId));
  }

  const asked = answering(
    (rfq: Rfq) => deps.desk().quoter.answer(rfq),
    (rfq, answers, tookMs) => {
      // Too late is worth nothing to the venue; the hold stays, for a signature that nobody has would be
      // worse assumed dead.
      if (tookMs > rfq.deadlineMs) tooLate(rfq);
      else for (const answer of answers) link.send(JSON.stringify(answer));
      metrics.quoteSeconds.observe(tookMs / 1000);
      const [first] = answers;
      if (first?.type === 'quote') metrics.quotes.add({}, answers.length);
      metrics.answers.add(first?.type === 'quote' ? QUOTE : first?.type === 'partial' ? PARTIAL : DECLINE);
      if (first?.type === 'decline') metrics.declines.add({ reason: first.reason });
    },
    (rfq) => [decline(rfq, { declined: 'internal' })],
  );

  const sliced = answering(
    (slice: SliceRequest) => deps.desk().slicer.answer(slice),
    (_, answer) => {
      send(answer);
      metrics.slices.add({ kind: answer.type });
    },
    (slice) => decline(slice, { declined: 'internal' }, slice.quoteId),
  );

  /**
   * Whatever goes wrong inside, the venue gets an answer and the link lives. Made once: nothing is allocated
   * for a question.
   */
  function answering<Q, A>(
    work: (question: Q) => A | Promise<A>,
    done: (question: Q, answer: A, tookMs: number) => void,
    failed: (question: Q) => A,
  ): (question: Q) => void {
    const broke = (question: Q, error: unknown): void => {
      log.fatal({ error }, 'answering failed');
      done(question, failed(question), 0);
    };
    const later = async (question: Q, answer: Promise<A>, startedMs: number): Promise<void> => {
      inFlight += 1;
      try {
        const said = await answer;
        done(question, said, clock.monotonicMs() - startedMs);
      } catch (error) {
        broke(question, error);
      } finally {
        inFlight -= 1;
      }
    };
    return (question) => {
      // The frame that asks was heard a moment ago.
      const startedMs = heardMs;
      try {
        const answer = work(question);
        if (answer instanceof Promise) void later(question, answer, startedMs);
        else done(question, answer, clock.monotonicMs() - startedMs);
      } catch (error) {
        broke(question, error);
      }
    };
  }

  function frame(text: string, waitedMs: number): void {
    heardMs = clock.monotonicMs();
    const read = readFromVenue(text);
    if (!read.ok) {
      metrics.frames.add({ kind: read.kind });
      if (warned.size < 100 && !warned.has(read.detail))
        log.warn(
          { detail: read.detail },
          read.kind === 'invalid'
            ? 'a frame that breaks the protocol was ignored'
            : 'frames of an unknown type are ignored',
        );
      warned.add(read.detail);
      return;
    }
    const { message } = read;
    switch (message.type) {
      case 'rfq':
        return waitedMs < message.deadlineMs * IN_TIME ? asked(message) : tooLate(message);
      case 'slice':
        return waitedMs < message.deadlineMs * IN_TIME ? sliced(message) : tooLate(message, message.quoteId);
      case 'ping':
        return void send({ type: 'pong' });
      case 'challenge':
        return void challenged(message).catch((error: unknown) =>
          link.reconnect(error instanceof Error ? error.message : 'the proof could not be signed'),
        );
      case 'welcome':
        welcome = true;
        log.info({ session: message.sessionId }, 'welcome at the venue');
        cancelBeat();
        beat(message.heartbeatSeconds || LINK_HEARTBEAT_SECONDS);
        send({ type: 'status', ...deps.state() });
        send({ type: 'resync' });
        deps.welcomed();
        return;
      case 'refused':
        log.error({ code: message.code, reason: message.message }, 'the venue refused us');
        return link.reconnect(`refused: ${message.code}`);
      case 'award':
        deps.awards.take(message);
        return deps.awarded();
      case 'resync':
        for (const award of message.awards) deps.awards.take(award);
        return deps.awarded();
      // The chain says it too, and is believed; so does the end of a hold. As hints these two make us look
      // sooner, no more.
      case 'order':
        return deps.awarded();
      case 'released':
        if (message.proof === 'nonce_used') deps.released(message.quoteIds);
        return;
      case 'pong':
        return;
    }
  }

  return {
    name: link.name,
    get welcome() {
      return welcome;
    },
    start() {
      link.start({
        opened: () => (heardMs = clock.monotonicMs()),
        frame,
        closed() {
          welcome = false;
          cancelBeat();
        },
      });
    },
    status() {
      if (welcome) send({ type: 'status', ...deps.state() });
    },
    tell(orderId, stage, txHash) {
      if (welcome) send({ type: 'fill', orderId, stage, txHash });
    },
    levels: (message) => welcome && send(message),
    renew(reason) {
      if (welcome) link.reconnect(reason);
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      // Signatures under way leave before the door closes; a second is plenty for any signer.
      for (let waited = 0; inFlight > 0 && waited < 1_000; waited += 20)
        await new Promise<void>((resolve) => clock.after(20, resolve));
      cancelBeat();
      await link.stop();
      cancelBeat();
    },
  };
}

const QUOTE = { kind: 'quote' };
const PARTIAL = { kind: 'partial' };
const DECLINE = { kind: 'decline' };
