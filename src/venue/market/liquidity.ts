/**
 * LPs' ledger balances and signers in memory, so that a quote never waits for a node. Escrow events name the
 * balances to read again; a full read every 30 blocks repairs the rest.
 */

import { nonceGroupOf } from '../../domain/order.ts';
import { max } from '../../domain/amount.ts';
import { type Address, type Bytes32, bytes32ToAddress } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Block, ChainPort, EscrowEvent } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { type BondDemand, firmBond } from '../../domain/bond.ts';
import { limitAt, type SpendingLimit } from '../../settlement/spending-limit.ts';
import type { PromisedOutputs } from './promised-outputs.ts';

export type Liquidity = ReturnType<typeof createLiquidity>;

interface Holding {
  balance: bigint;
  pending: bigint;
  lapsesAt: UnixSeconds;
  deferred: bigint;
  /** What its bond answers with here; 0n where no bond is demanded. */
  bond: bigint;
  /** By operator; those without limits are absent. */
  limits: Map<Address, SpendingLimit>;
}

interface Followed {
  /** Live sessions that named the account. Without one it is followed until its promises end. */
  sessions: number;
  holdings: Map<Address, Holding>;
  /** Besides the account itself, which may always sign. */
  operators: Set<Address>;
}

/** What the venue follows of one escrow: the ledger balances of its LPs. */
interface EscrowLedger {
  port: ChainPort;
  accounts: Map<Address, Followed>;
  /**
   * Nonce groups that events ended. They count until the changed balances are read; otherwise the same money
   * could be promised twice.
   */
  ended: Set<string>;
  read: bigint | undefined;
  busy: boolean;
  blocksSinceFull: number;
  stop: () => void;
}

const FULL_ROUND_BLOCKS = 30;
const MAX_EVENT_BLOCKS = 500n;
/** An account can allow any number on chain; each is asked about again in a full round. */
const MAX_OPERATORS = 16;

export function createLiquidity({
  chains,
  promisedOutputs,
  bondDemands = [],
  log,
  metrics,
}: {
  chains: ReadonlyMap<number, ChainPort>;
  promisedOutputs: PromisedOutputs;
  bondDemands?: readonly BondDemand[];
  log: Log;
  metrics: Metrics;
}) {
  const revoked: ((chainId: number, account: Address, operator: Address) => void)[] = [];
  /** Opened cross-chain orders of promised nonce groups; a fill ends the group. */
  const groups = new Map<Bytes32, string>();
  const ledgers = new Map<number, EscrowLedger>(
    [...chains].map(([id, port]) => [
      id,
      {
        port,
        accounts: new Map(),
        ended: new Set(),
        read: undefined,
        busy: false,
        blocksSinceFull: 0,
        stop: () => {},
      },
    ]),
  );
  metrics.gauge(
    'firmquote_venue_followed_accounts',
    'LP accounts whose balances are followed',
    ['chain'],
    (gauge) => {
      for (const { port, accounts } of ledgers.values()) gauge.set(accounts.size, { chain: port.chain.slug });
    },
  );

  const demandedBond = (chainId: number, token: Address): bigint =>
    bondDemands.find((demand) => demand.chainId === chainId && demand.token === token)?.amount ?? 0n;

  function dropUnused({ port, accounts }: EscrowLedger, account: Address, { sessions }: Followed) {
    const { id, tokens } = port.chain;
    if (
      sessions === 0 &&
      !tokens.some(({ address }) => promisedOutputs.promised(id, account, address, '') > 0n)
    )
      accounts.delete(account);
  }

  /**
   * Read before and after the balance, and the larger counts: money that is paid out meanwhile must not
   * appear free.
   */
  async function readHolding({ port, accounts }: EscrowLedger, account: Address, token: Address) {
    const before = await port.ledgerDeferred(account, token);
    const operators = [...(accounts.get(account)?.operators ?? [])];
    const [balance, pending, bond, limits] = await Promise.all([
      port.ledgerBalance(account, token),
      port.pendingWithdrawal(account, token),
      demandedBond(port.chain.id, token) > 0n ? port.bond(account, token) : undefined,
      Promise.all(operators.map((operator) => port.operatorLimit(account, operator, token))),
    ]);
    const deferred = max(before, await port.ledgerDeferred(account, token));
    accounts.get(account)?.holdings.set(token, {
      ...{ balance, pending: pending.amount, lapsesAt: pending.lapsesAt, deferred },
      bond: bond === undefined ? 0n : firmBond(bond),
      limits: new Map(
        operators.flatMap((operator, at) => {
          const limit = limits[at];
          return limit === undefined ? [] : [[operator, limit] as const];
        }),
      ),
    });
  }

  const readAccount = (ledger: EscrowLedger, account: Address) =>
    Promise.all(ledger.port.chain.tokens.map(({ address }) => readHolding(ledger, account, address)));

  /** null: all tokens of the account. */
  function touched(ledger: EscrowLedger, event: EscrowEvent, dirty: Map<Address, Set<Address> | null>) {
    const mark = (account: Address, token: Address | null) => {
      if (!ledger.accounts.has(account)) return;
      const tokens = dirty.get(account);
      if (token === null || tokens === null) dirty.set(account, null);
      else dirty.set(account, (tokens ?? new Set<Address>()).add(token));
    };
    switch (event.kind) {
      case 'ledger':
        return mark(event.account, event.token);
      case 'filled':
        // On one chain the LP's share of the input arrived in the same transaction.
        if (event.solver.startsWith('0x000000000000000000000000')) mark(bytes32ToAddress(event.solver), null);
        return release(ledger, event.orderId);
      case 'open': {
        const { order } = event;
        const group = nonceGroupOf(order.originChainId, order.user, order.nonce);
        // On one chain opening settles the order. Across chains the promise remains until the fill.
        if (order.outputs.every((output) => output.chainId === order.originChainId)) end(ledger, group);
        else if (promisedOutputs.has(group)) groups.set(event.orderId, group);
        return;
      }
      case 'finalised':
        for (const account of ledger.accounts.keys()) mark(account, null);
        return release(ledger, event.orderId);
      case 'refunded':
        return release(ledger, event.orderId);
      case 'nonce':
        return end(ledger, nonceGroupOf(ledger.port.chain.id, event.user, event.nonce));
      case 'operator': {
        const operators = ledger.accounts.get(event.account)?.operators;
        if (!event.allowed) revoke(ledger, event.account, event.operator);
        else if (operators && operators.size < MAX_OPERATORS) operators.add(event.operator);
        return mark(event.account, null);
      }
      case 'bond':
        return mark(event.account, event.token);
    }
  }

  /** Anybody's orders are on the chain; only groups that this venue promised are kept. */
  function end({ ended }: EscrowLedger, group: string) {
    if (promisedOutputs.has(group)) ended.add(group);
  }

  function revoke({ port, accounts }: EscrowLedger, account: Address, operator: Address) {
    if (!accounts.get(account)?.operators.delete(operator)) return;
    for (const listener of revoked) listener(port.chain.id, account, operator);
  }

  function release(ledger: EscrowLedger, orderId: Bytes32) {
    const group = groups.get(orderId);
    if (group !== undefined) end(ledger, group);
    groups.delete(orderId);
  }

  async function follow(ledger: EscrowLedger, head: Block) {
    if (ledger.busy) return;
    ledger.busy = true;
    try {
      const dirty = new Map<Address, Set<Address> | null>();
      const from = ledger.read === undefined ? head.number : ledger.read + 1n;
      const gap = head.number - from > MAX_EVENT_BLOCKS;
      if (!gap && from <= head.number)
        for (const event of await ledger.port.events(from, head.number)) touched(ledger, event, dirty);
      const full = gap || ++ledger.blocksSinceFull >= FULL_ROUND_BLOCKS;
      if (full) {
        ledger.blocksSinceFull = 0;
        for (const [account, followed] of ledger.accounts) dropUnused(ledger, account, followed);
        for (const account of ledger.accounts.keys()) dirty.set(account, null);
        for (const [orderId, group] of groups) if (!promisedOutputs.has(group)) groups.delete(orderId);
        await refreshOperators(ledger);
      }
      ledger.read = head.number;
      await Promise.all(
        [...dirty].map(([account, tokens]) =>
          tokens === null
            ? readAccount(ledger, account)
            : Promise.all([...tokens].map((token) => readHolding(ledger, account, token))),
        ),
      );
      for (const group of ledger.ended) promisedOutputs.release(group);
      ledger.ended.clear();
    } catch (error) {
      // The next block reads everything again.
      ledger.blocksSinceFull = FULL_ROUND_BLOCKS;
      log.warn({ chain: ledger.port.chain.slug, error }, 'ledger balances could not be read');
    } finally {
      ledger.busy = false;
    }
    const now = ledger.port.head();
    if (
      now &&
      ledger.read !== undefined &&
      now.number > ledger.read &&
      ledger.blocksSinceFull !== FULL_ROUND_BLOCKS
    )
      await follow(ledger, now);
  }

  async function refreshOperators(ledger: EscrowLedger) {
    const known = [...ledger.accounts].flatMap(([account, { operators }]) =>
      [...operators].map((operator) => ({ account, operator })),
    );
    await Promise.all(
      known.map(async ({ account, operator }) => {
        if (!(await ledger.port.isOperator(account, operator))) revoke(ledger, account, operator);
      }),
    );
  }

  /** One session fewer. */
  function unwatch(chainId: number, account: Address) {
    const ledger = ledgers.get(chainId);
    const followed = ledger?.accounts.get(account);
    if (!ledger || !followed) return;
    followed.sessions--;
    dropUnused(ledger, account, followed);
  }

  return {
    /**
     * Follows the account for one more session, and reads its balances. false when this operator may not
     * sign: then it is not followed.
     */
    async watch(chainId: number, account: Address, operator: Address) {
      const ledger = ledgers.get(chainId);
      if (!ledger || (operator !== account && !(await ledger.port.isOperator(account, operator))))
        return false;
      const followed = ledger.accounts.get(account) ?? {
        sessions: 0,
        holdings: new Map(),
        operators: new Set(),
      };
      ledger.accounts.set(account, followed);
      followed.sessions++;
      if (operator !== account) followed.operators.add(operator);
      try {
        await readAccount(ledger, account);
      } catch (error) {
        unwatch(chainId, account);
        throw error;
      }
      return true;
    },
    unwatch,
    /** From the cache. The account itself may always sign. */
    maySign: (chainId: number, account: Address, signer: Address) =>
      signer === account || ledgers.get(chainId)?.accounts.get(account)?.operators.has(signer) === true,
    /** Asks the chain about a signer that this replica has not seen. */
    async maySignNow(chainId: number, account: Address, signer: Address) {
      const ledger = ledgers.get(chainId);
      if (signer === account || ledger?.accounts.get(account)?.operators.has(signer)) return true;
      return ledger ? ledger.port.isOperator(account, signer) : false;
    },
    /** Balance less announced withdrawals and deferred deliveries; undefined before the first read. */
    available(chainId: number, account: Address, token: Address) {
      const ledger = ledgers.get(chainId);
      const holding = ledger?.accounts.get(account)?.holdings.get(token);
      if (!ledger || !holding) return undefined;
      const lapsed = holding.pending > 0n && (ledger.port.head()?.timestamp ?? 0) > holding.lapsesAt;
      const free = holding.balance - (lapsed ? 0n : holding.pending) - holding.deferred;
      return free > 0n ? free : 0n;
    },
    /** What this operator may still spend of the account; undefined: any amount. From the cache. */
    operatorRoom(chainId: number, account: Address, operator: Address, token: Address) {
      const ledger = ledgers.get(chainId);
      const limit = ledger?.accounts.get(account)?.holdings.get(token)?.limits.get(operator);
      return limit && limitAt(limit, ledger?.port.head()?.timestamp ?? 0).left;
    },
    /** Whether the account's bond in this token is less than what the venue demands. From the cache. */
    bondIsShort: (chainId: number, account: Address, token: Address) =>
      (ledgers.get(chainId)?.accounts.get(account)?.holdings.get(token)?.bond ?? 0n) <
      demandedBond(chainId, token),
    onRevoked: (listener: (chainId: number, account: Address, operator: Address) => void) =>
      void revoked.push(listener),
    start() {
      for (const ledger of ledgers.values())
        ledger.stop = ledger.port.onHead((head) => void follow(ledger, head));
    },
    stop() {
      for (const ledger of ledgers.values()) ledger.stop();
    },
  };
}
