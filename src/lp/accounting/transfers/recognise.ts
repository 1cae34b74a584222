/**
 * Tells the books which of the account's movements are steps of a transfer between chains. A transaction of a
 * transfer is stored with its hash before it is sent, so its event is recognised however early it is read.
 */

import type { Address, Hex } from '../../../domain/hex.ts';
import type { StoredTransfer, TransferStore } from '../../../ports/stores/transfers.ts';
import type { TxStore } from '../../../ports/stores/tx-store.ts';
import { stepOfTransferKey, type TransferStep } from '../../../settlement/transfer.ts';

export interface TransferSources {
  transactions: Pick<TxStore, 'keyOf'> | undefined;
  /** undefined: this LP has no transfers. */
  transfers: Pick<TransferStore, 'find'> | undefined;
}

export interface RecognisedStep {
  transfer: StoredTransfer;
  step: TransferStep;
}

/** Finds the step of a transfer that a transaction takes. Both throw `UpstreamError` of the stores. */
export interface TransferSteps {
  /** `key`: under which the transactor keeps the transaction. */
  ofKey(key: string): Promise<RecognisedStep | undefined>;
  ofTransaction(chainId: number, txHash: Hex): Promise<(RecognisedStep & { signer: Address }) | undefined>;
}

export function createTransferSteps({ transactions, transfers }: TransferSources): TransferSteps {
  async function ofKey(key: string): Promise<RecognisedStep | undefined> {
    const named = stepOfTransferKey(key);
    const transfer = named && (await transfers?.find(named.id));
    return named && transfer && { transfer, step: named.step };
  }
  return {
    ofKey,
    async ofTransaction(chainId, txHash) {
      if (transfers === undefined) return undefined;
      const slot = await transactions?.keyOf(chainId, txHash);
      const found = slot && (await ofKey(slot.key));
      return slot && found && { ...found, signer: slot.signer };
    },
  };
}
