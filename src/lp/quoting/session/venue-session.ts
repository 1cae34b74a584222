/** The session with one venue: authenticates, answers its requests, and passes awards on. */

import type { Bytes32, Hex } from '../../../domain/hex.ts';
import type { LinkLoad } from '../../../ports/link.ts';
import {
  type FromSolver,
  type FromVenue,
  LINK_HEARTBEAT_SECONDS,
  LINK_MISSED_HEARTBEATS,
  type LinkMessage,
  readFromVenue,
} from '../../../protocol/link/link.ts';
import { fullBucket, takeToken } from '../../../risk/rate.ts';
import type { LpConfig } from '../../config/config.ts';
import type { Awards } from '../../settlement/awards.ts';
import { takeRequest } from './request-answers.ts';
import { sendHello } from './hello.ts';
import { sendToVenue, type SessionDeps, type SessionState, type VenueSessionDeps } from './session-state.ts';

export interface VenueSession {
  readonly name: string;
  /** true while the session is established. */
  readonly welcome: boolean;
  load(): LinkLoad;
  /** Connects, and connects again until `stop`. Call once. */
  start(): void;
  /** Sends our status, once the session is established. */
  sendStatus(): void;
  /** Tells the venue how far an order is, while the session is established. */
  sendFill(orderId: Bytes32, stage: string, txHash: Hex | null): void;
  /** Sends indicative prices; false when the session is not established. */
  sendLevels(message: LinkMessage<'levels', FromSolver>): boolean;
  /** Reconnects an established session, so that the venue learns what we offer now. */
  renew(reason: string): void;
  /** Waits up to a second for answers in progress, and disconnects. */
  stop(): Promise<void>;
}

/** A frame that could not be read. */
interface UnreadableFrame {
  kind: 'invalid' | 'unknown_type';
  detail: string;
}

/** Each connection logs at most this many warnings. */
const MAX_WARNINGS = 20;
const MAX_WARNING_CHARS = 200;
/** Frames that ask for no quote, an award counting as one frame. A venue beyond it is disconnected. */
const NOTICES = { perSecond: 2_000, burst: 10_000 };
/** A longer timer would overflow and fire immediately. */
const MAX_HEARTBEAT_SECONDS = 60;
const ORDER_TYPES: ReadonlySet<string> = new Set(['slice', 'award', 'resync', 'order', 'released']);
const STOP_WAIT_MS = 1_000;
const STOP_POLL_MS = 20;

export function createVenueSession(
  given: VenueSessionDeps,
  { solver }: Pick<LpConfig, 'solver'>,
): VenueSession {
  const { link } = given;
  const deps: SessionDeps = { ...given, solver, log: given.log.child({ venue: link.name }) };
  const state: SessionState = {
    welcome: false,
    challenged: false,
    notices: fullBucket(NOTICES, 0),
    lastFrameMs: 0,
    rejectionMs: Number.NEGATIVE_INFINITY,
    warned: new Set(),
    inFlight: 0,
    stopped: false,
    cancelHeartbeat: () => {},
  };
  return {
    name: link.name,
    load: link.load,
    get welcome() {
      return state.welcome;
    },
    start: () =>
      link.start({
        opened: () => opened(deps, state),
        frame: (text, waitedMs) => receiveFrame(deps, state, text, waitedMs),
        closed: () => closed(state),
      }),
    sendStatus: () => sendStatus(deps, state),
    sendFill(orderId, stage, txHash) {
      if (state.welcome) sendToVenue(deps, { type: 'fill', orderId, stage, txHash });
    },
    sendLevels: (message) => state.welcome && sendToVenue(deps, message),
    renew(reason) {
      if (state.welcome) link.reconnect(reason);
    },
    stop: () => stop(deps, state),
  };
}

function opened({ clock }: SessionDeps, state: SessionState): void {
  state.lastFrameMs = clock.monotonicMs();
  state.notices = fullBucket(NOTICES, state.lastFrameMs);
  state.challenged = false;
  state.warned.clear();
}

function closed(state: SessionState): void {
  state.welcome = false;
  state.cancelHeartbeat();
}

function receiveFrame(deps: SessionDeps, state: SessionState, text: string, waitedMs: number): void {
  state.lastFrameMs = deps.clock.monotonicMs();
  const read = readFromVenue(text);
  if (!read.ok) return isFlood(deps, state, 1) ? undefined : warnOnce(deps, state, read);
  const { message } = read;
  if (message.type !== 'rfq' && message.type !== 'slice')
    if (isFlood(deps, state, message.type === 'resync' ? 1 + message.awards.length : 1)) return;
  // Orders are the business of an LP that signs.
  if (deps.signer === undefined && ORDER_TYPES.has(message.type)) return;
  handleMessage(deps, state, message, waitedMs);
}

function isFlood({ link, metrics }: SessionDeps, state: SessionState, frames: number): boolean {
  let left = frames;
  while (left > 0 && takeToken(state.notices, state.lastFrameMs, NOTICES)) left -= 1;
  if (left > 0) {
    metrics.floods.add({ venue: link.name });
    link.reconnect('the venue sends more than we can take');
  }
  return left > 0;
}

function handleMessage(deps: SessionDeps, state: SessionState, message: FromVenue, waitedMs: number): void {
  switch (message.type) {
    case 'rfq':
    case 'slice':
      return takeRequest(deps, state, message, waitedMs);
    case 'ping':
      return void sendToVenue(deps, { type: 'pong' });
    case 'challenge':
      return takeChallenge(deps, state, message);
    case 'welcome':
      return takeWelcome(deps, state, message);
    case 'refused':
      deps.log.error(
        { code: brief(message.code), reason: brief(message.message) },
        'the venue refused our session',
      );
      return deps.link.reconnect(`refused: ${brief(message.code)}`);
    case 'award':
      takeAward(deps, state, message);
      return deps.advanceAwards();
    case 'resync':
      for (const award of message.awards) takeAward(deps, state, award);
      return deps.advanceAwards();
    // A hint: the chain decides what happened to the order, this only makes us read it sooner.
    case 'order':
      return deps.advanceAwards();
    // For taker statistics alone. It does not free the hold: that follows from the chain or the deadline.
    case 'released':
      if (message.proof === 'nonce_used') deps.tradedElsewhere(message.quoteIds);
      return;
    case 'rejected':
      return warnOfRejection(deps, state, message);
    case 'outcome':
      return deps.outcome(message);
    case 'pong':
      return;
  }
}

function takeChallenge(
  deps: SessionDeps,
  state: SessionState,
  challenge: LinkMessage<'challenge', FromVenue>,
): void {
  // Each costs a signature for every chain.
  if (state.challenged) return deps.link.reconnect('the venue sent a second challenge');
  state.challenged = true;
  void sendHello(deps, challenge).catch((error: unknown) =>
    deps.link.reconnect(error instanceof Error ? error.message : 'the proof could not be signed'),
  );
}

function takeWelcome(
  deps: SessionDeps,
  state: SessionState,
  { sessionId, heartbeatSeconds, minBond }: LinkMessage<'welcome', FromVenue>,
): void {
  if (state.welcome) return deps.link.reconnect('the venue welcomed us twice');
  state.welcome = true;
  deps.log.info({ session: sessionId }, 'session with the venue established');
  state.cancelHeartbeat();
  scheduleHeartbeat(
    deps,
    state,
    Math.min(MAX_HEARTBEAT_SECONDS, Math.max(1, heartbeatSeconds || LINK_HEARTBEAT_SECONDS)),
  );
  sendStatus(deps, state);
  if (deps.signer !== undefined) sendToVenue(deps, { type: 'resync' });
  deps.welcomed((minBond ?? []).map(({ amount, ...where }) => ({ ...where, amount: BigInt(amount) })));
}

/** Pings the venue, and reconnects when it has sent nothing for several heartbeats. */
function scheduleHeartbeat(deps: SessionDeps, state: SessionState, heartbeatSeconds: number): void {
  const { clock, link } = deps;
  state.cancelHeartbeat = clock.after(heartbeatSeconds * 1000, () => {
    if (clock.monotonicMs() - state.lastFrameMs > LINK_MISSED_HEARTBEATS * heartbeatSeconds * 1000)
      return link.reconnect('the venue fell silent');
    sendToVenue(deps, { type: 'ping' });
    scheduleHeartbeat(deps, state, heartbeatSeconds);
  });
}

function sendStatus(deps: SessionDeps, { welcome }: SessionState): void {
  if (welcome && deps.signer !== undefined) sendToVenue(deps, { type: 'status', ...deps.status() });
}

function takeAward(deps: SessionDeps, state: SessionState, award: Parameters<Awards['take']>[0]): void {
  const answer = deps.awards.take(award);
  if (answer === 'malformed')
    warnOnce(deps, state, { kind: 'invalid', detail: 'award: its order does not name this LP' });
  if (answer === 'not_ours')
    warnOnce(deps, state, { kind: 'invalid', detail: 'award: not a quote of this LP' });
}

function warnOnce({ log, metrics }: SessionDeps, { warned }: SessionState, broken: UnreadableFrame): void {
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

/** Logs at most one rejection a second, whatever the venue sends. */
function warnOfRejection(
  { clock, log }: SessionDeps,
  state: SessionState,
  { code, message, field }: LinkMessage<'rejected', FromVenue>,
): void {
  if (clock.monotonicMs() - state.rejectionMs < 1_000) return;
  state.rejectionMs = clock.monotonicMs();
  log.warn(
    { code: brief(code), field: brief(field), reason: brief(message) },
    'the venue rejected an answer of ours',
  );
}

const brief = (text: string): string => text.slice(0, MAX_WARNING_CHARS);

async function stop({ clock, link }: SessionDeps, state: SessionState): Promise<void> {
  if (state.stopped) return;
  state.stopped = true;
  for (let waitedMs = 0; state.inFlight > 0 && waitedMs < STOP_WAIT_MS; waitedMs += STOP_POLL_MS)
    await new Promise<void>((resolve) => clock.after(STOP_POLL_MS, resolve));
  state.cancelHeartbeat();
  await link.stop();
  state.cancelHeartbeat();
}
