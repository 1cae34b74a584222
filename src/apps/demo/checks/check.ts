/** One check of `demo --once`: it trades, and throws where the result differs from what was promised. */

import type { DemoWorld } from '../world.ts';

export interface DemoCheck {
  name: string;
  /** Returns what was observed. Throws `CheckFailed` when it is wrong. */
  run(world: DemoWorld, tally: OrderCounts): Promise<string>;
}

export interface CheckResult {
  name: string;
  ok: boolean;
  detail: string;
}

/** Number of orders by their end. */
export interface OrderCounts {
  settled: number;
  failed: number;
  refunded: number;
}

export class CheckFailed extends Error {}

export function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new CheckFailed(otherwise);
}

export function expectEqual<T extends string | number | bigint | boolean | null | undefined>(
  actual: T,
  wanted: T,
  what: string,
): void {
  if (actual !== wanted)
    throw new CheckFailed(`${what}: expected ${String(wanted)}, found ${String(actual)}`);
}

/** Polls until `holds` returns true. */
export async function eventually(
  what: string,
  timeoutMs: number,
  holds: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let trouble = ''; ;) {
    const held = await holds().catch((error: unknown) => {
      trouble = ` (${error instanceof Error ? error.message : String(error)})`;
      return false;
    });
    if (held) return;
    if (performance.now() > deadline)
      throw new CheckFailed(`${what}: not within ${timeoutMs / 1000} s${trouble}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

export async function runCheck(check: DemoCheck, world: DemoWorld, tally: OrderCounts): Promise<CheckResult> {
  try {
    return { name: check.name, ok: true, detail: await check.run(world, tally) };
  } catch (error) {
    return {
      name: check.name,
      ok: false,
      detail: error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error),
    };
  }
}
