/** Reads a quote request, and refuses what cannot be quoted before any solver is asked. */

import { corridorOf } from '../../domain/corridor.ts';
import { type Address, ZERO_ADDRESS } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { ApiKey, Workspace } from '../../ports/stores/store.ts';
import { invalid } from '../../protocol/errors.ts';
import type { CandidateTerms } from '../../protocol/api/candidate.ts';
import type { ProductUnavailable, QuoteRequest } from '../../protocol/api/quote.ts';
import type { VenueDeps } from '../deps.ts';
import { chainNow } from '../market/chain-now.ts';
import type { ListedAsset, Markets } from '../market/markets.ts';
import { type OpenQuoteLimits, openQuoteLimits } from '../market/key-quotes.ts';
import type { FanOutOptions, RateOptions } from '../options.ts';
import type { Roster } from '../solvers/roster.ts';
import type { Screening } from '../access/screening.ts';
import { unavailable } from './unavailable.ts';

export interface ParsedRequest {
  requestId: string;
  request: QuoteRequest;
  key: ApiKey;
  workspace: Workspace;
  openQuoteLimits: OpenQuoteLimits;
  input: ListedAsset;
  output: ListedAsset;
  corridor: string;
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  taker: Address;
  receiver: Address;
  minValidUntil: UnixSeconds | null;
  /** The chain time of the origin. */
  now: UnixSeconds;
  latestValidUntil: UnixSeconds;
  /** A sandbox scenario asks these, whatever the request chose. */
  only?: readonly string[];
  /** A sandbox scenario names itself in every quote. */
  warning?: CandidateTerms['warnings'][number];
}

type ParseResult = { parsed: ParsedRequest; why?: never } | { parsed: null; why: ProductUnavailable };

export interface RequestParser {
  parse(requestId: string, request: QuoteRequest, key: ApiKey, workspace: Workspace): Promise<ParseResult>;
}

type RequestParserDeps = Pick<VenueDeps, 'chains' | 'clock'> & {
  markets: Markets;
  roster: Roster;
  screening: Screening;
};

const PARTIES = { taker: ['body', 'taker'], receiver: ['body', 'receiver'] } as const;

export function createRequestParser(
  { chains, markets, roster, screening, clock }: RequestParserDeps,
  { maxValiditySeconds }: Pick<FanOutOptions, 'maxValiditySeconds'>,
  rates: Pick<RateOptions, 'openQuotes' | 'openNotionalUsd'>,
): RequestParser {
  async function parse(
    requestId: string,
    request: QuoteRequest,
    key: ApiKey,
    workspace: Workspace,
  ): Promise<ParseResult> {
    const input = market(request.input.asset, key, 'input');
    const output = market(request.output.asset, key, 'output');
    if (!input || !output)
      return nothing(
        'pair_not_supported',
        'The venue has no escrow or no listing for one of these assets. GET …/pairs lists the chains.',
        null,
      );
    const corridor = corridorOf(input.chain, output.chain);
    const issue = chains.get(input.chain.id)?.healthIssue() ?? chains.get(output.chain.id)?.healthIssue();
    if (issue)
      return nothing(
        'no_quotes',
        `Nothing is quoted here at the moment: ${issue.kind === 'clock' ? 'our clock and the chain’s differ' : 'the chain took back blocks that were final'}. Try again later.`,
        corridor,
      );
    const { taker, receiver = taker } = request;
    await screening.requireAllowed({ taker, receiver }, PARTIES);
    refuseParties(taker, receiver, input, output);
    const now = chainNow(clock, chains.get(input.chain.id));
    const minValidUntil = request.minValidUntil ?? null;
    const latestValidUntil = now + maxValiditySeconds;
    if (minValidUntil !== null && minValidUntil > latestValidUntil)
      return nothing(
        'validity_unavailable',
        `No quote here lives longer than ${maxValiditySeconds} seconds. Ask with an earlier minValidUntil.`,
        corridor,
      );
    const parsed: ParsedRequest = {
      requestId,
      request,
      key,
      workspace,
      openQuoteLimits: openQuoteLimits(workspace, rates),
      input,
      output,
      corridor,
      side: request.input.amount === undefined ? 'exactOutput' : 'exactInput',
      amount: BigInt(request.input.amount ?? (request.output.amount as string)),
      taker,
      receiver,
      minValidUntil,
      now,
      latestValidUntil,
    };
    return { parsed };
  }

  function market(assetId: string, key: ApiKey, side: 'input' | 'output'): ListedAsset | undefined {
    const placed = markets.find(assetId, key.mode);
    if (placed.kind === 'unknown_chain')
      throw invalid(
        'chain_not_in_roster',
        ['body', side, 'asset'],
        'Your key does not trade on this chain. A test key trades on sandbox chains, a live key on production chains: see GET …/pairs.',
      );
    return placed.kind === 'market' ? placed.market : undefined;
  }

  /** Refuses addresses at which the money would be lost. */
  function refuseParties(taker: Address, receiver: Address, input: ListedAsset, output: ListedAsset) {
    const isRefused = (party: Address) =>
      party === ZERO_ADDRESS || isContract(party, input) || isContract(party, output) || isLpAccount(party);
    const refused = isRefused(receiver) ? 'receiver' : isRefused(taker) ? 'taker' : undefined;
    if (refused)
      throw invalid(
        'value_error',
        ['body', refused],
        `This address cannot be the ${refused}: it is the zero address, a contract of the trade, or an LP account.`,
      );
  }

  const isContract = (party: Address, { chain: { escrow, oracle, permit2 }, token }: ListedAsset) =>
    party === escrow || party === oracle || party === permit2 || party === token.address;

  function isLpAccount(party: Address): boolean {
    for (const { session } of roster.entries())
      if (session) for (const { account } of session.accounts.values()) if (account === party) return true;
    return false;
  }

  return { parse };
}

const nothing = (...why: Parameters<typeof unavailable>): ParseResult => ({
  parsed: null,
  why: unavailable(...why),
});
