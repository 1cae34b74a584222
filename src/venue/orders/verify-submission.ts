/** Checks a submission against the chains before its order is stored. */

import type { Hex } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { RouteVenue } from '../../ports/route-venue.ts';
import type { NewOrder, OrderStore } from '../../ports/stores/store.ts';
import { ApiError, invalid, InvalidError } from '../../protocol/errors.ts';
import type { RouterSubmitRequest } from '../../protocol/api/router.ts';
import type { OrderSubmitRequest } from '../../protocol/api/submit.ts';
import { encodeFunding } from '../../settlement/funding.ts';
import type { VenueDeps } from '../deps.ts';
import type { Bulkhead } from '../access/bulkhead.ts';
import { fundingFor } from './lock.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { OpenQuotes } from '../market/open-quotes.ts';
import type { Prices } from '../market/prices.ts';
import { chainNow } from '../market/chain-now.ts';
import type { Screening } from '../access/screening.ts';
import { receiverOf } from '../quoting/receiver.ts';
import type { Sealing, SealOwner, VerifiedQuote } from '../quoting/sealing.ts';
import { nonceUsed, readTaker, type TakerState } from './taker.ts';
import { signedCommitment } from '../quoting/verify.ts';

export type SubmitRequest = OrderSubmitRequest | RouterSubmitRequest;

export type SubmitDeps = Pick<VenueDeps, 'chains' | 'queue' | 'recovery' | 'clock' | 'log' | 'metrics'> & {
  store: OrderStore;
  routeVenues: ReadonlyMap<string, RouteVenue>;
  sealing: Sealing;
  chainBulkhead: Bulkhead<number>;
  liquidity: Liquidity;
  openQuotes: Pick<OpenQuotes, 'close'>;
  screening: Screening;
  prices: Prices;
};

export const PARTIES = {
  taker: ['body', 'quoteResponse', 'order'],
  receiver: ['body', 'quoteResponse', 'preview', 'outputs', 0, 'receiver'],
} as const;

/** Throws 503 while a chain of the order is not usable. */
export function requireChains(deps: SubmitDeps, opened: VerifiedQuote): ChainPort {
  const { origin, dest } = opened;
  if ([origin, dest].some(({ id }) => deps.chains.get(id)?.healthIssue()?.kind === 'reorg'))
    throw new ApiError(
      'unavailable',
      'A chain of this order took back final blocks. Nothing was submitted.',
      { retryAfterSeconds: 60 },
    );
  return requireOrigin(deps.chains, opened);
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

export function requireTime(deps: SubmitDeps, { validUntil }: VerifiedQuote, port: ChainPort): void {
  if (chainNow(deps.clock, port) >= validUntil)
    throw invalid(
      'quote_expired',
      ['body', 'quoteResponse', 'validUntil'],
      'The quote is no longer valid. Ask for a new one; nothing was submitted.',
    );
}

/** Throws 422 when an LP could take its money or its bond away before the quote ends. */
export async function requireBacking(
  liquidity: Pick<Liquidity, 'latestFillDeadlineNow'>,
  { commitments, order: { fillDeadline, expires }, ...route }: VerifiedQuote,
): Promise<void> {
  if (commitments.length === 0) return;
  if (fillDeadline > (await liquidity.latestFillDeadlineNow(route, expires - fillDeadline)))
    throw invalid(
      'quote_expired',
      ['body', 'quoteResponse', 'order'],
      'An LP could take away what stands behind this quote before it ends. Ask for a new one; nothing was submitted.',
    );
}

export async function verifyOnChain(
  deps: SubmitDeps,
  request: SubmitRequest,
  opened: VerifiedQuote,
  port: ChainPort,
  signature: Hex,
): Promise<Pick<NewOrder, 'funding'> & { screened: NewOrder['screening'] }> {
  const { order } = opened;
  const taker = await deps.chainBulkhead.run(opened.origin.id, () => readTaker(port, opened));
  if (taker.nonceUsed) throw await nonceUsed(port, opened);
  await requireBacking(deps.liquidity, opened);
  await requireCommitments(deps, opened);
  const screened = await deps.screening.requireAllowed(
    { taker: order.user, receiver: receiverOf(order) },
    PARTIES,
  );
  const lock = { port, recovery: deps.recovery, now: chainNow(deps.clock, port) };
  const fund = (state: TakerState) => fundingFor(lock, opened, state, request, signature);
  const funding = await fund(taker).catch(async (error: unknown) => {
    const head = port.head()?.number;
    if (head === undefined || !isShort(error, taker)) throw error;
    // The node that answered may lack the taker's newest blocks, which another node has told us of.
    return fund(await deps.chainBulkhead.run(opened.origin.id, () => readTaker(port, opened, head)));
  });
  requireTime(deps, opened, port);
  return { screened, funding: encodeFunding(funding) };
}

/** Returns whether the refusal is for an allowance or balance that a later block may have. */
const isShort = (error: unknown, { funding }: TakerState): boolean =>
  error instanceof InvalidError && (error.code === 'lock_required' || funding.tokenBalance < funding.amount);

/** An LP may have revoked the signer since. */
async function requireCommitments(
  deps: SubmitDeps,
  { orderId, quoteId, commitments, route, origin, dest }: VerifiedQuote,
): Promise<void> {
  if (route && !deps.routeVenues.has(route.venueId))
    throw invalid(
      'quote_expired',
      ['body', 'quoteResponse', 'solverId'],
      'The venue behind this quote is no longer connected. Ask for a new one; nothing was submitted.',
    );
  const held = await Promise.all(
    commitments.map((commitment) => {
      const signed = signedCommitment({ origin, orderId, quoteId, commitment });
      const signer = deps.recovery.recover(signed.digest, signed.signature);
      return signer !== undefined && deps.liquidity.maySignNow(dest.id, commitment.lp, signer);
    }),
  );
  if (!held.every(Boolean))
    throw invalid(
      'quote_expired',
      ['body', 'quoteResponse', 'integrityChecksum'],
      'The LP has withdrawn the authority behind this quote. Ask for a new one; nothing was submitted.',
    );
}

export async function existingOrder(
  deps: SubmitDeps,
  error: unknown,
  { orderId, quoteId }: VerifiedQuote,
  { account, namespace, mode }: SealOwner,
  signature: Hex,
): ReturnType<typeof verifyOnChain> {
  const existing = error instanceof InvalidError ? await deps.store.order(orderId) : undefined;
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

export const alreadyUsed = () =>
  invalid(
    'quote_already_used',
    ['body', 'quoteResponse', 'quoteId'],
    'This quote was submitted with another signature or by another account. Ask for a new one.',
  );
