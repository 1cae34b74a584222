/** Asks the solver as a venue does, and checks every answer. */

import { setTimeout as sleep } from 'node:timers/promises';
import { systemRandom } from '../../adapters/system/random.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import { nonceGroupOf } from '../../domain/order.ts';
import { SAME_CHAIN_PROOF_SECONDS, type UnixSeconds } from '../../domain/time.ts';
import type { LinkDecline, LinkPartial, LinkQuote, Rfq } from '../../protocol/link/link.ts';
import { REJECTIONS } from '../../protocol/link/rejections.ts';
import type { CertifyReport, RuleFindings } from './findings.ts';
import { type FoundQuote, inspectQuote } from './inspect.ts';
import type { Promises } from './promises.ts';
import type { CertifyVenue, LinkAnswer } from './venue.ts';
import { type AskedPair, type CertifyWorld, chainIn, chainTime, isWithin, tokenIn } from './world.ts';

/** The solver's messages that answered a request in time. */
interface Answered {
  rfq: Rfq;
  /** Quotes that hold. */
  quotes: FoundQuote[];
  /** Quotes as they came, also those that do not hold. */
  signed: LinkQuote[];
  partial: LinkPartial | undefined;
  decline: LinkDecline | undefined;
}

interface AskOptions {
  /** The page lets the solver ignore or decline it. */
  unlawful?: boolean;
  /** The request exceeds what the solver takes at the same time, so its time to answer is not judged. */
  overload?: boolean;
}

export interface Asking {
  /** Makes a request of this pair, for this amount of the fixed side. */
  request(pair: AskedPair, side: Rfq['side'], amount: bigint, more?: Partial<Rfq>): Rfq;
  ask(rfq: Rfq, options?: AskOptions): Promise<Answered>;
  /** Asks, and answers the first quote that holds. */
  quote(rfq: Rfq): Promise<FoundQuote | undefined>;
  counts: CertifyReport['answers'];
  /** Judges how many answers came in time. */
  judge(): void;
}

interface Waiting {
  rfq: Rfq;
  sentMs: number;
  answers: LinkAnswer[];
  isOver: boolean;
  unlawful: boolean;
  done(): void;
}

/** Answers are waited for so long after their deadline, to tell late from none. */
const LATE_MS = 500;
/** Per cent of the answers that may be late or missing: a network has short faults. */
const SPARE_PER_CENT = 1;
const FEE_BPS = 2;

interface AskingDeps {
  world: CertifyWorld;
  venue: CertifyVenue;
  findings: RuleFindings;
  promises: Promises;
  deadlineMs: number;
}

interface AskingState extends AskingDeps {
  waiting: Map<string, Waiting>;
  quoteIds: Set<Bytes32>;
  counts: CertifyReport['answers'];
  /** Requests whose time to answer counts, and those of them without an answer. */
  judged: number;
  missed: number;
}

export function createAsking(deps: AskingDeps): Asking {
  const state: AskingState = {
    ...deps,
    waiting: new Map(),
    quoteIds: new Set(),
    counts: { asked: 0, quotes: 0, partials: 0, declines: 0, none: 0, late: 0 },
    judged: 0,
    missed: 0,
  };
  deps.venue.onAnswer((answer, atMs) => receive(state, answer, atMs));
  return {
    request: (pair, side, amount, more) => request(state, pair, side, amount, more),
    ask: (rfq, options) => ask(state, rfq, options),
    counts: state.counts,
    quote: async (rfq) => (await ask(state, rfq)).quotes[0],
    judge: () => judge(state),
  };
}

/** Hands an answer to the request that waits for it. */
function receive({ venue, findings, waiting, counts }: AskingState, answer: LinkAnswer, atMs: number): void {
  const asked = waiting.get(answer.rfqId);
  if (asked === undefined) {
    if (answer.type !== 'commit' && !('quoteId' in answer && answer.type === 'decline'))
      findings.fail('answers', `a ${answer.type} came for a request that was never made`);
    return;
  }
  if (answer.type === 'commit' || (answer.type === 'decline' && answer.quoteId !== undefined)) return;
  const isLate = atMs - asked.sentMs > asked.rfq.deadlineMs;
  // A signature under what must not be signed counts whenever it comes.
  if (isLate && !asked.unlawful) {
    counts.late += 1;
    venue.send({
      type: 'rejected',
      rfqId: answer.rfqId,
      quoteId: answer.type === 'quote' ? answer.quoteId : null,
      code: 'late',
      message: 'The deadline of this request has passed.',
      field: 'rfqId',
    });
    return asked.done();
  }
  if (asked.isOver)
    return findings.fail('answers', `a ${answer.type} came after the last answer to a request`);
  asked.answers.push(answer);
  if (answer.type !== 'quote' || answer.more !== true) asked.done();
}

function request(
  { world, deadlineMs }: AskingState,
  pair: AskedPair,
  side: Rfq['side'],
  amount: bigint,
  more: Partial<Rfq> = {},
): Rfq {
  const [from, to] = [chainIn(world, pair.input).chain, chainIn(world, pair.output).chain];
  const same = isWithin(pair);
  const taker: Address = `0x${systemRandom.bytes32().slice(-40)}`;
  return {
    type: 'rfq',
    rfqId: systemRandom.bytes32().slice(2, 34),
    deadlineMs,
    ...pair,
    side,
    amount: amount.toString(),
    taker,
    receiver: more.taker ?? taker,
    minValidUntil: null,
    platformFeeBps: FEE_BPS,
    relayFee: '0',
    executionMode: 'apiSubmit',
    maxSplitParts: 1,
    skeleton: {
      nonce: BigInt(systemRandom.bytes32()).toString(),
      originChainId: from.id,
      inputOracle: same ? from.escrow : from.oracle,
      outputOracle: same ? to.escrow : to.oracle,
      settler: to.escrow,
      landingMarginSeconds: from.landingMarginSeconds,
      proofWindowSeconds: same ? SAME_CHAIN_PROOF_SECONDS : from.proofWindowSeconds,
    },
    ...more,
  };
}

async function ask(
  state: AskingState,
  rfq: Rfq,
  { unlawful = false, overload = false }: AskOptions = {},
): Promise<Answered> {
  const { world, venue, waiting, counts } = state;
  const now = await chainTime(chainIn(world, rfq.output)).catch(() => Math.floor(Date.now() / 1_000));
  counts.asked += 1;
  const answers = await new Promise<LinkAnswer[]>((resolve) => {
    const asked: Waiting = {
      rfq,
      sentMs: performance.now(),
      answers: [],
      isOver: false,
      unlawful,
      done() {
        asked.isOver = true;
        resolve(asked.answers);
      },
    };
    waiting.set(rfq.rfqId, asked);
    venue.send(rfq);
    void sleep(rfq.deadlineMs + LATE_MS, undefined, { ref: false }).then(asked.done);
  });
  if (answers.length === 0) counts.none += 1;
  if (!unlawful && !overload) {
    state.judged += 1;
    if (answers.length === 0) state.missed += 1;
  }
  return read(state, rfq, answers, now, unlawful);
}

function read(
  state: AskingState,
  rfq: Rfq,
  answers: readonly LinkAnswer[],
  now: UnixSeconds,
  unlawful: boolean,
): Answered {
  const { counts } = state;
  const answered: Answered = { rfq, quotes: [], signed: [], partial: undefined, decline: undefined };
  for (const answer of answers) {
    if (answer.type === 'decline') {
      counts.declines += 1;
      answered.decline = answer;
    } else if (answer.type === 'partial') {
      counts.partials += 1;
      answered.partial = answer;
    } else if (answer.type === 'quote') {
      counts.quotes += 1;
      answered.signed.push(answer);
      if (!unlawful) take(state, rfq, answer, now, answered);
    }
  }
  if (answers.length > 0 && !unlawful) checkKinds(state, answered);
  return answered;
}

function checkKinds({ findings }: AskingState, { rfq, signed, partial, decline }: Answered): void {
  const kinds = [signed.length > 0, partial !== undefined, decline !== undefined].filter(Boolean).length;
  const windows = new Set(signed.map(({ validUntil }) => validUntil)).size;
  if (kinds > 1) findings.fail('answers', 'a request got answers of several kinds');
  else if (partial !== undefined && rfq.maxSplitParts === 1)
    findings.fail('answers', 'a partial came for a request that takes no part');
  else if (windows < signed.length)
    findings.fail('answers', 'two quotes of a request have the same validUntil');
  else findings.pass('answers', 'each request got one kind of answer');
}

/** Checks a quote; one that holds is a promise from now on. */
function take(
  { world, venue, findings, promises, quoteIds }: AskingState,
  rfq: Rfq,
  quote: LinkQuote,
  now: UnixSeconds,
  answered: Answered,
): void {
  const dest = chainIn(world, rfq.output);
  // The account of the hello is the same on all chains.
  const signer = venue.accountOn(chainIn(world, rfq.input).chain.id);
  if (signer === undefined) return;
  if (quoteIds.has(quote.quoteId)) findings.fail('quote-id', `quoteId ${quote.quoteId} came twice`);
  else findings.pass('quote-id', 'every quoteId is new');
  quoteIds.add(quote.quoteId);
  const found = inspectQuote(world, rfq, quote, { now, signer });
  if ('rule' in found) {
    findings.fail(found.rule, found.seen);
    return venue.send({
      type: 'rejected',
      rfqId: rfq.rfqId,
      quoteId: quote.quoteId,
      code: found.code,
      message: found.seen.slice(0, 400),
      field: REJECTIONS[found.code].field,
    });
  }
  for (const rule of HELD) findings.pass(rule, 'held in every quote');
  if (rfq.skeleton.delivery !== undefined) findings.pass('delivery', 'held in every quote');
  promises.add({
    quoteId: quote.quoteId,
    group: nonceGroupOf(chainIn(world, rfq.input).chain.id, rfq.taker, rfq.skeleton.nonce),
    chainId: dest.chain.id,
    account: signer.account,
    token: tokenIn(rfq.output),
    amount: found.output,
    until: found.order.fillDeadline,
  });
  answered.quotes.push(found);
}

function judge({ findings, deadlineMs, judged, missed }: AskingState): void {
  if (judged === 0) return findings.skip('deadline', 'nothing was asked');
  const share = (100 * missed) / judged;
  const seen = `${judged - missed} of ${judged} requests were answered within their deadline (${deadlineMs} ms)`;
  if (share > SPARE_PER_CENT) findings.fail('deadline', seen);
  else findings.pass('deadline', seen);
}

/** The rules that every quote shows to be kept. */
const HELD = [
  'fixed-side',
  'before-fees',
  'terms',
  'output',
  'context',
  'validity',
  'clock-law',
  'window',
  'account',
  'signature',
] as const;
