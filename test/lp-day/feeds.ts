/**
 * Exchanges misbehave: the LP goes on while enough of them agree, says which one is wrong and by how much,
 * stops when nobody can tell the price, and is moved to another exchange without a restart.
 */

import { expect } from 'vitest';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { type PlayedExchange, playExchange } from '../faults/support/exchanges.ts';
import { type Day, TRUTH } from './support/day.ts';
import { diceOf } from './support/seed.ts';
import { costBps, offer, trade } from './support/trades.ts';

const LIE = 0.03;

/** The line of `lp status` about one source. */
const line = (source: string, ...cells: string[]): RegExp =>
  new RegExp(`^${source.replaceAll(/[|/]/g, '\\$&')} .*${cells.join('.*')}`, 'm');
const nameOf = ({ kind, symbol }: PlayedExchange) => `${kind}|${symbol}`;
const STALE = '(?:stale|refused as duplicate)';

/** An offer near the truth. */
async function expectFair(day: Day): Promise<void> {
  const quoted = await offer(day, { usdc: 1_000n });
  if (quoted !== undefined) expect(Math.abs(costBps(quoted))).toBeLessThan(100);
}

export async function oneIsWrong(day: Day): Promise<void> {
  const { operator, exchanges } = day;
  const dice = diceOf(2);
  const frozen = dice.pick(Object.values(exchanges));
  frozen.freeze(true);
  // The price stands on the other two, and status names the one that it lacks.
  await operator.sees(/^Quoting\. /, line(nameOf(frozen), STALE), line('ETH', '2500', frozen.kind));
  await expectFair(day);
  await trade(day, { usdc: 700n });
  frozen.freeze(false);
  await operator.sees(line(nameOf(frozen), ' used'));

  const liar = dice.pick(Object.values(exchanges));
  liar.say(TRUTH * (1 + LIE * dice.pick([1, -1])));
  await operator.sees(/^Quoting\. /, line(nameOf(liar), '(?:300|29\\d)\\.\\d of 50\\.0', 'deviant'));
  await expectFair(day);
  await trade(day, { usdc: 800n });
  liar.say(TRUTH);
  await operator.sees(line(nameOf(liar), ' used'));
}

export async function nobodyKnows(day: Day): Promise<void> {
  const { operator, exchanges, rest } = day;
  const dice = diceOf(3);
  // One is gone. What carries no time of its own has half the weight, so the other two could not disagree.
  const { coinbase, kraken } = exchanges;
  const [gone, liar] = dice.pick([0, 1]) === 0 ? [coinbase, kraken] : [kraken, coinbase];
  await gone.gone();
  await operator.sees(/^Quoting\. /, line(nameOf(gone), STALE));
  await trade(day, { usdc: 600n });
  // And one of those that are left lies: nobody can tell which.
  liar.say(TRUTH * (1 + LIE));
  const said = await operator.sees(/^Not quoting\. /, line(nameOf(liar), '2575'));
  expect(said).toMatch(new RegExp(`^ +price: ETH: .*${liar.kind}\\S* says 2575.* bps`, 'm'));
  expect(await offer(day, { usdc: 600n })).toBeUndefined();
  // Nor across chains between two dollars: the gas of the fill is ether.
  expect(
    await offer(day, { from: day.here, to: day.there, usdc: 600n, take: 'usdc' }),
    'a quote whose gas has no price',
  ).toBeUndefined();
  liar.say(TRUTH);
  await operator.sees(/^Quoting\. /, line(nameOf(liar), ' used'));
  await trade(day, { usdc: 600n });
  await gone.back();
  await operator.sees(line(nameOf(gone), ' used'));

  // A market that only checks the price says three per cent less.
  rest.bitstamp.say('ethusd', TRUTH * (1 - LIE));
  const doubted = await operator.sees(/WETH-USDC/, line('bitstamp\\|ethusd', '2425', '(?:300|309)'));
  expect(doubted).toMatch(/bitstamp\|ethusd.*bps/);
  expect(await offer(day, { usdc: 600n })).toBeUndefined();
  rest.bitstamp.say('ethusd', TRUTH);
  await operator.sees(/^Quoting\. /);
  await trade(day, { usdc: 600n });
}

/** The exchange that is gone for good is replaced while the LP runs. */
export async function another(day: Day): Promise<void> {
  const { operator, exchanges, lp } = day;
  const { binance, kraken } = exchanges;
  const pid = lp.pid();
  await binance.gone();
  await operator.sees(line(nameOf(binance), STALE));

  const moveTo = (url: string) =>
    operator.edit((config) => {
      config.feeds['kraken-2'] = { kind: 'kraken', url };
      const sources = config.lp.prices.ETH.sources as { feed: string; symbol: string }[];
      Object.assign(sources.find(({ feed }) => feed === 'binance') ?? {}, {
        feed: 'kraken-2',
        symbol: kraken.symbol,
      });
    });
  const undo = await moveTo(`ws://127.0.0.1:${await freePort()}`);
  const refused = await operator.lp('reload');
  expect(refused).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/Nothing changed[\s\S]*kraken-2/),
  });
  await operator.sees(/^Quoting\. /, line(nameOf(binance), STALE));
  await undo();

  const second = await playExchange('kraken', TRUTH);
  day.atEnd.push(() => second.stop());
  await moveTo(second.url);
  expect(await operator.ok('reload')).toMatch(/^Applied .*[\s\S]*feeds\.kraken-2/);
  const said = await operator.sees(/^Quoting\. /, line('kraken-2|ETH/USD', ' used'));
  expect(said).not.toContain(nameOf(binance));
  expect(lp.pid()).toBe(pid);
  await trade(day, { usdc: 900n });
}
