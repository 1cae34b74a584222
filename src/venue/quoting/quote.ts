/**
 * POST /rfq/quotes, from top to bottom: parse the request, ask the solvers, rank their quotes, count them as
 * promised, seal them. Nothing here waits for a queue or a node, nor for a database once the workspace and
 * the screening result are in memory.
 *
 * Read in this order: parse-request, rfq-source (fan-out, verify, split-round), terms, sealing. Around them:
 * taker-nonces gives out order nonces; promised-outputs, open-quotes, unsubmitted and nonce-groups keep what
 * has been promised; relay-fee and fee-cap set the fees.
 */

import type { ApiKey, Workspace } from '../../ports/stores/store.ts';
import type { QuoteRequest } from '../../protocol/api/quote.ts';
import type { Prices } from '../market/prices.ts';
import type { FanOutOptions } from '../options.ts';
import { type OpenQuotes, sidesOf } from './open-quotes.ts';
import type { RequestParser } from './parse-request.ts';
import { noQuotes, type QuoteOutcome, type QuoteResponder } from './response.ts';
import type { RfqSource } from './rfq-source.ts';
import { sealedReference, type Sealing } from './sealing.ts';
import { scenarioWarning } from '../../protocol/api/scenarios.ts';
import type { Scenarios } from './scenarios.ts';
import type { TakerNonces } from './taker-nonces.ts';
import { candidateTerms } from './terms.ts';
import { promisedMeanwhile } from './unavailable.ts';

export interface RfqQuoterDeps {
  parser: RequestParser;
  source: RfqSource;
  sealing: Sealing;
  responder: QuoteResponder;
  prices: Prices;
  openQuotes: OpenQuotes;
  nonces: TakerNonces;
  scenarios: Scenarios;
}

export interface RfqQuoter {
  /** The response body as JSON text. Throws a 422, 429 or 503. */
  quote(request: QuoteRequest, key: ApiKey, workspace: Workspace): Promise<string>;
}

export function createRfqQuoter(
  { parser, source, sealing, responder, prices, openQuotes, nonces, scenarios }: RfqQuoterDeps,
  options: Pick<FanOutOptions, 'shortValiditySeconds' | 'farFromMidBps'>,
): RfqQuoter {
  async function findQuotes(
    requestId: string,
    request: QuoteRequest,
    key: ApiKey,
    workspace: Workspace,
  ): Promise<QuoteOutcome> {
    const scenario = await scenarios.begin(request, key.mode);
    const { parsed: plain, why } = await parser.parse(requestId, request, key, workspace);
    if (!plain) return noQuotes(why);
    const whyNot = scenarios.whyNot(scenario, plain);
    if (whyNot) return noQuotes(whyNot);
    const parsed = scenarios.direct(scenario, plain);
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
      openQuotes.add(
        key.id,
        asked.nonceGroup,
        prices.estimateUsd(sidesOf(best, asked.inputToken, asked.outputToken)) ??
          parsed.openQuoteLimits.notionalUsd,
        Math.max(...best.map(({ validUntil }) => validUntil)),
      );
      const owner = { account: workspace.id, namespace: 'rfq', mode: key.mode } as const;
      const quotes = best.map((candidate) => {
        const terms = candidateTerms(asked, candidate, { prices, ...options });
        if (scenario) terms.warnings.push(scenarioWarning(scenario));
        return sealing.seal(owner, terms, candidate.quote.commitments, sealedReference(request.referenceId));
      });
      if (scenario === 102)
        await scenarios.outlast(Math.max(...best.map(({ validUntil }) => validUntil)), parsed.input.chain.id);
      return { quotes, productUnavailable: null };
    } finally {
      openQuotes.release(key.id);
    }
  }

  return {
    async quote(request, key, workspace) {
      const response = responder.begin();
      const outcome = await findQuotes(response.requestId, request, key, workspace);
      return responder.finish(response, outcome);
    },
  };
}
