/**
 * Payouts of a route partner: a bank transfer after the taker has sent the partner a token. No chain sees the
 * transfer, so the venue shows what the partner signs and moves no money.
 */

import type { AssetId } from '../domain/asset.ts';
import type { Closed, Decline } from '../domain/decline.ts';
import type { Address } from '../domain/hex.ts';
import type { PartnerPayoutOffer, PartnerPayoutState, PartnerWindow } from '../protocol/partner/messages.ts';

export interface PayoutAsk {
  asset: AssetId;
  /** Base units of the asset. */
  amount: bigint;
  currency: string;
  /** The address that the taker will send the token from. */
  from: Address;
}

/** An answer as the partner signed it: `signature` is over `<id>.<timestamp>.<body>`. */
export interface SignedAnswer {
  id: string;
  timestamp: number;
  body: string;
  signature: string;
}

interface SignedPayoutOffer {
  offer: PartnerPayoutOffer;
  /** The opening in which the offer was made; null when the partner is always open. */
  opening: PartnerWindow | null;
  /** Base units of the asset; null where the partner names none. */
  limits: { minAmount: bigint | null; maxAmount: bigint | null };
  signed: SignedAnswer;
}

export interface PayoutDesk {
  /** One of them signs the answers. */
  readonly publicKeys: readonly string[];
  /** Reads memory only. */
  pays(asset: AssetId, currency: string): boolean;
  /** Rejects when the partner does not answer in time, or answers wrongly. */
  offer(ask: PayoutAsk): Promise<SignedPayoutOffer | Decline | Closed>;
  /** undefined: the partner does not know the offer. Rejects as `offer` does. */
  status(offerId: string): Promise<{ state: PartnerPayoutState; signed: SignedAnswer } | undefined>;
}
