/** One transaction for a step, whatever crashes: simulated first, then under a key that names the step for ever. */

import type { Address, Hex } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter } from '../../ports/metrics.ts';
import type { Transactor, TxStatus } from '../../ports/transactor.ts';
import { decodeRevert, type Revert } from '../../settlement/revert.ts';

/** `name`: `<orderId>-<step>`, and what else tells it from others. After `notAfter` (chain time) it makes no sense any more. */
export type Send = (chain: ChainPort, transactor: Transactor, name: string, to: Address, data: Hex, notAfter: UnixSeconds | null) => Promise<Sent>;

export type Sent =
  /** Under this key a transaction is on its way or mined. */
  | { kind: 'sent'; key: string; chainId: number; hash: Hex | undefined }
  /** The chain would refuse it now. */
  | { kind: 'refused'; revert: Revert };

/** Every reverted try costs gas, and each is under a key of its own. */
const MOST_TRIES = 5;
/** Estimates hold for the state they saw; other orders of the same block change it. */
const GAS_MARGIN_PERCENT = 130n;

export function createSend({ log, steps }: { log: Log; steps: Counter }): Send {
  return async (chain, transactor, name, to, data, notAfter) => {
    for (let attempt = 1; attempt <= MOST_TRIES; attempt += 1) {
      const key = attempt === 1 ? name : `${name}-${attempt}`;
      const known = await transactor.status(key);
      if (known?.state === 'mined' && known.receipt.status === 'reverted') continue;
      if (known && known.state !== 'void') return { kind: 'sent', key, chainId: chain.chain.id, hash: newest(known) };
      const simulated = await chain.simulate({ from: transactor.address, to, data });
      if (!simulated.ok) return { kind: 'refused', revert: decodeRevert(simulated.data) };
      const sent = await transactor.submit({ key, to, data, gas: (simulated.gasUsed * GAS_MARGIN_PERCENT) / 100n, ...(notAfter !== null && { notAfter }) });
      steps.add({ step: name.split('-')[1] ?? '', chain: chain.chain.slug });
      return { kind: 'sent', key, chainId: chain.chain.id, hash: newest(sent) };
    }
    log.error({ step: name }, 'the chain refused a step again and again, though simulations passed');
    return { kind: 'refused', revert: { name: 'reverted', text: `${MOST_TRIES} transactions reverted` } };
  };
}

const newest = (status: TxStatus): Hex | undefined => (status.state === 'mined' ? status.receipt.txHash : status.hashes.at(-1));
