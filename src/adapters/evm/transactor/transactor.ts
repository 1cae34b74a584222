/**
 * Sends transactions so that no crash loses or doubles one: the database stores the nonce, then the signed
 * bytes, before any node sees them. A slot ends as `mined` when its intent is mined. It ends as `void` when a
 * no-op is mined, or when the chain shows for long enough that a foreign transaction used its nonce.
 */

import { formatUnits } from '../../../domain/amount.ts';
import { InvariantError, UpstreamError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { Block, ChainPort, Fees, Receipt } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Signer } from '../../../ports/signer.ts';
import type { SlotEnd, TxAttempt, TxSigner, TxSlot, TxStore } from '../../../ports/stores/tx-store.ts';
import type { TxIntent, TxStatus } from '../../../ports/transactor.ts';
import { belowCap, bumpFees, firstFees, type TxFees } from './fees.ts';
import type { SignerLane } from './lanes.ts';
import {
  slotEndOf,
  lacksSignature,
  type Live,
  liveOf,
  mayBeUnsent,
  needsNoop,
  noteOutcome,
  receiptOf,
  slotStatus,
} from './live-slots.ts';
import { BUNDLE_FROM, createPreparation } from './prepare.ts';
import { createSlotLookup } from './slot-lookup.ts';
import { signTransaction } from './sign.ts';

interface TransactorCapabilities {
  chain: ChainPort;
  store: TxStore;
  signer: Signer;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export interface TransactorOptions {
  owner: string;
  leaseMs?: number;
  /** Wei, replacements included. */
  maxFeePerGasCap?: bigint;
  bumpAfterBlocks?: number;
  /** The signer counts as unable to pay unless its balance pays for this on top of what it has sent. */
  spareGas?: bigint;
  /** Wei. With a lower balance it counts as unable to pay, whatever gas costs. */
  leastBalance?: bigint;
  /** Ended slots are watched for reorganisations for this long. */
  reorgBlocks?: number;
  lane?: string;
  lanes?: readonly Address[];
  batch?: Address | null;
}

const NOOP_GAS = 21_000n;
/** One more settlement, whatever its kind. */
export const SPARE_GAS = 300_000n;
/** Fewer affordable transactions than this are warned of, as in `ops/rules.yml`. */
const LOW_TRANSACTIONS = 20n;
const BATCH = 64;
const BUMPED_AT_ONCE = 32;
/** Refusals to sign before a no-op takes the nonce. */
export const MOST_UNSIGNED = 3;
/** Wait for more intents to bundle; an eighth of a block where that is shorter. */
const LINGER_MS = 150;
const DEFAULT_CAP = 500_000_000_000n;
const REMEMBERED = 5_000;

type AttemptKind = 'first' | 'bump' | 'noop';

interface Waiting {
  intent: TxIntent;
  apart?: boolean;
  resolve(status: TxStatus): void;
  reject(error: unknown): void;
}

export function createTransactor(
  { chain, store, signer, clock, log: parentLog, metrics }: TransactorCapabilities,
  options: TransactorOptions,
): SignerLane {
  const {
    owner,
    leaseMs = 6_000,
    maxFeePerGasCap = DEFAULT_CAP,
    bumpAfterBlocks = 3,
    spareGas = SPARE_GAS,
    leastBalance = 0n,
    reorgBlocks = 64,
    lane = '0',
    lanes = [signer.address],
    batch: batchContract = null,
  } = options;
  const chainId = chain.chain.id;
  const log = parentLog.child({ chain: chain.chain.slug, signer: signer.address });
  const labels = { chain: chain.chain.slug, lane };
  const lookUp = createSlotLookup(store, chainId, lanes);
  const prepare = createPreparation({
    ...{ chain, signer: signer.address, batch: batchContract, log },
    async funds() {
      const [balance, fees] = await Promise.all([chain.nativeBalance(signer.address), chain.fees()]);
      const { maxFeePerGas } = firstFees(fees, belowCap(maxFeePerGasCap));
      return { free: balance - openCost(), maxFeePerGas };
    },
  });
  const lingerMs = Math.min(LINGER_MS, chain.chain.blockTimeMs / 8);
  const names = ['chain', 'lane'] as const;
  const series = { chain: [chain.chain.slug], lane: [lane] };
  const attemptsTotal = metrics.counter('firmquote_tx_attempts_total', 'Signed transactions, by reason', {
    ...series,
    kind: ['first', 'bump', 'noop'],
  });
  const endedTotal = metrics.counter('firmquote_tx_slots_ended_total', 'Nonces that were used up, by how', {
    ...series,
    state: ['mined', 'void'],
  });
  const gasTotal = metrics.counter('firmquote_tx_gas_units_total', 'Gas used by mined transactions', series);
  const openGauge = metrics.gauge('firmquote_tx_open_slots', 'Transactions that are not mined yet', names);
  const nonceGauge = metrics.gauge('firmquote_tx_next_nonce', 'Mined transaction count of the signer', names);
  const balanceGauge = metrics.gauge('firmquote_tx_balance_wei', 'Native currency of the signer', names);
  const costGauge = metrics.gauge(
    'firmquote_tx_cost_wei',
    'What one more transaction may cost at the fees of now',
    names,
  );

  const sharedTotal = metrics.counter(
    'firmquote_tx_bundled_total',
    'Intents that shared a transaction',
    series,
  );
  const healthyGauge = metrics.gauge(
    'firmquote_tx_lane_healthy',
    'Whether this process sends with this signer and it can pay',
    names,
  );

  const live = new Map<string, Live>();
  const byKey = new Map<string, Live>();
  const queue: Waiting[] = [];
  let lease: (TxSigner & { untilMs: number }) | undefined;
  let minedCount = 0;
  let balanceWei: bigint | undefined;
  let costWei = 0n;
  /** What the open transactions and one more may cost, at least `leastBalance`. */
  let neededWei = 0n;
  let isLow = false;
  /** The balance with which the signer could not pay; undefined while it can. */
  let unpaidAtWei: bigint | undefined;
  let reload = false;
  let stopped = true;
  let draining: Promise<void> | undefined;
  let working: Promise<void> | undefined;
  let headWaiting = false;
  let unfollow = () => {};
  let cancelRenewal = () => {};
  let renewing: Promise<void> = Promise.resolve();

  const holds = (): boolean => lease !== undefined && clock.monotonicMs() < lease.untilMs;
  const healthy = (): boolean =>
    holds() &&
    signer.issue?.() === undefined &&
    unpaidAtWei === undefined &&
    (balanceWei === undefined || balanceWei >= neededWei);

  function holder(): TxSigner {
    if (lease && holds()) return lease;
    throw new UpstreamError('Another process holds this signer. The transaction will be tried again.', {
      code: 'signer_not_held',
    });
  }

  async function takeLease(): Promise<void> {
    const startedMs = clock.monotonicMs();
    const fence = await store.leaseSigner(chainId, signer.address, owner, leaseMs);
    if (fence === undefined) return;
    lease = { chainId, signer: signer.address, fence, untilMs: startedMs + leaseMs };
    reload = true;
  }

  async function renewLease(): Promise<void> {
    if (!lease) {
      await takeLease();
      return onHead();
    }
    const startedMs = clock.monotonicMs();
    const renewed = await store.renewSigner(lease, leaseMs);
    if (renewed && lease) {
      // The answer may be late.
      const lapsed = clock.monotonicMs() >= lease.untilMs;
      lease.untilMs = startedMs + leaseMs;
      // Heads were skipped while the lease had lapsed, and a quiet chain may bring no other soon.
      if (lapsed || reload) onHead();
      return;
    }
    log.warn({}, 'the lease on the signer was lost');
    lease = undefined;
    await takeLease();
    onHead();
  }

  function keepLease(): void {
    cancelRenewal = clock.after(leaseMs / 3, () => {
      renewing = renewLease()
        .catch((error: unknown) => log.warn({ error }, 'the lease on the signer could not be renewed'))
        .finally(() => {
          if (!stopped) keepLease();
        });
    });
  }

  async function resume(): Promise<void> {
    minedCount = await chain.transactionCount(signer.address, 'latest');
    const head = chain.head()?.number ?? 0n;
    const before = new Set(live.values());
    const slots = await store.liveSlots(chainId, signer.address, {
      nonce: minedCount,
      block: head > BigInt(reorgBlocks) ? head - BigInt(reorgBlocks) : 0n,
    });
    // Slots submitted or signed while the store was read are newer than its answer.
    const newer = [...live.values()].filter((entry) => !before.has(entry) || entry.busy);
    live.clear();
    byKey.clear();
    for (const entry of newer) file(entry);
    for (const slot of slots) if (!live.has(slot.id)) remember(slot, head);
    // Nodes ignore bytes that they have.
    broadcast([...live.values()].filter((entry) => mayBeUnsent(entry, minedCount)));
    if (slots.length > 0)
      log.info(
        { open: slots.filter(({ state }) => state === 'open').length },
        'open transactions of an earlier process were resumed',
      );
    await work();
  }

  function remember(slot: TxSlot, sentAtBlock: bigint): Live {
    return file(liveOf(slot, sentAtBlock));
  }

  function file(entry: Live): Live {
    const { slot } = entry;
    live.set(slot.id, entry);
    for (const key of slot.keys) {
      const known = byKey.get(key);
      if (!known || known.slot.nonce <= slot.nonce) byKey.set(key, entry);
    }
    return entry;
  }

  async function drain(): Promise<void> {
    for (let shared = false; queue.length > 0;) {
      const many =
        batchContract && (shared || queue.filter(({ intent }) => intent.together).length >= BUNDLE_FROM);
      if (many) await new Promise<void>((done) => clock.after(lingerMs, done));
      const batch = queue.splice(0, BATCH);
      try {
        shared = await place(batch);
      } catch (error) {
        reload = true;
        for (const { reject } of batch) reject(error);
      }
    }
    draining = undefined;
  }

  async function place(batch: readonly Waiting[]): Promise<boolean> {
    const held = holder();
    const waiting = new Map<string, Waiting[]>();
    for (const each of batch) waiting.set(each.intent.key, [...(waiting.get(each.intent.key) ?? []), each]);
    const { slots: wanted, refused } = await prepare(
      [...waiting.values()].map(([each]) => (each as Waiting).intent),
      new Set(batch.filter(({ apart }) => apart).map(({ intent }) => intent.key)),
    );
    for (const [key, error] of refused) for (const { reject } of waiting.get(key) ?? []) reject(error);
    if (wanted.length === 0) return false;
    const slots = await store.reserve(held, minedCount, wanted, lanes);
    if (!slots) throw lost();
    const head = chain.head()?.number ?? 0n;
    const mine = slots.flatMap((slot) =>
      slot?.signer === signer.address ? [live.get(slot.id) ?? remember(slot, head)] : [],
    );
    const unsigned = mine.filter(
      ({ slot, busy }) => slot.state === 'open' && slot.attempts.length === 0 && !busy,
    );
    for (const entry of unsigned) entry.busy = true;
    try {
      await attempt(unsigned, 'first');
    } finally {
      for (const entry of unsigned) entry.busy = false;
    }
    for (const [n, { keys }] of wanted.entries()) {
      const slot = slots[n];
      const entry = slot && (live.get(slot.id) ?? liveOf(slot, head));
      if (slot && keys.length > 1) sharedTotal.add(labels, keys.length);
      for (const each of keys.flatMap((key) => waiting.get(key) ?? [])) {
        if (entry) each.resolve(slotStatus(entry, each.intent.key));
        // Another signer has one of these keys: submit each alone to find out which.
        else if (keys.length > 1) queue.push({ ...each, apart: true });
        else
          each.reject(
            new InvariantError('A reserved slot got no answer.', { facts: { key: each.intent.key } }),
          );
      }
    }
    return wanted.some(({ keys }) => keys.length > 1);
  }

  async function attempt(entries: readonly Live[], kind: AttemptKind): Promise<void> {
    if (entries.length === 0) return;
    const held = holder();
    const now = await chain.fees();
    const signed = await Promise.all(entries.map((entry) => signAttempt(entry, kind, now)));
    const made = signed.filter((one) => one !== undefined);
    if (made.length === 0) return;
    if (
      !(await store.addAttempts(
        held,
        made.map(({ entry, bytes }) => ({ ...bytes, slotId: entry.slot.id })),
      ))
    )
      throw lost();
    for (const { entry, bytes } of made) {
      entry.slot.attempts.push({ ...bytes, createdAtMs: clock.nowMs() });
      entry.mustReplace = false;
      attemptsTotal.add({ ...labels, kind });
    }
    countNeeded();
    broadcast(made.map(({ entry }) => entry));
  }

  /** undefined: nothing to send now, at these fees or without a signature. */
  async function signAttempt(
    entry: Live,
    kind: AttemptKind,
    now: Fees,
  ): Promise<{ entry: Live; bytes: Omit<TxAttempt, 'createdAtMs'> } | undefined> {
    const { slot } = entry;
    const noop = kind === 'noop' || (slot.attempts.at(-1)?.noop ?? false);
    const fees = feesFor(entry, now, noop);
    // While its key service is down, each block would only add to the requests that fail.
    if (!fees || signer.issue?.() !== undefined) return undefined;
    const gas = noop ? NOOP_GAS : (slot.gas ?? 0n);
    try {
      const signed = await signTransaction(signer, {
        chainId,
        nonce: slot.nonce,
        gas,
        ...fees,
        ...(noop
          ? { to: signer.address, data: '0x' as Hex, value: 0n }
          : { to: slot.to, data: slot.data, value: slot.value }),
      });
      entry.unsigned = 0;
      return { entry, bytes: { ...signed, ...fees, gas, noop } };
    } catch (error) {
      // Later slots wait for this nonce, so a refused one ends. A key service that is down refuses nothing.
      const isAway = error instanceof UpstreamError && error.retry === 'later';
      if (!isAway) entry.unsigned += 1;
      if (entry.unsigned >= MOST_UNSIGNED) entry.mustEnd = true;
      log.warn({ key: slot.key, error, times: entry.unsigned }, 'a transaction could not be signed');
      return undefined;
    }
  }

  function feesFor({ slot }: Live, now: Fees, noop: boolean): TxFees | undefined {
    const last = slot.attempts.at(-1);
    const cap = noop ? maxFeePerGasCap : belowCap(maxFeePerGasCap);
    return last ? bumpFees(last, now, cap) : firstFees(now, cap);
  }

  /** Not awaited: the next head checks again. */
  function broadcast(entries: readonly Live[]): void {
    const head = chain.head()?.number ?? 0n;
    for (const entry of entries) {
      const last = entry.slot.attempts.at(-1);
      if (!last) continue;
      entry.sentAtBlock = head;
      const repeated = entry.mustResend;
      entry.mustResend = false;
      chain.sendRaw(last.raw).then(
        (outcome) => {
          if (outcome.kind === 'out_of_funds') unpaidAtWei = balanceWei ?? 0n;
          else if (outcome.kind === 'sent') unpaidAtWei = undefined;
          noteOutcome(entry, last, outcome);
          if (outcome.kind === 'rejected' && entry.mustEnd)
            log.warn(
              { key: entry.slot.key, reason: outcome.message },
              'the chain refuses a transaction; its nonce goes to a no-op',
            );
          if (outcome.kind === 'not_now' && !repeated)
            log.warn(
              { key: entry.slot.key, reason: outcome.message },
              'no node takes a transaction now; the same bytes are sent again at the next block',
            );
        },
        () => {},
      );
    }
  }

  async function work(): Promise<void> {
    const head = chain.head();
    if (!head || !lease || clock.monotonicMs() >= lease.untilMs) return;
    minedCount = await chain.transactionCount(signer.address, 'latest');
    nonceGauge.set(minedCount, labels);
    await takeBackReorganised(head);
    await confirm(head);
    await push(head);
    openGauge.set([...live.values()].filter(({ slot }) => slot.state === 'open').length, labels);
  }

  async function takeBackReorganised(head: Block): Promise<void> {
    const ended = [...live.values()]
      .filter(({ slot }) => slot.mined !== null)
      .sort((a, b) => Number((b.slot.mined?.blockNumber ?? 0n) - (a.slot.mined?.blockNumber ?? 0n)));
    const lostEntries: Live[] = [];
    const checked = new Map<string, boolean>();
    for (const entry of ended) {
      const { mined } = entry.slot;
      if (!mined) continue;
      if (mined.blockNumber + BigInt(reorgBlocks) < head.number) {
        live.delete(entry.slot.id);
        forgetOldKeys();
        continue;
      }
      let canonical = checked.get(mined.blockHash);
      if (canonical === undefined) {
        canonical = (await chain.block(mined.blockNumber))?.hash === mined.blockHash;
        checked.set(mined.blockHash, canonical);
      }
      // Blocks below a canonical one are canonical too.
      if (canonical) break;
      lostEntries.push(entry);
    }
    if (lostEntries.length === 0) return;
    log.warn(
      { transactions: lostEntries.length },
      'a reorganisation removed transactions; they are sent again',
    );
    // A void slot stays void, because its key may have a successor; its no-op is sent again.
    const reopened = lostEntries.filter(({ slot }) => slot.state === 'mined');
    if (
      reopened.length > 0 &&
      !(await store.reopen(
        holder(),
        reopened.map(({ slot }) => slot.id),
      ))
    )
      throw lost();
    for (const entry of reopened) Object.assign(entry.slot, { state: 'open', reason: null, mined: null });
    for (const entry of lostEntries) entry.receipt = undefined;
    broadcast(lostEntries);
  }

  async function confirm(head: Block): Promise<void> {
    const used = [...live.values()].filter(({ slot }) => slot.state === 'open' && slot.nonce < minedCount);
    const ends: { entry: Live; end: SlotEnd; receipt: Receipt | undefined }[] = [];
    await Promise.all(
      used.map(async (entry) => {
        const receipts = await Promise.all(
          entry.slot.attempts.map(({ hash }) => receiptOf(chain, entry.slot, hash)),
        );
        const at = receipts.findIndex((receipt) => receipt !== undefined);
        const receipt = receipts[at];
        if (receipt) {
          ends.push({ entry, receipt, end: slotEndOf(entry.slot, at, receipt) });
          return;
        }
        // A node may report the count before the receipt.
        entry.missingSince ??= head.number;
        if (head.number >= entry.missingSince + BigInt(chain.chain.depth) + 2n) {
          ends.push({ entry, receipt, end: slotEndOf(entry.slot, at, receipt) });
        }
      }),
    );
    if (ends.length === 0) return;
    if (
      !(await store.finish(
        holder(),
        ends.map(({ end }) => end),
      ))
    )
      throw lost();
    for (const { entry, end, receipt } of ends) {
      Object.assign(entry.slot, { state: end.state, reason: end.reason, mined: end.mined });
      entry.receipt = receipt;
      endedTotal.add({ ...labels, state: end.state });
      if (receipt) gasTotal.add(labels, Number(receipt.gasUsed));
      else live.delete(entry.slot.id);
    }
  }

  async function push(head: Block): Promise<void> {
    const open = [...live.values()]
      .filter(({ slot, busy }) => slot.state === 'open' && slot.nonce >= minedCount && !busy)
      .sort((a, b) => a.slot.nonce - b.slot.nonce);
    const isOver = (entry: Live) => needsNoop(entry, head.timestamp);
    const waited = ({ sentAtBlock }: Live) => head.number - sentAtBlock;
    const over = open.filter(isOver);
    const rest = open.filter((entry) => !isOver(entry));
    const unsigned = rest.filter(lacksSignature);
    broadcast(rest.filter(({ mustResend, mustReplace }) => mustResend && !mustReplace));
    const late = rest.filter(
      (entry) =>
        entry.slot.attempts.length > 0 && (entry.mustReplace || waited(entry) >= BigInt(bumpAfterBlocks)),
    );
    await attempt(over, 'noop');
    await attempt(unsigned, 'first');
    const before = new Map(late.map((entry) => [entry, entry.slot.attempts.length]));
    // Nonces are mined in order, so only the first few can block the rest.
    await attempt(late.slice(0, BUMPED_AT_ONCE), 'bump');
    // The node may have forgotten the bytes of the rest.
    broadcast(late.filter((entry) => before.get(entry) === entry.slot.attempts.length));
  }

  /** Memory counts only while we hold the lease; otherwise another process works on our slots. */
  const known = (key: string): Live | undefined => (holds() ? byKey.get(key) : undefined);

  async function statusFromStore(key: string): Promise<TxStatus | undefined> {
    let entry = known(key);
    if (!entry) {
      const slot = await lookUp(key);
      if (!slot) return undefined;
      entry = liveOf(slot, 0n);
    }
    const { slot } = entry;
    if (slot.mined && !entry.receipt) entry.receipt = await receiptOf(chain, slot, slot.mined.txHash);
    return slotStatus(entry, key);
  }

  function forgetOldKeys(): void {
    for (const [key, entry] of byKey) {
      if (byKey.size <= REMEMBERED) return;
      if (!live.has(entry.slot.id)) byKey.delete(key);
    }
  }

  const lost = () => {
    lease = undefined;
    return new UpstreamError('Another process took over this signer; nothing was sent.', {
      code: 'signer_not_held',
    });
  };

  function onHead(): void {
    headWaiting = true;
    working ??= (async () => {
      while (headWaiting && !stopped) {
        headWaiting = false;
        try {
          if (reload && lease) {
            reload = false;
            await resume();
          } else {
            await work();
          }
          await readBalance();
        } catch (error) {
          reload = true;
          log.warn({ error }, 'checking open transactions failed; the next block tries again');
        }
        healthyGauge.set(healthy() ? 1 : 0, labels);
      }
      working = undefined;
    })();
  }

  /** Wei: at most what the open transactions take from the signer, value included. */
  function openCost(): bigint {
    let cost = 0n;
    for (const { slot } of live.values()) {
      if (slot.state !== 'open' || slot.nonce < minedCount) continue;
      const last = slot.attempts.at(-1);
      if (last) cost += last.gas * last.maxFeePerGas;
      if (!last?.noop) cost += slot.value;
    }
    return cost;
  }

  /**
   * What open transactions may cost, and one more; no less than `leastBalance`. Nodes ask for as much (geth:
   * "overshot").
   */
  function countNeeded(): void {
    neededWei = costWei + openCost();
    if (neededWei < leastBalance) neededWei = leastBalance;
  }

  let balanceReadMs = Number.NEGATIVE_INFINITY;
  async function readBalance(): Promise<void> {
    if (clock.monotonicMs() - balanceReadMs < 5_000) return;
    const [balance, fees] = await Promise.all([
      chain.nativeBalance(signer.address),
      chain.fees().catch(() => undefined),
    ]);
    const wasLow = isLow;
    balanceWei = balance;
    balanceReadMs = clock.monotonicMs();
    balanceGauge.set(Number(balanceWei), labels);
    if (fees) {
      costWei = spareGas * firstFees(fees, maxFeePerGasCap).maxFeePerGas;
      costGauge.set(Number(costWei), labels);
      countNeeded();
      isLow = balanceWei < neededWei + (LOW_TRANSACTIONS - 1n) * costWei;
    }
    if (isLow && !wasLow)
      log.warn(
        { balance: formatUnits(balanceWei, 18), needed: formatUnits(neededWei, 18) },
        `the signer can pay for fewer than ${LOW_TRANSACTIONS} more transactions: top it up`,
      );
    if (unpaidAtWei !== undefined && balanceWei > unpaidAtWei) unpaidAtWei = undefined;
  }

  return {
    address: signer.address,
    async submit(intent) {
      const entry = known(intent.key);
      if (entry && entry.slot.state !== 'void') return (await statusFromStore(intent.key)) as TxStatus;
      return new Promise((resolve, reject) => {
        queue.push({ intent, resolve, reject });
        draining ??= drain();
      });
    },
    status: statusFromStore,
    holds,
    knows: (key) => known(key) !== undefined,
    healthy,
    async start() {
      stopped = false;
      await takeLease();
      if (lease) await resume();
      else log.warn({}, 'another process holds this signer; standing by');
      reload = false;
      await readBalance();
      keepLease();
      unfollow = chain.onHead(onHead);
    },
    async stop() {
      stopped = true;
      unfollow();
      cancelRenewal();
      // A renewal under way would retake the lease right after its release.
      await renewing;
      await draining;
      await working;
      if (lease) await store.releaseSigner(lease).catch(() => {});
      lease = undefined;
    },
  };
}
