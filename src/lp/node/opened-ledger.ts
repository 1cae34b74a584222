/** Opens the store and restores the inventory ledger, once every chain is ready. */

import type { Address } from '../../domain/hex.ts';
import type { LedgerEvent } from '../../inventory/event.ts';
import { createInTransit, type InTransit } from '../chain/in-transit.ts';
import { learnFills } from '../chain/learn.ts';
import { restore, type Restored } from '../chain/restore.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { LpAward, LpSignal, LpStore } from '../../ports/stores/lp-store.ts';
import type { LpConfig } from '../config/config.ts';
import type { LpChainWithPort } from './setup.ts';
import { limitsOf } from '../config/limits.ts';
import { bucketsOf, checkDecimals, graceSecondsOf, waitUntilReady } from './setup.ts';
import type { LpNodeDeps } from './interface.ts';

export interface OpenedLedger extends Restored {
  opening: Awaited<ReturnType<LpStore['open']>>;
  inTransit: InTransit;
  generation: string | undefined;
  pastAwards: readonly LpAward[];
  /** The earlier keys of this LP that the account's owner has not revoked yet, by chain. */
  formerOperators: ReadonlyMap<number, ReadonlySet<Address>>;
  signals: readonly LpSignal[];
  /** The pauses of pairs and chains. */
  pauses: Readonly<Record<string, string>>;
  /** Other processes traded the account on another database. They may have live quotes. */
  learned: boolean;
  /** Receives every event of the ledger from now on. With several replicas only. */
  onLedgerEvent(listener: (event: LedgerEvent) => void): void;
}

const MAX_PAST_AWARDS = 500;

export async function openLedger(
  { store, journal, shared, shadow, transactions, transfers, log, clock }: LpNodeDeps,
  config: LpConfig,
  chains: readonly LpChainWithPort[],
  account: Address,
): Promise<OpenedLedger> {
  await Promise.all(chains.map(({ port }) => waitUntilReady(port, clock)));
  await Promise.all(chains.map(({ port }) => checkDecimals(port, config)));
  const joined = shared && (await store.join(shared.replica));
  const opened = joined ?? (await store.open());
  // A shadow LP has promised nothing, and another assumed inventory would look like a missing deposit.
  const opening = shadow ? { ...opened, clean: null, leases: new Map() } : opened;
  const listeners: ((event: LedgerEvent) => void)[] = [];
  const ports = new Map(chains.map(({ port }) => [port.chain.id, port]));
  const learned =
    (await learnFills(
      { ports, store, log },
      { read: await journal.cursors(), account, maxBlocks: config.maxBlocksPerScan },
    )) > 0;
  const restored = await restore(
    { ports, store, log, nowMs: clock.nowMs() },
    {
      opening,
      account,
      learned,
      options: {
        buckets: bucketsOf(chains, config),
        graceSeconds: (chainId) => graceSecondsOf(chains.find(({ chain }) => chain.id === chainId)),
        limits: limitsOf(config),
        ...(joined && { onEvent: (event) => listeners.forEach((listen) => listen(event)) }),
      },
    },
  );
  const inTransit = createInTransit({ ledger: restored.ledger, transactions, transfers, log });
  await inTransit.refresh((chainId) => restored.cursors.get(chainId)?.block ?? 0n);
  return {
    ...restored,
    inTransit,
    opening,
    learned,
    generation: joined?.generation,
    pastAwards: await store.listAwards(MAX_PAST_AWARDS),
    formerOperators: new Map(
      await Promise.all(
        chains.map(async ({ port }) => [port.chain.id, await allowed(port, account, transactions)] as const),
      ),
    ),
    signals: await store.signals(),
    pauses: await store.pauses(),
    onLedgerEvent: (listener) => void listeners.push(listener),
  };
}

/** Returns the keys that have sent for this LP and may sign for its account. A revoked key binds no one. */
async function allowed(
  port: ChainPort,
  account: Address,
  transactions: LpNodeDeps['transactions'],
): Promise<ReadonlySet<Address>> {
  const keys = (await transactions?.signers(port.chain.id)) ?? [];
  const may = await Promise.all(keys.map((key) => port.isOperator(account, key)));
  return new Set(keys.filter((_, index) => may[index]));
}
