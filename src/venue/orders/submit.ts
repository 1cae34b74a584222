/**
 * POST …/orders. One database commit makes a candidate an order; the answer is sent after it. The checks, in
 * this order:
 *
 * 1. the Idempotency-Key, if sent: well formed, not in progress, not used with another body; a key that was
 *    answered gets the same answer
 * 2. the seal: this very candidate was issued to this account, namespace and mode
 * 3. the chains: no final block was taken back, and the origin is connected
 * 4. the time: the quote is still valid
 * 5. the taker's signature over the order
 * 6. the order nonce is unused on chain
 * 7. the route venue is connected, and every LP's signer may still sign for the LP
 * 8. taker and receiver pass screening
 * 9. the lock, sent or standing, lets the escrow collect the input
 * 10. the time again, since a slow node may have outlasted the quote
 * 11. in the commit: the key again; the quote, the next leg and the order nonce were not submitted before
 *
 * An order that was accepted before may fail one of 6 to 10 (once its nonce is used or its lock spent):
 * `existingOrder` lets the same submission through to 11, which repeats the first answer.
 */

import { nonceGroupOf } from '../../domain/order.ts';
import { createHash } from 'node:crypto';
import type { Hex } from '../../domain/hex.ts';
import { toIso } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { RouteVenue } from '../../ports/route-venue.ts';
import type { ApiKey, IdempotencyScope, NewOrder, OrderStore, Workspace } from '../../ports/stores/store.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { ApiError, ERROR_STATUS, invalid, InvalidError, REFUSALS } from '../../protocol/errors.ts';
import type { RouterSubmitRequest } from '../../protocol/api/router.ts';
import { type OrderSubmitRequest, zIdempotencyKey } from '../../protocol/api/submit.ts';
import { encodeFunding } from '../../settlement/funding.ts';
import type { VenueDeps } from '../deps.ts';
import type { Bulkhead } from '../access/bulkhead.ts';
import { fundingFor } from './lock.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { OpenQuotes } from '../quoting/open-quotes.ts';
import type { Prices } from '../market/prices.ts';
import { chainNow } from '../market/chain-now.ts';
import type { Screening } from '../access/screening.ts';
import { receiverOf } from '../quoting/receiver.ts';
import type { VerifiedQuote, SealOwner, Sealing } from '../quoting/sealing.ts';
import { nonceUsed, readTaker, type TakerState, verifyTakerSignature } from './taker.ts';
import { dutyOf } from './travel-rule.ts';
import { recoverCommitmentSigner } from '../quoting/verify.ts';

export const ORDERS_TOPIC = 'orders';

export type SubmitRequest = OrderSubmitRequest | RouterSubmitRequest;

type SubmitDeps = Pick<VenueDeps, 'chains' | 'queue' | 'recovery' | 'clock' | 'log' | 'metrics'> & {
  store: OrderStore;
  routeVenues: ReadonlyMap<string, RouteVenue>;
  sealing: Sealing;
  chainBulkhead: Bulkhead<number>;
  liquidity: Liquidity;
  openQuotes: OpenQuotes;
  screening: Screening;
  prices: Prices;
};

export interface TradingCaller {
  key: ApiKey;
  workspace: Workspace;
  namespace: SealOwner['namespace'];
}

export type SubmitCaller = TradingCaller & { idempotencyKey: string | undefined };

export type Submitter = ReturnType<typeof createSubmitter>;

const RESULTS = ['accepted', 'replayed', ...REFUSALS, ...Object.keys(ERROR_STATUS), 'error'];
const SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

export function createSubmitter(deps: SubmitDeps) {
  const {
    chains,
    store,
    queue,
    routeVenues,
    sealing,
    recovery,
    chainBulkhead,
    liquidity,
    openQuotes,
    screening,
    prices,
    clock,
    log,
    metrics,
  } = deps;
  const running = new Set<string>();
  const submissions = metrics.counter('firmquote_venue_submissions_total', 'Submissions', {
    result: RESULTS,
  });
  const seconds = metrics.histogram('firmquote_venue_submit_seconds', 'Time to answer a submission', SECONDS);

  async function submit(request: SubmitRequest, from: SubmitCaller): Promise<string> {
    const startedMs = clock.monotonicMs();
    try {
      const scope = scopeOf(request, from);
      const { response, result } = scope
        ? await withIdempotency(scope, () => verifyAndAccept(request, from, scope))
        : await verifyAndAccept(request, from, null);
      submissions.add({ result });
      return response;
    } catch (error) {
      submissions.add({
        result: error instanceof InvalidError || error instanceof ApiError ? error.code : 'error',
      });
      throw error;
    } finally {
      seconds.observe((clock.monotonicMs() - startedMs) / 1000);
    }
  }

  /** The same key and body get the first answer, 409 while it is in progress. */
  async function withIdempotency(
    scope: IdempotencyScope,
    work: () => Promise<Submitted>,
  ): Promise<Submitted> {
    const id = `${scope.workspaceId} ${scope.namespace} ${scope.mode} ${scope.key}`;
    if (running.has(id)) throw inProgress();
    running.add(id);
    try {
      const state = await store.idempotency(scope);
      if (state.kind === 'done') return { response: state.response, result: 'replayed' };
      if (state.kind === 'reused') throw keyReused();
      if (state.kind === 'in_progress') throw inProgress();
      return await work();
    } finally {
      running.delete(id);
    }
  }

  async function verifyAndAccept(
    request: SubmitRequest,
    { key, workspace, namespace }: SubmitCaller,
    scope: IdempotencyScope | null,
  ): Promise<Submitted> {
    const owner = { account: workspace.id, namespace, mode: key.mode };
    const opened = sealing.open(owner, request.quoteResponse, chainNow(clock, undefined));
    const port = requireChains(opened);
    requireTime(opened, port);
    const { order, orderId } = opened;
    const signature = await verifyTakerSignature({ port, recovery }, order.user, opened.digest, {
      signature: request.signature,
      scheme: request.signScheme,
      loc: ['body', 'signature'],
    });
    const verified = await verifyOnChain(request, opened, port, signature).catch((error: unknown) =>
      existingOrder(error, opened, owner, signature),
    );

    const createdAtMs = clock.nowMs();
    const amountUsd = prices.amountUsd(opened.inputToken, opened.inputAmount);
    const accepting: NewOrder = {
      orderId,
      quoteId: opened.quoteId,
      workspaceId: workspace.id,
      keyId: key.id,
      memberId: key.memberId,
      namespace,
      mode: key.mode,
      executionMode: opened.executionMode,
      originChainId: opened.origin.id,
      destChainIds: [opened.dest.id],
      order,
      validUntil: opened.validUntil,
      commitments: opened.commitments,
      route: opened.route,
      parentOrderId: opened.parentOrderId,
      solverIds: opened.solverIds,
      signature,
      signScheme: request.signScheme,
      funding: verified.funding,
      candidate: opened.text,
      referenceId: opened.referenceId,
      amountUsd,
      screening: verified.screened,
      travelRule: dutyOf(workspace, amountUsd),
      createdAtMs,
    };
    return accept(accepting, scope, key);
  }

  async function verifyOnChain(
    request: SubmitRequest,
    opened: VerifiedQuote,
    port: ChainPort,
    signature: Hex,
  ): Promise<Pick<NewOrder, 'funding'> & { screened: NewOrder['screening'] }> {
    const { order } = opened;
    const taker = await chainBulkhead.run(opened.origin.id, () => readTaker(port, opened));
    if (taker.nonceUsed) throw await nonceUsed(port, opened);
    await requireCommitments(opened);
    const screened = await screening.requireAllowed(
      { taker: order.user, receiver: receiverOf(order) },
      PARTIES,
    );
    const lock = { port, recovery, now: chainNow(clock, port) };
    const fund = (state: TakerState) => fundingFor(lock, opened, state, request, signature);
    const funding = await fund(taker).catch(async (error: unknown) => {
      const head = port.head()?.number;
      if (head === undefined || !isShort(error, taker)) throw error;
      // The node that answered may lack the taker's newest blocks, which another node has told us of.
      return fund(await chainBulkhead.run(opened.origin.id, () => readTaker(port, opened, head)));
    });
    requireTime(opened, port);
    return { screened, funding: encodeFunding(funding) };
  }

  async function existingOrder(
    error: unknown,
    { orderId, quoteId }: VerifiedQuote,
    { account, namespace, mode }: SealOwner,
    signature: Hex,
  ): ReturnType<typeof verifyOnChain> {
    const existing = error instanceof InvalidError ? await store.order(orderId) : undefined;
    if (!existing) throw error;
    const same =
      existing.workspaceId === account &&
      existing.mode === mode &&
      existing.namespace === namespace &&
      existing.quoteId === quoteId &&
      existing.signature === signature;
    if (!same) throw alreadyUsed();
    return { funding: existing.funding, screened: existing.screening };
  }

  /** Throws 503 while a chain of the order is not usable. */
  function requireChains(opened: VerifiedQuote): ChainPort {
    const { origin, dest } = opened;
    if ([origin, dest].some(({ id }) => chains.get(id)?.healthIssue()?.kind === 'reorg'))
      throw new ApiError(
        'unavailable',
        'A chain of this order took back final blocks. Nothing was submitted.',
        { retryAfterSeconds: 60 },
      );
    return requireOrigin(chains, opened);
  }

  function requireTime({ validUntil }: VerifiedQuote, port: ChainPort) {
    if (chainNow(clock, port) >= validUntil)
      throw invalid(
        'quote_expired',
        ['body', 'quoteResponse', 'validUntil'],
        'The quote is no longer valid. Ask for a new one; nothing was submitted.',
      );
  }

  async function accept(order: NewOrder, scope: IdempotencyScope | null, key: ApiKey): Promise<Submitted> {
    const response = JSON.stringify({
      id: order.orderId,
      status: 'pending',
      quoteId: order.quoteId,
      createdAt: toIso(order.createdAtMs),
    });
    const acceptance = await store.accept(order, response, scope);
    switch (acceptance.kind) {
      case 'accepted':
        openQuotes.close(key.id, nonceGroupOf(order.originChainId, order.order.user, order.order.nonce));
        // If this is lost, the sweep finds the order.
        queue
          .wake(ORDERS_TOPIC, order.orderId)
          .catch((error: unknown) =>
            log.warn(
              { orderId: order.orderId, error },
              'an accepted order was not woken; the sweep finds it',
            ),
          );
        log.info(
          {
            orderId: order.orderId,
            workspace: order.workspaceId,
            chain: order.originChainId,
            solvers: order.solverIds,
          },
          'order accepted',
        );
        return { response: acceptance.response, result: 'accepted' };
      case 'replayed':
        return { response: acceptance.response, result: 'replayed' };
      case 'in_progress':
        throw inProgress();
      case 'idempotency_key_reuse':
        throw keyReused();
      case 'quote_already_used':
        throw alreadyUsed();
      case 'leg_taken':
        throw legTaken();
      case 'nonce_used':
        throw siblingUsed();
    }
  }

  /** An LP may have revoked the signer since. */
  async function requireCommitments({ orderId, quoteId, commitments, route, origin, dest }: VerifiedQuote) {
    if (route && !routeVenues.has(route.venueId))
      throw invalid(
        'quote_expired',
        ['body', 'quoteResponse', 'solverId'],
        'The venue behind this quote is no longer connected. Ask for a new one; nothing was submitted.',
      );
    const held = await Promise.all(
      commitments.map((commitment) => {
        const signer = recoverCommitmentSigner(recovery, { origin, orderId, quoteId, commitment });
        return signer !== undefined && liquidity.maySignNow(dest.id, commitment.lp, signer);
      }),
    );
    if (!held.every(Boolean))
      throw invalid(
        'quote_expired',
        ['body', 'quoteResponse', 'integrityChecksum'],
        'The LP has withdrawn the authority behind this quote. Ask for a new one; nothing was submitted.',
      );
  }

  return { submit };
}

/** Throws 503. */
export function requireOrigin(chains: ReadonlyMap<number, ChainPort>, { origin }: VerifiedQuote): ChainPort {
  const port = chains.get(origin.id);
  if (port) return port;
  throw new ApiError(
    'unavailable',
    'The chain of this order is not connected at the moment. Try again shortly.',
    { retryAfterSeconds: 2 },
  );
}

interface Submitted {
  response: string;
  result: 'accepted' | 'replayed';
}

function scopeOf(
  request: SubmitRequest,
  { key, workspace, namespace, idempotencyKey }: SubmitCaller,
): IdempotencyScope | null {
  if (idempotencyKey === undefined) return null;
  const parsed = zIdempotencyKey.safeParse(idempotencyKey);
  if (!parsed.success)
    throw invalid(
      'value_error',
      ['header', 'Idempotency-Key'],
      'An Idempotency-Key is 1 to 255 printable ASCII characters.',
    );
  return {
    workspaceId: workspace.id,
    namespace,
    mode: key.mode,
    key: parsed.data,
    bodySha256: createHash('sha256').update(canonicalJson(request)).digest('hex'),
  };
}

export const PARTIES = {
  taker: ['body', 'quoteResponse', 'order'],
  receiver: ['body', 'quoteResponse', 'preview', 'outputs', 0, 'receiver'],
} as const;

export const legTaken = () =>
  invalid(
    'quote_already_used',
    ['body', 'quoteResponse'],
    'The next leg of this route was submitted already. Preflight of its first leg shows where it stands.',
  );
export const siblingUsed = () =>
  invalid(
    'nonce_used',
    ['body', 'quoteResponse', 'order'],
    'Another candidate of the same quote request was submitted; only one can execute. Ask for a new quote.',
  );
const inProgress = () =>
  new ApiError(
    'idempotency_in_progress',
    'A submission with this Idempotency-Key is in progress. Ask again for its result.',
    { retryAfterSeconds: 1 },
  );
const keyReused = () =>
  invalid(
    'idempotency_key_reuse',
    ['header', 'Idempotency-Key'],
    'This Idempotency-Key was used with another body. Use a new one.',
  );
const alreadyUsed = () =>
  invalid(
    'quote_already_used',
    ['body', 'quoteResponse', 'quoteId'],
    'This quote was submitted with another signature or by another account. Ask for a new one.',
  );

/** Whether the refusal is for an allowance or balance that a later block may have. */
const isShort = (error: unknown, { funding }: TakerState): boolean =>
  error instanceof InvalidError && (error.code === 'lock_required' || funding.tokenBalance < funding.amount);
