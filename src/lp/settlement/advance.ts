/**
 * Executes awards: reads the chains, decides the next step, runs it. A fill requires the order open at depth
 * on its origin, the award stored, and time to prove and claim. Sending proves nothing: the next pass reads
 * the chain again.
 */

import { LRUCache } from 'lru-cache';
import { type Attestation, fillAttestation } from '../../domain/attestation.ts';
import { type Address, addressToBytes32, type Bytes32, type Hex } from '../../domain/hex.ts';
import { outputHash } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Transactor, TxStatus } from '../../ports/transactor.ts';
import {
  fillCall,
  finaliseCall,
  submitAndFinaliseCall,
  submitAttestationsCall,
} from '../../settlement/call.ts';
import type { Awards, OpenAward } from './awards.ts';
import type { LpConfig } from '../config/config.ts';
import type { LpMetrics } from '../metrics.ts';
import type { Proving } from './proving.ts';
import { orderSpan, type Tracer } from '../../ports/tracer.ts';
import { createPasses } from '../passes.ts';
import { nextStep } from './step.ts';
import { stepKey } from './step-key.ts';

interface AdvanceDeps {
  awards: Awards;
  ledger: Ledger;
  chains: ReadonlyMap<number, ChainPort>;
  transactors: ReadonlyMap<number, Transactor>;
  /** Absent: another party brings the proofs to the origin. */
  proving: Proving | undefined;
  metrics: LpMetrics;
  clock: Clock;
  log: Log;
  tracer?: Tracer | undefined;
  /** The latest it can be on the chain, also when its head is old: a fill that may be late is not sent. */
  now(chainId: number): UnixSeconds;
  /** Value of the award's output in whole USD; undefined without a price. */
  worthUsd(award: OpenAward): number | undefined;
  pairOf(award: OpenAward): string;
  tell(orderId: Bytes32, stage: string, txHash: Hex | null): void;
  failed(award: OpenAward, why: string): void;
}

/** Most tries of a fill, the first among them; each uses a key of its own. */
const MOST_TRIES = 5;
const AT_ONCE = 32;
const MOST_LISTED_ORDERS = 10_000;
/** Fills in one proof: about 36,000 gas each, and any node estimates that. */
const MOST_TOGETHER = 20;

interface Provable {
  award: OpenAward;
  origin: ChainPort;
}

export function createAwardRunner(
  deps: AdvanceDeps,
  { quoting, sandbox, account }: Pick<LpConfig, 'quoting' | 'sandbox'> & { account: Address },
) {
  const { awards, ledger, chains, transactors, metrics, clock, log, tracer } = deps;
  /** Orders whose proof was sent in a list. */
  const listed = new LRUCache<Bytes32, true>({ max: MOST_LISTED_ORDERS });

  async function advance(
    award: OpenAward,
    finalOf: (port: ChainPort, valueUsd: number | undefined) => Promise<Block | undefined>,
    /** Gets the award when its fill can be proven together with others. */
    provable: Provable[],
  ): Promise<void> {
    const { order, slice, orderId } = award;
    const origin = chains.get(slice.originChainId);
    const dest = chains.get(slice.destChainId);
    const [originHead, destHead] = [origin?.head(), dest?.head()];
    if (origin === undefined || dest === undefined || originHead === undefined || destHead === undefined)
      return;
    const issue = [origin, dest].map((port) => port.healthIssue()).find((found) => found?.kind === 'reorg');
    if (issue !== undefined) return awards.update(orderId, { note: issue.note });
    const sameChain = slice.originChainId === slice.destChainId;
    // Same chain: one transaction settles and its events report it. Act only after the deadline.
    if (sameChain && originHead.timestamp <= order.fillDeadline) return;
    const valueUsd = deps.worthUsd(award);
    const fill = fillOf(orderId, sameChain);
    // The value decides how final the taker's deposit must be before we deliver. What was delivered is proven
    // and claimed at depth, also while no node names the block that a delivery would wait for.
    const [originFinal, destFinal] = await Promise.all([
      finalOf(origin, fill === 'none' ? valueUsd : 0),
      finalOf(dest, 0),
    ]);
    if (originFinal === undefined)
      return awards.update(orderId, { note: 'no node names a final block for an order of this value' });
    if (destFinal === undefined) return;
    const [status, proven] = await Promise.all([
      origin.orderStatus(orderId, originFinal.number),
      fill === 'final' && award.fill !== null ? isProven(origin, award, award.fill.timestamp) : false,
    ]);
    const step = nextStep({
      sameChain,
      fillDeadline: order.fillDeadline,
      expires: order.expires,
      origin: { status, now: deps.now(origin.chain.id), finalTime: originFinal.timestamp },
      dest: { now: deps.now(dest.chain.id), finalTime: destFinal.timestamp },
      fill,
      proven,
      fillMarginSeconds: quoting.fillMarginSeconds,
      claimSeconds: deps.proving?.neededSeconds(origin.chain.id, dest.chain.id) ?? quoting.claimSeconds,
    });
    switch (step.do) {
      case 'wait':
        return awards.update(orderId, { note: step.why });
      case 'end':
        return end(award, step);
      case 'fill':
        if (sandbox.neverFills) return awards.update(orderId, { note: 'sandbox.neverFills: not filled' });
        // Before a large payment, ask several nodes for the origin's state.
        if ((await origin.deciding(valueUsd).orderStatus(orderId, originFinal.number)) !== 'deposited')
          return awards.update(orderId, { note: 'not open at depth' });
        if (deps.proving && !(await deps.proving.sure(origin.chain.id)))
          return awards.update(orderId, { note: 'too few attesters answer to prove a fill' });
        return fillNow(award, dest, destHead);
      case 'prove':
        if (order.outputs.length === 1 && !listed.has(orderId)) return void provable.push({ award, origin });
        return prove(award, origin);
      case 'claim':
        return send(origin, stepKey([orderId], 'finalise'), {
          to: origin.chain.escrow,
          data: finalisation(award),
        });
    }
  }

  function fillOf(orderId: Bytes32, sameChain: boolean): 'none' | 'shallow' | 'final' {
    if (sameChain) return 'none';
    const state = ledger.quote(orderId)?.state;
    return state === 'fill_final' ? 'final' : state === 'filled' ? 'shallow' : 'none';
  }

  const attestationOf = ({ order, slice, orderId }: OpenAward, timestamp: number): Attestation | undefined =>
    order.outputs[slice.index] &&
    fillAttestation({ solver: addressToBytes32(account), orderId, timestamp, output: slice.output });

  async function isProven(origin: ChainPort, award: OpenAward, timestamp: number): Promise<boolean> {
    const attestation = attestationOf(award, timestamp);
    return (
      attestation !== undefined &&
      (await origin.isProven(
        award.order.inputOracle,
        attestation.remoteChainId,
        award.slice.output.oracle,
        attestation.application,
        attestation.payloadHash,
      ))
    );
  }

  async function fillNow(award: OpenAward, dest: ChainPort, head: Block): Promise<void> {
    const { orderId, order, slice } = award;
    if (!award.stored) return;
    // The fill record exists as soon as the fill is mined, before its event arrives.
    if ((await dest.fillRecord(orderId, outputHash(slice.output))) !== undefined)
      return awards.update(orderId, { note: 'filled, its event is on its way' });
    const transactor = transactors.get(dest.chain.id);
    if (transactor === undefined) return awards.update(orderId, { note: 'no sender on the destination' });
    const startMs = clock.nowMs();
    for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
      const key = stepKey([orderId], attempt === 0 ? 'fill' : `fill-${attempt}`);
      const sent = await transactor.submit({
        key,
        to: dest.chain.escrow,
        data: fillCall(orderId, slice.output, order.fillDeadline, account),
        notAfter: order.fillDeadline,
      });
      if (
        sent.state === 'mined' &&
        sent.receipt.status === 'reverted' &&
        sent.receipt.blockNumber < head.number
      ) {
        metrics.fills.add({ outcome: 'reverted' });
        log.error({ orderId, key }, 'the chain refused a fill');
        continue;
      }
      recordSpan(
        'LP sends fill',
        orderId,
        startMs,
        dest.chain.id,
        sent.state === 'void' ? sent.reason : undefined,
      );
      awards.update(orderId, { note: sent.state === 'void' ? `fill void: ${sent.reason}` : 'fill sent' });
      return deps.tell(orderId, 'fill_sent', newest(sent));
    }
    awards.update(orderId, { note: `the chain refused ${MOST_TRIES} fills` });
  }

  function recordSpan(name: string, orderId: Bytes32, startMs: number, chainId: number, failed?: string) {
    tracer?.record({
      name,
      parent: orderSpan(orderId),
      ...{ startMs, endMs: clock.nowMs(), failed },
      attributes: { 'firmquote.chain_id': chainId },
    });
  }

  const finalisation = ({ order, fill }: OpenAward): Hex =>
    finaliseCall(order, [{ timestamp: fill?.timestamp ?? 0, solver: account }]);

  async function prove(award: OpenAward, origin: ChainPort): Promise<void> {
    const { orderId, order } = award;
    const attestation = attestationOf(award, award.fill?.timestamp ?? 0);
    if (attestation === undefined || award.fill === null || deps.proving === undefined)
      return awards.update(orderId, { note: 'filled, waiting for the proof' });
    const signatures = await deps.proving.signatures(
      attestation,
      { chainId: origin.chain.id, oracle: order.inputOracle },
      orderId,
    );
    if (signatures === undefined) return awards.update(orderId, { note: 'filled, waiting for attesters' });
    const startMs = clock.nowMs();
    // The proof of a single delivery is all that the order needs. Others wait for those of other LPs.
    const alone = order.outputs.length === 1;
    await send(origin, stepKey([orderId], alone ? 'prove-finalise' : 'prove'), {
      to: order.inputOracle,
      data: alone
        ? submitAndFinaliseCall(
            { ...attestation, payloadHashes: [attestation.payloadHash] },
            signatures,
            origin.chain.escrow,
            [finalisation(award)],
          )
        : submitAttestationsCall(attestation.remoteChainId, attestation.application, [
            { payloadHash: attestation.payloadHash, signatures },
          ]),
    });
    recordSpan('LP sends proof', orderId, startMs, origin.chain.id);
    awards.update(orderId, { note: 'proof sent' });
  }

  /** Fills of one chain, for orders of one origin and oracle: one list proves them, and they end together. */
  async function proveTogether(due: readonly Provable[]): Promise<void> {
    const groups = new Map<string, Provable[]>();
    for (const each of due) {
      const { order, slice } = each.award;
      const key = `${slice.originChainId} ${order.inputOracle} ${slice.output.chainId} ${slice.output.settler}`;
      groups.set(key, [...(groups.get(key) ?? []), each]);
    }
    const lists = [...groups.values()].flatMap((group) =>
      Array.from({ length: Math.ceil(group.length / MOST_TOGETHER) }, (_, n) =>
        group.slice(n * MOST_TOGETHER, (n + 1) * MOST_TOGETHER),
      ),
    );
    await Promise.all(
      lists.map(async (list) => {
        const sent =
          list.length > 1 && (await proveList(list).catch(warned(list, 'together; each is proven alone')));
        if (!sent)
          await Promise.all(
            list.map((each) =>
              prove(each.award, each.origin).catch(warned([each], 'now; the next head tries again')),
            ),
          );
      }),
    );
  }

  const warned = (fills: readonly Provable[], how: string) => (error: unknown) => {
    const orderIds = fills.map(({ award }) => award.orderId);
    log.warn({ orderIds, error }, `fills could not be proven ${how}`);
    return false;
  };

  /** false: not all of them can be proven by one list now. */
  async function proveList(list: readonly Provable[]): Promise<boolean> {
    const [first] = list;
    const fills = list.flatMap(({ award }) => {
      const attestation = award.fill && attestationOf(award, award.fill.timestamp);
      return attestation ? [{ ...attestation, orderId: award.orderId }] : [];
    });
    if (first === undefined || fills.length < list.length) return false;
    const { origin, award } = first;
    const { remoteChainId, application } = fills[0] as (typeof fills)[number];
    const startMs = clock.nowMs();
    const signatures = await deps.proving?.listSignatures?.(
      {
        remoteChainId,
        application,
        fills: fills.map(({ payloadHash, orderId }) => ({ payloadHash, orderId })),
      },
      { chainId: origin.chain.id, oracle: award.order.inputOracle },
    );
    if (signatures === undefined) return false;
    // One that fails in a list is proven alone afterwards.
    for (const { orderId } of fills) listed.set(orderId, true);
    const payloadHashes = fills.map(({ payloadHash }) => payloadHash);
    const key = stepKey(
      fills.map(({ orderId }) => orderId),
      'prove',
    );
    await send(origin, key, {
      to: award.order.inputOracle,
      data: submitAndFinaliseCall(
        { remoteChainId, application, payloadHashes },
        signatures,
        origin.chain.escrow,
        list.map((each) => finalisation(each.award)),
      ),
    });
    for (const { orderId } of fills) {
      recordSpan('LP sends proof', orderId, startMs, origin.chain.id);
      awards.update(orderId, { note: 'proof sent' });
    }
    return true;
  }

  async function send(chain: ChainPort, key: string, call: { to: Address; data: Hex }): Promise<void> {
    const transactor = transactors.get(chain.chain.id);
    if (transactor === undefined) return;
    for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
      const sent = await transactor.submit({ ...call, key: attempt === 0 ? key : `${key}-${attempt}` });
      // A revert usually means that another party was faster; the next look shows it. Otherwise try again.
      if (!(sent.state === 'mined' && sent.receipt.status === 'reverted')) return;
    }
    log.error({ key }, 'the chain refused a step repeatedly');
  }

  function end(award: OpenAward, step: { why: string; lost?: true; faded?: true }): void {
    const { orderId, slice } = award;
    if (step.lost) log.fatal({ orderId }, 'delivered, not proven in time, and refunded: the input is lost');
    if (step.faded) log.error({ orderId }, 'the LP faded: the order was not filled in time');
    ledger.apply({ type: 'failed', orderId });
    metrics.awards.add({
      outcome: step.lost ? 'lost' : step.faded ? 'faded' : 'failed',
      kind: slice.originChainId === slice.destChainId ? 'same_chain' : 'cross_chain',
      pair: deps.pairOf(award),
    });
    awards.update(orderId, { stage: 'failed', note: step.why });
    deps.failed(award, step.why);
  }

  async function pass(): Promise<void> {
    await awards.flush().catch((error: unknown) => log.error({ error }, 'awards could not be stored'));
    const finals = new Map<string, Promise<Block | undefined>>();
    const finalOf = (port: ChainPort, valueUsd: number | undefined) => {
      const number = port.finalNumber(valueUsd);
      if (number === undefined) return Promise.resolve(undefined);
      const key = `${port.chain.id}:${number}`;
      const known = finals.get(key) ?? port.block(number);
      finals.set(key, known);
      return known;
    };
    const provable: Provable[] = [];
    const due = awards.open().filter(({ stage }) => stage === 'committed' || stage === 'filled');
    for (let from = 0; from < due.length; from += AT_ONCE) {
      await Promise.all(
        due
          .slice(from, from + AT_ONCE)
          .map((award) =>
            advance(award, finalOf, provable).catch((error: unknown) =>
              log.warn(
                { orderId: award.orderId, error },
                'an award could not be processed; the next head tries again',
              ),
            ),
          ),
      );
    }
    await proveTogether(provable);
    await awards.flush().catch((error: unknown) => log.error({ error }, 'awards could not be stored'));
  }

  return {
    /** Looks at every open award once and acts. Never rejects; a failed look is repeated at the next head. */
    run: createPasses(pass).run,
  };
}

const newest = (sent: TxStatus): Hex | null =>
  sent.state === 'mined' ? sent.receipt.txHash : (sent.hashes.at(-1) ?? null);
