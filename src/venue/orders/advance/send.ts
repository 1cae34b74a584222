/**
 * Sends exactly one transaction per step, across crashes: simulated first, then under a key that names the
 * step for ever.
 */

import { SettlementError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Log } from '../../../ports/log.ts';
import type { Counter } from '../../../ports/metrics.ts';
import type { Transactor, TxStatus } from '../../../ports/transactor.ts';
import { decodeRevert, type Revert } from '../../../settlement/revert.ts';

/**
 * `name`: `<orderId>-<step>` and a suffix where needed. `notAfter`: chain time. `together`: the first attempt
 * may share a transaction with other steps.
 */
export type Send = (
  chain: ChainPort,
  transactor: Transactor,
  name: string,
  to: Address,
  data: Hex,
  notAfter: UnixSeconds | null,
  together?: boolean,
) => Promise<Sent>;

export type Sent =
  | { kind: 'sent'; key: string; chainId: number; hash: Hex | undefined }
  | { kind: 'refused'; revert: Revert };

/** Every reverted attempt costs gas. */
const MOST_TRIES = 5;

export function createSend({ log, steps }: { log: Log; steps: Counter }): Send {
  return async (chain, transactor, name, to, data, notAfter, together = false) => {
    for (let attempt = 1; attempt <= MOST_TRIES; attempt += 1) {
      const key = attempt === 1 ? name : `${name}-${attempt}`;
      const before = await transactor.status(key);
      if (before?.state === 'mined' && before.receipt.status === 'reverted') continue;
      if (before && before.state !== 'void')
        return { kind: 'sent', key, chainId: chain.chain.id, hash: newest(before) };
      const sent = await transactor
        .submit({
          key,
          to,
          data,
          together: together && attempt === 1,
          ...(notAfter !== null && { notAfter }),
        })
        .catch(refusalOf);
      if ('name' in sent) return { kind: 'refused', revert: sent };
      steps.add({ step: name.split('-')[1] ?? '', chain: chain.chain.slug });
      return { kind: 'sent', key, chainId: chain.chain.id, hash: newest(sent) };
    }
    log.error({ step: name }, 'every transaction of a step reverted although its simulation passed');
    return { kind: 'refused', revert: { name: 'reverted', text: `${MOST_TRIES} transactions reverted` } };
  };
}

/** A failed simulation is a refusal; other errors are thrown. */
function refusalOf(error: unknown): Revert {
  if (error instanceof SettlementError && error.code === 'would_revert')
    return decodeRevert(error.facts['data'] as Hex);
  throw error;
}

const newest = (status: TxStatus): Hex | undefined =>
  status.state === 'mined' ? status.receipt.txHash : status.hashes.at(-1);
