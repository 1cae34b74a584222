/** The feed suite on every adapter, through its own wire: sockets, HTTP, files and contracts on anvil. */

import { ETHER } from '../../src/domain/chain.ts';
import { execFileSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeAbiParameters, parseAbi, toFunctionSelector, toHex } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createChainlinkFeed } from '../../src/adapters/feeds/chainlink.ts';
import { createConstantFeed } from '../../src/adapters/feeds/constant.ts';
import { createFileFeed } from '../../src/adapters/feeds/file.ts';
import { EXCHANGE_KINDS, EXCHANGE_SOCKETS, type ExchangeKind } from '../../src/adapters/feeds/formats.ts';
import { createHttpFeed } from '../../src/adapters/feeds/http.ts';
import { createUniswapV3TwapFeed } from '../../src/adapters/feeds/uniswap-v3-twap.ts';
import { createChain, type EvmChain } from '../../src/adapters/evm/chain/chain.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { RequestError } from '../../src/domain/errors.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import type { Feed } from '../../src/ports/feed.ts';
import { startAnvil, type TestAnvil } from '../support/anvil.ts';
import { startExchange } from '../support/exchange.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { feedConformance, type PlayedSource, type SourceMessage } from './feed-suite.ts';

type Written = Required<Pick<SourceMessage, 'bid' | 'ask' | 'stampMs'>> & { number: number };

/** Each exchange's own message. Prices are inserted as they are. */
const WIRE = {
  binance: ({ bid, ask, number }: Written) =>
    JSON.stringify({
      stream: 'ethusd@bookTicker',
      data: { u: number, s: 'ETHUSD', b: bid, B: '1', a: ask, A: '1' },
    }),
  coinbase: ({ bid, ask, stampMs, number }: Written) =>
    JSON.stringify({
      ...{
        type: 'ticker',
        sequence: number,
        product_id: 'ETHUSD',
        best_bid: bid,
        best_ask: ask,
        trade_id: number,
      },
      time: new Date(stampMs).toISOString(),
    }),
  kraken: ({ bid, ask, stampMs }: Written) =>
    `{"channel":"ticker","type":"update","data":[{"symbol":"ETHUSD","bid":${bid},"bid_qty":1.0,"ask":${ask},` +
    `"ask_qty":1.0,"timestamp":"${new Date(stampMs).toISOString()}"}]}`,
} satisfies Record<ExchangeKind, (written: Written) => string>;

/** Numbers and dates messages as an honest source does. */
function createWriter(write: (written: Written) => string) {
  let last = 1_000;
  return ({ bid = '2500', ask = '2501', stampMs = Date.now(), number, goesOn }: SourceMessage): string => {
    const own = number?.(last) ?? last + 1;
    if (number === undefined || goesOn === true) last = own;
    return write({ bid, ask, stampMs, number: own });
  };
}

const heardBy = (feed: Feed): PlayedSource['heard'] => {
  const heard: PlayedSource['heard'] = { quotes: [], references: [], troubles: [] };
  feed.start({
    quote: (quote) => heard.quotes.push(quote),
    reference: (reference) => heard.references.push(reference),
    trouble: (trouble) => heard.troubles.push(trouble),
  });
  return heard;
};
const countOf = ({ quotes, references, troubles }: PlayedSource['heard']) =>
  quotes.length + references.length + troubles.length;
/** Every message of a price is passed on or refused. */
async function isHeard(heard: PlayedSource['heard'], act: () => unknown): Promise<void> {
  const before = countOf(heard);
  act();
  await until(() => expect(countOf(heard)).toBeGreaterThan(before));
}
const until = (check: () => void) => vi.waitFor(check, { timeout: 40_000, interval: 5 });

const SOCKET = ['book', 'text', 'signed', 'frame', 'connection'] as const;
for (const kind of EXCHANGE_KINDS)
  feedConformance(
    kind,
    {
      binance: [...SOCKET, 'sequence'] as const,
      coinbase: [...SOCKET, 'sequence', 'time', 'dated'] as const,
      kraken: [...SOCKET, 'time', 'time order', 'dated'] as const,
    }[kind],
    async () => {
      const exchange = await startExchange();
      exchange.start({
        format: EXCHANGE_SOCKETS[kind].format,
        symbols: ['ETHUSD'],
        silentMs: 2_000,
        pingMs: 1_000,
      });
      await exchange.connected(1);
      const write = createWriter(WIRE[kind]);
      const heard = { quotes: exchange.quotes, references: [], troubles: exchange.troubles };
      return {
        heard,
        send: (message) => isHeard(heard, () => exchange.say(write(message))),
        async raw(body) {
          const before = exchange.sockets.length;
          exchange.say(body);
          if (body.length > 64 * 1024) await exchange.connected(before + 1);
        },
        async cut() {
          exchange.sockets.at(-1)?.terminate();
          await exchange.connected(2);
        },
        freeze: () => exchange.connected(2),
        stop: () => exchange.close(),
      };
    },
  );

feedConformance('http', [...SOCKET, 'time', 'time order', 'dated'], async () => {
  let answer: ((response: ServerResponse) => void) | undefined;
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    answer?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const feed = createHttpFeed(
    { clock: systemClock, backoff: () => 5 },
    {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      ...{ symbols: ['ETHUSD'], source: 'test', bid: 'bid', ask: 'ask', time: 'time' },
      ...{ everyMs: 5, timeoutMs: 300 },
    },
  );
  const heard = heardBy(feed);
  /** The second question is asked after the first answer was read. */
  const serve = async (next: (response: ServerResponse) => void) => {
    answer = next;
    const before = asked;
    await until(() => expect(asked).toBeGreaterThan(before + 1));
  };
  return {
    heard,
    send({ bid = '2500', ask = '2501', stampMs }) {
      // An honest server dates each answer.
      return serve((response) =>
        response.end(`{"bid":${bid},"ask":${ask},"time":"${new Date(stampMs ?? Date.now()).toISOString()}"}`),
      );
    },
    raw: (body) => serve((response) => response.end(body)),
    cut: () => serve((response) => response.destroy()),
    freeze: () => serve(() => {}),
    async stop() {
      feed.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
});

let folder: string;
let files = 0;
let anvil: TestAnvil;
let chain: EvmChain;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firmquote-feed-'));
  anvil = await startAnvil({ chainId: 8453 });
  const nobody: Address = `0x${'9'.repeat(40)}`;
  chain = createChain(
    {
      ...{ id: 8453, slug: 'base', sandbox: true, escrow: nobody, oracle: nobody, permit2: nobody, depth: 1 },
      ...{ blockTimeMs: 1_000, native: ETHER, tokens: [], landingMarginSeconds: 30, proofWindowSeconds: 60 },
    },
    { rpcUrls: [anvil.wsUrl], clock: systemClock, log: silentLog, metrics: silentMetrics },
  );
  await chain.start();
  for (const token of [BASE, QUOTE])
    await anvil.rpc('anvil_setCode', [token, answering(answer('decimals', 18))]);
}, 30_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await chain.close();
  await anvil.stop();
});

for (const kind of ['binance', 'kraken'] as const)
  feedConformance(
    `file of ${kind}`,
    [
      'book',
      'text',
      'signed',
      ...(kind === 'binance' ? (['sequence'] as const) : (['time', 'time order'] as const)),
    ],
    async () => {
      // A pipe: the recording is written while it is played.
      const path = join(folder, `recording-${++files}`);
      execFileSync('mkfifo', [path]);
      const feed = createFileFeed({ clock: systemClock }, { path, format: EXCHANGE_SOCKETS[kind].format });
      const heard = heardBy(feed);
      const pipe = createWriteStream(path);
      const write = createWriter(WIRE[kind]);
      const line = (text: string) => pipe.write(`${Date.now()}000000 ${text}\n`);
      return {
        heard,
        send: (message) => isHeard(heard, () => line(write(message))),
        raw: async (body) => void line(body),
        async stop() {
          feed.stop();
          pipe.end();
        },
      };
    },
  );

test('file: a recorder whose clock jumps by a day holds up no price', async () => {
  const path = join(folder, 'jumps');
  const write = createWriter(WIRE.binance);
  const startMs = Date.now() - 3_600_000;
  const DAY_MS = 86_400_000;
  const times = [
    startMs,
    startMs - DAY_MS,
    startMs - DAY_MS + 1,
    Date.now() + DAY_MS,
    startMs + 2,
    startMs - 5 * DAY_MS,
  ];
  writeFileSync(
    path,
    times.map((atMs, at) => `${atMs}000000 ${write({ bid: `${2_500 + at}`, ask: '2600' })}\n`).join(''),
  );
  // 24 hours are 60 s at most, and 6 ms at this speed.
  const feed = createFileFeed({ clock: systemClock }, { path, speed: 10_000 });
  const heard = heardBy(feed);
  await until(() => expect(heard.troubles.at(-1)).toMatchObject({ kind: 'disconnected' }));
  expect(heard.quotes.map(({ bid }) => bid)).toEqual(['2500', '2501', '2502', '2504', '2505']);
  expect(heard.troubles).toContainEqual({ kind: 'refused', why: 'future', symbol: null });
});

test('constant: a price that is not positive, or that the market cannot represent, is refused at once', () => {
  for (const text of ['0', '-1', 'NaN', '', '1e100', '<html>', `1${'0'.repeat(18)}`, `0.${'0'.repeat(18)}1`])
    expect(() => createConstantFeed({ clock: systemClock }, { prices: { ETHUSD: text } })).toThrow(
      RequestError,
    );
});

const abi = parseAbi([
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
  'function decimals() view returns (uint8)',
  'function token0() view returns (address)',
  'function token1() view returns (address)',
  'function observe(uint32[]) view returns (int56[], uint160[])',
]);
type Answers = Partial<Record<(typeof abi)[number]['name'], Hex>>;
const answer = (name: (typeof abi)[number]['name'], ...values: unknown[]): Answers => ({
  [name]: encodeAbiParameters(abi.find((each) => each.name === name)?.outputs ?? [], values as never),
});

/** Code of a contract that answers each function with the given bytes. */
function answering(answers: Answers): Hex {
  const entries = abi.flatMap((item) => {
    const data = answers[item.name];
    return data === undefined ? [] : [{ selector: toFunctionSelector(item).slice(2), data: data.slice(2) }];
  });
  const word = (value: number) => value.toString(16).padStart(4, '0');
  const [bodies, datas] = [6 + 11 * entries.length + 5, 6 + 27 * entries.length + 5];
  let offset = datas;
  const body = entries.map(({ data }) => {
    const [length, at] = [word(data.length / 2), word(offset)];
    offset += data.length / 2;
    return `5b61${length}61${at}60003961${length}6000f3`;
  });
  const dispatch = entries.map(({ selector }, at) => `8063${selector}1461${word(bodies + 16 * at)}57`);
  return `0x60003560e01c${dispatch.join('')}60006000f3${body.join('')}${entries.map(({ data }) => data).join('')}`;
}

let contracts = 0;
const newAddress = (): Address => `0x${(++contracts).toString(16).padStart(40, 'a')}`;
const [BASE, QUOTE]: [Address, Address] = [`0x${'b1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];

/** A contract feed: each message is the contract's code, and a block to read it at. */
async function playContract(
  feed: Feed,
  target: Address,
  codeOf: (message: SourceMessage) => Answers,
  everything: (body: Hex) => Answers,
): Promise<PlayedSource> {
  const heard = heardBy(feed);
  const put = async (answers: Answers) => {
    await anvil.rpc('anvil_setCode', [target, answering(answers)]);
    const before = countOf(heard);
    await anvil.mine();
    // A trouble that lasts is reported once.
    const number = BigInt(await anvil.rpc<Hex>('eth_blockNumber'));
    await until(() => expect(chain.head()?.number).toBeGreaterThanOrEqual(number));
    await vi
      .waitFor(() => expect(countOf(heard)).toBeGreaterThan(before), { timeout: 150, interval: 5 })
      .catch(() => {});
  };
  return {
    heard,
    send: (message) => put(codeOf(message)),
    raw: (body) => put(everything(toHex(body.slice(0, 4_096)))),
    async stop() {
      feed.stop();
    },
  };
}

feedConformance('chainlink', ['signed', 'time', 'dated'], () => {
  let round = 100n;
  const target = newAddress();
  return playContract(
    createChainlinkFeed({ clock: systemClock, chain }, { source: 'test', aggregators: { ETHUSD: target } }),
    target,
    ({ bid = '2500', stampMs = Date.now() - 2_000 }) => {
      round += 1n;
      const [whole = '', fraction = ''] = bid.replace('-', '').split('.');
      const units = BigInt(whole + fraction.slice(0, 8).padEnd(8, '0')) * (bid.startsWith('-') ? -1n : 1n);
      const at = BigInt(Math.floor(stampMs / 1_000));
      return { ...answer('latestRoundData', round, units, at, at, round), ...answer('decimals', 8) };
    },
    (body) => ({ latestRoundData: body, decimals: body }),
  );
});

feedConformance('uniswap twap', [], () => {
  const target = newAddress();
  return playContract(
    createUniswapV3TwapFeed(
      { clock: systemClock, chain },
      { source: 'test', pools: { ETHUSD: { address: target, base: BASE, windowSeconds: 60 } } },
    ),
    target,
    ({ bid = '2500' }) => {
      const tick = Number(bid) === 0 ? -(2 ** 49) : Math.round(Math.log(Number(bid)) / Math.log(1.0001));
      return {
        ...answer('token0', BASE),
        ...answer('token1', QUOTE),
        ...answer('observe', [0n, BigInt(tick) * 60n], [0n, 0n]),
      };
    },
    (body) => ({ observe: body }),
  );
});
