/**
 * POST /rfq/quotes: from a request to ranked, sealed, firm candidates, without a database, a queue or a node
 * on the way.
 */

import { rank } from '../../auction/rank.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import type { ApiKey, Workspace } from '../../ports/stores/store.ts';
import type { QuoteRequest } from '../../protocol/api/quote.ts';
import type { RelayFees } from './relay-fee.ts';
import type { ParsedRequest, QuoteOutcome, Reception } from './intent.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { OpenQuotes } from './open-quotes.ts';
import type { FanOutOptions } from '../options.ts';
import type { Prices } from '../market/prices.ts';
import type { RfqSource } from './rfq-source.ts';
import type { Roster } from '../solvers/roster.ts';
import type { Sealing } from './sealing.ts';
import { termsOf } from './terms.ts';
import { promisedMeanwhile } from './unavailable.ts';

export interface QuoteDeps {
  reception: Reception;
  source: RfqSource;
  roster: Roster;
  sealing: Sealing;
  gas: RelayFees;
  prices: Prices;
  liquidity: Liquidity;
  openQuotes: OpenQuotes;
  clock: Clock;
  random: Random;
}

export interface RfqQuoter {
  /** The response as JSON text. Throws a 422, 429 or 503. */
  quote(request: QuoteRequest, key: ApiKey, workspace: Workspace): Promise<string>;
}

export function createRfqQuoter(
  { reception, source, roster, sealing, gas, prices, liquidity, openQuotes, clock, random }: QuoteDeps,
  options: Pick<FanOutOptions, 'shortValiditySeconds' | 'farFromMidBps'>,
): RfqQuoter {
  async function offer(intent: ParsedRequest): Promise<QuoteOutcome> {
    const { request, workspace, key } = intent;
    const { ask, found, why } = await source.find(intent, BigInt(random.bytes32()));
    if (why) return { quotes: [], productUnavailable: why };
    // Whoever asked at the same moment may have been shown the same money.
    const best = rank(ask.side, found)
      .filter((candidate) => source.affords(ask, candidate))
      .slice(0, request.maxCandidates);
    if (best.length === 0) return { quotes: [], productUnavailable: promisedMeanwhile(intent.corridor) };
    const quotes = best.map((candidate) => {
      source.bind(ask, candidate);
      const { verified, landing } = candidate;
      const terms = termsOf(ask, verified, {
        prices,
        liquidity,
        landing,
        nativeSymbol: gas.settings(ask.origin.id).nativeSymbol,
        minValidUntil: ask.rfq.minValidUntil,
        shortValiditySeconds: options.shortValiditySeconds,
        farFromMidBps: options.farFromMidBps,
        underWatch: (solverId) => roster.entry(solverId)?.breaker.underWatch(clock.nowMs()) ?? false,
      });
      return sealing.seal(
        { account: workspace.id, namespace: 'rfq', mode: key.mode },
        terms,
        verified.commitments,
      );
    });
    const lastValid = Math.max(...best.map(({ validUntil }) => validUntil));
    openQuotes.add(
      key.id,
      ask.group,
      prices.amountUsd(ask.inputToken, best[0]?.inputAmount ?? 0n) ?? 0,
      lastValid,
    );
    return { quotes, productUnavailable: null };
  }

  return { quote: (request, key, workspace) => reception.receive(request, key, workspace, offer) };
}
