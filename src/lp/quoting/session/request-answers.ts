/** Answers the quote requests and slices of a venue, and declines those that come late or are too many. */

import type { Bytes32 } from '../../../domain/hex.ts';
import { requestSpan } from '../../../ports/tracer.ts';
import type { Rfq, SliceRequest } from '../../../protocol/link/link.ts';
import { declineMessage } from '../decline.ts';
import type { LpAnswer } from '../quote.ts';
import type { QuotingSnapshot } from '../quoting-snapshot.ts';
import { sendToVenue, type SessionDeps, type SessionState, venueOf } from './session-state.ts';

/**
 * A request that has waited longer than this share of its deadline is declined, because an answer would be
 * late. A key service has the same share of it to sign.
 */
const IN_TIME = 0.8;
/** More requests in progress than this many times our `maxInFlight` are declined. */
const IN_FLIGHT_SLACK = 2;

/** Answers a request or a slice whose frame waited `waitedMs` for its turn. Returns before the answer. */
export function takeRequest(
  deps: SessionDeps,
  state: SessionState,
  request: Rfq | SliceRequest,
  waitedMs: number,
): void {
  const quoting = deps.quoting();
  const why = whyNotAnswered(state, request, quoting, waitedMs);
  if (why !== undefined)
    return decline(deps, request, why, request.type === 'slice' ? request.quoteId : undefined);
  const receivedMs = state.lastFrameMs - waitedMs;
  if (request.type === 'slice') void answerSlice(deps, state, request, quoting, receivedMs);
  else void answerRfq(deps, state, request, quoting, receivedMs);
}

function whyNotAnswered(
  { inFlight }: SessionState,
  { deadlineMs }: Rfq | SliceRequest,
  { config }: QuotingSnapshot,
  waitedMs: number,
): 'late' | 'busy' | undefined {
  if (waitedMs >= deadlineMs * IN_TIME) return 'late';
  return inFlight >= IN_FLIGHT_SLACK * config.quoting.maxInFlight ? 'busy' : undefined;
}

/** Declines what is late, or more than we take. */
function decline(
  deps: SessionDeps,
  question: Rfq | SliceRequest,
  code: 'late' | 'busy',
  quoteId?: Bytes32,
): void {
  deps.metrics.late.add();
  sendToVenue(deps, { ...declineMessage(question, { declined: 'limit' }, quoteId), code });
}

/** `receivedMs`: when the frame arrived, before it waited for its turn. */
async function answerRfq(
  deps: SessionDeps,
  state: SessionState,
  rfq: Rfq,
  { quotes, routes }: QuotingSnapshot,
  receivedMs: number,
): Promise<void> {
  // `handleQuoteRequest` finds it too; here it only names the pair in metrics.
  const pair = routes.find(rfq.input, rfq.output)?.pairName ?? 'none';
  state.inFlight += 1;
  try {
    const untilMs = receivedMs + rfq.deadlineMs * IN_TIME;
    const answers = await quotes.handleQuoteRequest(withVenue(deps, rfq), untilMs);
    sendAnswers(deps, rfq, answers, pair, receivedMs);
  } catch (error) {
    deps.log.fatal({ error }, 'answering a quote request failed');
    sendAnswers(deps, rfq, [declineMessage(rfq, { declined: 'internal' })], pair, receivedMs);
  } finally {
    state.inFlight -= 1;
  }
}

/** Names the venue in its request, where the LP serves several. */
const withVenue = <T extends object>({ link, shares }: SessionDeps, request: T): T & { venue?: string } =>
  shares === true ? { ...request, venue: venueOf(link) } : request;

function sendAnswers(
  deps: SessionDeps,
  rfq: Rfq,
  answers: readonly LpAnswer[],
  pair: string,
  receivedMs: number,
): void {
  const { metrics } = deps;
  const tookMs = deps.clock.monotonicMs() - receivedMs;
  // The hold of a quote that was not sent stays until it expires: its signature exists.
  if (tookMs > rfq.deadlineMs) decline(deps, rfq, 'late');
  else for (const answer of answers) sendToVenue(deps, answer);
  metrics.quoteSeconds.observe(tookMs / 1000);
  const [first] = answers;
  recordSpan(deps, rfq, tookMs, first);
  if (first === undefined) return;
  metrics.answers.add({ kind: first.type });
  if (first.type === 'quote') metrics.quotes.add({ pair }, answers.length);
  if (first.type === 'decline') metrics.declines.add({ reason: first.reason, pair });
}

function recordSpan(
  { clock, tracer }: SessionDeps,
  { rfqId }: Rfq,
  tookMs: number,
  answer: LpAnswer | undefined,
): void {
  const parent = requestSpan(rfqId);
  if (parent === undefined) return;
  const endMs = clock.nowMs();
  tracer?.record({
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
  deps: SessionDeps,
  state: SessionState,
  slice: SliceRequest,
  { slices }: QuotingSnapshot,
  receivedMs: number,
): Promise<void> {
  const { metrics } = deps;
  state.inFlight += 1;
  try {
    const untilMs = receivedMs + slice.deadlineMs * IN_TIME;
    const answer = await slices.handleSlice(withVenue(deps, slice), untilMs);
    sendToVenue(deps, answer);
    metrics.slices.add({ kind: answer.type });
  } catch (error) {
    deps.log.fatal({ error }, 'answering a slice failed');
    sendToVenue(deps, declineMessage(slice, { declined: 'internal' }, slice.quoteId));
    metrics.slices.add({ kind: 'decline' });
  } finally {
    state.inFlight -= 1;
  }
}
