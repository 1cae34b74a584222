/**
 * Reads what the operator may still spend by its limits on the chain, so that no quote is signed that the
 * escrow would refuse.
 */

import { formatTokens, min } from '../../domain/amount.ts';
import { tokenOrAddress } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import type { OperatorLimit } from '../../inventory/bucket.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { limitAt, type SpendingLimit } from '../../settlement/spending-limit.ts';

export interface Spending {
  /**
   * Call before the events of the block are applied. A fill then counts twice for a moment, as spent and as
   * promised, and it always counts.
   */
  read(head: Block): Promise<void>;
  /** Called when the account changed what the operator may do. */
  changed(): void;
}

interface SpendingDeps {
  port: Pick<ChainPort, 'chain' | 'operatorLimit'>;
  ledger: Pick<Ledger, 'setOperatorLimit'>;
  clock: Clock;
  log: Log;
}

interface SpendingOptions {
  account: Address;
  operator: Address;
  tokens: readonly Address[];
  /** An operator without limits is checked for new limits this often, in milliseconds. */
  everyMs: number;
}

export function createSpending(
  { port, ledger, clock, log }: SpendingDeps,
  { account, operator, tokens, everyMs }: SpendingOptions,
): Spending {
  const { chain } = port;
  const usedUp = new Set<Address>();
  /** While there are limits, what is left changes with every block. */
  let everyBlock = true;
  let readMs: number | undefined;

  /** The last limit that counted, by token. */
  const counted = new Map<Address, bigint>();

  /** A raise can be reorganised away, with promises that rely on it: it counts once it is final. */
  async function firm(token: Address, limit: SpendingLimit, head: Block): Promise<SpendingLimit> {
    let { most } = limit;
    if (most > (counted.get(token) ?? 0n)) {
      const depth = BigInt(chain.depth);
      const final = head.number > depth ? head.number - depth : 0n;
      const before = await port.operatorLimit(account, operator, token, final);
      if (before !== undefined) most = min(most, before.most);
    }
    counted.set(token, most);
    return { ...limit, most };
  }

  function set(token: Address, limit: OperatorLimit | null): void {
    ledger.setOperatorLimit(chain.id, token, limit);
    const nothingLeft = limit !== null && limit.most > 0n && limit.left === 0n;
    if (nothingLeft && !usedUp.has(token))
      log.warn(
        { chain: chain.slug, limit: formatTokens(limit.most, tokenOrAddress(chain, token)) },
        "the operator has spent its limit: this token is not quoted until the limit's window ends",
      );
    if (nothingLeft) usedUp.add(token);
    else usedUp.delete(token);
  }

  return {
    async read(head) {
      const nowMs = clock.monotonicMs();
      if (!everyBlock && readMs !== undefined && nowMs - readMs < everyMs) return;
      const limits =
        operator === account
          ? []
          : await Promise.all(
              tokens.map(async (token) => {
                const limit = await port.operatorLimit(account, operator, token);
                return limit && firm(token, limit, head);
              }),
            );
      for (const [index, token] of tokens.entries()) {
        const limit = limits[index];
        set(token, limit === undefined ? null : limitAt(limit, head.timestamp));
      }
      everyBlock = limits.some((limit) => limit !== undefined);
      if (readMs === undefined && !everyBlock && operator !== account)
        log.warn(
          { chain: chain.slug, operator },
          'the operator has no limits on this chain: a thief of its key can sell all that the account has here',
        );
      readMs = nowMs;
    },
    changed() {
      everyBlock = true;
    },
  };
}
