/** The steps of a transfer: each sends its transaction, or notes the fact that the chain or bridge shows. */

import { SettlementError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import type { BridgeMove } from '../ports/bridge.ts';
import type { ChainPort, Receipt } from '../ports/chain.ts';
import type { StoredTransfer } from '../ports/stores/transfers.ts';
import { moverCall } from '../settlement/lp-account.ts';
import { transferKey, type TransferState } from '../settlement/transfer.ts';
import {
  bridgeOf,
  chainWith,
  type Executor,
  finalFor,
  MissingEvent,
  movedIn,
  noteFact,
  finalReceipt,
  stateOf,
  type TransfersMemory,
  waitFor,
} from './execution.ts';

export async function requestStep(
  executor: Executor,
  memory: TransfersMemory,
  transfer: StoredTransfer,
  source: ChainPort,
): Promise<void> {
  const { id, move, facts } = transfer;
  const { account, from, amount } = move;
  if ((await stateOf(executor, transfer, 'request', from)) === undefined) {
    const pending = await source.pendingWithdrawal(account, from.token);
    // The owner's own request: ours would replace it.
    if (pending.amount > 0n && pending.lapsesAt >= (source.head()?.timestamp ?? 0))
      return waitFor(
        executor,
        memory,
        transfer,
        'Another withdrawal of this token is requested. The transfer begins after it.',
      );
  }
  const receipt = await finalReceipt(executor, memory, transfer, 'request', from, {
    to: account,
    data: moverCall.requestWithdrawal(from.token, amount),
    value: 0n,
  });
  if (receipt === undefined) return;
  const { txHash, blockNumber } = receipt;
  const events = await source.events(blockNumber, blockNumber);
  const asked = events.flatMap((event) =>
    event.kind === 'ledger' && event.txHash === txHash && isOf(event, move) ? (event.request ?? []) : [],
  )[0];
  if (asked === undefined) throw new MissingEvent(id, transferKey(id, 'request', facts));
  await noteFact(executor, memory, transfer, { kind: 'requested', ...asked, txHash, blockNumber });
}

export async function withdrawStep(
  executor: Executor,
  memory: TransfersMemory,
  transfer: StoredTransfer,
  { withdrawal }: TransferState,
  source: ChainPort,
): Promise<void> {
  const { account, from, amount } = transfer.move;
  if ((await stateOf(executor, transfer, 'withdraw', from)) === undefined) {
    const final = finalFor(executor, source, from, amount);
    const [latest, settled, block] = await Promise.all([
      source.pendingWithdrawal(account, from.token),
      final === undefined ? undefined : source.pendingWithdrawal(account, from.token, final),
      final === undefined ? undefined : source.block(final),
    ]);
    const isOurs = (each: { availableAt: number; amount: bigint } | undefined) =>
      each !== undefined && each.amount > 0n && each.availableAt === withdrawal?.availableAt;
    const isOver = (now: number) => withdrawal === undefined || now > withdrawal.lapsesAt;
    if (settled && block && (!isOurs(settled) || isOver(block.timestamp)))
      return noteFact(executor, memory, transfer, { kind: 'lapsed' });
    if (!isOurs(latest) || isOver(source.head()?.timestamp ?? 0))
      return waitFor(
        executor,
        memory,
        transfer,
        'The request lapsed or was replaced. It is made anew once that is final.',
      );
  }
  const receipt = await finalReceipt(
    executor,
    memory,
    transfer,
    'withdraw',
    from,
    { to: account, data: moverCall.withdraw(from.token), value: 0n },
    withdrawal?.lapsesAt,
  );
  if (receipt === undefined) return;
  const moved = await movedIn(source, receipt, transfer, from.token);
  const { txHash, blockNumber } = receipt;
  await noteFact(executor, memory, transfer, { kind: 'withdrawn', amount: -moved, txHash, blockNumber });
}

export async function sendStep(
  executor: Executor,
  memory: TransfersMemory,
  transfer: StoredTransfer,
  { amount }: TransferState,
): Promise<void> {
  const { store } = executor;
  const { id, facts } = transfer;
  const move = { ...transfer.move, amount };
  const bridge = bridgeOf(executor, transfer);
  let { estimate } = transfer;
  if ((await stateOf(executor, transfer, 'send', move.from)) === undefined || estimate === null) {
    const answer = await bridge.estimate(move);
    if ('refused' in answer)
      return refuse(executor, memory, transfer, answer.detail, answer.refused !== 'unavailable');
    // Stored first: a process that starts again must recognise what this one has sent.
    await store.putEstimate(id, answer);
    estimate = answer;
  }
  let receipt: Receipt | undefined;
  try {
    receipt = await finalReceipt(executor, memory, transfer, 'send', move.from, bridge.send(move, estimate));
  } catch (error) {
    if (!(error instanceof SettlementError)) throw error;
    return refuse(executor, memory, transfer, error.message, false);
  }
  if (receipt === undefined) return;
  const { txHash, blockNumber } = receipt;
  const sent = await bridge.sent(move, estimate, txHash);
  if (sent === undefined) throw new MissingEvent(id, transferKey(id, 'send', facts));
  await noteFact(executor, memory, transfer, { kind: 'burned', amount, txHash, blockNumber }, sent);
}

/** Refuses the transfer; called only while no transaction can still send. */
async function refuse(
  executor: Executor,
  memory: TransfersMemory,
  transfer: StoredTransfer,
  detail: string,
  atOnce: boolean,
): Promise<void> {
  const { clock, patienceMs } = executor;
  waitFor(executor, memory, transfer, detail);
  if ((await stateOf(executor, transfer, 'send', transfer.move.from)) !== undefined) return;
  const sinceMs = memory.waits.get(transfer.id)?.sinceMs ?? clock.nowMs();
  if (atOnce || clock.nowMs() - sinceMs >= patienceMs)
    await noteFact(executor, memory, transfer, { kind: 'refused', detail });
}

export async function followStep(
  executor: Executor,
  memory: TransfersMemory,
  transfer: StoredTransfer,
  { stage }: TransferState,
): Promise<void> {
  const { log } = executor;
  const { sent, move } = transfer;
  if (sent === null) throw new MissingEvent(transfer.id, transferKey(transfer.id, 'send', transfer.facts));
  const progress = await bridgeOf(executor, transfer).follow(sent);
  switch (progress.state) {
    case 'waiting':
      return waitFor(executor, memory, transfer, progress.detail);
    case 'stuck':
      if (memory.waits.get(transfer.id)?.detail !== progress.detail)
        log.error({ transfer: transfer.id, detail: progress.detail }, 'transfer: stuck in the bridge');
      return waitFor(executor, memory, transfer, progress.detail);
    case 'deliverable':
      if (stage === 'burned') return noteFact(executor, memory, transfer, { kind: 'attested' });
      return void (await finalReceipt(executor, memory, transfer, 'deliver', move.to, progress.call));
    case 'arrived': {
      const { received, txHash, blockNumber } = progress;
      if (stage === 'burned') return noteFact(executor, memory, transfer, { kind: 'attested' });
      if (blockNumber > (finalFor(executor, chainWith(executor, move.to.chainId), move.to, received) ?? -1n))
        return waitFor(executor, memory, transfer, 'It has arrived; its block is not final yet.');
      return noteFact(executor, memory, transfer, { kind: 'minted', amount: received, txHash, blockNumber });
    }
  }
}

export async function depositStep(
  executor: Executor,
  memory: TransfersMemory,
  transfer: StoredTransfer,
  { amount }: TransferState,
  named: 'deposit' | 'give_back',
  kind: 'deposited' | 'given_back',
): Promise<void> {
  const { account, from, to } = transfer.move;
  const place = named === 'deposit' ? to : from;
  const call = { to: account, data: moverCall.deposit(place.token, amount), value: 0n };
  const receipt = await finalReceipt(executor, memory, transfer, named, place, call);
  if (receipt === undefined) return;
  const moved = await movedIn(chainWith(executor, place.chainId), receipt, transfer, place.token);
  const { txHash, blockNumber } = receipt;
  await noteFact(executor, memory, transfer, { kind, amount: moved, txHash, blockNumber });
}

const isOf = (event: { account: Address; token: Address }, { account, from }: BridgeMove): boolean =>
  event.account === account && event.token === from.token;
