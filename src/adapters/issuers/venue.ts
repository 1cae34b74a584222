/** Issuers on chain as a route venue: vaults, peg-stability modules and native wrappers. */

import { divUp, min } from '../../domain/amount.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { RouteAsk, RoutePair, RouteVenue } from '../../ports/route-venue.ts';
import { type Conversion, CONVERSIONS, type IssuerKind, type Product } from './conversions.ts';

interface ListedProduct extends Product {
  /** Limit of `fillThrough`; null: that of a plain contract of this kind. */
  gas: bigint | null;
}

interface IssuerPlace {
  chain: ChainPort;
  filler: Address;
  products: readonly ListedProduct[];
}

export interface IssuerVenueOptions {
  id: string;
  name: string;
  kind: IssuerKind;
  places: readonly IssuerPlace[];
  /** Adverse move of the rate beyond which the order can no longer be filled. */
  toleranceBps: number;
  validSeconds: number;
  limits: Pick<RouteVenue['limits'], 'timeoutMs' | 'maxInFlight'>;
}

interface Offer {
  inputAmount: bigint;
  outputAmount: bigint;
  minimumOutput: bigint;
}

const BPS = 10_000n;
/** Measured with the contracts of contracts/test/fillers, plus half for tokens behind proxies. */
const GAS: Readonly<Record<IssuerKind, bigint>> = { vault: 260_000n, peg: 260_000n, wrap: 220_000n };

export function createIssuerVenue({
  id,
  name,
  kind,
  places,
  toleranceBps,
  validSeconds,
  limits,
}: IssuerVenueOptions): RouteVenue {
  const tolerance = BigInt(toleranceBps);

  function listed({ input, output }: RoutePair): (IssuerPlace & { product: ListedProduct }) | undefined {
    if (input.chainId !== output.chainId || input.token === output.token) return undefined;
    for (const place of places) {
      if (place.chain.chain.id !== input.chainId) continue;
      const product = place.products.find(
        ({ tokens }) => tokens.includes(input.token) && tokens.includes(output.token),
      );
      if (product) return { ...place, product };
    }
    return undefined;
  }

  return {
    id,
    name,
    kind: 'issuer',
    limits: { ...limits, maxSlackBps: toleranceBps },
    serves: (pair) => listed(pair) !== undefined,
    async quote(ask) {
      const found = listed({
        input: { chainId: ask.origin.id, token: ask.inputToken.address },
        output: { chainId: ask.dest.id, token: ask.outputToken.address },
      });
      if (!found) return { declined: 'pair' };
      const { chain, filler, product } = found;
      const { number, hash, timestamp } = ask.at.origin;
      const conversion = await CONVERSIONS[kind]({
        chain,
        filler,
        product,
        tokenIn: ask.inputToken.address,
        taker: ask.taker,
        block: number,
      });
      if (conversion === undefined)
        return { declined: 'pair', detail: `there is no ${kind} at the configured address` };
      if ('declined' in conversion) return conversion;
      const gas = product.gas ?? GAS[kind];
      const offer =
        ask.side === 'exactInput'
          ? await offerForInput(conversion, ask, { gas, tolerance })
          : await offerForOutput(conversion, ask, { gas, tolerance });
      const fee = isDecline(offer) ? null : await conversion.fee(ask.fees.handedOver(offer.inputAmount, gas));
      // Nodes are asked by number.
      if ((await chain.block(number))?.hash !== hash)
        return { declined: 'stale_price', detail: 'the pinned block is not on the chain any more' };
      if (isDecline(offer)) return offer;
      return {
        ...offer,
        validUntil: Math.min(ask.validity.to, Math.max(ask.validity.from, timestamp + validSeconds)),
        eta: Math.ceil(ask.origin.blockTimeMs / 1_000),
        via: [],
        fees: [fee],
        execution: { kind: 'through', filler, data: '0x', gas },
      };
    },
  };
}

interface Terms {
  gas: bigint;
  tolerance: bigint;
}

const REFUSED: Decline = { declined: 'no_inventory', detail: 'the contract refuses this amount' };

/** Promises slightly less than the output for all of the input that arrives. */
async function offerForInput(
  conversion: Conversion,
  { amount, fees }: RouteAsk,
  { gas, tolerance }: Terms,
): Promise<Offer | Decline> {
  const handed = fees.handedOver(amount, gas);
  if (handed <= 0n) return { declined: 'size_below_min' };
  const most = await mostInput(conversion);
  if (most !== undefined && handed > most)
    // The largest input of which no more than that is handed over.
    return tooMuch(most > 0n ? fees.inputFor(most + 1n, gas) - 1n : 0n);
  const outputAmount = await conversion.give(handed);
  if (outputAmount === undefined) return REFUSED;
  if (outputAmount === 0n) return { declined: 'size_below_min' };
  return { inputAmount: amount, outputAmount, minimumOutput: divUp(outputAmount * (BPS - tolerance), BPS) };
}

async function offerForOutput(
  conversion: Conversion,
  { amount, fees }: RouteAsk,
  { gas, tolerance }: Terms,
): Promise<Offer | Decline> {
  const wanted = amount + divUp(amount * tolerance, BPS);
  const { mostIn, mostOut } = conversion;
  /** The most that can be asked for, when no more than that can be given. */
  const within = (output: bigint) => (output * BPS) / (BPS + tolerance);
  if (mostOut !== undefined && wanted > mostOut) return tooMuch(within(mostOut));
  // The input that a preview names may give less than it was asked for.
  for (let more = 0n; more <= MOST_ROUNDING; more = more === 0n ? 1n : more * 16n) {
    const needed = await conversion.take(wanted + more);
    if (needed === undefined) return REFUSED;
    const inputAmount = fees.inputFor(needed, gas);
    const handed = fees.handedOver(inputAmount, gas);
    if (mostIn !== undefined && handed > mostIn)
      return tooMuch(within((mostIn > 0n ? await conversion.give(mostIn) : 0n) ?? 0n));
    const gives = await conversion.give(handed);
    if (gives === undefined) return REFUSED;
    if (gives >= wanted) return { inputAmount, outputAmount: amount, minimumOutput: amount };
  }
  return REFUSED;
}

const MOST_ROUNDING = 4_096n;

async function mostInput({ take, mostIn, mostOut }: Conversion): Promise<bigint | undefined> {
  if (mostOut === undefined) return mostIn;
  const tooMuchIn = await take(mostOut + 1n);
  if (tooMuchIn === undefined) return mostIn;
  return mostIn === undefined ? tooMuchIn - 1n : min(mostIn, tooMuchIn - 1n);
}

const tooMuch = (maxAmount: bigint): Decline => ({
  declined: 'no_inventory',
  ...(maxAmount > 0n && { maxAmount }),
});
