/** POST …/quotes: from a request to ranked, sealed, firm candidates, without a database, a queue or a node on the way. */

import { eligible } from '../auction/eligible.ts';
import { netOf, rank, type Ranked } from '../auction/rank.ts';
import type { Chain } from '../domain/chain.ts';
import { corridorOf } from '../domain/corridor.ts';
import { type Address, ZERO_ADDRESS } from '../domain/hex.ts';
import { toIso, toSeconds, type UnixSeconds } from '../domain/time.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Random } from '../ports/random.ts';
import type { ApiKey, Workspace } from '../ports/store.ts';
import { ApiError, invalid } from '../protocol/errors.ts';
import type { Rfq } from '../protocol/link.ts';
import type { ProductUnavailable, QuoteRequest } from '../protocol/quote.ts';
import type { Exposure } from './exposure.ts';
import type { FanOut } from './fan-out.ts';
import type { GasDesk, Landing } from './gas.ts';
import type { Liquidity } from './liquidity.ts';
import type { Market, Markets } from './markets.ts';
import type { OpenQuotes } from './open-quotes.ts';
import type { FanOutOptions, RateOptions } from './options.ts';
import type { Prices } from './prices.ts';
import type { Entry, Roster, Session } from './roster.ts';
import type { Screening } from './screening.ts';
import type { SealOwner, Sealing } from './sealing.ts';
import type { Siblings } from './siblings.ts';
import { commitSplit, planOffers } from './split-round.ts';
import { termsOf } from './terms.ts';
import { unavailable, whyNoQuotes } from './unavailable.ts';
import { type Ask, askGroup, type Verified, type VerifyDeps, verifyQuote } from './verify.ts';

export interface QuoteDeps extends VerifyDeps {
  chains: ReadonlyMap<number, ChainPort>;
  markets: Markets;
  roster: Roster;
  fanOut: FanOut;
  sealing: Sealing;
  gas: GasDesk;
  screening: Screening;
  prices: Prices;
  liquidity: Liquidity;
  exposure: Exposure;
  openQuotes: OpenQuotes;
  siblings: Siblings;
  clock: Clock;
  random: Random;
  metrics: Metrics;
}

export interface Quoter {
  /** The response as JSON text. Throws a 422 or 429. */
  quote(request: QuoteRequest, key: ApiKey, workspace: Workspace, namespace: SealOwner['namespace']): Promise<string>;
}

interface Candidate extends Ranked {
  verified: Verified;
  landing: Landing;
}

/** Where a denied party stands in a request. */
const PARTIES = { taker: ['body', 'taker'], receiver: ['body', 'receiver'] } as const;

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1];

/** Chain time as far as we know it: a node's head may be old, and our clock may be behind it. */
export const chainNow = (clock: Clock, port: ChainPort | undefined): UnixSeconds => Math.max(toSeconds(clock.nowMs()), port?.head()?.timestamp ?? 0);

export function createQuoter(deps: QuoteDeps, fanOutOptions: FanOutOptions, rates: RateOptions): Quoter {
  const { chains, markets, roster, fanOut, sealing, gas, screening, prices, liquidity, exposure, openQuotes, siblings, clock, random, metrics } = deps;
  const asked = metrics.counter('firmquote_venue_quote_requests_total', 'Quote requests by result', ['result']);
  const candidates = metrics.counter('firmquote_venue_candidates_total', 'Candidates returned', ['solver']);
  const seconds = metrics.histogram('firmquote_venue_quote_seconds', 'Time to answer a quote request', SECONDS);
  metrics.gauge('firmquote_venue_open_quote_groups', 'Requests with live quotes', [], (gauge) => gauge.set(exposure.size()));

  let atWork = 0;

  /** Load is shed here, early and typed: a taker that waits too long for a price has no use for it. */
  async function admitted(...call: Parameters<Quoter['quote']>): Promise<string> {
    if (atWork >= fanOutOptions.maxRequests) {
      asked.add({ result: 'shed' });
      throw new ApiError('unavailable', 'The venue is answering as many quote requests as it can. Ask again in a second.', { retryAfterSeconds: 1 });
    }
    atWork++;
    try {
      return await quote(...call);
    } finally {
      atWork--;
    }
  }

  async function quote(request: QuoteRequest, key: ApiKey, workspace: Workspace, namespace: SealOwner['namespace']): Promise<string> {
    const startedMs = clock.monotonicMs();
    const requestId = random.bytes32().slice(2, 34);
    const respond = (quotes: readonly string[], productUnavailable: ProductUnavailable | null): string => {
      seconds.observe((clock.monotonicMs() - startedMs) / 1000);
      asked.add({ result: productUnavailable?.code ?? 'quoted' });
      return `{"requestId":"${requestId}","createdAt":"${toIso(clock.nowMs())}","quotes":[${quotes.join(',')}],"productUnavailable":${JSON.stringify(productUnavailable)}}`;
    };

    const [input, output] = [market(request.input.asset, key, 'input'), market(request.output.asset, key, 'output')];
    if (!input || !output) return respond([], unavailable('pair_not_supported', 'The venue has no escrow or no listing for one of these assets. GET …/pairs lists the chains.', null));
    const screened = screening.admit({ taker: request.taker, receiver: request.receiver ?? request.taker }, PARTIES);
    // Waiting costs a turn of the loop even where there is nothing to wait for.
    if (screened instanceof Promise) await screened;
    const ask = askOf(request, workspace, input, output, requestId);
    const corridor = corridorOf(input.chain, output.chain);
    const landing = gas.landing(input.chain.id, input.token, { crossChain: input.chain.id !== output.chain.id, outputs: 1 });
    Object.assign(ask, { relayFee: landing.relayFee });
    Object.assign(ask.rfq, { relayFee: landing.relayFee.toString(), executionMode: landing.executionMode });

    openQuotes.check(key.id, { count: workspace.limits.openQuotes ?? rates.openQuotes, notionalUsd: workspace.limits.openNotionalUsd ?? rates.openNotionalUsd }, ask.now);
    if (ask.side === 'exactInput' && landing.relayFee >= ask.amount) {
      return respond([], unavailable('amount_too_small', `Settling costs ${landing.relayFee} base units of the input, which is all of this amount or more. Ask for more.`, corridor));
    }
    if (ask.rfq.minValidUntil !== null && ask.rfq.minValidUntil > ask.latestValidUntil) {
      return respond([], unavailable('validity_unavailable', `No quote here lives longer than ${fanOutOptions.maxValiditySeconds} seconds. Ask with an earlier minValidUntil.`, corridor));
    }
    const sessions = entrants(request, workspace, corridor, ask);
    if (sessions.length === 0) return respond([], unavailable('no_eligible_solver', 'No solver is pricing this corridor for you right now. GET /api/v1/solvers shows the roster.', corridor));

    let refused = 0;
    const gathered = await fanOut.gather(ask.rfq, sessions, (session, answer) => {
      const verified = verifyQuote(deps, ask, session, answer);
      if (typeof verified === 'string') refused++;
      return verified;
    });
    const found = distinct(gathered.quotes).map((verified) => candidateOf(ask, verified, landing));
    const split = await trySplit(request, ask, gathered.partials, found);
    if (split) found.push(split);
    if (found.length === 0) {
      const fixed = ask.side === 'exactInput' ? ask.inputToken : ask.outputToken;
      // Whoever offered a part said that the whole is too much for it alone.
      const parts = gathered.partials.map(({ session, partial }) => ({ solverId: session.solverId, reason: 'size_above_max' as const, maxAmount: BigInt(partial.ladder.at(-1)?.[ask.side === 'exactInput' ? 0 : 1] ?? 0n) }));
      return respond([], whyNoQuotes([...gathered.declines, ...parts], { asked: gathered.asked, invalid: refused, corridor, unit: fixed }));
    }
    const best = rank(ask.side, found).slice(0, request.maxCandidates);
    const owner: SealOwner = { account: workspace.id, namespace, mode: key.mode };
    const texts = best.map((candidate) => publish(ask, candidate, owner));
    const lastValid = Math.max(...best.map(({ verified }) => verified.validUntil));
    openQuotes.add(key.id, ask.group, prices.amountUsd(ask.inputToken, best[0]?.inputAmount ?? 0n) ?? 0, lastValid);
    return respond(texts, null);
  }

  function market(assetId: string, key: ApiKey, side: 'input' | 'output'): Market | undefined {
    const placed = markets.place(assetId, key.mode);
    if (placed.kind === 'unknown_chain') throw invalid('chain_not_in_roster', ['body', side, 'asset'], 'This chain is not in the roster of your key. GET …/pairs lists the chains that are.');
    return placed.kind === 'market' ? placed.market : undefined;
  }

  function askOf(request: QuoteRequest, workspace: Workspace, input: Market, output: Market, rfqId: string): Ask & { rfq: Omit<Rfq, 'deadlineMs'> } {
    const [origin, dest] = [input.chain, output.chain];
    const receiver = request.receiver ?? request.taker;
    refuseParties(request.taker, receiver, input, output);
    const nonce = BigInt(random.bytes32());
    const now = chainNow(clock, chains.get(origin.id));
    const side = request.input.amount === undefined ? 'exactOutput' : 'exactInput';
    const amount = request.input.amount ?? (request.output.amount as string);
    const crossChain = origin.id !== dest.id;
    const rfq: Rfq = {
      type: 'rfq',
      rfqId,
      deadlineMs: fanOutOptions.timeoutMs,
      input: request.input.asset,
      output: request.output.asset,
      side,
      amount,
      taker: request.taker,
      receiver,
      minValidUntil: request.minValidUntil ?? null,
      platformFeeBps: workspace.platformFeeBps,
      relayFee: '0',
      executionMode: 'walletBroadcast',
      maxSplitParts: request.splitFill === 'allow' && !crossChain ? fanOutOptions.maxSplitParts : 1,
      skeleton: {
        nonce: nonce.toString(),
        originChainId: origin.id,
        inputOracle: crossChain ? origin.oracle : origin.escrow,
        outputOracle: crossChain ? dest.oracle : dest.escrow,
        settler: dest.escrow,
        landingMarginSeconds: origin.landingMarginSeconds,
        proofWindowSeconds: origin.proofWindowSeconds,
      },
    };
    return {
      rfq,
      origin,
      dest,
      inputToken: input.token,
      outputToken: output.token,
      side,
      amount: BigInt(amount),
      nonce,
      relayFee: 0n,
      group: askGroup(origin, request.taker, nonce),
      now,
      latestValidUntil: now + fanOutOptions.maxValiditySeconds,
    };
  }

  /** Money that goes to a contract of the trade, or to the one who pays it, reaches nobody. */
  function refuseParties(taker: Address, receiver: Address, input: Market, output: Market): void {
    const nobody = new Set<Address>([ZERO_ADDRESS, ...[input.chain, output.chain].flatMap(({ escrow, oracle, permit2 }: Chain) => [escrow, oracle, permit2]), input.token.address, output.token.address]);
    for (const { session } of roster.entries()) for (const { account } of session?.accounts.values() ?? []) nobody.add(account);
    if (nobody.has(receiver)) throw invalid('value_error', ['body', 'receiver'], 'This address cannot be the receiver: it is the zero address, a contract of the trade, or an LP account.');
    if (nobody.has(taker)) throw invalid('value_error', ['body', 'taker'], 'This address cannot be the taker: it is the zero address, a contract of the trade, or an LP account.');
  }

  function entrants(request: QuoteRequest, workspace: Workspace, corridor: string, { origin, dest }: Ask): Session[] {
    const entries: Entry[] = eligible(roster.entries(), { corridor, workspace: workspace.eligibleSolvers, include: request.solvers?.include ?? null, exclude: request.solvers?.exclude ?? [] });
    return entries.flatMap(({ session }) => (session && session.inFlight < session.maxInFlight && session.accounts.has(origin.id) && session.accounts.has(dest.id) ? [session] : []));
  }

  function candidateOf(ask: Ask, verified: Verified, landing: Landing): Candidate {
    const { settled, faded } = roster.entry(verified.solverId) ?? { settled: 0, faded: 0 };
    return {
      quoteId: verified.quoteId,
      inputAmount: verified.inputAmount,
      outputAmount: verified.outputAmount,
      takerGas: landing.takerGasWei === 0n ? 0n : (prices.tokenForNativeUp(ask.side === 'exactInput' ? ask.outputToken : ask.inputToken, gas.settings(ask.origin.id).nativeSymbol, landing.takerGasWei) ?? 0n),
      eta: verified.eta,
      fillRateBps: settled + faded === 0 ? 10_000 : Math.floor((settled * 10_000) / (settled + faded)),
      validUntil: verified.validUntil,
      verified,
      landing,
    };
  }

  /** A split is worth a second round when it beats every whole quote, or when there is none. */
  async function trySplit(request: QuoteRequest, ask: Ask, partials: Parameters<typeof planOffers>[1], found: readonly Candidate[]): Promise<Candidate | undefined> {
    if (request.splitFill !== 'allow' || ask.origin.id !== ask.dest.id || partials.length < 2) return undefined;
    // Whoever lands the trade was settled with the request: the relayer's health may change while solvers think, the order may not.
    const landingFor = (outputs: number): Landing => {
      const landing = gas.landing(ask.origin.id, ask.inputToken, { crossChain: false, outputs });
      return ask.rfq.executionMode === landing.executionMode ? landing : { executionMode: ask.rfq.executionMode, relayFee: ask.relayFee, takerGasWei: 0n };
    };
    const relayFee = (outputs: number) => (ask.rfq.executionMode === 'apiSubmit' ? landingFor(outputs).relayFee : 0n);
    const best = rank(ask.side, found)[0];
    let offers = partials;
    // Whoever does not sign is left out once; a third try would keep the taker waiting.
    for (let attempt = 0; attempt < 2; attempt++) {
      const planned = planOffers(ask, offers, relayFee);
      if (!planned) return undefined;
      const wins = !best || (ask.side === 'exactInput' ? planned.plan.outputAmount > netOf(ask.side, best) : planned.plan.inputAmount < netOf(ask.side, best));
      if (!wins) return undefined;
      const answer = await commitSplit({ ...deps, quoteId: () => random.bytes32() }, ask, planned);
      if (!('missing' in answer)) return candidateOf(ask, answer, landingFor(answer.slices.length));
      offers = offers.filter(({ session }) => !answer.missing.includes(session));
    }
    return undefined;
  }

  /** Makes a candidate public: from here on its LPs are bound to a taker who has seen their signatures. */
  function publish(ask: Ask, { verified, landing }: Candidate, owner: SealOwner): string {
    const until = verified.order.fillDeadline;
    verified.commitments.forEach(({ lp }, index) => {
      const slice = verified.slices[index];
      if (slice) exposure.add({ chainId: ask.dest.id, lp, token: ask.outputToken.address, amount: slice.outputAmount, group: ask.group, until });
    });
    for (const { solverId } of verified.slices) {
      candidates.add({ solver: solverId });
      roster.quoted(solverId);
      siblings.add(ask.group, solverId, verified.quoteId, until);
    }
    const terms = termsOf(ask, verified, {
      prices,
      liquidity,
      landing,
      nativeSymbol: gas.settings(ask.origin.id).nativeSymbol,
      minValidUntil: ask.rfq.minValidUntil,
      shortValiditySeconds: fanOutOptions.shortValiditySeconds,
      farFromMidBps: fanOutOptions.farFromMidBps,
      underWatch: (solverId) => roster.entry(solverId)?.breaker.underWatch(clock.nowMs()) ?? false,
    });
    return sealing.seal(owner, terms, verified.commitments);
  }

  return { quote: admitted };
}

/** A quoteId names one quote; a solver that uses one twice keeps its first. */
function distinct(quotes: readonly Verified[]): Verified[] {
  const seen = new Set<string>();
  return quotes.filter(({ quoteId, orderId }) => !seen.has(quoteId) && !seen.has(orderId) && seen.add(quoteId) && seen.add(orderId));
}
