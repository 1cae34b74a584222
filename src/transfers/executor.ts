/**
 * Moves inventory from one chain's ledger to another's, over a bridge, by the mover's key. Each turn reads
 * the facts of every open transfer and takes its one next step. Facts are read from final blocks only, and
 * every transaction has a permanent key, so a process that died anywhere is replaced by planning again.
 *
 * Hazard: a quote promises what is being moved. Rule: the amount is reserved before the transfer is stored,
 * reserved again by each process before it acts, and let go only once the ledger has seen it leave.
 */

import { SettlementError } from '../domain/errors.ts';
import type { Address, Hex } from '../domain/hex.ts';
import type {
  Bridge,
  BridgeCall,
  BridgeEstimate,
  BridgeMove,
  BridgeRefusal,
  SentTransfer,
} from '../ports/bridge.ts';
import type { ChainPort, Receipt } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { StoredTransfer, TransferStore } from '../ports/stores/transfers.ts';
import type { Transactor } from '../ports/transactor.ts';
import {
  foldTransfer,
  nextTransferStep,
  type TransferFact,
  transferKey,
  type TransferState,
  type TransferStep,
} from '../settlement/transfer.ts';
import { moverCall } from '../settlement/lp-account.ts';

interface Place {
  chainId: number;
  token: Address;
}

/** What of the sender's ledger must not be promised to others. All calls are idempotent per id. */
export interface Reservations {
  /** False when that much is not free; changes nothing then. */
  take(id: string, place: Place, amount: bigint): boolean;
  /** As `take`, by a process that finds the transfer in the database: cannot be refused. */
  restore(id: string, place: Place, amount: bigint): void;
  /** The money left the ledger in block `leftIn`, or with undefined stays there and is free again. */
  release(id: string, place: Place, leftIn: bigint | undefined): void;
}

interface TransfersDeps {
  store: TransferStore;
  bridges: readonly Bridge[];
  chains: ReadonlyMap<number, ChainPort>;
  /** With the mover's key, by chain id. */
  transactors: ReadonlyMap<number, Transactor>;
  reservations: Reservations;
  clock: Clock;
  log: Log;
  /** USD; undefined: unknown, and the chain's strictest finality holds. */
  worthUsd(place: Place, amount: bigint): number | undefined;
}

interface TransfersOptions {
  /** How long a bridge may refuse what was withdrawn for it before the money goes back. */
  patienceMs: number;
}

export type TransferPlan =
  | { bridge: string; estimate: BridgeEstimate }
  | BridgeRefusal
  | { refused: 'no_bridge'; detail: string };

type NotBegun = BridgeRefusal | { refused: 'no_bridge' | 'not_free' | 'one_is_open'; detail: string };

interface Wait {
  /** In the operator's words. */
  detail: string;
  sinceMs: number;
}

export function createTransfers(
  { store, bridges, chains, transactors, reservations, clock, log, worthUsd }: TransfersDeps,
  { patienceMs }: TransfersOptions,
) {
  const waits = new Map<string, Wait>();
  /** Reserved, and the store did not say whether it has them. */
  const doubtful = new Map<string, Place>();

  /** The cheapest of the bridges that carry it. */
  async function plan(move: BridgeMove): Promise<TransferPlan> {
    const answers = await Promise.all(
      bridges
        .filter((bridge) => bridge.serves(move))
        .map(async (bridge) => ({ bridge: bridge.id, answer: await bridge.estimate(move) })),
    );
    const offers = answers.flatMap(({ bridge, answer }) =>
      'refused' in answer ? [] : [{ bridge, estimate: answer }],
    );
    const [best] = offers.toSorted((a, b) => (a.estimate.leastReceived > b.estimate.leastReceived ? -1 : 1));
    if (best) return best;
    const refusal = answers.map(({ answer }) => answer).find((answer) => 'refused' in answer);
    return refusal ?? { refused: 'no_bridge', detail: 'No configured bridge carries this token there.' };
  }

  /** `id` is new and permanent. Nothing is sent yet: the next turn does. */
  async function begin(id: string, move: BridgeMove, reason: string): Promise<StoredTransfer | NotBegun> {
    const planned = await plan(move);
    if ('refused' in planned) return planned;
    if (!reservations.take(id, move.from, move.amount))
      return { refused: 'not_free', detail: 'Live quotes and open orders need it.' };
    const { bridge, estimate } = planned;
    const createdAtMs = clock.nowMs();
    const transfer = { id, bridge, move, reason, createdAtMs, estimate: null, sent: null, facts: [] };
    const added = await store.add(transfer).catch((error: unknown) => {
      doubtful.set(id, move.from);
      throw error;
    });
    if (added) {
      log.info({ transfer: id, bridge, seconds: estimate.seconds, reason }, 'transfer: begun');
      return transfer;
    }
    reservations.release(id, move.from, undefined);
    return { refused: 'one_is_open', detail: 'A transfer of this token from this chain is not over.' };
  }

  /**
   * Reserves what open transfers need. Call before the first quote is signed; `turn` does it too. Throws
   * `UpstreamError` of the store.
   */
  async function restore(): Promise<StoredTransfer[]> {
    const unsure = [...doubtful];
    const open = await store.open();
    for (const [id, place] of unsure) if (doubtful.delete(id)) reservations.release(id, place, undefined);
    for (const { id, move, facts } of open) {
      const { isReserved } = foldTransfer(move.amount, facts);
      if (isReserved) reservations.restore(id, move.from, move.amount);
    }
    return open;
  }

  /** One step of each open transfer. Calls must not overlap. Throws `UpstreamError` of the store only. */
  async function turn(): Promise<void> {
    const open = await restore();
    for (const id of waits.keys()) if (!open.some((each) => each.id === id)) waits.delete(id);
    for (const transfer of open)
      try {
        await step(transfer);
      } catch (error) {
        wait(transfer, error instanceof Error ? error.message : String(error));
      }
  }

  function wait({ id }: StoredTransfer, detail: string): void {
    const before = waits.get(id);
    if (before?.detail !== detail) log.info({ transfer: id, detail }, 'transfer: waits');
    waits.set(id, { detail, sinceMs: before?.sinceMs ?? clock.nowMs() });
  }

  async function note(transfer: StoredTransfer, fact: TransferFact, sent?: SentTransfer): Promise<void> {
    const { id, move, facts } = transfer;
    const before = foldTransfer(move.amount, facts);
    const after = foldTransfer(move.amount, [...facts, fact]);
    const also = { final: after.isFinal, ...(sent && { sent }) };
    // Another process was faster: the next turn reads what it wrote.
    if (!(await store.append(id, facts.length, fact, also))) return;
    if (fact.kind !== 'reverted') waits.delete(id);
    if (before.isReserved && !after.isReserved)
      reservations.release(id, move.from, fact.kind === 'withdrawn' ? fact.blockNumber : undefined);
    const tell =
      fact.kind === 'reverted' || fact.kind === 'refused' || fact.kind === 'lapsed' ? 'warn' : 'info';
    log[tell]({ transfer: id, fact: fact.kind, stage: after.stage }, 'transfer: new fact');
  }

  async function step(transfer: StoredTransfer): Promise<void> {
    const { move, facts } = transfer;
    const state = foldTransfer(move.amount, facts);
    const source = chainOf(move.from.chainId);
    const todo = nextTransferStep(state, source.head()?.timestamp ?? 0);
    switch (todo.do) {
      case 'request':
        return request(transfer, source);
      case 'wait_until':
        return wait(transfer, `The withdrawal is possible from ${new Date(todo.at * 1000).toISOString()}.`);
      case 'withdraw':
      case 'note_lapse':
        return withdraw(transfer, state, source);
      case 'send':
        return send(transfer, state);
      case 'follow':
        return follow(transfer, state);
      case 'deposit':
        return deposit(transfer, state, 'deposit', 'deposited');
      case 'give_back':
        return deposit(transfer, state, 'give_back', 'given_back');
      case 'deliver':
      case 'nothing':
    }
  }

  async function request(transfer: StoredTransfer, source: ChainPort): Promise<void> {
    const { id, move, facts } = transfer;
    const { account, from, amount } = move;
    if ((await stateOf(transfer, 'request', from)) === undefined) {
      const pending = await source.pendingWithdrawal(account, from.token);
      // The owner's own request: ours would replace it.
      if (pending.amount > 0n && pending.lapsesAt >= (source.head()?.timestamp ?? 0))
        return wait(transfer, 'Another withdrawal of this token is requested. The transfer begins after it.');
    }
    const receipt = await run(transfer, 'request', from, {
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
    await note(transfer, { kind: 'requested', ...asked, txHash, blockNumber });
  }

  async function withdraw(
    transfer: StoredTransfer,
    { withdrawal }: TransferState,
    source: ChainPort,
  ): Promise<void> {
    const { account, from, amount } = transfer.move;
    if ((await stateOf(transfer, 'withdraw', from)) === undefined) {
      const final = finalOf(source, from, amount);
      const [latest, settled, block] = await Promise.all([
        source.pendingWithdrawal(account, from.token),
        final === undefined ? undefined : source.pendingWithdrawal(account, from.token, final),
        final === undefined ? undefined : source.block(final),
      ]);
      const isOurs = (each: { availableAt: number; amount: bigint } | undefined) =>
        each !== undefined && each.amount > 0n && each.availableAt === withdrawal?.availableAt;
      const isOver = (now: number) => withdrawal === undefined || now > withdrawal.lapsesAt;
      if (settled && block && (!isOurs(settled) || isOver(block.timestamp)))
        return note(transfer, { kind: 'lapsed' });
      if (!isOurs(latest) || isOver(source.head()?.timestamp ?? 0))
        return wait(transfer, 'The request lapsed or was replaced. It is made anew once that is final.');
    }
    const receipt = await run(
      transfer,
      'withdraw',
      from,
      { to: account, data: moverCall.withdraw(from.token), value: 0n },
      withdrawal?.lapsesAt,
    );
    if (receipt === undefined) return;
    const moved = await movedIn(source, receipt, transfer, from.token);
    const { txHash, blockNumber } = receipt;
    await note(transfer, { kind: 'withdrawn', amount: -moved, txHash, blockNumber });
  }

  async function send(transfer: StoredTransfer, { amount }: TransferState): Promise<void> {
    const { id, facts } = transfer;
    const move = { ...transfer.move, amount };
    const bridge = bridgeOf(transfer);
    let { estimate } = transfer;
    if ((await stateOf(transfer, 'send', move.from)) === undefined || estimate === null) {
      const answer = await bridge.estimate(move);
      if ('refused' in answer) return refuse(transfer, answer.detail, answer.refused !== 'unavailable');
      // Stored first: a process that starts again must recognise what this one has sent.
      await store.putEstimate(id, answer);
      estimate = answer;
    }
    let receipt: Receipt | undefined;
    try {
      receipt = await run(transfer, 'send', move.from, bridge.send(move, estimate));
    } catch (error) {
      if (!(error instanceof SettlementError)) throw error;
      return refuse(transfer, error.message, false);
    }
    if (receipt === undefined) return;
    const { txHash, blockNumber } = receipt;
    const sent = await bridge.sent(move, estimate, txHash);
    if (sent === undefined) throw new MissingEvent(id, transferKey(id, 'send', facts));
    await note(transfer, { kind: 'burned', amount, txHash, blockNumber }, sent);
  }

  /** Only while no transaction can still send. */
  async function refuse(transfer: StoredTransfer, detail: string, atOnce: boolean): Promise<void> {
    wait(transfer, detail);
    if ((await stateOf(transfer, 'send', transfer.move.from)) !== undefined) return;
    const sinceMs = waits.get(transfer.id)?.sinceMs ?? clock.nowMs();
    if (atOnce || clock.nowMs() - sinceMs >= patienceMs) await note(transfer, { kind: 'refused', detail });
  }

  async function follow(transfer: StoredTransfer, { stage }: TransferState): Promise<void> {
    const { sent, move } = transfer;
    if (sent === null) throw new MissingEvent(transfer.id, transferKey(transfer.id, 'send', transfer.facts));
    const progress = await bridgeOf(transfer).follow(sent);
    switch (progress.state) {
      case 'waiting':
        return wait(transfer, progress.detail);
      case 'stuck':
        if (waits.get(transfer.id)?.detail !== progress.detail)
          log.error({ transfer: transfer.id, detail: progress.detail }, 'transfer: stuck in the bridge');
        return wait(transfer, progress.detail);
      case 'deliverable':
        if (stage === 'burned') return note(transfer, { kind: 'attested' });
        return void (await run(transfer, 'deliver', move.to, progress.call));
      case 'arrived': {
        const { received, txHash, blockNumber } = progress;
        if (stage === 'burned') return note(transfer, { kind: 'attested' });
        if (blockNumber > (finalOf(chainOf(move.to.chainId), move.to, received) ?? -1n))
          return wait(transfer, 'It has arrived; its block is not final yet.');
        return note(transfer, { kind: 'minted', amount: received, txHash, blockNumber });
      }
    }
  }

  async function deposit(
    transfer: StoredTransfer,
    { amount }: TransferState,
    named: 'deposit' | 'give_back',
    kind: 'deposited' | 'given_back',
  ): Promise<void> {
    const { account, from, to } = transfer.move;
    const place = named === 'deposit' ? to : from;
    const call = { to: account, data: moverCall.deposit(place.token, amount), value: 0n };
    const receipt = await run(transfer, named, place, call);
    if (receipt === undefined) return;
    const moved = await movedIn(chainOf(place.chainId), receipt, transfer, place.token);
    const { txHash, blockNumber } = receipt;
    await note(transfer, { kind, amount: moved, txHash, blockNumber });
  }

  /** undefined: no transaction of this attempt exists or can be mined. */
  async function stateOf(
    { id, facts }: StoredTransfer,
    named: TransferStep,
    { chainId }: Place,
  ): Promise<'pending' | 'mined' | undefined> {
    const status = await transactorOf(chainId).status(transferKey(id, named, facts));
    return status === undefined || status.state === 'void' ? undefined : status.state;
  }

  /** Its receipt once it is final and did what it should; undefined while it is not. */
  async function run(
    transfer: StoredTransfer,
    named: TransferStep,
    place: Place,
    call: BridgeCall,
    notAfter?: number,
  ): Promise<Receipt | undefined> {
    const { id, facts, move } = transfer;
    const chain = chainOf(place.chainId);
    const key = transferKey(id, named, facts);
    const status = await transactorOf(place.chainId).submit({
      key,
      to: call.to,
      data: call.data,
      ...(call.value > 0n && { value: call.value }),
      ...(notAfter !== undefined && { notAfter }),
    });
    if (status.state !== 'mined') {
      wait(transfer, `The transaction ${key} is sent and not mined.`);
      return undefined;
    }
    const receipt = await chain.receipt(status.receipt.txHash);
    if (!receipt || receipt.blockNumber > (finalOf(chain, place, move.amount) ?? -1n)) {
      wait(transfer, `The transaction ${key} is mined and not final.`);
      return undefined;
    }
    if (receipt.status === 'success') return receipt;
    const { txHash, blockNumber } = receipt;
    await note(transfer, { kind: 'reverted', step: named, txHash, blockNumber });
    return undefined;
  }

  /** What a mined transaction put into the ledger (positive) or took out of it. */
  async function movedIn(
    chain: ChainPort,
    { txHash, blockNumber }: Receipt,
    { id, move: { account } }: StoredTransfer,
    token: Address,
  ): Promise<bigint> {
    for (const event of await chain.events(blockNumber, blockNumber))
      if (
        event.kind === 'ledger' &&
        event.txHash === txHash &&
        event.account === account &&
        event.token === token &&
        event.amount !== 0n
      )
        return event.amount;
    throw new MissingEvent(id, txHash);
  }

  const finalOf = (chain: ChainPort, place: Place, amount: bigint): bigint | undefined =>
    chain.finalNumber(worthUsd(place, amount));

  function chainOf(chainId: number): ChainPort {
    const chain = chains.get(chainId);
    if (!chain) throw new NotConfigured(`chain ${chainId}`);
    return chain;
  }
  function transactorOf(chainId: number): Transactor {
    const transactor = transactors.get(chainId);
    if (!transactor) throw new NotConfigured(`mover on chain ${chainId}`);
    return transactor;
  }
  function bridgeOf({ bridge: id }: StoredTransfer): Bridge {
    const bridge = bridges.find((each) => each.id === id);
    if (!bridge) throw new NotConfigured(`bridge ${id}`);
    return bridge;
  }

  return {
    plan,
    begin,
    restore,
    turn,
    /** What each open transfer waits for. */
    waits: (): ReadonlyMap<string, Wait> => waits,
  };
}

const isOf = (event: { account: Address; token: Address }, { account, from }: BridgeMove): boolean =>
  event.account === account && event.token === from.token;

class NotConfigured extends SettlementError {
  constructor(what: string) {
    super(
      `An open transfer needs the ${what}, which is not configured now. Configure it again until the transfer is over.`,
      { code: 'not_configured', retry: 'later' },
    );
  }
}

class MissingEvent extends SettlementError {
  constructor(id: string, of: Hex | string) {
    super(
      `A final transaction of transfer ${id} shows no event of the expected kind (${of}). It is read again. If it stays so, compare the transaction with the account by hand.`,
      { code: 'missing_event', retry: 'later' },
    );
  }
}
