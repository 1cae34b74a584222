/** All calls throw `UpstreamError` when the database does not answer. */

import type { DeliveryStore } from './deliveries.ts';
import type { KeyUseStore } from './key-uses.ts';
import type { MemberStore } from './members.ts';
import type { EventStore, KeyStore, OrderStore, SolverStore, TicketStore, WorkspaceStore } from './store.ts';
import type { FirmnessStore } from './firmness.ts';
import type { TradeStore, TradeUpkeep } from './trades.ts';
import type { TravelRuleStore } from './travel-rule.ts';
import type { WebhookStore } from './webhooks.ts';

export interface VenueStore
  extends
    TravelRuleStore,
    KeyStore,
    KeyUseStore,
    TicketStore,
    WorkspaceStore,
    MemberStore,
    SolverStore,
    OrderStore,
    DeliveryStore,
    EventStore,
    FirmnessStore {
  readonly trades: TradeStore & TradeUpkeep;
  readonly webhooks: WebhookStore;
  ping(): Promise<void>;
  close(): Promise<void>;
}
