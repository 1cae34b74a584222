/** A vault share is bought and redeemed, a peg-stability module trades, and a full vault refuses. */

import type { DemoWorld } from '../../world.ts';
import { trustlessTaker, viewChain } from '../../world.ts';
import { type DemoCheck, expect, expectEqual, expectSettled, type DemoOrderCounts } from '../check.ts';
import { inTokens, SETTLE_TIMEOUT_MS } from '../trade.ts';

const SLUG = 'base';
const WHOLE = '600';

export const issuersCheck: DemoCheck = {
  name: 'router: a vault share bought and redeemed, a peg module, and a vault that is full',
  async run(world, tally) {
    const issuers = world.issuers(SLUG);
    const story = storyOf(world, tally);
    const { view } = story;
    const { share, asset, vault, psm, cap } = issuers;

    const bought = await story.trade('savings', asset.symbol, share.symbol, view.units(asset.symbol, WHOLE));
    const redeemed = await story.trade('savings', share.symbol, asset.symbol, bought);
    const exchanged = await story.trade('peg', asset.symbol, 'DAI', view.units(asset.symbol, WHOLE));
    for (const filler of [vault.filler, psm.filler])
      for (const symbol of [asset.symbol, share.symbol, 'DAI'])
        expectEqual(await view.balance(filler, symbol), 0n, `${symbol} left with a filler`);

    const refused = await story.ask('savings', asset.symbol, share.symbol, view.units(asset.symbol, cap));
    expectEqual(refused.quotes.length, 0, 'quotes for more than the vault takes');
    expectEqual(refused.productUnavailable?.code, 'amount_too_large', 'reason for no quote');
    expect(
      /now is [0-9.]+ /.test(refused.productUnavailable?.message ?? ''),
      'the refusal names no largest amount',
    );
    return `${WHOLE} ${asset.symbol} -> ${inTokens(view, share.symbol, bought)} -> ${inTokens(view, asset.symbol, redeemed)}; ${WHOLE} ${asset.symbol} -> ${inTokens(view, 'DAI', exchanged)}; ${cap} ${asset.symbol} refused: ${refused.productUnavailable?.message}`;
  },
};

function storyOf(world: DemoWorld, tally: DemoOrderCounts) {
  const view = viewChain(world.manifest, SLUG);
  const { client, taker, wallet } = trustlessTaker(world, 'router');
  const requestOf = (venue: string, sell: string, buy: string, amount: bigint) => ({
    taker,
    input: { asset: view.asset(sell), amount },
    output: { asset: view.asset(buy) },
    solvers: { include: [venue] },
  });
  return {
    view,
    ask: (...terms: Parameters<typeof requestOf>) => client.requestQuotes(requestOf(...terms)),
    /** Trades and returns what arrived, in base units. */
    async trade(...terms: Parameters<typeof requestOf>): Promise<bigint> {
      const [venue, sell, buy] = terms;
      const held = () => view.balance(taker, buy);
      const before = await held();
      const { checked, status } = await client.trade({
        request: requestOf(...terms),
        wallet,
        signal: AbortSignal.timeout(SETTLE_TIMEOUT_MS),
      });
      expectSettled(status, tally, `${sell} for ${buy}`);
      const { candidate } = checked;
      const legs = ('composite' in candidate && candidate.composite?.legs) || [];
      expectEqual(legs.map(({ kind, venue: by }) => `${kind} ${by}`).join(), `issuer ${venue}`, 'legs');
      const got = (await held()) - before;
      const floor = BigInt(candidate.preview.outputs[0]?.minimumAmount ?? 0);
      expect(floor > 0n && got >= floor, `${got} ${buy} arrived, less than the enforced ${floor}`);
      expectEqual(status.settledAmounts?.[view.asset(buy)]?.amount, got.toString(), 'settledAmounts');
      return got;
    },
  };
}
