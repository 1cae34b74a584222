/**
 * One process of a fault's world: killed, frozen, resumed and restarted by name. It never outlives the test.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';

export interface Part {
  readonly name: string;
  /** Where it answers /readyz. */
  readonly opsUrl: string;
  /**
   * Starts it with extra environment variables. Resolves when its operations port answers, or with `until`
   * 'ready' when it is ready.
   */
  start(env?: NodeJS.ProcessEnv, until?: 'alive' | 'ready'): Promise<void>;
  /** Writes its configuration again, for a reload. */
  configure(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT: it stops without noticing. */
  freeze(): void;
  thaw(): void;
  /** SIGWINCH: a call held at a point continues. */
  release(): void;
  /** Resolves when it has printed this since its last start. */
  says(what: string): Promise<void>;
  /** SIGTERM; resolves with its exit status. */
  stop(): Promise<number>;
  /** Resolves when it has died of any cause. */
  died(): Promise<void>;
  running(): boolean;
  pid(): number;
  /** Its output over all its starts. */
  output(): string;
  /** Its output since its last start. */
  said(): string;
  /** What /readyz answers; undefined without an answer. */
  ready(): Promise<{ status: number; reasons: string[] } | undefined>;
}

export interface PartSpec {
  name: string;
  opsPort: number;
  /** `venue --role api` */
  words: readonly string[];
  /** Writes its configuration and returns the file. */
  config: () => Promise<string>;
  env: NodeJS.ProcessEnv;
  /** The script to run; by default the program with faults in it. */
  program?: string;
}

const START_MS = 170_000;

export function createPart({
  name,
  opsPort,
  words,
  config,
  env,
  program = process.env['FIRMQUOTE_FAULT_PROGRAM'],
}: PartSpec): Part {
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  let child: ChildProcess | undefined;
  let output = '';
  /** Where the output of the present start begins. */
  let born = 0;
  let gone: Promise<number> = Promise.resolve(0);

  const alive = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const signal = (kind: NodeJS.Signals) => {
    if (!alive()) throw new Error(`${name} is not running.`);
    child?.kill(kind);
  };

  async function ready() {
    try {
      const answer = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
      return { status: answer.status, reasons: ((await answer.json()) as { reasons: string[] }).reasons };
    } catch {
      return undefined;
    }
  }

  return {
    name,
    opsUrl,
    async start(more = {}, until = 'alive') {
      if (alive()) throw new Error(`${name} is running.`);
      if (program === undefined)
        throw new Error('The program with faults was not built: see test/faults/support/build.ts.');
      const file = await config();
      // Two simultaneous starts would make two processes.
      if (alive()) throw new Error(`${name} is running.`);
      born = output.length;
      const started = spawn(process.execPath, [program, ...words, '--config', file], {
        env: { ...passed('PATH', 'HOME', 'NODE_OPTIONS'), ...env, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = started;
      const emergency = () => void started.kill('SIGKILL');
      process.once('exit', emergency);
      for (const stream of [started.stdout, started.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      gone = new Promise((resolve) =>
        started.once('close', (code) => {
          process.off('exit', emergency);
          resolve(code ?? 128);
        }),
      );
      const deadline = performance.now() + START_MS;
      for (;;) {
        const seen = await ready();
        if (seen && (until === 'alive' || seen.status === 200)) return;
        if (!alive()) throw new Error(`${name} ended while it started:\n${output.slice(-4_000)}`);
        if (performance.now() > deadline)
          throw new Error(
            `${name} did not start (${seen?.reasons.join('; ') ?? 'it does not answer'}):\n${output.slice(-4_000)}`,
          );
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    configure: async () => void (await config()),
    async kill() {
      if (alive()) child?.kill('SIGKILL');
      await gone;
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    release: () => signal('SIGWINCH'),
    async says(what) {
      while (!output.slice(born).includes(what)) {
        if (!alive()) throw new Error(`${name} ended before it said "${what}":\n${output.slice(-4_000)}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async stop() {
      if (alive()) {
        child?.kill('SIGCONT');
        child?.kill('SIGTERM');
      }
      return gone;
    },
    died: async () => void (await gone),
    running: alive,
    pid: () => child?.pid ?? 0,
    output: () => output,
    said: () => output.slice(born),
    ready,
  };
}

/** What a process gets of our own environment: no secret of ours, no setting that changes what it does. */
function passed(...names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

/** Two parts must not get one port while neither runs. */
const given = new Set<number>();
/** Each worker of vitest takes ports of one slice, because it does not see what others have given. */
const SLICES = 6;
const SLICE_PORTS = 3_000;
const slice = Number(process.env['VITEST_POOL_ID'] ?? 0) % SLICES;

/** A port below those that the system assigns, so that it stays free while its process is dead. */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = 12_000 + slice * SLICE_PORTS + (randomBytes(2).readUInt16BE() % SLICE_PORTS);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer().once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (!free || given.has(port)) continue;
    given.add(port);
    return port;
  }
}
