/** Defines a check of `demo --once`, and how it reports. */

import type { OrderStatusResponse } from '../../../protocol/api/status.ts';
import type { DemoWorld } from '../world.ts';

export interface DemoCheck {
  name: string;
  /** Returns what was observed. Throws `CheckFailed` when it is wrong. */
  run(world: DemoWorld, tally: DemoOrderCounts): Promise<string>;
}

interface CheckResult {
  name: string;
  ok: boolean;
  detail: string;
}

export interface DemoOrderCounts {
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

export function expectSettled(
  { status, failure }: Pick<OrderStatusResponse, 'status' | 'failure'>,
  tally: DemoOrderCounts,
  what = 'order status',
): void {
  tally[status === 'settled' ? 'settled' : 'failed'] += 1;
  expectEqual(status, 'settled', `${what} (${failure?.code ?? 'no failure'}: ${failure?.message ?? ''})`);
}

export async function eventually(
  what: string,
  timeoutMs: number,
  holds: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let trouble = ''; ;) {
    const held = await holds().catch((error: unknown) => {
      trouble = ` (${messageOf(error)})`;
      return false;
    });
    if (held) return;
    if (performance.now() > deadline)
      throw new CheckFailed(`${what}: not within ${timeoutMs / 1000} s${trouble}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

export interface OnceReport extends DemoOrderCounts {
  checks: CheckResult[];
  seconds: number;
}

export function createRecorder(world: DemoWorld, show: (line: string) => void, startedAtMs: number) {
  const tally: DemoOrderCounts = { settled: 0, failed: 0, refunded: 0 };
  const checks: CheckResult[] = [];
  async function run({ name, run: attempt }: DemoCheck): Promise<void> {
    const before = performance.now();
    const result = await attempt(world, tally).then(
      (detail) => ({ name, ok: true, detail }),
      (error: unknown) => ({ name, ok: false, detail: messageOf(error) }),
    );
    checks.push(result);
    const seconds = ((performance.now() - before) / 1000).toFixed(1);
    show(`${result.ok ? 'ok  ' : 'FAIL'} ${seconds.padStart(6)} s  ${name} - ${result.detail}`);
  }
  return {
    checks,
    run,
    report: (): OnceReport => ({
      checks,
      ...tally,
      seconds: Math.round((Date.now() - startedAtMs) / 100) / 10,
    }),
  };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error);
