/** Shows takers what route partners would pay out to a bank. The venue neither holds nor sends the token. */

import { type AssetId, parseAssetId } from '../../domain/asset.ts';
import { type Chain, tokenOf } from '../../domain/chain.ts';
import { type Closed, type Decline, isDecline } from '../../domain/decline.ts';
import { toIso } from '../../domain/time.ts';
import type { PayoutAsk, PayoutDesk } from '../../ports/payouts.ts';
import type { RouteVenue } from '../../ports/route-venue.ts';
import type { ApiKey } from '../../ports/stores/store.ts';
import { ApiError } from '../../protocol/errors.ts';
import {
  NOT_ENFORCED,
  type PayoutOffer,
  type PayoutOffersRequest,
  type PayoutOffersResponse,
  type PayoutRefusal,
  type PayoutStatus,
} from '../../protocol/payouts/offers.ts';
import type { Workspaces } from '../access/workspaces.ts';
import type { VenueDeps } from '../deps.ts';
import { tradesOn } from '../market/markets.ts';

type PayoutsDeps = Pick<VenueDeps, 'routeVenues' | 'log'> & {
  workspaces: Workspaces;
  networks: ReadonlyMap<number, Chain>;
};
type Partner = Pick<RouteVenue, 'id' | 'name'> & { payouts: PayoutDesk };

export interface Payouts {
  /**
   * Asks the partners that the workspace may use. The best offer comes first. A partner that fails is among
   * the refusals.
   */
  offers(request: PayoutOffersRequest, key: ApiKey): Promise<PayoutOffersResponse>;
  /** Throws 404 where the partner does not know the offer, or its token belongs to the other mode. */
  status(payout: { partnerId: string; offerId: string }, key: ApiKey): Promise<PayoutStatus>;
}

export function createPayouts({ routeVenues, networks, workspaces, log }: PayoutsDeps): Payouts {
  const partners = routeVenues.flatMap(({ id, name, payouts }): Partner[] =>
    payouts ? [{ id, name, payouts }] : [],
  );

  async function partnersFor(key: ApiKey): Promise<Partner[]> {
    const { eligibleSolvers } = await workspaces.of(key);
    return partners.filter(({ id }) => !eligibleSolvers || eligibleSolvers.includes(id));
  }

  /** Returns whether the key may name the token. */
  function isListed(asset: AssetId, { mode }: ApiKey): boolean {
    const parsed = parseAssetId(asset);
    const chain = parsed && networks.get(parsed.chainId);
    return parsed && chain ? tradesOn(chain, mode) && tokenOf(chain, parsed.token) !== undefined : false;
  }

  async function ask(
    { id, name, payouts }: Partner,
    wanted: PayoutAsk,
  ): Promise<PayoutOffer | PayoutRefusal> {
    const named = { partnerId: id, partnerName: name };
    try {
      const answer = await payouts.offer(wanted);
      if (isDecline(answer)) return { ...named, ...refusalOf(name, answer) };
      const { offer, opening, limits, signed } = answer;
      return {
        ...{ ...named, ...offer, opening },
        minAmount: limits.minAmount?.toString() ?? null,
        maxAmount: limits.maxAmount?.toString() ?? null,
        ...{ enforcement: NOT_ENFORCED, signed, publicKeys: [...payouts.publicKeys] },
      };
    } catch (error) {
      log.warn({ partner: id, error }, 'a route partner gave no payout offer');
      return {
        ...named,
        ...NOTHING,
        code: 'no_answer',
        message: `${name} does not answer now. Ask again later.`,
      };
    }
  }

  return {
    async offers(request, key) {
      const { asset, currency } = request;
      const wanted = { ...request, amount: BigInt(request.amount) };
      const asked = isListed(asset, key)
        ? (await partnersFor(key)).filter(({ payouts }) => payouts.pays(asset, currency))
        : [];
      const answers = await Promise.all(asked.map((partner) => ask(partner, wanted)));
      const offers = answers
        .filter((answer) => 'offerId' in answer)
        .sort((a, b) => compareDecimals(b.amountOut, a.amountOut));
      const refused = answers.filter((answer) => 'code' in answer);
      return {
        ...{ offers, refused },
        productUnavailable:
          offers.length > 0
            ? null
            : asked.length === 0
              ? { code: 'pair_not_supported', message: `No partner pays out this token in ${currency}.` }
              : { code: 'no_offers', message: refused.map(({ message }) => message).join(' ') },
      };
    },
    async status({ partnerId, offerId }, key) {
      const partner = (await partnersFor(key)).find(({ id }) => id === partnerId);
      const found = await partner?.payouts.status(offerId);
      // A payout of a token that this key may not name belongs to the other mode.
      if (!partner || !found || !isListed(found.state.asset, key))
        throw new ApiError('not_found', 'No such payout: its partner does not know this offer.');
      return {
        ...{ partnerId, ...found.state, enforcement: NOT_ENFORCED, signed: found.signed },
        publicKeys: [...partner.payouts.publicKeys],
      };
    },
  };
}

const NOTHING = { opensAt: null, minAmount: null, maxAmount: null };

function refusalOf(name: string, answer: Decline | Closed): Omit<PayoutRefusal, 'partnerId' | 'partnerName'> {
  if (answer.declined === 'closed')
    return {
      ...{ ...NOTHING, code: 'closed', opensAt: answer.opensAt },
      message:
        answer.opensAt === null
          ? `${name} is closed at the moment. Try again later.`
          : `${name} is closed until ${toIso(answer.opensAt * 1_000)}. Ask again then.`,
    };
  const { declined, detail } = answer;
  const limits = {
    minAmount: answer.minAmount?.toString() ?? null,
    maxAmount: answer.maxAmount?.toString() ?? null,
  };
  if (declined === 'size_below_min')
    return {
      ...NOTHING,
      ...limits,
      code: 'amount_too_small',
      message: `${name} pays out larger amounts only.`,
    };
  if (declined === 'size_above_max')
    return {
      ...NOTHING,
      ...limits,
      code: 'amount_too_large',
      message: `${name} pays out smaller amounts only.`,
    };
  return {
    ...{ ...NOTHING, ...limits, code: 'declined' },
    message: `${name} pays out nothing for this now${detail === undefined ? '' : `: ${detail}`}.`,
  };
}

/** Compares decimal texts without a sign. */
function compareDecimals(a: string, b: string): number {
  const [[wholeA = '', fractionA = ''], [wholeB = '', fractionB = '']] = [a.split('.'), b.split('.')];
  const digits = Math.max(fractionA.length, fractionB.length);
  const difference =
    BigInt(wholeA + fractionA.padEnd(digits, '0')) - BigInt(wholeB + fractionB.padEnd(digits, '0'));
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}
