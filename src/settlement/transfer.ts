/**
 * A transfer of inventory from one chain to another: a list of facts, each read from a final block, from
 * which stage and next step are folded. The money is always in exactly one place: a ledger, an account, or
 * the bridge.
 */

import type { Hex } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';

/** Steps that send a transaction of the mover. */
export type TransferStep = 'request' | 'withdraw' | 'send' | 'deliver' | 'deposit' | 'give_back';

interface InBlock {
  txHash: Hex;
  blockNumber: bigint;
}

/** Amounts in base units of the chain where the fact was read. */
export type TransferFact =
  /** The source's escrow has the request: withdrawable from `availableAt` until `lapsesAt`, chain time. */
  | ({ kind: 'requested'; amount: bigint; availableAt: UnixSeconds; lapsesAt: UnixSeconds } & InBlock)
  /** The window closed, or another request replaced this one: the money never left the ledger. */
  | { kind: 'lapsed' }
  /** The money moved from the source's ledger to the account. */
  | ({ kind: 'withdrawn'; amount: bigint } & InBlock)
  /** The bridge has it. */
  | ({ kind: 'burned'; amount: bigint } & InBlock)
  /** The bridge lets anyone deliver it. */
  | { kind: 'attested' }
  | ({ kind: 'minted'; amount: bigint } & InBlock)
  | ({ kind: 'deposited'; amount: bigint } & InBlock)
  /** Given up after the withdrawal: what lies on the source's account goes back into its ledger. */
  | { kind: 'refused'; detail: string }
  | ({ kind: 'given_back'; amount: bigint } & InBlock)
  /** Given up before anything was sent. */
  | { kind: 'cancelled'; detail: string }
  /** A mined transaction of this step did nothing: its next attempt has another key. */
  | ({ kind: 'reverted'; step: TransferStep } & InBlock);

export type TransferStage =
  /** Reserved. */
  | 'planned'
  | 'requested'
  | 'withdrawn'
  | 'burned'
  | 'attested'
  | 'minted'
  /** Final: the money is in the destination's ledger. */
  | 'deposited'
  /** The bridge refused: the money lies on the source's account. */
  | 'refused'
  /** Final: the money is in the source's ledger. */
  | 'abandoned';

export interface TransferState {
  stage: TransferStage;
  isFinal: boolean;
  /** true when the ledger of the source may still hold the amount: it must not be quoted then. */
  isReserved: boolean;
  /** Base units of the chain where the money is now. */
  amount: bigint;
  withdrawal: { availableAt: UnixSeconds; lapsesAt: UnixSeconds } | undefined;
}

/** `planned`: base units of the source. */
export function foldTransfer(planned: bigint, facts: readonly TransferFact[]): TransferState {
  let stage: TransferStage = 'planned';
  let amount = planned;
  let withdrawal: TransferState['withdrawal'];
  for (const fact of facts) {
    switch (fact.kind) {
      case 'requested':
        [stage, amount] = ['requested', fact.amount];
        withdrawal = { availableAt: fact.availableAt, lapsesAt: fact.lapsesAt };
        break;
      case 'lapsed':
        [stage, amount, withdrawal] = ['planned', planned, undefined];
        break;
      case 'withdrawn':
      case 'burned':
      case 'minted':
      case 'deposited':
        [stage, amount] = [fact.kind, fact.amount];
        break;
      case 'attested':
      case 'refused':
        stage = fact.kind;
        break;
      case 'given_back':
        [stage, amount] = ['abandoned', fact.amount];
        break;
      case 'cancelled':
        [stage, amount] = ['abandoned', 0n];
        break;
      case 'reverted':
    }
  }
  return {
    stage,
    isFinal: stage === 'deposited' || stage === 'abandoned',
    isReserved: stage === 'planned' || stage === 'requested',
    amount,
    withdrawal,
  };
}

/** Returns where the token of `TransferState.amount` is. */
export const placeOfTransfer = <Place>(
  { from, to }: { from: Place; to: Place },
  { stage }: Pick<TransferState, 'stage'>,
): Place => (stage === 'minted' || stage === 'deposited' ? to : from);

type TransferTodo =
  | { do: TransferStep }
  /** Chain time of the source, seconds. */
  | { do: 'wait_until'; at: UnixSeconds }
  /** The request can no longer be executed: it is read again, and requested anew. */
  | { do: 'note_lapse' }
  | { do: 'follow' }
  | { do: 'nothing' };

/** Returns the one next step. `sourceNow`: chain time of the source's latest block. */
export function nextTransferStep(
  { stage, withdrawal }: Pick<TransferState, 'stage' | 'withdrawal'>,
  sourceNow: UnixSeconds,
): TransferTodo {
  switch (stage) {
    case 'planned':
      return { do: 'request' };
    case 'requested':
      if (withdrawal === undefined || sourceNow > withdrawal.lapsesAt) return { do: 'note_lapse' };
      return sourceNow < withdrawal.availableAt
        ? { do: 'wait_until', at: withdrawal.availableAt }
        : { do: 'withdraw' };
    case 'withdrawn':
      return { do: 'send' };
    case 'burned':
    case 'attested':
      return { do: 'follow' };
    case 'minted':
      return { do: 'deposit' };
    case 'refused':
      return { do: 'give_back' };
    case 'deposited':
    case 'abandoned':
      return { do: 'nothing' };
  }
}

/**
 * Returns the permanent key of a step's transaction. A step gets another one only after a final block shows
 * that the last did nothing, or that its request lapsed: so no step takes effect twice.
 */
export function transferKey(id: string, step: TransferStep, facts: readonly TransferFact[]): string {
  const reverted = facts.filter((fact) => fact.kind === 'reverted' && fact.step === step).length;
  const lapsed =
    step === 'request' || step === 'withdraw' ? facts.filter(({ kind }) => kind === 'lapsed').length : 0;
  const attempt = 1 + reverted + lapsed;
  return attempt === 1 ? `${id}-${step}` : `${id}-${step}-${attempt}`;
}

const STEPS: readonly TransferStep[] = ['request', 'withdraw', 'send', 'deliver', 'deposit', 'give_back'];
const KEY = new RegExp(`^(.+)-(${STEPS.join('|')})(?:-[0-9]+)?$`);

/** Returns the transfer and step that a key may belong to. Whether there is such a transfer is not known. */
export function stepOfTransferKey(key: string): { id: string; step: TransferStep } | undefined {
  const [, id, step] = KEY.exec(key) ?? [];
  return id === undefined ? undefined : { id, step: step as TransferStep };
}
