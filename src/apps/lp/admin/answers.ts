/**
 * The answers of the LP's admin API, by path. The routes are held to them; the command line and the console
 * read them as `Json<…>`.
 */

import type { Accounts } from '../../../lp/accounting/accounts.ts';
import type { LpNode, LpStatus } from '../../../lp/node/interface.ts';
import type { AuditEntry } from '../../../ports/stores/audit-log.ts';
import type { PricingPage } from '../pricing/page.ts';
import type { Reload, ReloadPreview } from '../reload.ts';
import type { SignalView } from './signal-view.ts';
import type { PlanView } from '../transfers/plans.ts';
import type { TransferHistory, TransferView } from '../transfers/view.ts';

export interface StatusView extends Omit<LpStatus, 'signals'> {
  signals: SignalView[];
  sending: 'held' | 'free';
  /** The pause of the whole LP that an operator ordered; null: none. */
  pause: { by: string; note: string; atMs: number } | null;
}

export interface SignalsView {
  signals: SignalView[];
  /** null before the LP has started. */
  bounds: ReturnType<LpNode['limits']>['signals'];
}

/** The balances of the books beside those of the chains and of the inventory ledger. */
export interface ReconciliationView {
  reconciled: Answered<Accounts['reconcile']>;
  gas: Answered<Accounts['reconcileGas']>;
}

type Answered<T extends (...args: never[]) => unknown> = Awaited<ReturnType<T>>;

/** What GET answers. */
export interface AdminReads {
  '/status': StatusView;
  '/inventory': {
    buckets: ReturnType<LpNode['inventory']>;
    positions: ReturnType<LpNode['positions']>;
    receivables: ReturnType<LpNode['receivables']>;
    rebalancing: ReturnType<LpNode['rebalancing']>;
  };
  '/limits': ReturnType<LpNode['limits']>;
  '/curves': { curves: ReturnType<LpNode['curves']> };
  '/risk': ReturnType<LpNode['risk']>;
  '/awards': { awards: Answered<LpNode['awards']> };
  '/audit': { entries: AuditEntry[] };
  '/explain/:id': { explanations: Answered<Accounts['explain']> };
  '/rfqs': ReturnType<LpNode['recorded']>;
  '/pnl': Answered<Accounts['profit']>;
  '/books': ReconciliationView & {
    balances: ReturnType<Accounts['balances']>;
    lag: ReturnType<Accounts['lag']>;
  };
  '/books/export': Answered<Accounts['statement']>;
  '/books/transfers': { transfers: Answered<Accounts['transfers']> };
  '/books/:id': { entries: Answered<Accounts['entries']> };
  '/signals': SignalsView;
  '/shadow': Answered<LpNode['shadowReport']>;
  '/transfers': TransferHistory;
  '/transfers/plan': { plans: PlanView[] };
  '/pricing': PricingPage;
}

/** What POST answers. */
export interface AdminActions {
  '/pause': StatusView;
  '/resume': StatusView;
  '/reload': Reload;
  '/reload/preview': ReloadPreview;
  '/signals': { signal: SignalView; replaced: SignalView[] };
  '/transfers': TransferView;
  '/books/adjust': ReconciliationView;
  '/pricing/preview': ReloadPreview;
  '/pricing/apply': Reload & { pricing: PricingPage };
}

/** What DELETE answers. */
export interface AdminEndings {
  '/signals': SignalsView & { cleared: SignalView[] };
  '/signals/:id': SignalsView & { cleared: SignalView[] };
}
