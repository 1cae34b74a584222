/** The gauges of the LP: what a scrape reads from the running node, its ledger and its accounts. */

import { formatUnits } from '../../domain/amount.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Advice } from '../../inventory/rebalance.ts';
import type { LinkLoad } from '../../ports/link.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Accounts } from '../accounting/accounts.ts';
import type { Position } from '../accounting/bands.ts';
import type { Receivable } from '../accounting/receivables.ts';
import { STANDBY_KINDS } from '../risk/standby-reason.ts';

interface LpGauges {
  shadow: boolean;
  ledger: Ledger;
  slug(chainId: number): string;
  symbol(chainId: number, token: string): string;
  reasons(): readonly { kind: string }[];
  pairs(): readonly { pair: string; quoting: boolean }[];
  quoting(): boolean;
  openAwards(): number;
  leaseSeconds(): { chainId: number; seconds: number }[];
  positions(): readonly Position[];
  receivables(): readonly Receivable[];
  advice(): readonly Advice[];
  venues(): readonly { name: string; load(): LinkLoad }[];
  signals(): readonly { pair: string }[];
  configuredPairs(): readonly string[];
}

const BUCKET_PARTS = [
  'onchain',
  'pendingOut',
  'committed',
  'held',
  'receivable',
  'overdue',
  'buffer',
  'withdrawing',
  'free',
  'shortfall',
  'drift',
] as const;

/** Converts an amount for charts; the result is never calculated with. */
const floatOf = (amount: bigint, decimals: number): number =>
  Number.parseFloat(formatUnits(amount, decimals));

export function exposeGauges(metrics: Metrics, view: LpGauges): void {
  const places = ['chain', 'token', 'part'];
  metrics.gauge(
    'firmquote_lp_inventory_units',
    'Whole tokens, by what they are reserved for',
    places,
    (gauge) => {
      for (const bucket of view.ledger.buckets()) {
        const [chain, token] = [view.slug(bucket.chainId), view.symbol(bucket.chainId, bucket.token)];
        for (const part of BUCKET_PARTS)
          gauge.set(floatOf(bucket[part] ?? 0n, bucket.decimals), { chain, token, part });
      }
    },
  );
  metrics.gauge(
    'firmquote_lp_reserved_share',
    'Held, committed and in flight, divided by the balance',
    ['chain', 'token'],
    (gauge) => {
      for (const { chainId, token, onchain, held, committed, pendingOut } of view.ledger.buckets()) {
        const promised = held + committed + pendingOut;
        gauge.set(onchain === 0n ? 0 : Number((promised * 1_000_000n) / onchain) / 1e6, {
          chain: view.slug(chainId),
          token: view.symbol(chainId, token),
        });
      }
    },
  );
  metrics.gauge(
    'firmquote_lp_operator_limit_left_share',
    'What the operator may still spend in this window, divided by its limit; of tokens with a limit above zero',
    ['chain', 'token'],
    (gauge) => {
      for (const { chainId, token, operatorLimit } of view.ledger.buckets())
        if (operatorLimit !== null && operatorLimit.most > 0n)
          gauge.set(Number((operatorLimit.left * 1_000_000n) / operatorLimit.most) / 1e6, {
            chain: view.slug(chainId),
            token: view.symbol(chainId, token),
          });
    },
  );
  metrics.gauge(
    'firmquote_lp_inventory_q',
    'Distance from the target in soft bands: of an asset (chain "all"), and of each chain',
    ['asset', 'chain'],
    (gauge) => {
      for (const { asset, q, places: parts } of view.positions()) {
        if (q !== undefined) gauge.set(q, { asset, chain: 'all' });
        if (parts.length > 1) for (const { slug, q: off } of parts) gauge.set(off, { asset, chain: slug });
      }
    },
  );
  metrics.gauge(
    'firmquote_lp_receivables_overdue',
    'Inputs owed to us for much longer than is usual for their corridor',
    ['corridor'],
    (gauge) => {
      const late = new Map<string, number>();
      for (const { corridor, overdue } of view.receivables())
        late.set(corridor, (late.get(corridor) ?? 0) + (overdue ? 1 : 0));
      for (const [corridor, count] of late) gauge.set(count, { corridor });
    },
  );
  metrics.gauge(
    'firmquote_lp_rebalance_advice_units',
    'Whole tokens worth moving between chains',
    ['asset', 'from', 'to'],
    (gauge) => {
      for (const { asset, from, to, amount } of view.advice())
        gauge.set(floatOf(amount, 18), { asset, from, to });
    },
  );
  metrics.gauge('firmquote_lp_live_quotes', 'Quotes that a taker could still accept', [], (gauge) =>
    gauge.set(view.ledger.live),
  );
  metrics.gauge(
    'firmquote_lp_link_frames',
    'Frames of a venue: waiting now; since the start, dropped with their connection, and pauses of the socket',
    ['venue', 'kind'],
    (gauge) => {
      for (const { name: venue, load } of view.venues())
        for (const [kind, count] of Object.entries(load())) gauge.set(count, { venue, kind });
    },
  );
  metrics.gauge('firmquote_lp_open_awards', 'Awards not yet final', [], (gauge) =>
    gauge.set(view.openAwards()),
  );
  metrics.gauge('firmquote_lp_quoting', '1 while quoting, 0 in standby', [], (gauge) =>
    gauge.set(view.quoting() ? 1 : 0),
  );
  metrics.gauge(
    'firmquote_lp_shadow',
    '1 in shadow mode: requests are priced, nothing is signed',
    [],
    (gauge) => gauge.set(view.shadow ? 1 : 0),
  );
  metrics.gauge(
    'firmquote_lp_pair_quoting',
    '1 while a request for a pair could be quoted',
    ['pair'],
    (gauge) => {
      for (const { pair, quoting } of view.pairs()) gauge.set(quoting ? 1 : 0, { pair });
    },
  );
  metrics.gauge(
    'firmquote_lp_signals',
    "Signals of the operator in force, by pair: each moves or widens the pair's prices",
    ['pair'],
    (gauge) => {
      const count = new Map(view.configuredPairs().map((pair) => [pair, 0]));
      for (const { pair } of view.signals()) if (count.has(pair)) count.set(pair, (count.get(pair) ?? 0) + 1);
      for (const [pair, signals] of count) gauge.set(signals, { pair });
    },
  );
  metrics.gauge('firmquote_lp_standby_reason', '1 for each reason that stops quotes', ['reason'], (gauge) => {
    const now = new Set(view.reasons().map(({ kind }) => kind));
    for (const reason of STANDBY_KINDS) gauge.set(now.has(reason) ? 1 : 0, { reason });
  });
  metrics.gauge('firmquote_lp_lease_seconds', 'Seconds until the signing lease ends', ['chain'], (gauge) => {
    for (const { chainId, seconds } of view.leaseSeconds()) gauge.set(seconds, { chain: view.slug(chainId) });
  });
}

export function exposeAccounts(
  metrics: Metrics,
  accounts: Pick<Accounts, 'totals' | 'positions' | 'lag' | 'reconciled' | 'reconciledGas'>,
): void {
  metrics.gauge(
    'firmquote_lp_pnl_usd',
    'Since the accounting ledger was opened: spread, fees, gas, losses, positions, total and mark-outs',
    ['kind'],
    (gauge) => {
      for (const [kind, micros] of Object.entries(accounts.totals() ?? {}))
        gauge.set(floatOf(micros, 6), { kind });
    },
  );
  metrics.gauge(
    'firmquote_lp_position_units',
    'Whole tokens owned over all chains by the accounting ledger, receivables included',
    ['asset'],
    (gauge) => {
      for (const { asset, quantity } of accounts.positions()) gauge.set(floatOf(quantity, 18), { asset });
    },
  );
  metrics.gauge(
    'firmquote_lp_journal_difference_units',
    'Whole tokens by which a chain and the accounting ledger differ at one final block; check anything but 0',
    ['chain', 'token'],
    (gauge) => {
      for (const { chain, token, decimals, difference } of accounts.reconciled())
        gauge.set(floatOf(difference ?? 0n, decimals ?? 0), { chain, token });
    },
  );
  metrics.gauge(
    'firmquote_lp_journal_native_difference_units',
    'Whole coins by which a chain and the accounting ledger differ on the native currency of an operator, running or rotated out',
    ['chain', 'operator'],
    (gauge) => {
      for (const { chain, operator, decimals, difference } of accounts.reconciledGas())
        gauge.set(floatOf(difference, decimals), { chain, operator });
    },
  );
  metrics.gauge(
    'firmquote_lp_journal_lag_blocks',
    'Final blocks that the accounting ledger has not read yet',
    ['chain'],
    (gauge) => {
      for (const { chain, blocks } of accounts.lag().chains) gauge.set(blocks, { chain });
    },
  );
  metrics.gauge(
    'firmquote_lp_journal_waiting',
    'Entries that wait to be written to the accounting ledger',
    [],
    (gauge) => gauge.set(accounts.lag().waiting),
  );
}
