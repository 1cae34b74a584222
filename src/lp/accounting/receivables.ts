/** Tracks fills that are not paid yet: how long each has been owed, with an alarm when it is overdue. */

import { formatTokens } from '../../domain/amount.ts';
import { type Corridor, corridorOf } from '../../domain/corridor.ts';
import { type Chain, tokenOrAddress } from '../../domain/chain.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Money } from '../../inventory/event.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import { createSettleTimes } from '../../inventory/receivables.ts';
import type { Log } from '../../ports/log.ts';
import type { LpAward } from '../../ports/stores/lp-store.ts';
import type { Awards, OpenAward } from '../settlement/awards.ts';
import type { LpConfig } from '../config/config.ts';
import type { QuoteEvents } from '../quote-log/quote-events.ts';
import { ownSlice } from '../routes/order.ts';

export interface Receivable {
  orderId: Bytes32;
  corridor: Corridor;
  owed: Money;
  seconds: number;
  limitSeconds: number;
  overdue: boolean;
}

export interface Receivables {
  /** Inputs of fills that the escrows owe. */
  list(): Receivable[];
  /** Reports newly overdue receivables to the inventory ledger. Call about once a second. */
  reportOverdue(): void;
}

interface ReceivablesDeps {
  awards: Pick<Awards, 'open'>;
  ledger: Ledger;
  quoteEvents: Pick<QuoteEvents, 'listen'>;
  chains: ReadonlyMap<number, Chain>;
  log: Log;
  time(chainId: number): UnixSeconds;
}

/** `past`: awards of earlier processes, which give the usual delay. */
export function createReceivables(
  { awards, ledger, quoteEvents, chains, log, time }: ReceivablesDeps,
  { receivables, quoting, account }: Pick<LpConfig, 'receivables' | 'quoting'> & { account: Address },
  past: readonly LpAward[],
): Receivables {
  const times = createSettleTimes({
    factor: receivables.overdueFactor,
    leastSeconds: receivables.leastSeconds,
    expectedSeconds: quoting.lockSeconds,
  });
  const said = new Set<Bytes32>();

  const corridor = (originChainId: number, destChainId: number): Corridor => {
    const [origin, dest] = [chains.get(originChainId), chains.get(destChainId)];
    return corridorOf(
      { slug: origin?.slug ?? String(originChainId) },
      { slug: dest?.slug ?? String(destChainId) },
    );
  };
  const amountOf = ({ chainId, token, amount }: Money): string => {
    const chain = chains.get(chainId);
    return formatTokens(
      amount,
      chain === undefined ? { symbol: token, decimals: null } : tokenOrAddress(chain, token),
    );
  };
  const between = ({ slice }: OpenAward): Corridor => corridor(slice.originChainId, slice.destChainId);

  for (const award of [...past].reverse()) {
    const slice =
      award.stage === 'finalised' && award.fill !== null ? ownSlice(award.order, account, chains) : undefined;
    if (slice !== undefined && award.fill !== null)
      times.arrived(
        corridor(slice.originChainId, slice.destChainId),
        award.updatedAtMs / 1000 - award.fill.timestamp,
      );
  }

  quoteEvents.listen({
    finalised(award) {
      if (award.fill !== null)
        times.arrived(between(award), time(award.slice.originChainId) - award.fill.timestamp);
      if (said.delete(award.orderId)) log.warn({ orderId: award.orderId }, 'an overdue payment has arrived');
    },
  });

  function list(): Receivable[] {
    return awards.open().flatMap((award): Receivable[] => {
      const state = ledger.quote(award.orderId)?.state;
      if (award.fill === null || (state !== 'filled' && state !== 'fill_final')) return [];
      const seconds = Math.max(0, time(award.slice.originChainId) - award.fill.timestamp);
      const limitSeconds = times.limit(between(award));
      return [
        {
          orderId: award.orderId,
          corridor: between(award),
          owed: award.slice.earns,
          seconds,
          limitSeconds,
          overdue: seconds > limitSeconds || said.has(award.orderId),
        },
      ];
    });
  }

  return {
    list,
    reportOverdue() {
      for (const { orderId, overdue, owed, ...late } of list()) {
        if (!overdue || said.has(orderId)) continue;
        said.add(orderId);
        ledger.apply({ type: 'overdue', orderId });
        log.error(
          { orderId, ...late, owed: amountOf(owed) },
          'a fill is overdue for payment and counts for nothing until it is paid: check the attesters and the operator account on the origin chain',
        );
      }
    },
  };
}
