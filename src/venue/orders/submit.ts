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
 * 7. no LP can take its money or a demanded bond away before the quote ends; the route venue is connected,
 *    and every LP's signer may still sign for the LP
 * 8. taker and receiver pass screening
 * 9. the lock, sent or standing, lets the escrow collect the input
 * 10. the time again, since a slow node may have outlasted the quote
 * 11. in the commit: the key again; the quote, the next leg and the order nonce were not submitted before
 *
 * An order that was accepted before may fail one of 6 to 10 (once its nonce is used or its lock spent):
 * `existingOrder` lets the same submission through to 11, which repeats the first answer.
 */

import type { Counter, Histogram } from '../../ports/metrics.ts';
import { nonceGroupOf } from '../../domain/order.ts';
import { createHash } from 'node:crypto';
import { toIso } from '../../domain/time.ts';
import type { ApiKey, IdempotencyScope, NewOrder, Workspace } from '../../ports/stores/store.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { ApiError, ERROR_STATUS, invalid, InvalidError, REFUSALS } from '../../protocol/errors.ts';
import { zIdempotencyKey } from '../../protocol/api/submit.ts';
import { chainNow } from '../market/chain-now.ts';
import type { SealOwner } from '../quoting/sealing.ts';
import { verifyTakerSignature } from './taker.ts';
import { dutyOf } from './travel-rule.ts';
import {
  alreadyUsed,
  existingOrder,
  requireChains,
  requireTime,
  type SubmitDeps,
  type SubmitRequest,
  verifyOnChain,
} from './verify-submission.ts';

export const ORDERS_TOPIC = 'orders';

export interface TradingCaller {
  key: ApiKey;
  workspace: Workspace;
  namespace: SealOwner['namespace'];
}

type SubmitCaller = TradingCaller & { idempotencyKey: string | undefined };

const RESULTS = ['accepted', 'replayed', ...REFUSALS, ...Object.keys(ERROR_STATUS), 'error'];
const SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** Submissions in progress, and what is counted. */
interface SubmitState {
  /** The idempotency keys of submissions in progress. */
  readonly running: Set<string>;
  readonly submissions: Counter;
  readonly seconds: Histogram;
}

export interface Submitter {
  /** Resolves to the answer once the order is stored. */
  submit(request: SubmitRequest, from: SubmitCaller): Promise<string>;
}

export function createSubmitter(deps: SubmitDeps): Submitter {
  const state: SubmitState = {
    running: new Set<string>(),
    submissions: deps.metrics.counter('firmquote_venue_submissions_total', 'Submissions', {
      result: RESULTS,
    }),
    seconds: deps.metrics.histogram('firmquote_venue_submit_seconds', 'Time to answer a submission', SECONDS),
  };

  return { submit: (request, from) => submit(deps, state, request, from) };
}

async function submit(
  deps: SubmitDeps,
  state: SubmitState,
  request: SubmitRequest,
  from: SubmitCaller,
): Promise<string> {
  const startedMs = deps.clock.monotonicMs();
  try {
    const scope = scopeOf(request, from);
    const { response, result } = scope
      ? await withIdempotency(deps, state, scope, () => verifyAndAccept(deps, request, from, scope))
      : await verifyAndAccept(deps, request, from, null);
    state.submissions.add({ result });
    return response;
  } catch (error) {
    state.submissions.add({
      result: error instanceof InvalidError || error instanceof ApiError ? error.code : 'error',
    });
    throw error;
  } finally {
    state.seconds.observe((deps.clock.monotonicMs() - startedMs) / 1000);
  }
}

/** The same key and body get the first answer, 409 while it is in progress. */
async function withIdempotency(
  deps: SubmitDeps,
  state: SubmitState,
  scope: IdempotencyScope,
  work: () => Promise<Submitted>,
): Promise<Submitted> {
  const id = `${scope.workspaceId} ${scope.namespace} ${scope.mode} ${scope.key}`;
  if (state.running.has(id)) throw inProgress();
  state.running.add(id);
  try {
    const state = await deps.store.idempotency(scope);
    if (state.kind === 'done') return { response: state.response, result: 'replayed' };
    if (state.kind === 'reused') throw keyReused();
    if (state.kind === 'in_progress') throw inProgress();
    return await work();
  } finally {
    state.running.delete(id);
  }
}

async function verifyAndAccept(
  deps: SubmitDeps,
  request: SubmitRequest,
  { key, workspace, namespace }: SubmitCaller,
  scope: IdempotencyScope | null,
): Promise<Submitted> {
  const owner = { account: workspace.id, namespace, mode: key.mode };
  const opened = deps.sealing.open(owner, request.quoteResponse, chainNow(deps.clock, undefined));
  const port = requireChains(deps, opened);
  requireTime(deps, opened, port);
  const { order, orderId } = opened;
  const signature = await verifyTakerSignature({ port, recovery: deps.recovery }, order.user, opened.digest, {
    signature: request.signature,
    scheme: request.signScheme,
    loc: ['body', 'signature'],
  });
  const verified = await verifyOnChain(deps, request, opened, port, signature).catch((error: unknown) =>
    existingOrder(deps, error, opened, owner, signature),
  );

  const createdAtMs = deps.clock.nowMs();
  const amountUsd = deps.prices.amountUsd(opened.inputToken, opened.inputAmount);
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
  return accept(deps, accepting, scope);
}

async function accept(deps: SubmitDeps, order: NewOrder, scope: IdempotencyScope | null): Promise<Submitted> {
  const response = JSON.stringify({
    id: order.orderId,
    status: 'pending',
    quoteId: order.quoteId,
    createdAt: toIso(order.createdAtMs),
  });
  const acceptance = await deps.store.accept(order, response, scope);
  switch (acceptance.kind) {
    case 'accepted':
      deps.openQuotes.close(nonceGroupOf(order.originChainId, order.order.user, order.order.nonce));
      // If this is lost, the sweep finds the order.
      deps.queue
        .wake(ORDERS_TOPIC, order.orderId)
        .catch((error: unknown) =>
          deps.log.warn(
            { orderId: order.orderId, error },
            'an accepted order was not woken; the sweep finds it',
          ),
        );
      deps.log.info(
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
