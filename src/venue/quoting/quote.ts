/**
 * POST /rfq/quotes, from top to bottom: parse the request, ask the solvers, rank their quotes, count them as
 * promised, seal them. Nothing here waits for a queue or a node, nor for a database once the workspace and
 * the screening result are in memory. Only a sandbox scenario waits (scenarios.ts).
 *
 * Read in this order: parse-request, rfq-source (fan-out, verify, split-round), terms, sealing. Around them:
 * taker-nonces gives out order nonces; market/open-quotes keeps what has been promised; unsubmitted and
 * market/key-quotes limit it; relay-fee and fee-cap set the fees.
 */

import type { ApiKey, Workspace } from '../../ports/stores/store.ts';
import type { QuoteRequest } from '../../protocol/api/quote.ts';
import type { Prices } from '../market/prices.ts';
import type { FanOutOptions } from '../options.ts';
import { sidesOf } from '../market/key-quotes.ts';
import type { OpenQuotes } from '../market/open-quotes.ts';
import type { ParsedRequest, RequestParser } from './parse-request.ts';
import { noQuotes, type QuoteOutcome, type QuoteResponder } from './response.ts';
import type { RfqSource } from './rfq-source.ts';
import { sealedReference, type Sealing } from './sealing.ts';
import type { TakerNonces } from './taker-nonces.ts';
import { candidateTerms } from './terms.ts';
import { promisedMeanwhile } from './unavailable.ts';

interface RfqQuoterDeps {
  parser: RequestParser;
  source: RfqSource;
  sealing: Sealing;
  responder: QuoteResponder;
  prices: Prices;
  openQuotes: OpenQuotes;
  nonces: TakerNonces;
  /** Absent: no amount asks for an outcome. */
  sandbox?: Sandbox | undefined;
}

export interface RfqQuoter {
  /** Returns the response body as JSON text. Throws a 422, 429 or 503. */
  quote(request: QuoteRequest, key: ApiKey, workspace: Workspace): Promise<string>;
}

/** The two steps of a quote request. The sandbox wraps both. */
interface QuoteSteps {
  parse: RequestParser['parse'];
  findQuotes(parsed: ParsedRequest): Promise<QuoteOutcome>;
}

/** Returns steps that force the outcome for which an amount asks. */
export type Sandbox = (steps: QuoteSteps) => QuoteSteps;

type QuoteOptions = Pick<FanOutOptions, 'shortValiditySeconds' | 'farFromMidBps'>;

export function createRfqQuoter(deps: RfqQuoterDeps, options: QuoteOptions): RfqQuoter {
  const { parser, responder, sandbox } = deps;
  const plain: QuoteSteps = {
    parse: parser.parse,
    findQuotes: (parsed) => findQuotes(deps, options, parsed),
  };
  const steps = sandbox ? sandbox(plain) : plain;
  return {
    async quote(request, key, workspace) {
      const response = responder.begin();
      const { parsed, why } = await steps.parse(response.requestId, request, key, workspace);
      const outcome = parsed ? await steps.findQuotes(parsed) : noQuotes(why);
      return responder.finish(response, outcome);
    },
  };
}

/** Asks the solvers, counts the best quotes as promised, and seals them. */
async function findQuotes(
  { source, sealing, prices, openQuotes, nonces }: RfqQuoterDeps,
  options: QuoteOptions,
  parsed: ParsedRequest,
): Promise<QuoteOutcome> {
  const { request, key, workspace } = parsed;
  openQuotes.reserve(key.id, parsed.openQuoteLimits, parsed.now);
  try {
    const answer = await source.find(parsed, nonces.next(parsed.input.chain.id, parsed.taker));
    if (answer.why) return noQuotes(answer.why);
    const { asked } = answer;
    const best = answer.candidates
      .filter((candidate) => source.isStillBacked(asked, candidate))
      .slice(0, request.maxCandidates);
    if (best.length === 0) return noQuotes(promisedMeanwhile(parsed.corridor));

    for (const candidate of best) source.recordPromise(asked, candidate);
    openQuotes.addOfKey(
      asked.nonceGroup,
      key.id,
      prices.estimateUsd(sidesOf(best, asked.inputToken, asked.outputToken)) ??
        parsed.openQuoteLimits.notionalUsd,
      Math.max(...best.map(({ validUntil }) => validUntil)),
    );
    const owner = { account: workspace.id, namespace: 'rfq', mode: key.mode } as const;
    const quotes = best.map((candidate) => {
      const terms = candidateTerms(asked, candidate, { prices, ...options });
      if (parsed.warning) terms.warnings.push(parsed.warning);
      return sealing.seal(owner, terms, candidate.quote.commitments, sealedReference(request.referenceId));
    });
    return { quotes, productUnavailable: null };
  } finally {
    openQuotes.release(key.id);
  }
}
