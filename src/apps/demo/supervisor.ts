/** Keeps the demo's processes running: restarts a process that ends, with back-off. */

import type { WatchedChild } from '../../adapters/process/parent-watchdog.ts';
import type { Log } from '../../ports/log.ts';

export interface ChildSpec {
  name: string;
  start(): Promise<WatchedChild>;
}

/** Throws for the name of a process that was not run. */
export interface Supervisor {
  /** Starts a process, and starts it again whenever it ends. */
  run(spec: ChildSpec): Promise<void>;
  /** undefined while it does not run, and for a name that is not known. */
  pid(name: string): number | undefined;
  pids(): Record<string, number>;
  restarts(name: string): number;
  /** Kills a process and does not restart it before `release`. */
  hold(name: string): Promise<void>;
  release(name: string): Promise<void>;
  /** Kills a process. Resolves when it runs again. */
  crash(name: string): Promise<void>;
  /** Stops all processes, the last one first. */
  stop(): Promise<void>;
}

const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
const STEADY_MS = 10_000;

interface Child {
  spec: ChildSpec;
  running: WatchedChild | undefined;
  held: boolean;
  restarts: number;
  backoffMs: number;
  startedAt: number;
  waiting: (() => void)[];
}

export function createSupervisor({ log, changed }: { log: Log; changed: () => void }): Supervisor {
  const children = new Map<string, Child>();
  let stopping = false;

  async function launch(child: Child): Promise<void> {
    const running = await child.spec.start();
    if (stopping || child.held) {
      await running.stop();
      return;
    }
    child.running = running;
    child.startedAt = performance.now();
    changed();
    for (const wake of child.waiting.splice(0)) wake();
    void running.exited.then((code) => ended(child, code));
  }

  function ended(child: Child, code: number): void {
    child.running = undefined;
    if (stopping || child.held) return;
    log.warn({ child: child.spec.name, code }, 'a process of the demo ended and is restarted');
    if (performance.now() - child.startedAt > STEADY_MS) child.backoffMs = MIN_BACKOFF_MS;
    revive(child);
  }

  function revive(child: Child): void {
    const delay = child.backoffMs;
    child.backoffMs = Math.min(MAX_BACKOFF_MS, child.backoffMs * 2);
    child.restarts += 1;
    setTimeout(() => {
      if (stopping || child.held) return;
      launch(child).catch((error: unknown) => {
        log.warn({ child: child.spec.name, err: error }, 'the restart failed and is retried');
        revive(child);
      });
    }, delay);
  }

  const known = (name: string): Child => {
    const child = children.get(name);
    if (!child) throw new Error(`The demo runs no process called ${name}.`);
    return child;
  };

  return {
    async run(spec) {
      const child: Child = {
        spec,
        running: undefined,
        held: false,
        restarts: 0,
        backoffMs: MIN_BACKOFF_MS,
        startedAt: 0,
        waiting: [],
      };
      children.set(spec.name, child);
      await launch(child);
    },
    pid: (name) => children.get(name)?.running?.pid,
    pids: () =>
      Object.fromEntries(
        [...children].flatMap(([name, { running }]) => (running ? [[name, running.pid]] : [])),
      ),
    restarts: (name) => known(name).restarts,
    async hold(name) {
      const child = known(name);
      child.held = true;
      await child.running?.kill();
      changed();
    },
    async release(name) {
      const child = known(name);
      child.held = false;
      child.backoffMs = MIN_BACKOFF_MS;
      await launch(child);
    },
    async crash(name) {
      const child = known(name);
      const back = new Promise<void>((resolve) => child.waiting.push(resolve));
      await child.running?.kill();
      await back;
    },
    async stop() {
      stopping = true;
      for (const child of [...children.values()].reverse()) {
        await child.running?.stop();
        children.delete(child.spec.name);
      }
    },
  };
}
