/**
 * Holds the layout of src: which room imports which, what the lowest floors never do, and what a stranger can
 * read.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');

const FLOORS: readonly (readonly string[])[] = [
  ['domain'],
  ['pricing', 'inventory', 'risk', 'auction', 'settlement', 'protocol'],
  ['ports'],
  ['venue', 'lp', 'attester', 'adapters', 'sim', 'client', 'transfers'],
  ['apps'],
];
const floorOf = new Map(FLOORS.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));

/**
 * The floors inside a room, top to bottom: its folders, and the files that lie beside them. A file imports
 * from its own folder and from the entries below it. docs/develop/floors.md gives the reasons.
 */
const SUB_FLOORS: Readonly<Record<string, readonly string[]>> = {
  lp: [
    'node.ts',
    'node',
    'shadow',
    'quoting',
    'risk',
    'replicas',
    'chain',
    'accounting',
    'quote-log',
    'settlement',
    'market',
    'routes',
    'config',
    'metrics.ts',
    'commitment-signer.ts',
    'passes.ts',
    'yield-to-event-loop.ts',
  ],
  apps: [
    'cli',
    'doctor',
    'deploy',
    'take',
    'backup',
    'audit',
    'certify',
    'demo',
    'verify',
    'attester',
    'venue',
    'lp',
    'terminal',
    'wiring',
    'config',
  ],
  adapters: [
    'attestations',
    'http',
    'dex',
    'bridges',
    'issuers',
    'feeds',
    'evm',
    'ws',
    'partners',
    'screening',
    'travel-rule',
    'outbound',
    'signer',
    'bullmq',
    'postgres',
    'keystore',
    'secp256k1',
    'prometheus',
    'redis',
    'opentelemetry',
    'pino',
    'process',
    'system',
    'backoff.ts',
    'batcher.ts',
    'semaphore.ts',
  ],
  venue: [
    'venue.ts',
    'routes',
    'wiring.ts',
    'trades',
    'admin',
    'webhooks',
    'partners',
    'payouts',
    'router',
    'stream',
    'link',
    'orders',
    'quoting',
    'solvers',
    'access',
    'market',
    'replicas',
    'ready.ts',
    'options.ts',
    'deps.ts',
  ],
};

/** What each low room may import from outside the house. Everything else there is our own code. */
const PACKAGES: Record<string, readonly string[]> = {
  // keccak-256 is a pure function of its argument.
  domain: ['hash-wasm'],
  pricing: [],
  inventory: [],
  risk: [],
  // HMAC and constant-time comparison are pure functions of their arguments.
  auction: ['node:crypto'],
  settlement: ['viem'],
  // canonicalize writes RFC 8785 JSON, a pure function of its argument.
  protocol: ['zod', 'canonicalize', 'node:crypto'],
  ports: [],
  // Ed25519 is a pure function of its arguments; browsers do not all have it.
  client: ['viem', 'zod', '@noble/ed25519', '@noble/hashes/sha2.js'],
};

/**
 * Ceilings that go down with the tree; each is to reach 0, but for names, of which 11 are exported twice.
 */
const MOST_CIRCLES = 0;
const MOST_NAMES_TWICE = 11;
const MOST_WIDE_LINES = 0;
const EXPORTED = /^export (?:async )?(?:function\*?|const|class|interface|type|let) (\w+)/gm;

interface Source {
  path: string;
  room: string;
  text: string;
  imports: string[];
}

const sources: Source[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(SRC, path), 'utf8');
    return { path, room: path.split('/')[0] as string, text, imports: importsOf(text) };
  });
const code = sources.filter(({ path }) => !path.endsWith('.test.ts'));

test('every room stands on a floor', () => {
  expect(code.length).toBeGreaterThan(20);
  expect(code.filter(({ room }) => !floorOf.has(room)).map(({ path }) => path)).toEqual([]);
});

test('imports run down: own room or a lower floor, never a neighbour, never up', () => {
  const wrong = code.flatMap(({ path, room, imports }) =>
    imports
      .filter((target) => target.startsWith('.'))
      .flatMap((target) => {
        const reached = relative(SRC, resolve(SRC, dirname(path), target)).split('/')[0] as string;
        const down =
          reached === room ||
          (floorOf.get(reached) ?? Number.POSITIVE_INFINITY) < (floorOf.get(room) as number);
        return down ? [] : [`${path} imports ${target}`];
      }),
  );
  expect(wrong).toEqual([]);
});

describe.each(Object.entries(SUB_FLOORS))('inside %s', (room, floors) => {
  const files = code.filter((source) => source.room === room);

  test('every folder and file has one place', () => {
    expect([...floors].sort()).toEqual([...new Set(files.map(({ path }) => subRoomOf(path)))].sort());
  });

  test('imports run down', () => {
    expect(importsRunningUp(files, floors)).toEqual([]);
  });

  test('the architecture page lists the floors in this order', () => {
    const page = readFileSync(join(ROOT, 'docs/develop/floors.md'), 'utf8');
    const section = page.split(`\n## Inside \`${room}\`\n`)[1]?.split(/^#/m)[0] ?? '';
    expect([...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name)).toEqual(floors);
  });
});

/** The folder of a room in which a file lies, or the file itself where it lies beside the folders. */
function subRoomOf(path: string): string {
  return path.split('/')[1] as string;
}

function importsRunningUp(
  files: readonly Pick<Source, 'path' | 'imports'>[],
  floors: readonly string[],
): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.flatMap((target) => {
      const reached = target.startsWith('.') ? join(dirname(path), target) : '';
      const own = subRoomOf(path);
      if (reached.split('/')[0] !== path.split('/')[0] || subRoomOf(reached) === own) return [];
      return floors.indexOf(subRoomOf(reached)) > floors.indexOf(own) ? [] : [`${path} imports ${reached}`];
    }),
  );
}

test('the low rooms import only the pure packages on their list', () => {
  const wrong = code.flatMap(({ path, room, imports }) =>
    imports
      .filter((target) => !target.startsWith('.') && room in PACKAGES && !PACKAGES[room]?.includes(target))
      .map((target) => `${path} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('viem in settlement encodes and decodes only', () => {
  const named = code
    .filter(({ room }) => room === 'settlement')
    .flatMap(({ path, text }) =>
      [...text.matchAll(/import (?:type )?\{([^}]*)\} from 'viem'/g)].flatMap((match) =>
        (match[1] as string).split(',').map((name) => [path, name.trim().replace(/^type /, '')] as const),
      ),
    );
  const pure =
    /^(?:(?:prepareE|e)ncode|decode|serialize|signatureTo|parse|get(?:Abi|Function|Event)|to|keccak256|concat|pad|slice|size|Abi|Hex|Address|ContractFunction|hashTypedData|erc20Abi$)/;
  expect(named.filter(([, name]) => name !== '' && !pure.test(name))).toEqual([]);
});

describe('the two lowest floors', () => {
  const low = code.filter(
    ({ path, room }) => (floorOf.get(room) as number) <= 1 && !path.startsWith('settlement/abi/'),
  );
  const bans: readonly [string, RegExp, readonly string[]][] = [
    // WebAssembly is compiled asynchronously, once, while the module loads. Hashing is synchronous.
    ['await', /\bawait\b|\basync\b|\.then\(|\bPromise\b/, ['domain/keccak.ts']],
    ['roll dice', /Math\.random|randomBytes|randomUUID|getRandomValues/, []],
    [
      'read a clock',
      /Date\.now|new Date\(\)|performance\.now|hrtime|set(?:Timeout|Interval|Immediate)\(/,
      [],
    ],
    ['read the environment', /\bprocess\.|import\.meta\.env|readFile/, []],
  ];
  test.each(bans)('never %s', (_, pattern, exceptions) => {
    const wrong = low
      .filter(({ path, text }) => !exceptions.includes(path) && pattern.test(withoutComments(text)))
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });
});

test('venue and lp meet only in protocol, and only apps wire', () => {
  const wrong = code.filter(
    ({ room, imports }) =>
      (room === 'venue' && imports.some((target) => /\/(?:lp|adapters)\//.test(target))) ||
      (room === 'lp' && imports.some((target) => /\/(?:venue|adapters)\//.test(target))),
  );
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

describe('the client runs anywhere', () => {
  const byPath = new Map(code.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const walk = (path: string): void => {
    const source = byPath.get(path);
    if (!source || reached.has(path)) return;
    reached.add(path);
    for (const target of source.imports)
      if (target.startsWith('.')) walk(relative(SRC, resolve(SRC, dirname(path), target)));
  };
  walk('client/client.ts');

  test('it needs the words and the messages, and nothing else of the house', () => {
    expect(
      code
        .filter(({ room }) => room === 'client')
        .map(({ path }) => path)
        .filter((path) => !reached.has(path)),
    ).toEqual([]);
    expect([...new Set([...reached].map((path) => path.split('/')[0]))].sort()).toEqual([
      'client',
      'domain',
      'protocol',
    ]);
  });

  test('nothing that it loads names what only Node has', () => {
    const bare = /\bnode:|\bprocess\.|(?<!\btypeof )\bBuffer\.|\bBuffer\(|\brequire\('/;
    expect([...reached].filter((path) => bare.test(withoutComments(byPath.get(path)?.text ?? '')))).toEqual(
      [],
    );
  });
});

test.each(['venue', 'lp', 'attester'])('the %s loads no demo, certification or simulator', (app) => {
  const byPath = new Map(code.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const walk = (path: string): void => {
    if (reached.has(path) || !byPath.has(path)) return;
    reached.add(path);
    for (const target of byPath.get(path)?.imports ?? [])
      if (target.startsWith('.')) walk(join(dirname(path), target));
  };
  walk(`apps/${app}/main.ts`);
  expect(reached.size).toBeGreaterThan(100);
  expect([...reached].filter((path) => /^(?:sim|apps\/(?:demo|certify))\//.test(path))).toEqual([]);
});

/** The groups of files that import each other in a circle; type imports count. */
function circlesIn(files: readonly Pick<Source, 'path' | 'imports'>[]): string[] {
  const targets = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter((target) => target.startsWith('.')).map((target) => join(dirname(path), target)),
    ]),
  );
  const reaches = (from: string): Set<string> => {
    const reached = new Set<string>();
    const todo = [from];
    for (let path = todo.pop(); path !== undefined; path = todo.pop())
      for (const target of targets.get(path) ?? []) {
        if (reached.has(target)) continue;
        reached.add(target);
        todo.push(target);
      }
    return reached;
  };
  const reachable = new Map([...targets.keys()].map((path) => [path, reaches(path)]));
  const circles = [...reachable].flatMap(([path, reached]) =>
    reached.has(path)
      ? [
          [...reached]
            .filter((other) => reachable.get(other)?.has(path))
            .sort()
            .join(' <-> '),
        ]
      : [],
  );
  return [...new Set(circles)];
}

test('no files import each other in a circle, types included', () => {
  const circles = circlesIn(code);
  expect(circles.length, circles.join('\n')).toBeLessThanOrEqual(MOST_CIRCLES);
  expect(
    circlesIn([
      { path: 'a/b.ts', imports: ['./c.ts'] },
      { path: 'a/c.ts', imports: ['../a/b.ts'] },
    ]),
  ).toEqual(['a/b.ts <-> a/c.ts']);
});

test('a folder has at most 20 files of its own', () => {
  const count = new Map<string, number>();
  for (const { path } of code) count.set(dirname(path), (count.get(dirname(path)) ?? 0) + 1);
  count.delete('settlement/abi');
  const crowded = [...count].filter(([, files]) => files > 20);
  expect(crowded).toEqual([]);
});

test('few exported names mean two things', () => {
  const places = new Map<string, Set<string>>();
  for (const { path, text } of code.filter((source) => !source.path.startsWith('settlement/abi/')))
    for (const [, name = ''] of text.matchAll(EXPORTED))
      places.set(name, (places.get(name) ?? new Set()).add(path));
  const twice = [...places]
    .filter(([, files]) => files.size > 1)
    .map(([name, files]) => [name, ...files].join(' '));
  expect(twice.length, twice.join('\n')).toBeLessThanOrEqual(MOST_NAMES_TWICE);
});

test('comments fit in 110 columns, as the formatter sees to for code', () => {
  const wide = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.m?ts$|\.mjs$/.test(path) && !path.startsWith('settlement/abi/'))
      .flatMap((path) =>
        readFileSync(join(ROOT, folder, path), 'utf8')
          .split('\n')
          .flatMap((line, index) =>
            line.length > 110 && /^\s*(?:\/?\*|\/\/)/.test(line) ? [`${folder}/${path}:${index + 1}`] : [],
          ),
      ),
  );
  expect(wide.length, wide.join('\n')).toBeLessThanOrEqual(MOST_WIDE_LINES);
});

test('no room or file is a drawer', () => {
  expect(
    code
      .filter(({ path }) =>
        /(?:^|\/)(?:utils?|helpers?|common|manager|misc|shared|types|index)(?:\.ts|\/)/.test(path),
      )
      .map(({ path }) => path),
  ).toEqual([]);
});

test('every file says in its first line why it exists', () => {
  expect(
    code
      .filter(
        ({ path, text }) => !path.startsWith('settlement/abi/') && !/^(?:#!.*\n)?\/\*\*? ?\S/.test(text),
      )
      .map(({ path }) => path),
  ).toEqual([]);
});

test('no `any`, and no number made of an amount', () => {
  const anyType = /(?::|\bas|<)\s*any\b/;
  const numbered =
    /\b(?:Number|parseFloat)\((?:\w+\.)*(?:amount|amountIn|amountOut|balance|relayFee|held|free|committed)\)/;
  const wrong = code.filter(
    ({ text }) => anyType.test(withoutComments(text, '')) || numbered.test(withoutComments(text)),
  );
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

test('the rules themselves can fail', () => {
  expect(
    importsOf(
      `import a from './x.ts';\nexport { b } from "../y.ts";\nconst c = await import('z');\nimport 'w';\nimport {\n d,\n} from './v.ts'`,
    ),
  ).toEqual(['./x.ts', '../y.ts', './v.ts', 'w', 'z']);
  expect(
    importsRunningUp(
      [
        { path: 'lp/node.ts', imports: ['./risk/guard.ts'] },
        { path: 'lp/risk/guard.ts', imports: ['./pace.ts', '../quoting/quote.ts', '../../domain/hex.ts'] },
        { path: 'lp/quoting/quote.ts', imports: ['../risk/guard.ts', '../node.ts'] },
      ],
      ['node.ts', 'quoting', 'risk'],
    ),
  ).toEqual(['lp/risk/guard.ts imports lp/quoting/quote.ts', 'lp/quoting/quote.ts imports lp/node.ts']);
  expect(withoutComments('a /* await */ b // await\nc "// kept"')).toBe('a  b \nc "// kept"');
});

function importsOf(text: string): string[] {
  const plain = withoutComments(text);
  const from = [...plain.matchAll(/^(?:import|export)\s[^'"`;]*?\sfrom\s*['"]([^'"]+)['"]/gm)];
  const bare = [...plain.matchAll(/^import\s*['"]([^'"]+)['"]/gm)];
  const dynamic = [...plain.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)];
  return [...from, ...bare, ...dynamic].map((match) => match[1] as string);
}

/** With `literals`, every string is replaced by it: words in a sentence are no code. */
function withoutComments(text: string, literals?: string): string {
  return text.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, literal: string | undefined) => (literal === undefined ? '' : (literals ?? literal)),
  );
}
