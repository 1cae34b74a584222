/** The session with one venue: authenticates, answers its requests, and passes awards on. */

import type { Address, Bytes32, Hex } from '../../../domain/hex.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Link } from '../../../ports/link.ts';
import type { Log } from '../../../ports/log.ts';
import type { Signer } from '../../../ports/signer.ts';
import { requestSpan, type Tracer } from '../../../ports/tracer.ts';
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
} from '../../../protocol/link/link.ts';
import { linkProofMessage } from '../../../protocol/link/link-proof.ts';
import { fullBucket, takeToken } from '../../../risk/rate.ts';
import type { BondDemand } from '../../../domain/bond.ts';
import type { Awards } from '../../settlement/awards.ts';
import type { LpConfig } from '../../config/config.ts';
import type { QuotingSnapshot } from '../quoting-snapshot.ts';
import type { LpMetrics } from '../../metrics.ts';
import { declineMessage } from '../decline.ts';
import type { LpAnswer } from '../quote.ts';
import type { LpChain } from '../../routes/route.ts';

export interface VenueSessionDeps {
  link: Link;
  clock: Clock;
  log: Log;
  tracer?: Tracer | undefined;
  metrics: LpMetrics;
  /** Absent in shadow mode. */
  signer: Signer | undefined;
  quoting(): QuotingSnapshot;
  awards: Awards;
  chains: ReadonlyMap<number, LpChain>;
  status(): { status: 'active' | 'standby'; note: string | null };
  advanceAwards(): void;
  welcomed(minBond: readonly BondDemand[]): void;
  replica?: string | undefined;
  /** In shadow mode, takes in that a request was traded at another solver's quote. */
  outcome(told: LinkMessage<'outcome'>): void;
  tradedElsewhere(quoteIds: readonly Bytes32[]): void;
  /** true when other venues are served too. */
  shares?: boolean;
}

/**
 * A request that has waited longer than this share of its deadline is declined, because an answer would be
 * late. A key service has the same share of it to sign.
 */
const IN_TIME = 0.8;
/** Each connection logs at most this many warnings. */
const MAX_WARNINGS = 20;
const MAX_WARNING_CHARS = 200;
/** Frames that ask for no quote, an award counting as one frame. A venue beyond it is disconnected. */
const NOTICES = { perSecond: 2_000, burst: 10_000 };
/** More requests in progress than this many times our `maxInFlight` are declined. */
const IN_FLIGHT_SLACK = 2;
/** A longer timer would overflow and fire immediately. */
const MAX_HEARTBEAT_SECONDS = 60;
const ORDER_TYPES: ReadonlySet<string> = new Set(['slice', 'award', 'resync', 'order', 'released']);
const STOP_WAIT_MS = 1_000;
const STOP_POLL_MS = 20;

/** Links with one configured venue id are replicas of one venue: they share its budget and its takers. */
export const venueOf = ({ venueId, name }: Pick<Link, 'venueId' | 'name'>): string => venueId ?? name;

export function createVenueSession(deps: VenueSessionDeps, { solver }: Pick<LpConfig, 'solver'>) {
  const { link, clock, metrics, signer } = deps;
  const log = deps.log.child({ venue: link.name });
  /** Names the venue in its request, where the LP serves several. */
  const withVenue = <T extends object>(request: T): T & { venue?: string } =>
    deps.shares === true ? { ...request, venue: venueOf(link) } : request;
  const warned = new Set<string>();
  let welcome = false;
  let challenged = false;
  let notices = fullBucket(NOTICES, 0);
  let lastFrameMs = 0;
  let rejectionMs = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let cancelHeartbeat = () => {};
  let inFlight = 0;

  const send = (message: FromSolver): boolean => link.send(JSON.stringify(message));
  const sendStatus = (): void => void (welcome && signer && send({ type: 'status', ...deps.status() }));

  /** Proves that we own the operator key of each account, on the chains that the venue shares with us. */
  async function sendHello({
    nonce,
    venueId,
    protocolVersion,
    chains,
  }: LinkMessage<'challenge', FromVenue>): Promise<void> {
    if (protocolVersion !== LINK_PROTOCOL_VERSION)
      return link.reconnect(
        `the venue speaks protocol ${protocolVersion}, we speak ${LINK_PROTOCOL_VERSION}`,
      );
    // A proof for another venue could be used there in our name.
    if (link.venueId !== undefined && venueId !== link.venueId) {
      log.error(
        { venueId, expected: link.venueId },
        'the venue names another id than our configuration: no proof is signed',
      );
      return link.reconnect('the venue names another id than our configuration');
    }
    const ours = chains.flatMap(({ chainId, escrow, oracle }) => {
      const own = deps.chains.get(chainId);
      if (own === undefined) return [];
      // Quotes for another escrow would not be backed by our inventory.
      if (own.chain.escrow === escrow && own.chain.oracle === oracle)
        return [{ chainId, escrow, account: own.config.account }];
      log.error(
        { chainId, escrow, oracle },
        'the venue names another escrow or oracle than our configuration: this chain is left out',
      );
      return [];
    });
    if (ours.length === 0) return link.reconnect('the venue and this LP have no chain in common');
    const accounts = signer === undefined ? [] : await proofs(signer, ours, { nonce, venueId });
    const { routes, config } = deps.quoting();
    send({
      type: 'hello',
      solverId: solver.id,
      ...(deps.replica !== undefined && { replica: deps.replica }),
      ...(signer === undefined && { shadow: true }),
      kind: solver.kind,
      name: solver.name,
      accounts,
      corridors: [...routes.corridors],
      maxInFlight: config.quoting.maxInFlight,
      protocolVersion: LINK_PROTOCOL_VERSION,
    });
  }

  const proofs = (
    by: Signer,
    ours: readonly { chainId: number; escrow: Address; account: Address }[],
    of: { nonce: Bytes32; venueId: string },
  ) =>
    Promise.all(
      ours.map(async ({ chainId, escrow, account }) => ({
        chainId,
        account,
        operator: by.address,
        signature: await by.sign(
          linkProofMessage({ chainId, escrow }, { ...of, solverId: solver.id, account }),
        ),
      })),
    );

  function scheduleHeartbeat(heartbeatSeconds: number): void {
    cancelHeartbeat = clock.after(heartbeatSeconds * 1000, () => {
      if (clock.monotonicMs() - lastFrameMs > LINK_MISSED_HEARTBEATS * heartbeatSeconds * 1000)
        return link.reconnect('the venue fell silent');
      send({ type: 'ping' });
      scheduleHeartbeat(heartbeatSeconds);
    });
  }

  /** Declines what is late, or more than we take. */
  function decline(question: Rfq | SliceRequest, code: 'late' | 'busy', quoteId?: Bytes32): void {
    metrics.late.add();
    send({ ...declineMessage(question, { declined: 'limit' }, quoteId), code });
  }

  function whyNotAnswered(
    { deadlineMs }: Rfq | SliceRequest,
    { config }: QuotingSnapshot,
    waitedMs: number,
  ): 'late' | 'busy' | undefined {
    if (waitedMs >= deadlineMs * IN_TIME) return 'late';
    return inFlight >= IN_FLIGHT_SLACK * config.quoting.maxInFlight ? 'busy' : undefined;
  }

  function isFlood(frames: number): boolean {
    while (frames > 0 && takeToken(notices, lastFrameMs, NOTICES)) frames -= 1;
    if (frames > 0) {
      metrics.floods.add({ venue: link.name });
      link.reconnect('the venue sends more than we can take');
    }
    return frames > 0;
  }

  /** `receivedMs`: when the frame arrived, before it waited for its turn. */
  async function answerRfq(rfq: Rfq, { quotes, routes }: QuotingSnapshot, receivedMs: number): Promise<void> {
    // `handleQuoteRequest` finds it too; here it only names the pair in metrics.
    const pair = routes.find(rfq.input, rfq.output)?.pairName ?? 'none';
    inFlight += 1;
    try {
      const answers = await quotes.handleQuoteRequest(withVenue(rfq), receivedMs + rfq.deadlineMs * IN_TIME);
      sendAnswers(rfq, answers, pair, receivedMs);
    } catch (error) {
      log.fatal({ error }, 'answering a quote request failed');
      sendAnswers(rfq, [declineMessage(rfq, { declined: 'internal' })], pair, receivedMs);
    } finally {
      inFlight -= 1;
    }
  }

  function sendAnswers(rfq: Rfq, answers: readonly LpAnswer[], pair: string, receivedMs: number): void {
    const tookMs = clock.monotonicMs() - receivedMs;
    // The hold of a quote that was not sent stays until it expires: its signature exists.
    if (tookMs > rfq.deadlineMs) decline(rfq, 'late');
    else for (const answer of answers) send(answer);
    metrics.quoteSeconds.observe(tookMs / 1000);
    const [first] = answers;
    recordSpan(rfq, tookMs, first);
    if (first === undefined) return;
    metrics.answers.add({ kind: first.type });
    if (first.type === 'quote') metrics.quotes.add({ pair }, answers.length);
    if (first.type === 'decline') metrics.declines.add({ reason: first.reason, pair });
  }

  function recordSpan({ rfqId }: Rfq, tookMs: number, answer: LpAnswer | undefined): void {
    const parent = requestSpan(rfqId);
    if (parent === undefined) return;
    const endMs = clock.nowMs();
    deps.tracer?.record({
      name: 'LP answers',
      ...{ parent, startMs: endMs - tookMs, endMs },
      attributes: {
        'firmquote.answer': answer?.type ?? 'none',
        ...(answer?.type === 'quote' && { 'firmquote.quote_id': answer.quoteId }),
        ...(answer?.type === 'decline' && { 'firmquote.reason': answer.reason }),
      },
    });
  }

  async function answerSlice(
    slice: SliceRequest,
    { slices }: QuotingSnapshot,
    receivedMs: number,
  ): Promise<void> {
    inFlight += 1;
    try {
      const answer = await slices.handleSlice(withVenue(slice), receivedMs + slice.deadlineMs * IN_TIME);
      send(answer);
      metrics.slices.add({ kind: answer.type });
    } catch (error) {
      log.fatal({ error }, 'answering a slice failed');
      send(declineMessage(slice, { declined: 'internal' }, slice.quoteId));
      metrics.slices.add({ kind: 'decline' });
    } finally {
      inFlight -= 1;
    }
  }

  function receiveFrame(text: string, waitedMs: number): void {
    lastFrameMs = clock.monotonicMs();
    const read = readFromVenue(text);
    if (!read.ok) return isFlood(1) ? undefined : warnOnce(read);
    const { message } = read;
    if (message.type !== 'rfq' && message.type !== 'slice')
      if (isFlood(message.type === 'resync' ? 1 + message.awards.length : 1)) return;
    // Orders are the business of an LP that signs.
    if (signer === undefined && ORDER_TYPES.has(message.type)) return;
    switch (message.type) {
      case 'rfq': {
        const quoting = deps.quoting();
        const why = whyNotAnswered(message, quoting, waitedMs);
        return why ? decline(message, why) : void answerRfq(message, quoting, lastFrameMs - waitedMs);
      }
      case 'slice': {
        const quoting = deps.quoting();
        const why = whyNotAnswered(message, quoting, waitedMs);
        return why
          ? decline(message, why, message.quoteId)
          : void answerSlice(message, quoting, lastFrameMs - waitedMs);
      }
      case 'ping':
        return void send({ type: 'pong' });
      case 'challenge':
        // Each costs a signature for every chain.
        if (challenged) return link.reconnect('the venue sent a second challenge');
        challenged = true;
        return void sendHello(message).catch((error: unknown) =>
          link.reconnect(error instanceof Error ? error.message : 'the proof could not be signed'),
        );
      case 'welcome':
        if (welcome) return link.reconnect('the venue welcomed us twice');
        welcome = true;
        log.info({ session: message.sessionId }, 'session with the venue established');
        cancelHeartbeat();
        scheduleHeartbeat(
          Math.min(MAX_HEARTBEAT_SECONDS, Math.max(1, message.heartbeatSeconds || LINK_HEARTBEAT_SECONDS)),
        );
        sendStatus();
        if (signer !== undefined) send({ type: 'resync' });
        return deps.welcomed(
          (message.minBond ?? []).map(({ amount, ...where }) => ({ ...where, amount: BigInt(amount) })),
        );
      case 'refused':
        log.error(
          { code: brief(message.code), reason: brief(message.message) },
          'the venue refused our session',
        );
        return link.reconnect(`refused: ${brief(message.code)}`);
      case 'award':
        takeAward(message);
        return deps.advanceAwards();
      case 'resync':
        for (const award of message.awards) takeAward(award);
        return deps.advanceAwards();
      // A hint: the chain decides what happened to the order, this only makes us read it sooner.
      case 'order':
        return deps.advanceAwards();
      // For taker statistics alone. It does not free the hold: that follows from the chain or the deadline.
      case 'released':
        if (message.proof === 'nonce_used') deps.tradedElsewhere(message.quoteIds);
        return;
      case 'rejected':
        return warnOfRejection(message);
      case 'outcome':
        return deps.outcome(message);
      case 'pong':
        return;
    }
  }

  /** Logs at most one rejection a second, whatever the venue sends. */
  function warnOfRejection({ code, message, field }: LinkMessage<'rejected', FromVenue>): void {
    if (clock.monotonicMs() - rejectionMs < 1_000) return;
    rejectionMs = clock.monotonicMs();
    log.warn(
      { code: brief(code), field: brief(field), reason: brief(message) },
      'the venue rejected an answer of ours',
    );
  }

  function takeAward(award: Parameters<Awards['take']>[0]): void {
    const answer = deps.awards.take(award);
    if (answer === 'malformed')
      warnOnce({ kind: 'invalid', detail: 'award: its order does not name this LP' });
    if (answer === 'not_ours') warnOnce({ kind: 'invalid', detail: 'award: not a quote of this LP' });
  }

  function warnOnce(
    broken: Pick<Extract<ReturnType<typeof readFromVenue>, { ok: false }>, 'kind' | 'detail'>,
  ): void {
    const { kind } = broken;
    const detail = brief(broken.detail);
    metrics.frames.add({ kind });
    if (warned.size >= MAX_WARNINGS || warned.has(detail)) return;
    warned.add(detail);
    log.warn(
      { detail },
      kind === 'invalid' ? 'ignored a frame that breaks the protocol' : 'ignored a frame of an unknown type',
    );
  }

  return {
    name: link.name,
    load: link.load,
    get welcome() {
      return welcome;
    },
    start() {
      link.start({
        opened() {
          lastFrameMs = clock.monotonicMs();
          notices = fullBucket(NOTICES, lastFrameMs);
          challenged = false;
          warned.clear();
        },
        frame: receiveFrame,
        closed() {
          welcome = false;
          cancelHeartbeat();
        },
      });
    },
    sendStatus,
    sendFill(orderId: Bytes32, stage: string, txHash: Hex | null) {
      if (welcome) send({ type: 'fill', orderId, stage, txHash });
    },
    /** Sends indicative prices; false when the session is not established. */
    sendLevels: (message: LinkMessage<'levels', FromSolver>) => welcome && send(message),
    renew(reason: string) {
      if (welcome) link.reconnect(reason);
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      for (let waitedMs = 0; inFlight > 0 && waitedMs < STOP_WAIT_MS; waitedMs += STOP_POLL_MS)
        await new Promise<void>((resolve) => clock.after(STOP_POLL_MS, resolve));
      cancelHeartbeat();
      await link.stop();
      cancelHeartbeat();
    },
  };
}

const brief = (text: string): string => text.slice(0, MAX_WARNING_CHARS);
