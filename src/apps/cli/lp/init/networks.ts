/** The chains and tokens of a new LP, each with a price, from answers and questions. */

import type { Address } from '../../../../domain/hex.ts';
import { isNearDollar } from '../../../../lp/config/price-identity.ts';
import { readPreset } from '../../../config/presets.ts';
import type { Answers } from '../../../lp/init/answers.ts';
import { networkOf, type NetworkSection } from '../../../lp/init/compose.ts';
import { probeChain, probeTokens, type TokenFacts, type VenueFacts } from '../../../lp/init/probe.ts';
import { defaultPrice, priceOfToken, readMarkets } from '../../../lp/init/token-prices.ts';
import { badRequest } from '../../../wiring/bad-request.ts';
import { expand, type SecretContext } from '../../../wiring/keys.ts';
import { type Asker, listOf, report } from './asker.ts';

export type Price = Record<string, unknown>;
type Assets = Record<string, { price: string }>;

interface Pricing {
  asker: Asker;
  feeds: Readonly<Record<string, unknown>>;
  /** Prices that the answers give. */
  given: Readonly<Record<string, unknown>>;
  /** Prices that `lp init` makes, by name. */
  made: Map<string, Price>;
}

export const isFixed = (price: unknown): boolean =>
  typeof price === 'object' && price !== null && 'fixed' in price;

/** A fixed price that means a dollar. Ether may be fixed too, on a test chain. */
const isDollar = (price: unknown): boolean =>
  isFixed(price) && isNearDollar((price as { fixed: string }).fixed);

export async function networksOf(
  answers: Answers,
  venue: VenueFacts,
  pricing: Pricing,
  secrets: SecretContext,
): Promise<{ networks: NetworkSection[]; assets: Assets }> {
  const { asker } = pricing;
  const networks: NetworkSection[] = [];
  const assets: Assets = {};
  for (const place of venue.chains) {
    const known = answers.networks?.find(({ id }) => id === place.chainId) as NetworkSection | undefined;
    const said = answers.chains?.[place.slug];
    const knownUrl = (known?.['rpcUrls'] as string[] | undefined)?.[0];
    const rpcUrl =
      said?.rpcUrl ||
      knownUrl ||
      (asker.interactive && answers.chains === undefined
        ? await asker.or(
            `RPC endpoint of ${place.slug} (chain ${place.chainId}); \${NAME} takes it from the environment; empty: skip this chain`,
            '',
          )
        : '');
    if (rpcUrl === '') continue;
    const dialled = expand(rpcUrl, secrets);
    const facts = await probeChain(dialled, place);
    const network = known ?? networkOf(place, facts, rpcUrl, await tokensOf(facts.preset));
    for (const { symbol } of known?.tokens ?? [])
      assets[symbol] = answers.assets?.[symbol] ?? { price: symbol };
    report(
      `✓ ${place.slug}: chain ${place.chainId}, the escrow exists, a block every ${(facts.blockTimeMs / 1000).toFixed(1)} s; tokens ${network.tokens.map(({ symbol }) => symbol).join(', ') || 'none'}`,
    );
    if (network.tokens.length > 0) networks.push(network);
    else report(`· ${place.slug} is left out: none of its tokens has a price`);

    async function tokensOf(preset: string | undefined) {
      const addresses =
        said?.tokens ??
        listOf(await asker.need(`Token addresses on ${place.slug}, separated by commas`, '--token'));
      const tokens = await probeTokens(
        dialled,
        place.slug,
        addresses.map((address) => address.toLowerCase() as Address),
      );
      const priced = [];
      for (const token of tokens) {
        const price = await priceNameOf(
          token,
          { slug: place.slug, preset, taken: assets[token.symbol]?.price },
          pricing,
        );
        if (price === undefined) continue;
        assets[token.symbol] = { price };
        priced.push({ ...token, priceSymbol: isDollar(priceNamed(price, pricing)) ? 'USD' : price });
      }
      return priced;
    }
  }
  if (networks.length === 0)
    throw badRequest(
      `An LP needs at least one chain with a token that has a price. Give an endpoint and tokens for one of ${venue.chains.map(({ slug }) => slug).join(', ')} (--rpc base=https://… --token base=0x…).`,
    );
  return { networks, assets };
}

const priceNamed = (name: string, { given, made }: Pricing): unknown => given[name] ?? made.get(name);

/**
 * Makes the price where the answers have none. `taken`: the price of a token of this symbol on another chain.
 * undefined: the token is left out, and the operator was told.
 */
async function priceNameOf(
  token: TokenFacts,
  { slug, preset, taken }: { slug: string; preset: string | undefined; taken: string | undefined },
  { asker, feeds, given, made }: Pricing,
): Promise<string | undefined> {
  const { symbol, address } = token;
  const leftOut = (why: string): undefined =>
    void report(`· ${symbol} (${address} on ${slug}) is left out: ${why}`);
  const otherwise = 'an asset is one symbol with one price on all chains';
  const verdict = priceOfToken(token, slug, preset === undefined ? undefined : readPreset(preset));
  if (verdict.kind === 'impostor') return leftOut(`${verdict.why}, and ${otherwise}`);
  if (Object.hasOwn(given, symbol)) return symbol;
  if (verdict.kind === 'known') {
    const price = defaultPrice(verdict.name);
    const name = [verdict.name, ...(isFixed(price) ? ['USD'] : [])].find((each) =>
      Object.hasOwn(given, each),
    );
    if (taken !== undefined && taken !== (name ?? verdict.name))
      return leftOut(`${symbol} has the price ${taken} elsewhere, and ${otherwise}`);
    if (name !== undefined) return name;
    made.set(verdict.name, price);
    if (verdict.notice !== undefined) report(`· ${verdict.notice}`);
    return verdict.name;
  }
  if (taken !== undefined) return leftOut(`${verdict.why}, and ${otherwise}`);
  const markets = await asker.or(
    `Markets of ${symbol} (${token.name}, ${address} on ${slug}): ${verdict.why}. Name them as feed:symbol, such as kraken:USDE/USD, coinbase:USDE-USD; empty: leave the token out`,
    '',
  );
  if (markets.trim() === '')
    return leftOut(
      `${verdict.why}. To trade it, name its markets under prices.${symbol} of an answers file (--answers)`,
    );
  const price = readMarkets(markets, feeds);
  if (typeof price === 'string') throw badRequest(price);
  made.set(symbol, price);
  return symbol;
}
