/** Every fault of the soak, one at a time: its description, its victims, how it begins and how it ends. */

import type { Part } from '../faults/support/process.ts';
import type { TcpMode } from '../faults/support/tcp-proxy.ts';
import type { Seeded } from '../kill/seeded.ts';
import type { TestAnvil } from '../support/anvil.ts';
import { DEPTH, type Ground } from './ground.ts';
import type { Line } from './network.ts';
import type { ChainNode, NodeFault } from './nodes.ts';

export interface Trouble {
  what: string;
  /** Parts that may be slow during the fault. */
  victims: readonly string[];
  /** From its beginning to its end. */
  seconds: number;
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

type Kind = (ground: Ground, dice: Seeded) => Trouble;

const LIMIT_EXCEEDED = { do: 'reject', code: -32_005, message: 'limit exceeded' } as const;
const nothing = async () => {};

/** Seconds between two bounds, to a tenth. */
const between = (dice: Seeded, low: number, high: number) =>
  Math.round((low + dice.next() * (high - low)) * 10) / 10;
const venuesOf = ({ world }: Ground) => world.venues;
const lpsOf = ({ world }: Ground) => world.lps.map(({ part }) => part);
const attestersOf = ({ world }: Ground) => world.attesters;

/** Kills these and restarts them after the given time. */
const killed =
  (of: (ground: Ground) => readonly Part[], many = 1): Kind =>
  (ground, dice) => {
    const parts = some(of(ground), many, dice);
    return {
      what: `SIGKILL ${names(parts)}`,
      victims: parts.map(({ name }) => name),
      seconds: between(dice, 0.5, 6),
      async begin() {
        for (const { name } of parts) ground.down.add(name);
        await Promise.all(parts.map((part) => part.kill()));
      },
      end: () => started(ground, parts),
    };
  };

const stopped =
  (of: (ground: Ground) => readonly Part[]): Kind =>
  (ground, dice) => {
    const parts = some(of(ground), 1, dice);
    return {
      what: `SIGTERM ${names(parts)}`,
      victims: parts.map(({ name }) => name),
      seconds: between(dice, 0, 3),
      async begin() {
        for (const { name } of parts) ground.down.add(name);
        await Promise.all(parts.map((part) => part.stop()));
      },
      end: () => started(ground, parts),
    };
  };

const frozen =
  (of: (ground: Ground) => readonly Part[], many = 1): Kind =>
  (ground, dice) => {
    const parts = some(of(ground), many, dice);
    return {
      what: `SIGSTOP ${names(parts)}`,
      victims: parts.map(({ name }) => name),
      seconds: between(dice, 1, 9),
      begin: async () => parts.forEach((part) => part.freeze()),
      end: async () => parts.forEach((part) => part.running() && part.thaw()),
    };
  };

async function started({ down }: Ground, parts: readonly Part[]): Promise<void> {
  await Promise.all(parts.map((part) => (part.running() ? undefined : part.start())));
  for (const { name } of parts) down.delete(name);
}

const network =
  (
    of: (ground: Ground) => ReadonlyMap<string, Line>,
    where: string,
    mode: (dice: Seeded) => TcpMode,
    all = false,
  ): Kind =>
  (ground, dice) => {
    const chosen = all ? [...of(ground)] : some([...of(ground)], 1, dice);
    const set = mode(dice);
    return {
      what: `${where} of ${chosen.map(([name]) => name.replace(' ', ' to ')).join(', ')}: ${words(set)}`,
      victims: [],
      seconds: between(dice, 1, 8),
      begin: () => Promise.all(chosen.map(([, line]) => line.set(set))),
      end: () => Promise.all(chosen.map(([, line]) => line.set({ kind: 'pass' }))),
    };
  };

/** Resets open connections; clients may connect again. */
const severed =
  (of: (ground: Ground) => ReadonlyMap<string, Line>, where: string): Kind =>
  (ground, dice) => {
    const chosen = some([...of(ground)], 1, dice);
    return {
      what: `${where} of ${chosen.map(([name]) => name.replace(' ', ' to ')).join(', ')}: cut`,
      victims: [],
      seconds: 0,
      begin: () => Promise.all(chosen.map(([, line]) => line.cut())),
      end: nothing,
    };
  };

/** One node of one chain, or all of that chain. */
const node =
  (
    what: string,
    method: string,
    fault: (ground: Ground, chain: number) => Promise<NodeFault>,
    all = false,
  ): Kind =>
  (ground, dice) => {
    const chain = Math.floor(dice.next() * ground.nodes.length);
    const of = ground.nodes[chain] as readonly ChainNode[];
    const chosen = all ? of : some(of, 1, dice);
    let lift: (() => Promise<void>)[] = [];
    return {
      what: `${all ? 'every node' : 'a node'} of chain ${chain + 1} ${what}`,
      victims: [],
      seconds: between(dice, 2, 9),
      async begin() {
        const rule = await fault(ground, chain);
        lift = await Promise.all(chosen.map((each) => each.fault(method, rule)));
      },
      end: () => Promise.all(lift.map((undo) => undo())),
    };
  };

const unplugged =
  (all: boolean): Kind =>
  (ground, dice) => {
    const chain = Math.floor(dice.next() * ground.nodes.length);
    const of = ground.nodes[chain] as readonly ChainNode[];
    const chosen = all ? of : some(of, 1, dice);
    return {
      what: `${all ? 'every node' : 'a node'} of chain ${chain + 1} refuses connections`,
      victims: [],
      seconds: between(dice, 2, 8),
      begin: () => Promise.all(chosen.map((proxy) => proxy.down())),
      end: () => Promise.all(chosen.map((proxy) => proxy.up())),
    };
  };

const onChain =
  (
    what: (n: number) => string,
    range: readonly [number, number],
    method: (n: number) => readonly (readonly [string, readonly unknown[]])[],
    undo?: readonly [string, readonly unknown[]],
  ): Kind =>
  ({ world }, dice) => {
    const at = Math.floor(dice.next() * world.devnet.chains.length);
    const { anvil } = world.devnet.chains[at] as (typeof world.devnet.chains)[number];
    const n = range[0] + Math.floor(dice.next() * (range[1] - range[0] + 1));
    return {
      what: `chain ${at + 1}: ${what(n)}`,
      victims: [],
      seconds: undo ? between(dice, 3, 9) : 0,
      begin: () => calls(anvil, method(n)),
      end: async () => undo && (await anvil.rpc(...undo)),
    };
  };

async function calls(
  anvil: TestAnvil,
  list: readonly (readonly [string, readonly unknown[]])[],
): Promise<void> {
  for (const call of list) await anvil.rpc(...call);
}

/**
 * anvil's clock stays behind for good by what was removed, and the times of two chains could not be compared
 * any more.
 */
const reorganised = (n: number): readonly (readonly [string, readonly unknown[]])[] => [
  ['anvil_reorg', [n, []]],
  ['anvil_setTime', [Math.floor(Date.now() / 1_000)]],
];

const databaseLost: Kind = ({ world }, dice) => ({
  what: 'SIGKILL the database',
  victims: [],
  seconds: between(dice, 0.5, 4),
  begin: () => world.killDatabase(),
  end: () => world.startDatabase(),
});
const redisLost: Kind = ({ redis }, dice) => ({
  what: 'SIGKILL Redis, with all that was in it',
  victims: [],
  seconds: between(dice, 0.5, 5),
  begin: () => redis.lose(),
  end: () => redis.back(),
});
const redisAway: Kind = ({ redis }, dice) => ({
  what: 'Redis: cable pulled',
  victims: [],
  seconds: between(dice, 1, 8),
  begin: () => redis.line.set({ kind: 'blackhole' }),
  end: () => redis.line.set({ kind: 'pass' }),
});

const doors = ({ doors: of }: Ground) => of;
const links = ({ links: of }: Ground) => of;
const databases = ({ databases: of }: Ground) => of;
const delay =
  (low: number, high: number) =>
  (dice: Seeded): TcpMode => ({ kind: 'delay', ms: Math.round(low + dice.next() * (high - low)) });
const truncated = (dice: Seeded): TcpMode => ({ kind: 'truncate', bytes: Math.floor(dice.next() * 3_000) });
const one = (kind: 'blackhole' | 'reset') => (): TcpMode => ({ kind });
const half = (dice: Seeded): TcpMode => ({ kind: 'half_open', stopped: dice.pick(['up', 'down'] as const) });
const always = (fault: NodeFault) => async () => fault;
const lie = (about: (NodeFault & { do: 'lie' })['about']) => always({ do: 'lie', about });

/** Each of these once before any repeats. */
const KINDS: readonly Kind[] = [
  killed(venuesOf),
  killed(venuesOf, 2),
  killed(lpsOf),
  killed(attestersOf, 2),
  stopped(venuesOf),
  stopped(lpsOf),
  frozen(venuesOf),
  frozen(lpsOf),
  frozen(lpsOf, 2),
  frozen(attestersOf, 2),
  databaseLost,
  severed(databases, 'the database'),
  network(databases, 'the database', one('blackhole')),
  network(databases, 'the database', delay(20, 200), true),
  network(databases, 'the database', half),
  severed(doors, 'the door'),
  network(doors, 'the door', truncated),
  network(doors, 'the door', one('blackhole')),
  network(doors, 'the door', delay(50, 500)),
  severed(links, 'the link'),
  network(links, 'the link', one('blackhole'), true),
  network(links, 'the link', half),
  network(links, 'the link', delay(50, 250)),
  network(links, 'the link', truncated),
  network(links, 'the link', one('reset'), true),
  redisLost,
  redisAway,
  unplugged(false),
  unplugged(true),
  node('is slow', '*', always({ do: 'delay', ms: 1_500 })),
  node('is slow', '*', always({ do: 'delay', ms: 700 }), true),
  node('rejects everything', '*', always(LIMIT_EXCEEDED)),
  node('rejects transactions', 'eth_sendRawTransaction', always(LIMIT_EXCEEDED), true),
  node('takes transactions and passes none on', 'eth_sendRawTransaction', always({ do: 'drop' }), true),
  node(
    'takes transactions and hangs up',
    'eth_sendRawTransaction',
    always({ do: 'swallow', how: 'hang_up' }),
    true,
  ),
  node('takes transactions twice', 'eth_sendRawTransaction', always({ do: 'duplicate' }), true),
  node('knows no receipts', 'eth_getTransactionReceipt', always({ do: 'null' })),
  node('lags', '*', async ({ world }, chain) => ({ do: 'stale', at: (await height(world, chain)) - 12n })),
  node('lies about the newest block', 'eth_getBlockByNumber', lie('the newest block')),
  node('says zero to every question about state', 'eth_call', lie('state')),
  node('calls every transaction failed', 'eth_getTransactionReceipt', lie('receipts')),
  node('leaves out logs', '*', always({ do: 'drop_logs' })),
  onChain((n) => `a reorganisation of ${n} block${n > 1 ? 's' : ''}`, [1, DEPTH], reorganised),
  onChain((n) => `a reorganisation of ${n} block${n > 1 ? 's' : ''}`, [DEPTH, DEPTH], reorganised),
  onChain(
    () => 'no blocks',
    [0, 0],
    () => [['evm_setIntervalMining', [0]]],
    ['evm_setIntervalMining', [1]],
  ),
  onChain(
    (n) => `the base fee jumps to ${n} gwei`,
    [40, 250],
    (n) => [['anvil_setNextBlockBaseFeePerGas', [`0x${(BigInt(n) * 10n ** 9n).toString(16)}`]]],
  ),
];

/** Endless, in an order that the seed decides. */
export function* troubles(ground: Ground, dice: Seeded): Generator<Trouble, never> {
  for (;;) for (const kind of some(KINDS, KINDS.length, dice)) yield kind(ground, dice);
}

/** This many of them, each at most once, in any order. */
function some<T>(all: readonly T[], many: number, dice: Seeded): T[] {
  const left = [...all];
  return Array.from(
    { length: Math.min(many, all.length) },
    () => left.splice(Math.floor(dice.next() * left.length), 1)[0] as T,
  );
}

async function height({ devnet }: Ground['world'], chain: number): Promise<bigint> {
  return BigInt((await devnet.chains[chain]?.anvil.rpc<string>('eth_blockNumber')) ?? 0);
}

const names = (parts: readonly Part[]) => parts.map(({ name }) => name).join(' and ');

function words(mode: TcpMode): string {
  switch (mode.kind) {
    case 'delay':
      return `${mode.ms} ms late`;
    case 'blackhole':
      return 'cable pulled';
    case 'half_open':
      return `nothing goes ${mode.stopped}`;
    case 'truncate':
      return `answers end after ${mode.bytes} bytes`;
    case 'reset':
      return 'refused';
    case 'pass':
      return 'open';
  }
}
