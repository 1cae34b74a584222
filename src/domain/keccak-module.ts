/**
 * Keccak-f[1600] with the rate of keccak-256, as a WebAssembly module that this file assembles from the
 * definition of the permutation (FIPS 202, sections 3.2 and 3.3, with the padding of the original
 * submission). A quote is hashed four times between its price and its signature, and a library's buffers and
 * calls around each took longer than the hashing.
 */

/** Bytes of a block. */
export const RATE = 136;
/** Where the digest's 32 bytes are left. */
export const DIGEST_AT = 192;
/** Where a message begins; it is padded to whole blocks by the caller. */
export const MESSAGE_AT = 256;

const LANES = 25;
const ROUNDS = 24;
const PAGE = 65_536;

export interface KeccakModule {
  /** Hashes the whole blocks from MESSAGE_AT to `end`. */
  hash(end: number): void;
  /**
   * The module's memory, at least `bytes` of it. A view that was given before may be of no use after a larger
   * one was asked for.
   */
  memory(bytes: number): Uint8Array;
}

/** Compiled at once, in less than a millisecond. */
export function instantiateKeccak(): KeccakModule {
  const { hash, memory } = new WebAssembly.Instance(new WebAssembly.Module(assemble())).exports;
  let view = new Uint8Array(memory.buffer);
  return {
    hash,
    memory(bytes) {
      if (bytes > view.length) {
        memory.grow(Math.ceil((bytes - view.length) / PAGE));
        view = new Uint8Array(memory.buffer);
      }
      return view;
    },
  };
}

/**
 * What of the host's WebAssembly is used here: Node and browsers have it, and the language's own types do not
 * name it.
 */
interface Host {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => {
    exports: {
      hash(end: number): void;
      memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
    };
  };
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: Host };

/* The permutation's constants, from their definitions. */

/** iota: what each round adds to the first lane, from the linear feedback shift register of section 3.2.5. */
function roundConstants(): bigint[] {
  let register = 1;
  const bit = (): boolean => {
    const out = (register & 1) === 1;
    register <<= 1;
    if (register & 0x100) register ^= 0x171;
    return out;
  };
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let j = 0; j <= 6; j += 1) if (bit()) constant |= 1n << BigInt(2 ** j - 1);
    return constant;
  });
}

/** rho: by how much each lane (x + 5y) turns, section 3.2.2. */
function rotations(): number[] {
  const turns = Array.from({ length: LANES }, () => 0);
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t += 1) {
    turns[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return turns;
}

/* The assembler: WebAssembly's binary format, as far as it is needed here. */

const I32 = 0x7f;
const I64 = 0x7e;
const [GET, SET, TEE] = [0x20, 0x21, 0x22] as const;
const [AND, XOR, ROTATE] = [0x83, 0x85, 0x89] as const;
const [LOAD_64, STORE_64] = [0x29, 0x37] as const;
const [CONSTANT_32, CONSTANT_64] = [0x41, 0x42] as const;
const [ADD_32, BELOW_32] = [0x6a, 0x49] as const;
const [LOOP, BRANCH_IF, END] = [0x03, 0x0d, 0x0b] as const;
const NO_RESULT = 0x40;
/** Of a load or store: whole lanes lie on multiples of 2^3 bytes. */
const ALIGNED = 3;

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return [...bytes, left];
    bytes.push((left & 0x7f) | 0x80);
  }
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7) {
    if (left >= -0x40 && left < 0x40) return [...bytes, left & 0x7f];
    bytes.push((left & 0x7f) | 0x80);
  }
}

const vector = (items: readonly (readonly number[])[]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];
const sized = (bytes: readonly number[]): number[] => [...unsigned(bytes.length), ...bytes];
const section = (id: number, items: readonly (readonly number[])[]): number[] => [
  id,
  ...sized(vector(items)),
];
const name = (text: string): number[] => sized([...text].map((letter) => letter.charCodeAt(0)));

function assemble(): Uint8Array {
  const table = roundConstants().flatMap((constant) =>
    Array.from({ length: 8 }, (_, at) => Number((constant >> BigInt(8 * at)) & 0xffn)),
  );
  const code = [
    ...vector([
      [...unsigned(2), I32],
      [...unsigned(2 * LANES + 10), I64],
    ]),
    ...body(),
  ];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    // One type: a number in, nothing out. One function of it. One page of memory.
    ...section(1, [[0x60, ...vector([[I32]]), ...vector([])]]),
    ...section(3, [[0]]),
    ...section(5, [[0x00, 1]]),
    ...section(7, [
      [...name('hash'), 0x00, 0],
      [...name('memory'), 0x02, 0],
    ]),
    ...section(10, [sized(code)]),
    ...section(11, [[0x00, ...constant32(0), END, ...sized(table)]]),
  ]);
}

const constant32 = (value: number): number[] => [CONSTANT_32, ...signed(value)];
const get = (local: number): number[] => [GET, ...unsigned(local)];
const set = (local: number): number[] => [SET, ...unsigned(local)];
const tee = (local: number): number[] => [TEE, ...unsigned(local)];
const turned = (value: number[], by: number): number[] =>
  by === 0 ? value : [...value, CONSTANT_64, ...signed(by), ROTATE];
const load64 = (offset: number): number[] => [LOAD_64, ALIGNED, ...unsigned(offset)];
const store64 = (offset: number): number[] => [STORE_64, ALIGNED, ...unsigned(offset)];
/** Local `at` grows by `step`; again from the top of the loop while it is below the limit. */
const next = (at: number, step: number, limit: number[]): number[] => [
  ...get(at),
  ...constant32(step),
  ADD_32,
  ...tee(at),
  ...limit,
  BELOW_32,
  BRANCH_IF,
  0,
];
const loop = (inside: number[]): number[] => [LOOP, NO_RESULT, ...inside, END];

/** Every block is taken in and permuted; then the digest is left where it is looked for. */
function body(): number[] {
  // The parameter, then where the block is and which round it is, then the lanes.
  const [end, block, round, first] = [0, 1, 2, 3];
  const lane = (x: number, y: number) => first + (x % 5) + 5 * (y % 5);
  const moved = (x: number, y: number) => first + LANES + (x % 5) + 5 * (y % 5);
  const column = (x: number) => first + 2 * LANES + (x % 5);
  const mixed = (x: number) => first + 2 * LANES + 5 + (x % 5);
  const five = [0, 1, 2, 3, 4];
  const turns = rotations();
  const absorb = Array.from({ length: RATE / 8 }, (_, at) => [
    ...get(first + at),
    ...get(block),
    ...load64(8 * at),
    XOR,
    ...set(first + at),
  ]).flat();
  const theta = [
    ...five.flatMap((x) => [
      ...get(lane(x, 0)),
      ...[1, 2, 3, 4].flatMap((y) => [...get(lane(x, y)), XOR]),
      ...set(column(x)),
    ]),
    ...five.flatMap((x) => [...get(column(x + 4)), ...turned(get(column(x + 1)), 1), XOR, ...set(mixed(x))]),
  ];
  const rhoAndPi = five.flatMap((x) =>
    five.flatMap((y) => [
      ...turned([...get(lane(x, y)), ...get(mixed(x)), XOR], turns[x + 5 * y] as number),
      ...set(moved(y, 2 * x + 3 * y)),
    ]),
  );
  // (not b) and c is c, without what b and c share.
  const chi = five.flatMap((y) =>
    five.flatMap((x) => [
      ...get(moved(x, y)),
      ...get(moved(x + 2, y)),
      XOR,
      ...get(moved(x + 1, y)),
      ...get(moved(x + 2, y)),
      AND,
      XOR,
      ...set(lane(x, y)),
    ]),
  );
  const iota = [...get(first), ...get(round), ...load64(0), XOR, ...set(first)];
  return [
    ...[...constant32(MESSAGE_AT), ...set(block)],
    ...loop([
      ...absorb,
      ...[...constant32(0), ...set(round)],
      ...loop([...theta, ...rhoAndPi, ...chi, ...iota, ...next(round, 8, constant32(8 * ROUNDS))]),
      ...next(block, RATE, get(end)),
    ]),
    ...[0, 1, 2, 3].flatMap((at) => [...constant32(DIGEST_AT), ...get(first + at), ...store64(8 * at)]),
    END,
  ];
}
