/** The router ranks LPs and pools together, and follows a route of two legs. */

import { trustlessTaker, viewChain } from '../world.ts';
import { type DemoCheck, expect, expectSettled } from './check.ts';
import { inTokens, outputOf, SETTLE_TIMEOUT_MS } from './trade.ts';

export const routerCheck: DemoCheck = {
  name: 'router takes the better of LPs and pools',
  async run(world, tally) {
    const { client, taker, wallet } = trustlessTaker(world, 'router');
    const base = viewChain(world.manifest, 'base');
    const request = {
      taker,
      input: { asset: base.asset('USDC'), amount: base.units('USDC', '1200') },
      output: { asset: base.asset('WETH') },
      maxCandidates: 20,
    };
    const { quotes } = await client.requestQuotes(request);
    const offers = quotes.map((quote) => ({
      quote,
      amount: outputOf(quote),
      pool:
        'composite' in quote &&
        quote.composite?.executionModel === 'atomic' &&
        quote.composite.legs.every(({ kind }) => kind === 'dex'),
    }));
    const bestOf = (pool: boolean) =>
      offers
        .filter((offer) => Boolean(offer.pool) === pool)
        .reduce((most, { amount }) => (amount > most ? amount : most), 0n);
    const [lps, pools] = [bestOf(false), bestOf(true)];
    expect(
      lps > 0n && pools > 0n,
      `candidates came only from ${quotes.map(({ solverId }) => solverId).join(', ')}, not from LPs and pools`,
    );
    const [first] = offers;
    expect(
      first !== undefined && first.amount === (lps > pools ? lps : pools),
      'the first candidate is not the best one',
    );
    const { status } = await client.take(await client.check(first.quote, { request }), {
      wallet,
      signal: AbortSignal.timeout(SETTLE_TIMEOUT_MS),
    });
    expectSettled(status, tally);
    const shown = (amount: bigint) => inTokens(base, 'WETH', amount);
    return `1200 USDC: ${shown(lps)} from LPs, ${shown(pools)} from pools; ${first.quote.solverId} was the best of ${quotes.length} and settled`;
  },
};

export const compositeCheck: DemoCheck = {
  name: 'router: a route of two legs across chains',
  async run(world, tally) {
    const { client, taker, wallet } = trustlessTaker(world, 'router');
    const [base, arc] = [viewChain(world.manifest, 'base'), viewChain(world.manifest, 'arc')];
    const before = await base.balance(taker, 'DAI');
    // An LP bridges, and a pool or another LP order converts.
    const request = {
      taker,
      input: { asset: arc.asset('USDC'), amount: arc.units('USDC', '800') },
      output: { asset: base.asset('DAI') },
      solvers: { include: ['alpha', 'uniswap-v3'] },
    };
    const { checked, status, next, stopped } = await client.trade({
      request,
      wallet,
      signal: AbortSignal.timeout(2 * SETTLE_TIMEOUT_MS),
    });
    expectSettled(status, tally, 'first leg');
    expect(next !== null, `the route stopped after its first leg: ${stopped}`);
    expectSettled(next.status, tally, 'second leg');
    const got = (await base.balance(taker, 'DAI')) - before;
    const floor = BigInt(next.checked.candidate.preview.outputs[0]?.minimumAmount ?? 0);
    expect(floor > 0n && got >= floor, `${got} DAI arrived, less than the enforced ${floor}`);
    const legs = ('composite' in checked.candidate && checked.candidate.composite?.legs) || [];
    const estimate = inTokens(base, 'DAI', BigInt(checked.candidate.preview.outputs[0]?.amount ?? 0));
    return `800 USDC on arc -> ${legs.map(({ kind, solverId }) => `${kind} ${solverId}`).join(' -> ')} -> ${inTokens(base, 'DAI', got)} on base (estimate: ${estimate})`;
  },
};
