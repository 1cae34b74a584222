/** Asks Circle and the burning contract what a transfer costs, and how: fast where that is cheap enough. */

import { divUp, max } from '../../../domain/amount.ts';
import type { BridgeEstimate, BridgeMove, BridgeRefusal } from '../../../ports/bridge.ts';
import { tryReadContract } from '../../evm/chain/read-contract.ts';
import { bridgeUnavailable, type Ends } from '../message-bridge.ts';
import type { AttestationService } from './attestation-service.ts';
import { tokenMessengerAbi } from './contracts.ts';
import { burnLimit, type CctpOptions, type CctpPlace } from './place.ts';

/** Finality thresholds of the attester, in its own numbers. */
export const FINALITY = { fast: 1_000, standard: 2_000 } as const;
/** Thousandths of a basis point in one. */
const MILLI_BPS = 10_000_000n;
/** The service's fee may rise until the burn; with too low a maximum the transfer becomes a slow one. */
const FEE_BUFFER_PERCENT = 10n;

/** A way to carry the transfer. */
interface Offer {
  mode: keyof typeof FINALITY;
  seconds: number;
  /** The fee in thousandths of a basis point. */
  rate: bigint;
}

export async function estimateCctp(
  attestations: AttestationService,
  { fast, maxFeeBps }: CctpOptions,
  { amount }: BridgeMove,
  { source, destination }: Ends<CctpPlace>,
): Promise<BridgeEstimate | BridgeRefusal> {
  const wantsFast = fast && source.seconds.fast !== null;
  const [limit, leastRate, rates, allowance] = await Promise.all([
    burnLimit(source),
    leastFeeRate(source),
    attestations.fees(source.domain, destination.domain),
    wantsFast ? attestations.fastAllowance() : undefined,
  ]);
  if (limit === 0n)
    return bridgeUnavailable(
      'The token messenger burns no such token: check the addresses under networks, cctp.',
    );
  if (amount > limit)
    return { refused: 'too_much', maxAmount: limit, detail: `One burn carries at most ${limit} base units.` };
  // Beyond the allowance a fast transfer would wait as long as a standard one.
  const mayBeFast = wantsFast && (allowance === undefined || amount <= allowance);
  const offers = (mayBeFast ? (['fast', 'standard'] as const) : (['standard'] as const)).flatMap(
    (mode): Offer[] => {
      const [rate, seconds] = [rates.get(FINALITY[mode]), source.seconds[mode]];
      return rate === undefined || seconds === null ? [] : [{ mode, seconds, rate: max(rate, leastRate) }];
    },
  );
  const offer = offers.find(({ rate }) => rate <= BigInt(Math.round(maxFeeBps * 1_000)));
  if (offer === undefined)
    return bridgeUnavailable(
      offers.length === 0
        ? 'Circle offers no transfers between these chains now.'
        : `Circle asks for a fee of ${offers.map(({ rate }) => Number(rate) / 1_000).join(' or ')} bps; maxFeeBps of bridges.cctp allows ${maxFeeBps}.`,
    );
  const maxFee = divUp(amount * offer.rate * (100n + FEE_BUFFER_PERCENT), MILLI_BPS * 100n);
  if (amount <= maxFee || amount <= 0n)
    return {
      refused: 'too_little',
      // The fee of two base units is one.
      minAmount: offer.rate === 0n ? 1n : 2n,
      detail: 'The fee would be all of it.',
    };
  return { leastReceived: amount - maxFee, seconds: offer.seconds, nativeFee: 0n, mode: offer.mode };
}

/** Thousandths of a basis point. The first release of the contracts has no such fee. */
const leastFeeRate = async ({ chain, messenger }: CctpPlace): Promise<bigint> =>
  (await tryReadContract(chain.read, {
    abi: tokenMessengerAbi,
    address: messenger,
    functionName: 'minFee',
  })) ?? 0n;
