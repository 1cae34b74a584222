/**
 * Checks the connection: foreign contracts in the challenge, a venue that falls silent, refusals, and resync.
 */

import { systemRandom } from '../../../adapters/system/random.ts';
import type { Address } from '../../../domain/hex.ts';
import { LINK_MISSED_HEARTBEATS } from '../../../protocol/link/link.ts';
import type { CertifyContext } from '../context.ts';
import { trueChains } from '../venue.ts';
import { becomesTrue } from '../waiting.ts';
import type { UnseenOrder } from './orders.ts';

const FOREIGN_MS = 3_000;
/** A pause grows to this at most, and a busy machine adds to it. */
const RECONNECT_MS = 30_000;
const SILENCE_SPARE_MS = 2_000;
/**
 * Enough to tell short pauses that grow from the noise of a busy machine; long pauses need fewer. Where they
 * do not grow yet, more refusals follow: pauses that grow outgrow any noise.
 */
const REFUSALS = { least: 2, usual: 5, most: 9, longMs: 6_000, mostMs: 60_000 };
/** The last two pauses must be at least this many times as long as the shortest before them. */
const GROWTH = 1.5;
/** The last pauses must be this long: a busy machine alone makes a short pause look longer. */
const GROWN_MS = 1_000;
/** Pauses that are so long from the start have grown before, and may be at their longest. */
const LONG_MS = 4_000;

/**
 * The first connection is met with another oracle for the last chain: the solver must leave that chain out,
 * or not say hello at all. Resolves when that connection is over; false: no solver came.
 */
export async function meetWithForeignOracle(
  { world, venue, findings }: CertifyContext,
  startMs: number,
): Promise<boolean> {
  const stranger: Address = `0x${systemRandom.bytes32().slice(-40)}`;
  const last = world.chains.length - 1;
  venue.manner.chains = trueChains(world).map((chain, at) =>
    at === last ? { ...chain, oracle: stranger } : chain,
  );
  if (!(await becomesTrue(startMs, () => venue.opened.length > 0))) return false;
  await becomesTrue(FOREIGN_MS, () => venue.hellos.length > 0 || venue.closed.length > 0);
  const chainId = world.chains[last]?.chain.id;
  const joins = venue.hellos.some(({ accounts }) => accounts.some((each) => each.chainId === chainId));
  if (joins)
    findings.fail(
      'addresses',
      `the solver joined chain ${chainId} although the challenge named a strange oracle there`,
    );
  else findings.pass('addresses', 'the solver left out a chain whose oracle is a stranger');
  venue.manner.chains = undefined;
  venue.drop();
  await becomesTrue(RECONNECT_MS, () => venue.closed.length >= venue.opened.length);
  return true;
}

/** Waits until the solver is active, also after a connection was lost. */
export async function untilActive({ venue, findings, activeMs }: CertifyContext): Promise<boolean> {
  const active = await becomesTrue(activeMs, venue.isActive);
  if (!active)
    findings.fail(
      'status',
      venue.hello() ? 'the solver did not become active' : 'the solver did not join the venue',
    );
  return active;
}

/** Falls silent, then refuses a few times, then welcomes the solver again with an order that is open. */
export async function checkReconnect(context: CertifyContext, order: UnseenOrder | undefined): Promise<void> {
  const { venue, findings, heartbeatSeconds } = context;
  const { manner } = venue;
  const silentMs = SILENCE_SPARE_MS + (LINK_MISSED_HEARTBEATS + 1) * heartbeatSeconds * 1_000;
  const resyncs = venue.resyncs();
  const dropped = venue.closed.length;
  manner.silent = true;
  if (await becomesTrue(silentMs, () => venue.closed.length > dropped))
    findings.pass('silence', 'the solver dropped a venue that had fallen silent');
  else {
    findings.fail('silence', `the solver kept a connection that was silent for ${silentMs / 1_000} seconds`);
    venue.drop();
  }
  manner.greet = 'refuse';
  const [before, sinceMs] = [venue.hellos.length, performance.now()];
  manner.silent = false;
  const refused = await becomesTrue(REFUSALS.mostMs, () => {
    const refusals = venue.hellos.length - before;
    const tookMs = performance.now() - sinceMs;
    if (refusals >= REFUSALS.most) return true;
    const isEnough = refusals >= (tookMs >= REFUSALS.longMs ? REFUSALS.least : REFUSALS.usual);
    return isEnough && (backsOff(pausesFrom(context, dropped)) || tookMs >= RECONNECT_MS);
  });
  manner.awards = order ? [order.award] : [];
  manner.greet = 'welcome';
  const back = await becomesTrue(RECONNECT_MS, venue.isActive);
  if (!refused || !back)
    findings.fail('reconnect', `the solver did not connect again within ${RECONNECT_MS / 1_000} seconds`);
  else judgePauses(context, dropped);
  if (!back) return;
  if (await becomesTrue(RECONNECT_MS / 4, () => venue.resyncs() > resyncs))
    findings.pass('resync', 'the solver asked for its open orders');
  else findings.fail('resync', 'no resync came after a reconnect');
}

/**
 * Lists the pauses of one row of attempts, which begins with connection number `from` that ended: a welcome
 * ends a row.
 */
const pausesFrom = ({ venue }: CertifyContext, from: number): number[] =>
  venue.closed.slice(from).flatMap((closedMs) => {
    const next = venue.opened.find((openedMs) => openedMs >= closedMs);
    return next === undefined ? [] : [Math.round(next - closedMs)];
  });

function backsOff(pauses: readonly number[]): boolean {
  if (Math.min(...pauses) >= LONG_MS) return true;
  const last = Math.max(1, pauses.length - 2);
  const shortest = Math.min(...pauses.slice(0, last));
  return Math.min(...pauses.slice(last)) >= Math.max(GROWTH * shortest, GROWN_MS);
}

function judgePauses(context: CertifyContext, from: number): void {
  const pauses = pausesFrom(context, from);
  const seen = `the pauses before it connected again were ${pauses.join(', ')} ms`;
  if (pauses.length > 1 && !backsOff(pauses)) context.findings.fail('reconnect', seen);
  else context.findings.pass('reconnect', seen);
}
