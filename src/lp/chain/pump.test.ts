import { expect, test } from 'vitest';
import type { Block } from '../../ports/chain.ts';
import { silentLog } from '../../../test/support/silent.ts';
import { createPump } from './pump.ts';

function setUp() {
  const scans: { head: bigint; end(error?: Error): void }[] = [];
  let head: Block | undefined;
  let listener: (block: Block) => void = () => {};
  let [inside, most, checks, doubted] = [0, 0, 0, 0];
  const lines: string[] = [];
  const say = (_: object, message: string) => void lines.push(message);
  const pump = createPump({
    port: {
      chain: { slug: 'one' } as never,
      head: () => head,
      onHead(given) {
        listener = given;
        return () => (listener = () => {});
      },
    },
    follower: {
      scan({ number }) {
        most = Math.max(most, (inside += 1));
        return new Promise<void>((resolve, reject) =>
          scans.push({
            head: number,
            end: (error) => ((inside -= 1), error === undefined ? resolve() : reject(error)),
          }),
        );
      },
    },
    spending: { read: async () => {}, changed: () => {} },
    reconciler: { check: async () => void (checks += 1), undecided: () => checks === doubted },
    log: { ...silentLog, info: say, warn: say },
  });
  const rest = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    pump,
    lines,
    rest,
    seen: () => scans.map((scan) => scan.head),
    most: () => most,
    checks: () => checks,
    /** This comparison finds a difference. */
    doubt: (check: number) => void (doubted = check),
    see(number: bigint) {
      head = { number, hash: `0x${number}`, timestamp: Number(number) };
      listener(head);
      return rest();
    },
    async end(index: number, error?: Error) {
      scans[index]?.end(error);
      await rest();
    },
  };
}

test('the first pass waits for the pass that a head began', async () => {
  const { pump, see, end, rest, seen, most, checks } = setUp();
  await see(1n);
  const first = pump.first();
  await rest();
  expect(seen()).toEqual([1n]);
  await end(0);
  expect(seen()).toEqual([1n, 1n]);
  await end(1);
  await first;
  expect([most(), checks()]).toEqual([1, 2]);
});

test('a difference in the first comparison is decided before the first pass counts', async () => {
  const { pump, see, end, rest, seen, checks, doubt } = setUp();
  await see(1n);
  await end(0);
  doubt(2);
  const first = pump.first();
  await rest();
  await end(1);
  expect(seen()).toEqual([1n, 1n, 1n]);
  await end(2);
  await first;
  expect(checks()).toBe(3);
});

test('several heads during a pass cause one more pass, over the newest', async () => {
  const { pump, see, end, rest, seen, most } = setUp();
  await see(1n);
  await end(0);
  const first = pump.first();
  await rest();
  await see(2n);
  await see(3n);
  expect(seen()).toEqual([1n, 1n]);
  await end(1);
  expect(seen()).toEqual([1n, 1n, 3n]);
  await end(2);
  await first;
  expect(most()).toBe(1);
});

test('a head that arrives as a pass ends is processed', async () => {
  const { see, end, seen } = setUp();
  await see(1n);
  // As when one answer of a node resolves both what the pass waited for and the next head.
  for (let ticks = 0; ticks < 12; ticks += 1) {
    const index = seen().length - 1;
    const ended = end(index);
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    const number = BigInt(ticks + 2);
    await see(number);
    await ended;
    expect(seen().at(-1), `a head after ${ticks} ticks`).toBe(number);
  }
});

test('a failed pass rejects its caller, and the next head works again', async () => {
  const { pump, see, end, rest, seen } = setUp();
  await see(1n);
  await end(0, new Error('the node is gone'));
  const first = expect(pump.first()).rejects.toThrow('still gone');
  await rest();
  await end(1, new Error('still gone'));
  await first;
  await see(2n);
  expect(seen()).toEqual([1n, 1n, 2n]);
  await end(2);
  await pump.stop();
  await see(3n);
  expect(seen()).toEqual([1n, 1n, 2n]);
});

test('a spell of failures is one line of the log, and its end another', async () => {
  const { see, end, lines } = setUp();
  for (const number of [1n, 2n, 3n]) {
    await see(number);
    await end(Number(number) - 1, new Error('limit exceeded'));
  }
  expect(lines).toEqual([expect.stringContaining('could not be followed')]);
  for (const number of [4n, 5n]) {
    await see(number);
    await end(Number(number) - 1);
  }
  expect(lines.slice(1)).toEqual(['a chain is followed again']);
});
