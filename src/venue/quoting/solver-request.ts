/** Writes the request for one pair to solvers, and chooses whom to ask. */

import { nonceGroupOf } from '../../domain/order.ts';
import { eligible, type Gate } from '../../auction/eligible.ts';
import { assetId } from '../../domain/asset.ts';
import { recipientOf } from '../../domain/delivery.ts';
import { SAME_CHAIN_PROOF_SECONDS } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import type { QuoteRequest } from '../../protocol/api/quote.ts';
import type { FanOutOptions } from '../options.ts';
import type { Roster } from '../solvers/roster.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';
import type { FanOut } from './fan-out.ts';
import type { ParsedRequest } from './parse-request.ts';
import { landingSecondsOf } from '../market/landing.ts';
import type { Prices } from '../market/prices.ts';
import type { RelayFees, RelayTerms } from './relay-fee.ts';
import type { ShadowRequests } from '../solvers/shadow-requests.ts';
import type { UnsubmittedQuotes, Wanted } from './unsubmitted.ts';
import type { SolverRequest, VerifyDeps } from './verify.ts';

/** One pair to quote: a whole request, or one leg of a route. */
export type PairRequest = Omit<ParsedRequest, 'key' | 'request' | 'openQuoteLimits'> & {
  request: Pick<QuoteRequest, 'splitFill' | 'settlement' | 'solvers' | 'maxCandidates'>;
};

export interface RfqSourceDeps extends VerifyDeps {
  roster: Roster;
  fanOut: FanOut;
  relayFees: RelayFees;
  unsubmitted: UnsubmittedQuotes;
  shadowRequests: Pick<ShadowRequests, 'show'>;
  prices: Prices;
  clock: Clock;
  random: Random;
  metrics: Metrics;
  /** Solvers that are asked in sandbox scenarios only. */
  reserved: readonly string[];
}

/**
 * The chain on which the relayer later pays the outputs out of the ledger; undefined for other settlements.
 */
export const deferredOn = ({
  request,
  output,
}: Pick<PairRequest, 'request' | 'output'>): number | undefined =>
  request.settlement === 'ledger_auto_withdraw' ? output.chain.id : undefined;

export function solverRequest(
  deps: RfqSourceDeps,
  options: FanOutOptions,
  pair: PairRequest,
  nonce: bigint,
  relayTerms: RelayTerms,
  crossChain: boolean,
): SolverRequest {
  const { request, input, output, side, amount, taker, receiver, minValidUntil } = pair;
  const [origin, dest] = [input.chain, output.chain];
  const landingMarginSeconds = crossChain
    ? landingSecondsOf(deps.prices, origin, side === 'exactInput' ? input.token : output.token, amount)
    : origin.landingMarginSeconds;
  const proofWindowSeconds = crossChain ? origin.proofWindowSeconds : SAME_CHAIN_PROOF_SECONDS;
  const route = { origin, dest, inputToken: input.token };
  const latestFillDeadline = deps.liquidity.latestFillDeadline(route, proofWindowSeconds);
  return {
    rfq: {
      type: 'rfq',
      rfqId: pair.requestId,
      input: assetId({ chainId: origin.id, token: input.token.address }),
      output: assetId({ chainId: dest.id, token: output.token.address }),
      side,
      amount: amount.toString(),
      taker,
      receiver,
      minValidUntil,
      platformFeeBps: pair.workspace.platformFeeBps,
      relayFee: relayTerms.relayFee.toString(),
      executionMode: relayTerms.executionMode,
      maxSplitParts: request.splitFill === 'allow' && !crossChain ? options.maxSplitParts : 1,
      skeleton: {
        nonce: nonce.toString(),
        originChainId: origin.id,
        inputOracle: crossChain ? origin.oracle : origin.escrow,
        outputOracle: crossChain ? dest.oracle : dest.escrow,
        settler: dest.escrow,
        ...(request.settlement !== 'wallet' && {
          delivery: {
            recipient: dest.escrow,
            callbackData: recipientOf({ settlement: request.settlement, account: receiver }, dest.escrow)
              .callbackData,
          },
        }),
        landingMarginSeconds,
        proofWindowSeconds,
      },
    },
    ...route,
    outputToken: output.token,
    side,
    amount,
    nonce,
    relayFee: relayTerms.relayFee,
    nonceGroup: nonceGroupOf(origin.id, taker, nonce),
    now: pair.now,
    latestValidUntil: Math.min(pair.latestValidUntil, latestFillDeadline - landingMarginSeconds),
  };
}

export const wantedBy = (
  deps: RfqSourceDeps,
  { workspace, input, output, now }: PairRequest,
  { side, amount, nonceGroup }: SolverRequest,
): Wanted => ({
  workspaceId: workspace.id,
  chainId: output.chain.id,
  token: output.token.address,
  amount: side === 'exactOutput' ? amount : deps.prices.exchangedUp(input.token, amount, output.token),
  group: nonceGroup,
  now,
});

export const gateOf = (deps: RfqSourceDeps, { request, workspace, corridor, only }: PairRequest): Gate => ({
  corridor,
  workspace: workspace.eligibleSolvers,
  include: only ?? request.solvers?.include ?? null,
  exclude: only ? [] : [...(request.solvers?.exclude ?? []), ...deps.reserved],
});

/** Picks one session per eligible solver: that of its replica with the fewest requests in flight. */
export function eligibleSessions(
  deps: RfqSourceDeps,
  { input, output }: PairRequest,
  gate: Gate,
): SolverSession[] {
  const entries = eligible(deps.roster.entries(), gate);
  return entries.flatMap(({ sessions }) =>
    leastBusy(
      sessions.filter(
        // The entry's status is that of its best session, less what the breaker forbids.
        (session) =>
          session.status === 'active' &&
          session.inFlight < session.maxInFlight &&
          session.readsInTime() &&
          session.accounts.has(input.chain.id) &&
          session.accounts.has(output.chain.id),
      ),
    ),
  );
}

function leastBusy([first, ...others]: readonly SolverSession[]): SolverSession[] {
  return first === undefined
    ? []
    : [others.reduce((least, each) => (each.inFlight < least.inFlight ? each : least), first)];
}
