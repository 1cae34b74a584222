/** Declares what every part of a certification of a partner works with. */

import { type RpcBlock, toBlock } from '../../../adapters/evm/chain/block.ts';
import { assetId, parseAssetId } from '../../../domain/asset.ts';
import type { Address } from '../../../domain/hex.ts';
import { orderId, type StandardOrder } from '../../../domain/order.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import type { PartnerPair, PartnerQuoted, PartnerTerms } from '../../../protocol/partner/messages.ts';
import { routeFees } from '../../../venue/router/route-fees.ts';
import { routeOrder } from '../../../venue/router/route-order.ts';
import { rpc } from '../../demo/chains/anvil.ts';
import type { RuleFindings } from '../findings.ts';
import { type CertifiedChain, type CertifyTaker, type CertifyWorld, chainIn } from '../world.ts';
import { newId, type PartnerAsking } from './asking.ts';
import type { PartnerRule } from './rules.ts';

export interface PartnerContext {
  world: CertifyWorld & { taker: CertifyTaker };
  asking: PartnerAsking;
  findings: RuleFindings<PartnerRule>;
  terms: PartnerTerms;
  pair: PartnerPair;
  origin: CertifiedChain;
  dest: CertifiedChain;
  account: Address;
  /** The longest time for the partner to fill, once the input is in escrow. */
  fillMs: number;
}

const FEE_BPS = 3;
const RELAY_FEE = 11n;
const fees = routeFees(FEE_BPS, () => RELAY_FEE);

/** The pair that orders are made of: across chains that the certification has, with an account on both. */
export function tradedPair(world: CertifyWorld, terms: PartnerTerms): PartnerPair | undefined {
  const known = new Set(
    world.chains.flatMap(({ chain }) =>
      chain.tokens.map(({ address: token }) => assetId({ chainId: chain.id, token })),
    ),
  );
  return terms.pairs.find(({ input, output }) => known.has(input as never) && known.has(output as never));
}

export async function blockOf({
  rpcUrl,
}: CertifiedChain): Promise<{ number: bigint; timestamp: UnixSeconds }> {
  return toBlock((await rpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as RpcBlock | null);
}

export interface QuoteFields {
  input: string;
  output: string;
  side: 'exactInput' | 'exactOutput';
  amount: string;
  taker: Address;
  receiver: Address;
  now: UnixSeconds;
  originBlock: string;
  destBlock: string;
  validFrom: UnixSeconds;
  validTo: UnixSeconds;
}

/** Builds a lawful request for a price, at the newest blocks. */
export async function quoteFields(
  { pair, origin, dest, world }: PartnerContext,
  side: QuoteFields['side'],
  amount: bigint,
  more: Partial<QuoteFields> = {},
): Promise<QuoteFields> {
  const [from, to] = await Promise.all([blockOf(origin), blockOf(dest)]);
  return {
    input: pair.input,
    output: pair.output,
    side,
    amount: amount.toString(),
    taker: world.taker.address,
    receiver: world.taker.address,
    now: from.timestamp,
    originBlock: from.number.toString(),
    destBlock: to.number.toString(),
    validFrom: from.timestamp + 1,
    validTo: from.timestamp + 600,
    ...more,
  };
}

/** A quote that is firm, and the order of the taker who accepts it. */
export interface ReservedQuote {
  quote: PartnerQuoted;
  order: StandardOrder;
}

export async function reservedQuote(
  context: PartnerContext,
  amountOut: bigint,
): Promise<ReservedQuote | undefined> {
  const { asking, origin } = context;
  const answer = await asking.ask('quote', await quoteFields(context, 'exactOutput', amountOut));
  if (!answer || 'declined' in answer) return undefined;
  const nonce = BigInt(`0x${newId()}`);
  const reserved = await asking.ask('reserve', {
    quoteId: answer.quoteId,
    originChainId: origin.chain.id,
    nonce: nonce.toString(),
    fillDeadline: answer.validUntil + origin.chain.landingMarginSeconds,
  });
  return reserved?.reserved === true ? { quote: answer, order: orderOf(context, answer, nonce) } : undefined;
}

/** Builds the order as the router does. */
function orderOf(
  { pair, origin, dest, world, account }: PartnerContext,
  quote: PartnerQuoted,
  nonce: bigint,
): StandardOrder {
  const tokenOn = ({ chain }: CertifiedChain, asset: string) => {
    const token = chain.tokens.find(({ address }) => address === parseAssetId(asset)?.token);
    if (!token) throw new Error(`${asset} is not on ${chain.slug}.`);
    return token;
  };
  return routeOrder({
    origin: origin.chain,
    dest: dest.chain,
    inputToken: tokenOn(origin, pair.input),
    outputToken: tokenOn(dest, pair.output),
    taker: world.taker.address,
    receiver: world.taker.address,
    settlement: 'wallet',
    nonce,
    platformFeeBps: FEE_BPS,
    relayFee: RELAY_FEE,
    landingMarginSeconds: origin.chain.landingMarginSeconds,
    quote: {
      inputAmount: fees.inputFor(BigInt(quote.amountIn), 0n),
      outputAmount: BigInt(quote.amountOut),
      minimumOutput: BigInt(quote.amountOut),
      validUntil: quote.validUntil,
      eta: null,
      via: [],
      fees: [{ in: 'input', amount: BigInt(quote.fee) }],
      execution: { kind: 'solver', account },
    },
  });
}

export const orderIdOn = ({ origin: { chain } }: PartnerContext, order: StandardOrder) =>
  orderId({ chainId: chain.id, escrow: chain.escrow }, order);

export const chainsOf = (world: CertifyWorld, pair: PartnerPair) => ({
  origin: chainIn(world, pair.input),
  dest: chainIn(world, pair.output),
});
