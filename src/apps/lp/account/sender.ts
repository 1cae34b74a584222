/** Sends the transactions of an owner's command, one after the other. Each is simulated before it is sent. */

import { formatUnits } from '../../../domain/amount.ts';
import { RequestError, SettlementError, UpstreamError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import { signTransaction } from '../../../adapters/evm/transactor/sign.ts';
import type { ChainPort, Receipt, Simulation } from '../../../ports/chain.ts';
import type { Signer } from '../../../ports/signer.ts';

export interface OwnerStep {
  what: string;
  to: Address;
  data: Hex;
  /** Simulated gas; null where an earlier step must be mined first. */
  gas: bigint | null;
  feeWei: bigint | null;
  txHash: Hex | null;
  blockNumber: bigint | null;
  /** The step only schedules the change, which can be made from then on. null: the step makes it. */
  scheduledFor: UnixSeconds | null;
}

/** Errors say what was mined before (`soFar`). */
export interface Sender {
  from: Address;
  /** True when steps are sent. */
  sends: boolean;
  report(line: string): void;
  /** Throws `RequestError`. */
  refuse(message: string): never;
  /** Tells an error's reader what the command has changed on the chain. */
  soFar(): string;
  /**
   * Simulates a step, and sends it when there is a signer. Throws `SettlementError` when the chain refuses,
   * `RequestError` without enough gas.
   */
  run(what: string, to: Address, data: Hex): Promise<OwnerStep>;
  /** Simulates the step without a transaction: would the chain take it now? */
  try(to: Address, data: Hex): Promise<Simulation>;
  /** A step that cannot be simulated before an earlier one is mined. */
  later(what: string, to: Address, data: Hex): OwnerStep;
  /** Throws `UpstreamError` before the first block is read. */
  now(): UnixSeconds;
}

/** A provider's limit of requests counts seconds, at most a minute. */
const TAKEN_WITHIN_MS = 60_000;
const AGAIN_MS = 2_000;
const POLL_MS = 500;
const MINED_WITHIN_MS = 180_000;

/** Pays from `from`. Without a signer, steps are simulated and not sent. */
export function createSender(
  port: ChainPort,
  from: Address,
  signer: Signer | undefined,
  report: (line: string) => void,
): Sender {
  const { chain } = port;
  const refuse = (message: string): never => {
    throw new RequestError(message, { code: 'refused' });
  };

  const minedSteps: string[] = [];
  /**
   * The block and nonce of the last step. Behind one address there may be a node that has not seen that block
   * yet.
   */
  let last: { blockNumber: bigint; nonce: number } | undefined;
  const soFar = (): string =>
    minedSteps.length === 0
      ? 'Nothing was sent.'
      : `Mined before and still in force: ${minedSteps.join(', ')}. Run the command again when the reason is gone.`;

  async function run(what: string, to: Address, data: Hex): Promise<OwnerStep> {
    const tried = await port.simulate({ from, to, data }, last?.blockNumber);
    if (!tried.ok)
      throw new SettlementError(`${chain.slug} would refuse to ${what}: ${tried.reason}. ${soFar()}`, {
        code: 'would_revert',
      });
    const { baseFee, priorityFee } = await port.fees();
    const gas = (tried.gasUsed * 12n) / 10n;
    const maxFeePerGas = 2n * baseFee + priorityFee;
    const step: OwnerStep = {
      what,
      to,
      data,
      gas: tried.gasUsed,
      feeWei: gas * maxFeePerGas,
      txHash: null,
      blockNumber: null,
      scheduledFor: null,
    };
    report(
      `${signer === undefined ? 'would' : 'to'} ${what}: about ${tried.gasUsed} gas, at most ${formatUnits(gas * maxFeePerGas, 18)} of the chain's currency`,
    );
    if (signer === undefined) return step;
    const native = await port.nativeBalance(from, last?.blockNumber);
    if (native < gas * maxFeePerGas)
      refuse(
        `The account ${from} has ${formatUnits(native, 18)} of ${chain.slug}'s currency for gas, and to ${what} may take ${formatUnits(gas * maxFeePerGas, 18)}. Send it some first. ${soFar()}`,
      );
    // Every step waits until the one before is mined.
    const nonce = Math.max(await port.transactionCount(from, 'latest'), (last?.nonce ?? -1) + 1);
    const { raw, hash } = await signTransaction(signer, {
      chainId: chain.id,
      nonce,
      to,
      data,
      gas,
      maxFeePerGas,
      maxPriorityFeePerGas: priorityFee,
    });
    await send(raw, what);
    report(`sent ${hash}`);
    const receipt = await mined(hash, what);
    minedSteps.push(what);
    last = { blockNumber: receipt.blockNumber, nonce };
    return { ...step, txHash: hash, blockNumber: receipt.blockNumber };
  }

  /** Sends the same bytes again while the node cannot take them now, so that it never has two of a step. */
  async function send(raw: Hex, what: string): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += AGAIN_MS) {
      const sent = await port.sendRaw(raw);
      // No answer may still mean that it was sent; its receipt decides.
      if (sent.kind === 'sent' || sent.kind === 'indeterminate') return;
      // A node that refused the bytes may have passed them on.
      if (sent.kind === 'nonce_too_low' && waitedMs > 0) return;
      if (sent.kind !== 'not_now' || waitedMs >= TAKEN_WITHIN_MS)
        throw new UpstreamError(
          `${chain.slug} did not take the transaction to ${what}: ${sent.message}. ${soFar()}`,
          { code: 'not_sent' },
        );
      if (waitedMs === 0)
        report(
          `${chain.slug} cannot take it now: ${sent.message}. It is sent again for ${TAKEN_WITHIN_MS / 1_000} seconds`,
        );
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async function mined(hash: Hex, what: string): Promise<Receipt> {
    for (let waitedMs = 0; waitedMs < MINED_WITHIN_MS; waitedMs += POLL_MS) {
      const receipt = await port.receipt(hash);
      if (receipt?.status === 'reverted')
        throw new SettlementError(
          `The transaction to ${what} was mined and reverted: ${hash}. The chain's state changed after the simulation: check the balances and try again.`,
          { code: 'reverted' },
        );
      if (receipt !== undefined) return receipt;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new UpstreamError(
      `The transaction to ${what} is not mined after ${MINED_WITHIN_MS / 60_000} minutes: ${hash}. It may still be mined: check before sending another.`,
      { code: 'not_mined' },
    );
  }

  return {
    from,
    sends: signer !== undefined,
    report,
    refuse,
    soFar,
    run,
    try: (to, data) => port.simulate({ from, to, data }, last?.blockNumber),
    later(what, to, data) {
      report(`would ${what}, once the step before is mined`);
      return {
        ...{ what, to, data },
        ...{ gas: null, feeWei: null, txHash: null, blockNumber: null, scheduledFor: null },
      };
    },
    now() {
      const head = port.head();
      if (head === undefined)
        throw new UpstreamError(`No block of ${chain.slug} has been read yet. Try again shortly.`, {
          code: 'chain_unknown',
        });
      return head.timestamp;
    },
  };
}
