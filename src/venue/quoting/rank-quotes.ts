/** Matches the quotes of solvers with the request, ranks them, and verifies the best. */

import { rank, type Ranked } from '../../auction/rank.ts';
import type { SolverReplies } from './fan-out.ts';
import type { RelayTerms } from './relay-fee.ts';
import {
  type FirmQuote,
  type MatchingQuote,
  matchQuote,
  type Objection,
  type SolverRequest,
  verifyQuotes,
} from './verify.ts';
import type { RfqSourceDeps } from './solver-request.ts';

export interface RfqCandidate extends Ranked {
  quote: FirmQuote;
  relayTerms: RelayTerms;
  /** One of its solvers has failed an order or given an invalid answer recently. */
  underWatch: boolean;
}

/** Ranks, then verifies from the best down until `most` quotes hold, because recovering a signer costs. */
export async function rankAndVerify(
  deps: RfqSourceDeps,
  asked: SolverRequest,
  quotes: SolverReplies['quotes'],
  relayTerms: RelayTerms,
  most: number,
): Promise<{ matching: MatchingQuote[]; verified: RfqCandidate[]; invalid: number }> {
  const takerGas = deps.relayFees.takerGas(asked, relayTerms);
  let invalid = 0;
  const matching = new Map<string, Ranked & { matched: MatchingQuote }>();
  for (const { session, quote } of quotes) {
    const matched = matchQuote(asked, session, quote);
    if (typeof matched === 'string') {
      invalid++;
      deps.fanOut.reject(session, matched, quote);
      // A quoteId names one quote: of two with the same id the first counts.
    } else if (!matching.has(matched.quoteId))
      matching.set(matched.quoteId, { ...rankingOf(deps, matched, takerGas), matched });
  }
  const ranked = rank(asked.side, [...matching.values()]);
  const verified: RfqCandidate[] = [];
  while (verified.length < most && ranked.length > 0) {
    const next = ranked.splice(0, most - verified.length);
    const quotes = await verifyQuotes(
      deps,
      asked,
      next.map(({ matched }) => matched),
    );
    for (const [index, { matched, ...ranking }] of next.entries()) {
      const quote = quotes[index] as FirmQuote | Objection;
      if (typeof quote === 'string') {
        invalid++;
        deps.fanOut.reject(matched.session, quote, { rfqId: asked.rfq.rfqId, quoteId: matched.quoteId });
        continue;
      }
      deps.fanOut.countValid(matched.session, 'quote');
      if (!verified.some((other) => other.quote.orderId === quote.orderId))
        verified.push({ ...ranking, quote, relayTerms, underWatch: isUnderWatch(deps, quote) });
    }
  }
  for (const { matched } of ranked) deps.fanOut.countValid(matched.session, 'quote');
  return { matching: [...matching.values()].map(({ matched }) => matched), verified, invalid };
}

export function rankingOf(
  deps: RfqSourceDeps,
  { solverId, quoteId, inputAmount, outputAmount, eta, validUntil }: MatchingQuote | FirmQuote,
  takerGas: bigint,
): Ranked {
  const { settled, faded } = deps.roster.entry(solverId) ?? { settled: 0, faded: 0 };
  const fillRateBps = settled + faded === 0 ? 10_000 : Math.floor((settled * 10_000) / (settled + faded));
  return { quoteId, inputAmount, outputAmount, takerGas, eta, fillRateBps, validUntil };
}

export const isUnderWatch = (deps: RfqSourceDeps, { slices }: FirmQuote): boolean =>
  slices.some(({ solverId }) => deps.roster.entry(solverId)?.breaker.underWatch(deps.clock.nowMs()) ?? false);
