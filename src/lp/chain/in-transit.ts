/**
 * Counts what transfers have taken out of one chain's ledger and not yet put into another's. The money in
 * transit counts as owned, so neither net asset value nor prices show a loss while it moves.
 */

import type { Hex } from '../../domain/hex.ts';
import { toAtto } from '../../inventory/bucket.ts';
import type { Money } from '../../inventory/event.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Log } from '../../ports/log.ts';
import type { StoredTransfer, TransferStore } from '../../ports/stores/transfers.ts';
import {
  createTransferSteps,
  type RecognisedStep,
  type TransferSources,
} from '../accounting/transfers/recognise.ts';

interface InTransitDeps {
  ledger: Pick<Ledger, 'bucket' | 'setInTransit'>;
  transactions: TransferSources['transactions'];
  transfers: Pick<TransferStore, 'find' | 'open' | 'newest'> | undefined;
  log: Log;
}

/** No more transfers than this can end between two refreshes. */
const NEWEST = 50;

/** The last final block that the inventory ledger has of a chain. */
type BlockOf = (chainId: number) => bigint;

interface Moving {
  asset: string;
  /** 1e-18 of a whole token. */
  amount: bigint;
  /** true when the ledger has seen the money leave. `ended`: it has seen the money arrive or come back. */
  left: boolean;
  ended: boolean;
}

export interface InTransit {
  /**
   * Recognises the transaction of a deposit or withdrawal of the account. Never rejects: `refresh` finds what
   * was missed here.
   */
  recognise(chainId: number, txHash: Hex): Promise<RecognisedStep | undefined>;
  /** Call in the same turn of the event loop as the ledger's event. */
  moved(step: RecognisedStep, money: Money, blockOf: BlockOf): void;
  /**
   * Compares with the stored facts, which a process that started in the middle needs. Resolves with what the
   * ledger had not counted as on its way until now. Throws `UpstreamError` of the store.
   */
  refresh(blockOf: BlockOf): Promise<Money[]>;
}

export function createInTransit({ ledger, transactions, transfers, log }: InTransitDeps): InTransit {
  const steps = createTransferSteps({ transactions, transfers });
  const moving = new Map<string, Moving>();
  /** Seen to leave and to end; their last fact may not be stored yet. */
  const over = new Set<string>();
  const assets = new Set<string>();

  function publish(): void {
    for (const asset of assets) {
      let sum = 0n;
      for (const each of moving.values())
        // One chain may be read before the other: what has arrived and not left is there twice.
        if (each.asset === asset) sum += (each.left ? each.amount : 0n) - (each.ended ? each.amount : 0n);
      ledger.setInTransit(asset, sum);
    }
  }

  function put(id: string, { chainId, token, amount }: Money, seen: Pick<Moving, 'left' | 'ended'>): void {
    const bucket = ledger.bucket(chainId, token);
    if (bucket === undefined) return;
    assets.add(bucket.asset);
    if (seen.left && seen.ended) over.add(id);
    if (seen.left === seen.ended) moving.delete(id);
    else moving.set(id, { asset: bucket.asset, amount: toAtto(amount, bucket.decimals), ...seen });
    publish();
  }

  return {
    recognise: async (chainId, txHash) =>
      steps.ofTransaction(chainId, txHash).catch((error: unknown) => {
        log.warn({ error }, 'whose movement of inventory this is could not be read: it is looked at again');
        return undefined;
      }),
    moved({ transfer, step }, money, blockOf) {
      const { id, move } = transfer;
      const known = moving.get(id);
      const withdrawn = transfer.facts.find(({ kind }) => kind === 'withdrawn');
      if (step === 'withdraw')
        return put(id, { ...money, amount: -money.amount }, { left: true, ended: known?.ended ?? false });
      if (withdrawn?.kind !== 'withdrawn') return;
      const left = known?.left ?? withdrawn.blockNumber <= blockOf(move.from.chainId);
      put(id, { ...move.from, amount: withdrawn.amount }, { left, ended: true });
    },
    async refresh(blockOf) {
      if (transfers === undefined) return [];
      // The facts may be ahead of the ledger: a transfer that is over can still be on its way here.
      const stored = [...(await transfers.open()), ...(await transfers.newest(NEWEST))];
      const found: Money[] = [];
      for (const transfer of new Map(stored.map((each) => [each.id, each])).values()) {
        if (over.has(transfer.id)) continue;
        const { id, move, facts } = transfer;
        const withdrawn = facts.find(({ kind }) => kind === 'withdrawn');
        if (withdrawn?.kind !== 'withdrawn') continue;
        const known = moving.get(id);
        const seen = {
          left: known?.left === true || withdrawn.blockNumber <= blockOf(move.from.chainId),
          ended: known?.ended === true || hasEnded(transfer, blockOf),
        };
        if (known === undefined ? seen.left === seen.ended : isSame(known, seen)) continue;
        const money = { ...move.from, amount: withdrawn.amount };
        const change = worthOf(seen) - (known === undefined ? 0n : worthOf(known));
        put(id, money, seen);
        found.push({ ...money, amount: money.amount * change });
      }
      return found;
    },
  };
}

const isSame = (one: Pick<Moving, 'left' | 'ended'>, other: Pick<Moving, 'left' | 'ended'>): boolean =>
  one.left === other.left && one.ended === other.ended;

/** 1n: on its way; -1n: in both ledgers. */
const worthOf = ({ left, ended }: Pick<Moving, 'left' | 'ended'>): bigint =>
  (left ? 1n : 0n) - (ended ? 1n : 0n);

function hasEnded({ move, facts }: StoredTransfer, blockOf: BlockOf): boolean {
  return facts.some(
    (fact) =>
      (fact.kind === 'deposited' && fact.blockNumber <= blockOf(move.to.chainId)) ||
      (fact.kind === 'given_back' && fact.blockNumber <= blockOf(move.from.chainId)),
  );
}
