/**
 * Every risk control tripped at the LP's edge: what the venue hears, what the metrics show, and that it
 * passes.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { createKillFile } from '../../src/apps/lp/kill-file.ts';
import type { Control } from '../../src/domain/decline.ts';
import { UpstreamError } from '../../src/domain/errors.ts';
import type { Hex } from '../../src/domain/hex.ts';
import { createCommitmentSigner } from '../../src/lp/commitment-signer.ts';
import type { LpNode, LpNodeDeps } from '../../src/lp/node/interface.ts';
import type { StandbyReason } from '../../src/lp/risk/standby-reason.ts';
import type { Sequencer } from '../../src/ports/feed.ts';
import type { LinkQuote, Rfq } from '../../src/protocol/link/link.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { createTestLp, lpConfig } from '../support/lp.ts';
import { awardOf, eventually, takeQuote } from '../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { type PuppetFeed, puppetFeed } from '../support/puppet-feed.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';
import { UNLIMITED } from '../support/unlimited.ts';

const owner = account(61);
const operator = account(62);
const taker = account(63);
const USDC = 1_000_000n;
const WETH = 10n ** 18n;

let devnet: Devnet;
let chain: TestChain;
let postgres: TestPostgres;
let serial = 0;

beforeAll(async () => {
  [devnet, postgres] = await Promise.all([startDevnet([41061]), startTestPostgres()]);
  chain = devnet.chains[0] as TestChain;
  await chain.fund(owner.address);
  await chain.deposit(owner.address, chain.usdc.address, 100_000n * USDC);
  await chain.deposit(owner.address, chain.weth.address, 40n * WETH);
  await chain.setOperator(owner.address, operator.address);
  await chain.anvil.mine(2);
  await chain.anvil.rpc('evm_setIntervalMining', [1]);
}, 60_000);

afterAll(async () => {
  await Promise.all([devnet?.stop(), postgres?.stop()]);
});

interface Stage {
  node: LpNode;
  venue: ScriptedVenue;
  /** Three sources of ETH, and one that only checks. */
  feeds: readonly PuppetFeed[];
  /** What the answer to a request is: "quote", or the control (or reason) that refused. */
  ask(rfq?: Rfq): Promise<string>;
  quote(rfq?: Rfq): Promise<LinkQuote>;
  value(name: string, control: Control): Promise<number>;
  /** Every source of ETH from now on. */
  eth(price: number | undefined): void;
  restart(): Promise<void>;
}

/**
 * A stage of its own for one story: LP, venue, prices. Two hundred thousand dollars at 2,500. `alone`: of
 * what each replica counts for itself (docs/lp/replicas.md).
 */
async function play(
  change: {
    risk?: object;
    limits?: object;
    prices?: object;
    quoting?: object;
    assets?: object;
    chains?: object;
    pairs?: object;
    more?: Partial<LpNodeDeps>;
    alone?: boolean;
  },
  story: (stage: Stage) => Promise<void>,
): Promise<void> {
  const schema = `lp_risk_${(serial += 1)}`;
  const venue = await startScriptedVenue([chain.chain]);
  const config = lpConfig(devnet, owner.address, {
    prices: {
      USD: { fixed: '1' },
      ETH: {
        sources: ['a', 'b', 'c'].map((feed) => ({ feed, symbol: 'ETHUSD' })),
        maxAgeMs: 400,
        ...change.prices,
      },
    },
    risk: { ...UNLIMITED.risk, ...change.risk },
    ...(change.limits && { limits: change.limits }),
    ...(change.assets && { assets: change.assets }),
    ...(change.pairs && { pairs: change.pairs }),
    quoting: { claimSeconds: 10, pointsSeconds: [], ...change.quoting },
    chains: [
      {
        chainId: chain.chain.id,
        account: owner.address,
        minGas: '0.01',
        maxHeadAgeMs: 30_000,
        graceSeconds: 2,
        ...change.chains,
      },
    ],
    lease: { aheadSeconds: 4 },
  });
  let metrics = createMetrics();
  let feeds: PuppetFeed[] = [];
  const start = async () => {
    metrics = createMetrics();
    feeds = ['a', 'b', 'c'].map((name) => puppetFeed(name, { ETHUSD: 2_500 }));
    const node = await createTestLp({
      devnet,
      postgres,
      venueUrl: venue.url,
      operator,
      schema,
      config,
      alone: change.alone ?? false,
      more: {
        feeds: [...feeds, ...(change.more?.feeds ?? [])],
        ...(change.more?.sequencers && { sequencers: change.more.sequencers }),
        ...(change.more?.commitments && { commitments: change.more.commitments }),
        ...(change.more?.signer && { signer: change.more.signer }),
        metrics,
      },
    });
    await node.start();
    return node;
  };
  const stage: Stage = {
    node: await start(),
    venue,
    feeds,
    async ask(rfq = sell()) {
      const answer = await venue.ask(rfq);
      return answer.type === 'decline' ? (answer.code ?? answer.reason) : answer.type;
    },
    async quote(rfq = sell()) {
      const answer = await venue.ask(rfq);
      if (answer.type !== 'quote') throw new Error(`no quote: ${JSON.stringify(answer)}`);
      return answer;
    },
    async value(name, control) {
      const text = await metrics.text();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`firmquote_lp_risk_${name}{control="${control}"}`))
          ?.split(' ')[1],
      );
    },
    eth: (price) => feeds.forEach((feed) => feed.say('ETHUSD', price)),
    async restart() {
      await stage.node.stop();
      venue.statuses.length = 0;
      stage.node = await start();
      Object.assign(stage, { feeds });
    },
  };
  try {
    await story(stage);
  } finally {
    await stage.node.stop();
    await venue.stop();
  }
}

const sell = (amount = WETH / 10n, rest: object = {}): Rfq =>
  request({
    from: chain.chain,
    to: chain.chain,
    give: chain.weth,
    take: chain.usdc,
    amount,
    taker: taker.address,
    ...rest,
  });
const buy = (amount = 250n * USDC, rest: object = {}): Rfq =>
  request({
    from: chain.chain,
    to: chain.chain,
    give: chain.usdc,
    take: chain.weth,
    amount,
    taker: taker.address,
    ...rest,
  });
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const active = ({ venue }: Stage) => venue.until(({ status }) => status === 'active');
/** The venue hears the kind of the reason alone, the operator our words. */
async function standby(stage: Stage, kind: StandbyReason['kind'], words?: string): Promise<void> {
  await stage.venue.until(
    ({ status, note }) => status === 'standby' && note !== null && note.includes(`${kind}: `),
  );
  if (words === undefined) return;
  expect(stage.venue.statuses.at(-1)?.note).not.toContain(words);
  expect(stage.node.status().note).toContain(words);
}
const soon = (what: () => Promise<boolean> | boolean) => eventually(what);

/** It tripped once, is at work, and refused. */
async function shows(stage: Stage, control: Control): Promise<void> {
  expect(await stage.value('trips_total', control)).toBeGreaterThanOrEqual(1);
  expect(await stage.value('tripped', control)).toBe(1);
  expect(stage.node.risk().tripped.map((each) => each.control)).toContain(control);
}

describe('isolated: these stop the chain or the feed', () => {
  test('a kill file stops every signature, and its removal allows quoting again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'firmquote-kill-'));
    const path = join(folder, 'stop');
    await play({}, async (stage) => {
      await active(stage);
      const watch = createKillFile(stage.node);
      watch.watch(path);
      let quotes = 0;
      let asking = true;
      const asker = (async () => {
        while (asking) {
          if ((await stage.ask()) === 'quote') quotes += 1;
          await pause(2);
        }
      })();
      await soon(() => quotes > 20);
      await writeFile(path, '');
      await soon(() => stage.node.risk().tripped.some(({ control }) => control === 'kill_switch'));
      expect(await stage.ask()).toBe('kill_switch');
      const quotesAtStop = quotes;
      await pause(400);
      expect(quotes).toBe(quotesAtStop);
      await standby(stage, 'killed', 'stopped by the kill file');
      await shows(stage, 'kill_switch');
      await rm(path);
      await active(stage);
      asking = false;
      await asker;
      expect(await stage.ask()).toBe('quote');
      watch.stop();
    });
    await rm(folder, { recursive: true });
  });

  test('a chain without new blocks is not quoted', async () => {
    await play({ chains: { maxHeadAgeMs: 2_500 } }, async (stage) => {
      await active(stage);
      await chain.anvil.rpc('evm_setIntervalMining', [0]);
      await stage.venue.until(({ status }) => status === 'standby');
      expect(await stage.ask()).toBe('chain_lag');
      await pause(300);
      await shows(stage, 'chain_lag');
      await chain.anvil.rpc('evm_setIntervalMining', [1]);
      await active(stage);
    });
  });
});

describe.concurrent('kill switch', () => {
  test('a signature in progress when the switch is pulled is not sent', async () => {
    let finish: (() => void)[] = [];
    const ours = createCommitmentSigner(operator.signer);
    const commitments: NonNullable<LpNodeDeps['commitments']> = {
      signCommitment: (...asked) =>
        new Promise<Hex>((resolve) => finish.push(() => resolve(ours.signCommitment(...asked)))),
    };
    await play({ more: { commitments } }, async (stage) => {
      await active(stage);
      const answer = stage.ask();
      await soon(() => finish.length > 0);
      stage.node.kill('signal', 'stopped by a signal');
      finish.forEach((done) => done());
      finish = [];
      expect(await answer).toBe('kill_switch');
    });
  });

  test.each(['operator', 'signal', 'drawdown'] as const)(
    'pulled by %s it holds over a restart, until the operator resumes',
    async (by) => {
      await play({}, async (stage) => {
        await active(stage);
        if (by === 'operator') stage.node.pause('enough for today');
        else stage.node.kill(by, 'enough for today');
        expect(await stage.ask()).toBe('kill_switch');
        await stage.restart();
        await standby(stage, by === 'operator' ? 'paused' : 'killed', 'enough for today');
        expect(await stage.ask()).toBe('kill_switch');
        stage.node.resume();
        await active(stage);
        expect(await stage.ask()).toBe('quote');
        await stage.restart();
        await active(stage);
      });
    },
  );

  test('a stop that nobody planned does not hide behind a pause', async () => {
    await play({}, async (stage) => {
      await active(stage);
      stage.node.pause('lunch');
      stage.node.kill('drawdown', 'lost too much');
      const kinds = () => stage.node.status().reasons.map(({ kind }) => kind);
      await soon(() => kinds()[0] === 'killed');
      expect(kinds()).toContain('paused');
      await standby(stage, 'killed', 'lost too much');
    });
  });

  test('live quotes stay valid: an award of one is accepted, and its money stays held', async () => {
    await play({}, async (stage) => {
      await active(stage);
      const trade = await takeQuote(devnet, stage.venue, taker, sell());
      stage.node.kill('signal', 'stop');
      stage.venue.send({ type: 'award', ...awardOf(trade) });
      await soon(async () => (await stage.node.awards()).some(({ orderId }) => orderId === trade.id));
      expect(stage.node.inventory().find(({ token }) => token === chain.usdc.address)?.committed).toBe(
        trade.output,
      );
    });
  });
});

describe.concurrent('key service', () => {
  test('a signature that is not made in time is a decline, and the tenors that were signed are quoted', async () => {
    const ours = createCommitmentSigner(operator.signer);
    let signable = (_deadline: number): boolean => true;
    const times: number[] = [];
    const commitments: NonNullable<LpNodeDeps['commitments']> = {
      async signCommitment(domain, commitment, withinMs) {
        times.push(withinMs);
        if (signable(commitment.deadline)) return ours.signCommitment(domain, commitment, withinMs);
        throw new UpstreamError('The key service is asleep.', { code: 'signer_unavailable' });
      },
    };
    const quoting = { pointsSeconds: [6, 20], maxValiditySeconds: 60 };
    await play({ more: { commitments }, quoting }, async (stage) => {
      await active(stage);
      const request = sell();
      expect(await stage.quote(request)).toMatchObject({ more: true });
      const tenors = times.length;
      expect(tenors).toBeGreaterThan(1);
      // A part of the request's own time is left for the way back.
      for (const withinMs of times) expect(withinMs).toBeLessThan(request.deadlineMs);
      let first: number | undefined;
      signable = (deadline) => (first ??= deadline) === deadline;
      expect(await stage.quote(sell())).toMatchObject({ more: false });
      signable = () => false;
      expect(await stage.ask()).toBe('standby');
      signable = () => true;
      expect(await stage.ask()).toBe('quote');
    });
  });

  test('while it fails, the LP is on standby with its words; then it quotes again', async () => {
    let issue: string | undefined;
    await play({ more: { signer: { ...operator.signer, issue: () => issue } } }, async (stage) => {
      await active(stage);
      issue = 'The key service (aws-kms) refuses so many requests.';
      await standby(stage, 'signer', 'refuses so many requests');
      expect(await stage.ask()).toBe('standby');
      issue = undefined;
      await active(stage);
      expect(await stage.ask()).toBe('quote');
    });
  });
});

describe.concurrent('prices', () => {
  test('stale: refused immediately, standby only if it lasts, and over when the price is back', async () => {
    await play({ risk: { standbyAfterSeconds: 2 } }, async (stage) => {
      await active(stage);
      const eth = () => stage.node.status().prices.find(({ symbol }) => symbol === 'ETH');
      stage.feeds[0]?.say('ETHUSD', undefined);
      await soon(() => {
        const { usd, detail } = eth() ?? {};
        return usd === 2_500 && detail === '1 of 3 sources missing: a|ETHUSD stale';
      });
      stage.eth(undefined);
      await soon(async () => (await stage.ask()) === 'stale_mid');
      expect(stage.venue.statuses.at(-1)?.status).toBe('active');
      await stage.venue.until(({ status }) => status === 'standby');
      await shows(stage, 'stale_mid');
      expect(eth()?.detail).toMatch(
        /0 of 2 sources fresh; a\|ETHUSD said 2500 \d+\.\d s ago, 0\.4 s allowed; b\|/,
      );
      // Takers hear what is wrong, not what our sources are.
      expect(stage.venue.statuses.at(-1)?.note).not.toMatch(/ETHUSD|2500|\|/);
      stage.eth(2_500);
      await active(stage);
      expect(await stage.ask()).toBe('quote');
      await soon(
        async () =>
          (await stage.value('tripped', 'stale_mid')) === 0 ||
          stage.node.risk().tripped.every(({ about }) => about === 'requests'),
      );
    });
  });

  test('deviation: a distant oracle price stops the pair', async () => {
    const oracle = puppetFeed('oracle', { ETHUSD: 2_500 });
    await play(
      { prices: { references: [{ feed: 'oracle', symbol: 'ETHUSD' }] }, more: { feeds: [oracle] } },
      async (stage) => {
        await active(stage);
        expect(await stage.ask()).toBe('quote');
        oracle.say('ETHUSD', 2_560);
        await soon(async () => (await stage.ask()) === 'deviation');
        await pause(300);
        await shows(stage, 'deviation');
        oracle.say('ETHUSD', 2_510);
        await soon(async () => (await stage.ask()) === 'quote');
      },
    );
  });

  test('confidence: sources that disagree too much stop the pair', async () => {
    await play({}, async (stage) => {
      await active(stage);
      stage.feeds[0]?.say('ETHUSD', 2_490);
      stage.feeds[2]?.say('ETHUSD', 2_510);
      await soon(async () => (await stage.ask()) === 'confidence');
      await pause(300);
      await shows(stage, 'confidence');
      const details = stage.node.risk().tripped.filter(({ control }) => control === 'confidence');
      expect(details.length).toBeGreaterThan(1);
      for (const { detail } of details) expect(detail).toContain('a|ETHUSD says 2490, 40.0 bps from the mid');
      stage.eth(2_500);
      await soon(async () => (await stage.ask()) === 'quote');
    });
  });

  test('depeg: priced at the market, never at one', async () => {
    const pegs = [puppetFeed('p', { USDCUSD: 1 }), puppetFeed('q', { USDCUSD: 1 })];
    const venue = await startScriptedVenue([chain.chain]);
    const eth = puppetFeed('a', { ETHUSD: 2_500 });
    const config = lpConfig(devnet, owner.address, {
      prices: {
        USD: {
          fixed: '1',
          guards: ['p', 'q'].map((feed) => ({ feed, symbol: 'USDCUSD' })),
          guardMaxAgeMs: 500,
        },
        ETH: { sources: [{ feed: 'a', symbol: 'ETHUSD' }] },
      },
      quoting: { claimSeconds: 10, pointsSeconds: [] },
    });
    const node = await createTestLp({
      devnet,
      postgres,
      venueUrl: venue.url,
      operator,
      schema: 'lp_risk_depeg',
      config,
      more: { feeds: [eth, ...pegs] },
    });
    await node.start();
    await venue.until(({ status }) => status === 'active');
    const output = async () => {
      const answer = await venue.ask(sell());
      return answer.type === 'quote' ? BigInt(answer.order.outputs[0]?.amount ?? 0) : 0n;
    };
    const before = await output();
    for (const peg of pegs) peg.say('USDCUSD', 0.98);
    // A dollar token at 98 cents: more of them for the same ether.
    await soon(async () => (await output()) > (before * 1015n) / 1000n);
    await soon(() => node.risk().tripped.some(({ control }) => control === 'depeg'));
    for (const peg of pegs) peg.say('USDCUSD', 1);
    await soon(async () => (await output()) < (before * 1005n) / 1000n);
    await node.stop();
    await venue.stop();
  });
});

describe.concurrent('chains', () => {
  test('a chain whose sequencer is down is not quoted', async () => {
    let up = true;
    const sequencer: Sequencer = {
      chainId: 41061,
      state: () =>
        up ? { up: true, sinceMs: 0 } : { up: false, sinceMs: 0, detail: 'the sequencer is down' },
      start() {},
      stop() {},
    };
    await play({ more: { sequencers: new Map([[41061, sequencer]]) } }, async (stage) => {
      await active(stage);
      up = false;
      expect(await stage.ask()).toBe('sequencer');
      await standby(stage, 'risk', 'the sequencer is down');
      await shows(stage, 'sequencer');
      up = true;
      await active(stage);
      expect(await stage.ask()).toBe('quote');
    });
  });
});

describe.concurrent('market moves', () => {
  test('one jump: short, small and wide quotes; a second jump: a stop, and quotes again later', async () => {
    await play(
      { risk: { leastValiditySeconds: 3, volSpike: { haltSeconds: 2, calmSeconds: 10 } } },
      async (stage) => {
        await active(stage);
        const life = ({ validUntil }: LinkQuote) => validUntil - Date.now() / 1000;
        expect(life(await stage.quote())).toBeGreaterThan(8);
        stage.eth(2_520);
        const wild = await stage.quote();
        expect(life(wild)).toBeLessThan(4);
        await soon(() => stage.node.risk().tripped.some(({ control }) => control === 'vol_spike'));
        await shows(stage, 'vol_spike');
        const most = async () => {
          const answer = await stage.venue.ask(buy(90_000n * USDC));
          return answer.type === 'decline'
            ? Number(BigInt(answer.maxAmount ?? 0) / USDC)
            : Number.POSITIVE_INFINITY;
        };
        // A quarter of 250,000.
        expect(await most()).toBeLessThanOrEqual(62_500);
        expect(await stage.ask(sell(WETH / 10n, { minValidUntil: Math.floor(Date.now() / 1000) + 20 }))).toBe(
          'vol_spike',
        );
        stage.eth(2_545);
        expect(await stage.ask()).toBe('vol_spike');
        await stage.venue.until(({ status }) => status === 'standby');
        await active(stage);
        await soon(async () => life(await stage.quote()) > 8);
      },
    );
  });

  test('the gap loss of all live quotes stays within its budget', async () => {
    // Ten basis points of two hundred thousand dollars are 200; 40,000 dollars at a hundred less the spread
    // are more than that.
    await play({ risk: { gapLoss: { budgetBps: 10 } } }, async (stage) => {
      await active(stage);
      expect(await stage.ask(sell(5n * WETH))).toBe('quote');
      expect(await stage.ask(sell(5n * WETH))).toBe('gap_loss');
      await shows(stage, 'gap_loss');
      expect(await stage.ask(buy(12_000n * USDC))).toBe('quote');
    });
  });

  test('a burst of fills freezes the pair for a time', async () => {
    await play({ alone: true, risk: { burst: { fills: 2, freezeSeconds: 2 } } }, async (stage) => {
      await active(stage);
      for (let taken = 0; taken < 3; taken++) {
        expect(await stage.ask()).toBe('quote');
        stage.venue.send({ type: 'award', ...awardOf(await takeQuote(devnet, stage.venue, taker, sell())) });
      }
      await soon(async () => (await stage.ask()) === 'burst');
      await standby(stage, 'risk');
      await shows(stage, 'burst');
      await active(stage);
      expect(await stage.ask()).toBe('quote');
    });
  });
});

describe.concurrent('takers', () => {
  test('by default at most three live quotes per taker and pair', async () => {
    await play({ limits: {} }, async (stage) => {
      await active(stage);
      for (let n = 0; n < 3; n++) expect(await stage.ask()).toBe('quote');
      expect(await stage.ask()).toBe('limit_taker_pair');
      await shows(stage, 'limit_taker_pair');
      expect(
        await stage.ask(sell(WETH / 10n, { taker: account(64).address, receiver: account(64).address })),
      ).toBe('quote');
    });
  });

  test.each([
    ['limit_taker', { perTakerPair: {}, perTaker: { count: 1 } }],
    ['limit_pair', { perTakerPair: {}, perPair: { notionalUsd: 300 } }],
    ['limit_side', { perTakerPair: {}, perPairSide: { count: 1 } }],
    ['limit_total', { perTakerPair: {}, total: { count: 1 } }],
  ] as const)('%s', async (control, limits) => {
    await play({ limits }, async (stage) => {
      await active(stage);
      expect(await stage.ask()).toBe('quote');
      expect(await stage.ask()).toBe(control);
      await shows(stage, control);
    });
  });

  test('at most half of the inventory may be quoted at one time', async () => {
    await play({ risk: { totalBps: 100 } }, async (stage) => {
      await active(stage);
      // One per cent of 200,000 dollars.
      expect(await stage.ask(buy(1_900n * USDC))).toBe('quote');
      expect(await stage.ask(buy(1_900n * USDC))).toBe('limit_total');
    });
  });

  test('too many requests', async () => {
    await play({ alone: true, risk: { rate: { perSecond: 1, burst: 5 } } }, async (stage) => {
      await active(stage);
      const answers = [];
      for (let n = 0; n < 7; n++) answers.push(await stage.ask());
      expect(answers.filter((answer) => answer === 'rate_limit').length).toBeGreaterThanOrEqual(1);
      await shows(stage, 'rate_limit');
      await pause(1_500);
      expect(await stage.ask()).toBe('quote');
    });
  });

  test('requests without acceptance: wider, then shorter, then refused; takers who trade elsewhere are exempt', async () => {
    await play(
      { alone: true, risk: { leastValiditySeconds: 3, freeOption: { liveSeconds: 30, memorySeconds: 20 } } },
      async (stage) => {
        await active(stage);
        const paid = ({ order }: { order: { outputs: readonly { amount: string }[] } }) =>
          Number(order.outputs[0]?.amount);
        const lives: number[] = [];
        let refusedAfter = 0;
        const promised: number[] = [];
        const dearer: boolean[] = [];
        for (; refusedAfter < 400; refusedAfter++) {
          const suspect = stage.node.risk().suspects.find((each) => each.taker === taker.address);
          const askedAt = Date.now() / 1000;
          const answer = await stage.venue.ask(sell());
          if (answer.type === 'decline' && answer.code === 'free_option') break;
          if (answer.type !== 'quote') continue;
          // Counted from the question, an answer that took its time is not a short one.
          promised.push(answer.validUntil - askedAt);
          lives.push(answer.validUntil - Date.now() / 1000);
          // As firm as a stranger's who asks at once, and it pays less.
          if (suspect?.step !== 1 || (promised.at(-1) as number) <= 8) continue;
          const stranger = account(70 + dearer.length);
          const fair = await stage.venue.ask(
            sell(WETH / 10n, { taker: stranger.address, receiver: stranger.address }),
          );
          if (fair.type === 'quote') dearer.push(paid(answer) < paid(fair));
        }
        expect(refusedAfter).toBeLessThan(400);
        // It fades at once; another question brings it back.
        await soon(async () => {
          await stage.ask();
          const [first] = stage.node.risk().suspects;
          return first?.taker === taker.address && first.step === 3;
        });
        await shows(stage, 'free_option');
        expect(dearer).toContain(true);
        expect([(promised[0] as number) > 8, (lives.at(-1) as number) < 4]).toEqual([true, true]);
        const other = account(65);
        for (let n = 0; n < 60; n++) {
          const { quoteId } = await stage.quote(
            sell(WETH / 10n, { taker: other.address, receiver: other.address }),
          );
          stage.venue.send({ type: 'released', quoteIds: [quoteId], proof: 'nonce_used' });
        }
        expect(stage.node.risk().suspects.map((each) => each.taker)).not.toContain(other.address);
        // All is forgiven in time.
        await soon(async () => (await stage.ask()) === 'quote');
      },
    );
  });

  test('late acceptance after a price move: the option costs more', async () => {
    await play(
      {
        alone: true,
        quoting: { validitySeconds: 1 },
        prices: { sigmaFloor: 4 },
        risk: { freeOption: { accepts: 2, liveSeconds: 1e9 }, volSpike: { tickTimes: 1e6, sigmaTimes: 1e6 } },
      },
      async (stage) => {
        await active(stage);
        for (const price of [2_480, 2_460]) {
          const trade = await takeQuote(devnet, stage.venue, taker, sell());
          await pause(900);
          // We bought, and it is worth less now.
          stage.eth(price);
          stage.venue.send({ type: 'award', ...awardOf(trade) });
          await soon(async () => (await stage.node.awards()).some(({ orderId }) => orderId === trade.id));
        }
        await soon(() => stage.node.risk().suspects.some(({ step }) => step === 1));
        await soon(() =>
          stage.node
            .risk()
            .tripped.some(({ control, about }) => control === 'free_option' && about === taker.address),
        );
        const stranger = account(66).address;
        const [after, honest] = [
          Number((await stage.quote()).order.outputs[0]?.amount),
          Number(
            (await stage.quote(sell(WETH / 10n, { taker: stranger, receiver: stranger }))).order.outputs[0]
              ?.amount,
          ),
        ];
        expect(after).toBeLessThan(honest);
      },
    );
  });
});

describe.concurrent('capital', () => {
  test('losses halve the sizes, then pull the kill switch, and survive a restart', async () => {
    await play(
      {
        risk: {
          drawdown: { hourBps: 100, dayBps: 200, killTimes: 2 },
          volSpike: { tickTimes: 1e6, sigmaTimes: 1e6 },
        },
        pairs: [{ base: 'WETH', quote: 'USDC', params: { maxSize: 20_000 } }],
      },
      async (stage) => {
        await active(stage);
        const most = async () => {
          const answer = await stage.venue.ask(sell(7n * WETH));
          return answer.type === 'decline'
            ? [answer.code, Number(BigInt(answer.maxAmount ?? 0) / 10n ** 15n) / 1_000]
            : [answer.type, 0];
        };
        expect(await most()).toEqual(['quote', 0]);
        // Half of what we own is ether: three per cent of it are one and a half of everything.
        stage.eth(2_425);
        await soon(() => stage.node.risk().tripped.some(({ control }) => control === 'drawdown'));
        await shows(stage, 'drawdown');
        expect(stage.node.risk().loss?.hourBps).toBeGreaterThan(100);
        // 7 at 2,425 are 16,975 dollars, and 10,000 are allowed now.
        const [reason, room] = await most();
        expect(reason).toBe('drawdown');
        expect(room).toBeGreaterThan(4);
        expect(room).toBeLessThan(4.13);
        stage.eth(2_500);
        await soon(() => stage.node.risk().tripped.every(({ control }) => control !== 'drawdown'));
        stage.eth(2_390);
        await soon(async () => (await stage.ask()) === 'kill_switch');
        await standby(stage, 'killed', 'lost');
        await stage.restart();
        await stage.venue.until(({ status }) => status === 'standby');
        expect(await stage.ask()).toBe('kill_switch');
        // The operator has seen it: from here on it is measured anew, or nobody could ever go on.
        stage.node.resume();
        await active(stage);
        await pause(600);
        expect(await stage.ask()).toBe('quote');
      },
    );
  });
});

describe.concurrent('fat finger', () => {
  test('a size above the global bound is never signed, whatever the pair allows', async () => {
    await play({ risk: { fatFinger: { maxUsd: 1_000 } } }, async (stage) => {
      await active(stage);
      expect(await stage.ask()).toBe('quote');
      expect(await stage.ask(sell(WETH))).toBe('fat_finger');
      await shows(stage, 'fat_finger');
    });
  });

  test('a spread outside its bounds is never signed', async () => {
    await play({ risk: { fatFinger: { leastBps: 50, maxUsd: 1e9 } } }, async (stage) => {
      await active(stage);
      expect(await stage.ask()).toBe('fat_finger');
    });
  });

  test('a token whose decimals differ from the configuration prevents the start', async () => {
    const venue = await startScriptedVenue([chain.chain]);
    const { port } = chain;
    const wrong = {
      ...port,
      chain: {
        ...port.chain,
        tokens: port.chain.tokens.map((token) =>
          token.symbol === 'USDC' ? { ...token, decimals: 18 } : token,
        ),
      },
    };
    const node = await createTestLp({
      devnet,
      postgres,
      venueUrl: venue.url,
      operator,
      schema: 'lp_risk_decimals',
      config: lpConfig(devnet, owner.address),
      more: { chains: [wrong] },
    });
    await expect(node.start()).rejects.toThrow(
      /USDC at 0x[0-9a-f]{40} on chain1 has 6 decimals, and the configuration says 18/,
    );
    await node.stop();
    await venue.stop();
  });
});

test.concurrent('band: beyond the hard band only trades that reduce the position are quoted', async () => {
  await play(
    {
      assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH', target: '10', softBand: '5', hardBand: '10' } },
    },
    async (stage) => {
      await active(stage);
      expect(await stage.ask(sell())).toBe('band');
      await shows(stage, 'band');
      expect(await stage.ask(buy())).toBe('quote');
    },
  );
});
