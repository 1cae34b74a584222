/** Configures the example partner of the demo, which swaps a token between two chains. */

import { parseUnits } from '../../domain/amount.ts';
import { type AssetId, assetId } from '../../domain/asset.ts';
import { PARTNER_PROTOCOL_VERSION } from '../../protocol/partner/messages.ts';
import { partnerSigningKey, publicKeyText } from '../../protocol/partner/signature.ts';
import type { WrongPartnerOptions } from './bridges/wrong-partner.ts';
import type { Layout } from './layout.ts';
import type { DemoState } from './state.ts';

/** The file that docs/examples/partner.mjs reads, again whenever it changes. */
export function partnerConfig({ config, chains, partner: keys }: DemoState, layout: Layout) {
  const { id, tokens: symbols, feeBps, maxAmountIn } = config.partner;
  const [first, second] = chains;
  if (!first || !second) throw new Error('The demo has no two chains.');
  const sides = [
    { chain: first, symbol: symbols[0] },
    { chain: second, symbol: symbols[1] },
  ].map(({ chain, symbol }) => {
    const token = chain.tokens.find((one) => one.symbol === symbol);
    if (!token) throw new Error(`The demo has a partner of ${symbol}, which is not among its tokens.`);
    return { asset: assetId({ chainId: chain.id, token: token.address }), decimals: token.decimals };
  }) as [{ asset: AssetId; decimals: number }, { asset: AssetId; decimals: number }];
  const pair = (input: (typeof sides)[0], output: (typeof sides)[0]) => ({
    input: input.asset,
    output: output.asset,
    minAmountIn: '1',
    maxAmountIn: parseUnits(maxAmountIn, input.decimals).toString(),
  });
  return {
    partner: id,
    kind: 'fiat',
    listen: { host: '127.0.0.1', port: layout.ports.partner },
    venueKeys: [publicKeyText(partnerSigningKey(keys.venuePem))],
    privateKey: keys.partnerPem,
    account: keys.owner.address,
    operatorKey: keys.operator.privateKey,
    feeBps,
    validSeconds: 12,
    journal: layout.partnerJournal,
    callback: null,
    chains: Object.fromEntries(
      chains.map(({ id: chainId, rpcUrl, escrow, oracle }) => [
        chainId,
        { rpc: rpcUrl, escrow, oracle, depth: config.chains.find((one) => one.id === chainId)?.depth },
      ]),
    ),
    assets: Object.fromEntries(sides.map(({ asset, decimals }) => [asset, { decimals, usdE8: 100_000_000 }])),
    pairs: [pair(sides[0], sides[1]), pair(sides[1], sides[0])],
    hours: null,
    payouts: [{ asset: sides[1].asset, currency: 'EUR', perToken: 0.9, fee: 1 }],
    holdDeliveries: false,
  };
}

/** The same partner, with other amounts in its quotes. */
export function wrongPartnerOptions(state: DemoState, layout: Layout): WrongPartnerOptions {
  const { pairs, account } = partnerConfig(state, layout);
  return {
    port: layout.ports.partner,
    privateKey: state.partner.partnerPem,
    terms: {
      protocolVersion: PARTNER_PROTOCOL_VERSION,
      kind: 'fiat',
      accounts: state.chains.map(({ id }) => ({ chainId: id, account })),
      pairs,
      hours: null,
      payouts: [],
    },
  };
}
