/** Simulates intents before they take a nonce, and bundles those that may share a transaction. */

import { formatUnits } from '../../../domain/amount.ts';
import { SettlementError, UpstreamError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Log } from '../../../ports/log.ts';
import type { NewSlot } from '../../../ports/stores/tx-store.ts';
import type { TxIntent } from '../../../ports/transactor.ts';
import { readRun, runCall } from '../../../settlement/batch.ts';

interface Prepared {
  slots: NewSlot[];
  refused: ReadonlyMap<string, Error>;
}

/** A bundle of two costs 13 % less gas than two transactions, of eight 26 % (contracts/snapshots). */
export const BUNDLE_FROM = 2;
const BUNDLE_MOST = 32;
/** Gas of one bundle: below the limit of one transaction (EIP-7825), and a fraction of any block. */
const BUNDLE_GAS = 12_000_000n;
const SIMULATED_GAS = 2_000_000n;
/** The margin covers other transactions in the same block, which change the state that an estimate saw. */
const GAS_MARGIN_PERCENT = 130n;
const TRANSACTION_GAS = 21_000n;
/** Includes what the contract requires on top of the last call's limit. */
const CALL_GAS = 4_000n;
const SPARE_GAS = 40_000n;

interface PrepareDeps {
  chain: ChainPort;
  signer: Address;
  batch: Address | null;
  log: Log;
  /** Reads what the signer can still spend, wei, and what it would bid for gas, wei per gas. */
  funds(): Promise<{ free: bigint; maxFeePerGas: bigint }>;
}

/** Simulates intents and groups them into slots; the keys in `apart` share no transaction. */
export type Preparation = (intents: readonly TxIntent[], apart: ReadonlySet<string>) => Promise<Prepared>;

export function createPreparation({ chain, signer, batch, log, funds }: PrepareDeps): Preparation {
  return async (intents, apart) => {
    const slots: NewSlot[] = [];
    const refused = new Map<string, Error>();
    for (const [key, error] of await unpaid(intents)) refused.set(key, error);
    const mayShare = batch
      ? intents.filter(({ key, together, value }) => together && !value && !apart.has(key))
      : [];
    const bundled = new Set<string>();
    if (mayShare.length >= BUNDLE_FROM) {
      for (const slot of await bundles(mayShare)) {
        slots.push(slot);
        for (const key of slot.keys) bundled.add(key);
      }
    }
    await Promise.all(
      intents.map(async (intent) => {
        if (bundled.has(intent.key) || refused.has(intent.key)) return;
        const slot = await single(intent).catch((error: Error) => error);
        if (slot instanceof Error) refused.set(intent.key, slot);
        else slots.push(slot);
      }),
    );
    // With the gas that was estimated meanwhile.
    for (const [key, error] of await unpaid(slots)) refused.set(key, error);
    return { slots: slots.filter(({ key }) => !refused.has(key)), refused };
  };

  /**
   * Finds the calls that the signer cannot pay for. They are counted in order: each leaves less for the next.
   */
  async function unpaid(
    calls: readonly { key: string; value?: bigint; gas?: bigint | null }[],
  ): Promise<Map<string, Error>> {
    const short = new Map<string, Error>();
    const withValue = calls.filter(({ value }) => value);
    if (withValue.length === 0) return short;
    let { free, maxFeePerGas } = await funds();
    for (const { key, value = 0n, gas } of withValue) {
      const cost = value + (gas ?? TRANSACTION_GAS) * maxFeePerGas;
      if (cost <= free) free -= cost;
      else short.set(key, signerShort(signer, cost, free));
    }
    return short;
  }

  async function single({ key, to, data, value = 0n, gas, ...intent }: TxIntent): Promise<NewSlot> {
    const notAfter = intent.notAfter ?? null;
    if (gas !== undefined) return { key, keys: [key], to, data, value, gas, notAfter };
    const simulated = await chain.simulate({ from: signer, to, data, ...(value > 0n && { value }) });
    if (simulated.ok)
      return { key, keys: [key], to, data, value, gas: withMargin(simulated.gasUsed), notAfter };
    throw new SettlementError(`The chain would refuse this transaction: ${simulated.reason}.`, {
      code: 'would_revert',
      facts: { reason: simulated.reason, data: simulated.data },
    });
  }

  async function bundles(intents: readonly TxIntent[]): Promise<NewSlot[]> {
    const groups = Array.from({ length: Math.ceil(intents.length / BUNDLE_MOST) }, (_, n) =>
      intents.slice(n * BUNDLE_MOST, (n + 1) * BUNDLE_MOST),
    );
    const found = await Promise.all(
      groups.map((group) =>
        bundlesOf(group).catch((error: unknown) => {
          log.warn(
            { error, settlements: group.length },
            'settlements could not be simulated as a bundle; each is sent alone',
          );
          return [];
        }),
      ),
    );
    return found.flat();
  }

  async function bundlesOf(intents: readonly TxIntent[]): Promise<NewSlot[]> {
    const answer = await chain.dryRun({
      from: signer,
      to: batch as Address,
      data: runCall(intents.map(({ data }) => ({ gas: SIMULATED_GAS, data }))),
    });
    if (!answer.ok) return [];
    const { failed, used } = readRun(answer.data);
    const calls = intents.flatMap((intent, n) =>
      (failed >> BigInt(n)) & 1n ? [] : [{ intent, gas: withMargin(used[n] ?? 0n) }],
    );
    const slots: NewSlot[] = [];
    for (let from = 0; from < calls.length;) {
      let [to, gas] = [from, 0n];
      for (let call = calls[to]; call && (gas === 0n || gas + call.gas <= BUNDLE_GAS); call = calls[++to])
        gas += call.gas;
      if (to - from >= BUNDLE_FROM) slots.push(bundle(calls.slice(from, to)));
      from = to;
    }
    return slots;
  }

  function bundle(calls: readonly { intent: TxIntent; gas: bigint }[]): NewSlot {
    const keys = calls.map(({ intent: { key } }) => key);
    const data = runCall(calls.map(({ intent, gas }) => ({ gas, data: intent.data })));
    const limits = calls.map(({ gas }) => gas);
    const largest = limits.reduce((most, gas) => (gas > most ? gas : most), 0n);
    const gas =
      TRANSACTION_GAS +
      dataGas(data) +
      limits.reduce((sum, limit) => sum + limit + CALL_GAS, 0n) +
      largest / 60n +
      SPARE_GAS;
    // The escrow itself refuses a call whose time has passed; the others still run.
    const ends = calls.map(({ intent: { notAfter } }) => notAfter ?? null);
    const notAfter = ends.includes(null) ? null : Math.max(...(ends as number[]));
    return { key: `bundle-${keys[0]}`, keys, to: batch as Address, data, value: 0n, gas, notAfter };
  }
}

const signerShort = (signer: Address, cost: bigint, free: bigint): UpstreamError =>
  new UpstreamError(
    `The signer ${signer} cannot pay for this transaction: it needs ${formatUnits(cost, 18)} of native ` +
      `currency, and ${formatUnits(free > 0n ? free : 0n, 18)} is free. Nothing was sent. Top the signer up.`,
    { code: 'signer_short', facts: { signer, neededWei: cost, freeWei: free } },
  );

const withMargin = (gas: bigint): bigint => (gas * GAS_MARGIN_PERCENT) / 100n;

/** Computes the gas of calldata: 4 per zero byte, 16 per other byte. */
function dataGas(data: Hex): bigint {
  let gas = 0;
  for (let at = 2; at < data.length; at += 2)
    gas += data.charCodeAt(at) === 48 && data.charCodeAt(at + 1) === 48 ? 4 : 16;
  return BigInt(gas);
}
