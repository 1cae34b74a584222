/**
 * A quote request that has been read: which markets, whose money, within which limits. Everything that prices
 * it starts from here.
 */

import { corridorOf } from '../../domain/corridor.ts';
import { type Address, ZERO_ADDRESS } from '../../domain/hex.ts';
import { toIso, type UnixSeconds } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import type { ApiKey, Workspace } from '../../ports/stores/store.ts';
import { invalid } from '../../protocol/errors.ts';
import type { ProductUnavailable, QuoteRequest } from '../../protocol/api/quote.ts';
import { chainNow } from '../market/chain-now.ts';
import type { ListedAsset, Markets } from '../market/markets.ts';
import type { OpenQuotes } from './open-quotes.ts';
import type { FanOutOptions, RateOptions } from '../options.ts';
import type { Roster } from '../solvers/roster.ts';
import type { Screening } from '../orders/screening.ts';
import { unavailable } from './unavailable.ts';

export interface ParsedRequest {
  /** Also the id of the request to the solvers. */
  requestId: string;
  request: QuoteRequest;
  key: ApiKey;
  workspace: Workspace;
  input: ListedAsset;
  output: ListedAsset;
  corridor: string;
  side: 'exactInput' | 'exactOutput';
  /** Base units of the side that is fixed. */
  amount: bigint;
  taker: Address;
  receiver: Address;
  minValidUntil: UnixSeconds | null;
  /** Chain time of the origin. */
  now: UnixSeconds;
  latestValidUntil: UnixSeconds;
}

/** Sealed candidates as JSON, best first; or why there are none. */
export interface QuoteOutcome {
  quotes: readonly string[];
  productUnavailable: ProductUnavailable | null;
}

export interface Reception {
  /** The response as JSON text. Throws a 422, 429 or 503 before anybody is asked. */
  receive(
    request: QuoteRequest,
    key: ApiKey,
    workspace: Workspace,
    offer: (intent: ParsedRequest) => Promise<QuoteOutcome>,
  ): Promise<string>;
}

export interface ReceptionDeps {
  chains: ReadonlyMap<number, ChainPort>;
  markets: Markets;
  roster: Roster;
  screening: Screening;
  openQuotes: OpenQuotes;
  clock: Clock;
  random: Random;
  metrics: Metrics;
}

/** Where a denied party stands in a request. */
const PARTIES = { taker: ['body', 'taker'], receiver: ['body', 'receiver'] } as const;
const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1];

export function createReception(
  { chains, markets, roster, screening, openQuotes, clock, random, metrics }: ReceptionDeps,
  { maxValiditySeconds }: Pick<FanOutOptions, 'maxValiditySeconds'>,
  rates: Pick<RateOptions, 'openQuotes' | 'openNotionalUsd'>,
): Reception {
  const asked = metrics.counter('firmquote_venue_quote_requests_total', 'Quote requests by result', [
    'result',
  ]);
  const seconds = metrics.histogram(
    'firmquote_venue_quote_seconds',
    'Time to answer a quote request',
    SECONDS,
  );

  async function answer(
    request: QuoteRequest,
    key: ApiKey,
    workspace: Workspace,
    offer: (intent: ParsedRequest) => Promise<QuoteOutcome>,
  ): Promise<string> {
    const startedMs = clock.monotonicMs();
    const requestId = random.bytes32().slice(2, 34);
    const respond = ({ quotes, productUnavailable }: QuoteOutcome): string => {
      seconds.observe((clock.monotonicMs() - startedMs) / 1000);
      asked.add({ result: productUnavailable?.code ?? 'quoted' });
      return `{"requestId":"${requestId}","createdAt":"${toIso(clock.nowMs())}","quotes":[${quotes.join(',')}],"productUnavailable":${JSON.stringify(productUnavailable)}}`;
    };
    const nothing = (...why: Parameters<typeof unavailable>) =>
      respond({ quotes: [], productUnavailable: unavailable(...why) });

    const [input, output] = [
      market(request.input.asset, key, 'input'),
      market(request.output.asset, key, 'output'),
    ];
    if (!input || !output)
      return nothing(
        'pair_not_supported',
        'The venue has no escrow or no listing for one of these assets. GET …/pairs lists the chains.',
        null,
      );
    const corridor = corridorOf(input.chain, output.chain);
    const doubt = chains.get(input.chain.id)?.doubt() ?? chains.get(output.chain.id)?.doubt();
    if (doubt)
      return nothing(
        'no_quotes',
        `Nothing is quoted here at the moment: ${doubt.kind === 'clock' ? 'our clock and the chain’s differ' : 'the chain took back blocks that were final'}. Try again later.`,
        corridor,
      );
    const { taker, receiver = taker } = request;
    const screened = screening.requireAllowed({ taker, receiver }, PARTIES);
    // Waiting costs a turn of the loop even where there is nothing to wait for.
    if (screened instanceof Promise) await screened;
    refuseParties(taker, receiver, input, output);
    const now = chainNow(clock, chains.get(input.chain.id));
    const [minValidUntil, latestValidUntil] = [request.minValidUntil ?? null, now + maxValiditySeconds];
    if (minValidUntil !== null && minValidUntil > latestValidUntil) {
      return nothing(
        'validity_unavailable',
        `No quote here lives longer than ${maxValiditySeconds} seconds. Ask with an earlier minValidUntil.`,
        corridor,
      );
    }
    const side = request.input.amount === undefined ? 'exactOutput' : 'exactInput';
    const amount = BigInt(request.input.amount ?? (request.output.amount as string));
    const answered = openQuotes.reserve(
      key.id,
      {
        count: workspace.limits.openQuotes ?? rates.openQuotes,
        notionalUsd: workspace.limits.openNotionalUsd ?? rates.openNotionalUsd,
      },
      now,
    );
    try {
      return respond(
        await offer({
          requestId,
          request,
          key,
          workspace,
          input,
          output,
          corridor,
          side,
          amount,
          taker,
          receiver,
          minValidUntil,
          now,
          latestValidUntil,
        }),
      );
    } finally {
      answered();
    }
  }

  function market(assetId: string, key: ApiKey, side: 'input' | 'output'): ListedAsset | undefined {
    const placed = markets.find(assetId, key.mode);
    if (placed.kind === 'unknown_chain')
      throw invalid(
        'chain_not_in_roster',
        ['body', side, 'asset'],
        'This chain is not in the roster of your key. GET …/pairs lists the chains that are.',
      );
    return placed.kind === 'market' ? placed.market : undefined;
  }

  /** Money that goes to a contract of the trade, or to the one who pays it, reaches nobody. */
  function refuseParties(taker: Address, receiver: Address, input: ListedAsset, output: ListedAsset): void {
    const isNobody = (party: Address) =>
      party === ZERO_ADDRESS || isContract(party, input) || isContract(party, output) || isAccount(party);
    if (isNobody(receiver))
      throw invalid(
        'value_error',
        ['body', 'receiver'],
        'This address cannot be the receiver: it is the zero address, a contract of the trade, or an LP account.',
      );
    if (taker !== receiver && isNobody(taker))
      throw invalid(
        'value_error',
        ['body', 'taker'],
        'This address cannot be the taker: it is the zero address, a contract of the trade, or an LP account.',
      );
  }

  const isContract = (party: Address, { chain: { escrow, oracle, permit2 }, token }: ListedAsset) =>
    party === escrow || party === oracle || party === permit2 || party === token.address;

  function isAccount(party: Address): boolean {
    for (const { session } of roster.entries())
      if (session) for (const { account } of session.accounts.values()) if (account === party) return true;
    return false;
  }

  return { receive: answer };
}
