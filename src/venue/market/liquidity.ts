/**
 * LPs' ledger balances and signers in memory, so that a quote never waits for a node. Escrow events name the
 * balances to read again; a full read every 30 blocks repairs the rest.
 */

import { latestFillDeadline } from '../../domain/bond.ts';
import type { Chain } from '../../domain/chain.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { limitAt } from '../../settlement/spending-limit.ts';
import {
  backingOn,
  demandedBond,
  dropUnused,
  type EscrowLedger,
  type LiquidityDeps,
  type LiquidityState,
  readAccount,
  readDelays,
} from './escrow-ledger.ts';
import { follow } from './follow-escrow.ts';

/** What decides which contracts back an order. */
interface BackedRoute {
  origin: Pick<Chain, 'id'>;
  dest: Pick<Chain, 'id'>;
  inputToken: { address: Address };
}

export interface Liquidity {
  /**
   * Follows the account for one more session, and reads its balances. false when this operator may not
   * sign: then it is not followed.
   */
  watch(chainId: number, account: Address, operator: Address): Promise<boolean>;
  /** Follows the account for one session fewer. */
  unwatch(chainId: number, account: Address): void;
  /** Returns whether the signer may sign for the account, from the cache. The account itself always may. */
  maySign(chainId: number, account: Address, signer: Address): boolean;
  /** Asks the chain about a signer that this replica has not seen. */
  maySignNow(chainId: number, account: Address, signer: Address): Promise<boolean>;
  /**
   * Returns the balance less announced withdrawals and deferred deliveries; undefined before the first read.
   */
  available(chainId: number, account: Address, token: Address): bigint | undefined;
  /**
   * Returns how much this operator may still spend of the account, in base units, from the cache; undefined:
   * any amount.
   */
  operatorHeadroom(chainId: number, account: Address, operator: Address, token: Address): bigint | undefined;
  /** Returns whether the account's bond in this token is less than the venue demands, from the cache. */
  bondIsShort(chainId: number, account: Address, token: Address): boolean;
  /**
   * Returns the latest fill deadline by which neither the LP's money nor a bond that the venue demands can
   * leave. From memory: `watch` has read the delays of a session's chains.
   */
  latestFillDeadline(route: BackedRoute, proofWindowSeconds: number): UnixSeconds;
  /** Asks the chains for delays that this replica has not read. */
  latestFillDeadlineNow(route: BackedRoute, proofWindowSeconds: number): Promise<UnixSeconds>;
  /** Calls the listener when an operator that is followed may sign no more. */
  onRevoked(listener: (chainId: number, account: Address, operator: Address) => void): void;
  start(): void;
  stop(): void;
}

export function createLiquidity(deps: LiquidityDeps): Liquidity {
  const state: LiquidityState = {
    bondDemands: deps.bondDemands ?? [],
    revoked: [],
    groups: new Map<Bytes32, string>(),
    ledgers: new Map<number, EscrowLedger>(
      [...deps.chains].map(([id, port]) => [
        id,
        {
          port,
          accounts: new Map(),
          delays: undefined,
          ended: new Set(),
          read: undefined,
          busy: false,
          blocksSinceFull: 0,
          stop: () => {},
        },
      ]),
    ),
  };
  deps.metrics.gauge(
    'firmquote_venue_followed_accounts',
    'LP accounts whose balances are followed',
    ['chain'],
    (gauge) => {
      for (const { port, accounts } of state.ledgers.values())
        gauge.set(accounts.size, { chain: port.chain.slug });
    },
  );
  return {
    watch: (chainId, account, operator) => watch(deps, state, chainId, account, operator),
    unwatch: (chainId, account) => unwatch(deps, state, chainId, account),
    maySign: (chainId, account, signer) => maySign(state, chainId, account, signer),
    maySignNow: (chainId, account, signer) => maySignNow(state, chainId, account, signer),
    available: (chainId, account, token) => available(state, chainId, account, token),
    operatorHeadroom: (chainId, account, operator, token) =>
      operatorHeadroom(state, chainId, account, operator, token),
    bondIsShort: (chainId, account, token) => bondIsShort(state, chainId, account, token),
    latestFillDeadline: (route, proofWindowSeconds) => latestBacked(state, route, proofWindowSeconds),
    latestFillDeadlineNow: (route, proofWindowSeconds) => latestBackedNow(state, route, proofWindowSeconds),
    onRevoked: (listener) => void state.revoked.push(listener),
    start: () => start(deps, state),
    stop: () => stop(state),
  };
}

async function watch(
  deps: LiquidityDeps,
  state: LiquidityState,
  chainId: number,
  account: Address,
  operator: Address,
): Promise<boolean> {
  const ledger = state.ledgers.get(chainId);
  if (!ledger || (operator !== account && !(await ledger.port.isOperator(account, operator)))) return false;
  const followed = ledger.accounts.get(account) ?? { sessions: 0, holdings: new Map(), operators: new Set() };
  ledger.accounts.set(account, followed);
  followed.sessions++;
  if (operator !== account) followed.operators.add(operator);
  try {
    await Promise.all([readDelays(ledger), readAccount(state, ledger, account)]);
  } catch (error) {
    unwatch(deps, state, chainId, account);
    throw error;
  }
  return true;
}

/** Ends one session's interest in the account. */
function unwatch(deps: LiquidityDeps, state: LiquidityState, chainId: number, account: Address): void {
  const ledger = state.ledgers.get(chainId);
  const followed = ledger?.accounts.get(account);
  if (!ledger || !followed) return;
  followed.sessions--;
  dropUnused(deps, ledger, account, followed);
}

const maySign = (state: LiquidityState, chainId: number, account: Address, signer: Address): boolean =>
  signer === account || state.ledgers.get(chainId)?.accounts.get(account)?.operators.has(signer) === true;

async function maySignNow(
  state: LiquidityState,
  chainId: number,
  account: Address,
  signer: Address,
): Promise<boolean> {
  const ledger = state.ledgers.get(chainId);
  if (signer === account || ledger?.accounts.get(account)?.operators.has(signer)) return true;
  return ledger ? ledger.port.isOperator(account, signer) : false;
}

function available(
  state: LiquidityState,
  chainId: number,
  account: Address,
  token: Address,
): bigint | undefined {
  const ledger = state.ledgers.get(chainId);
  const holding = ledger?.accounts.get(account)?.holdings.get(token);
  if (!ledger || !holding) return undefined;
  const lapsed = holding.pending > 0n && (ledger.port.head()?.timestamp ?? 0) > holding.lapsesAt;
  const free = holding.balance - (lapsed ? 0n : holding.pending) - holding.deferred;
  return free > 0n ? free : 0n;
}

function operatorHeadroom(
  state: LiquidityState,
  chainId: number,
  account: Address,
  operator: Address,
  token: Address,
): bigint | undefined {
  const ledger = state.ledgers.get(chainId);
  const limit = ledger?.accounts.get(account)?.holdings.get(token)?.limits.get(operator);
  return limit && limitAt(limit, ledger?.port.head()?.timestamp ?? 0).left;
}

const bondIsShort = (state: LiquidityState, chainId: number, account: Address, token: Address): boolean =>
  (state.ledgers.get(chainId)?.accounts.get(account)?.holdings.get(token)?.bond ?? 0n) <
  demandedBond(state, chainId, token);

function latestBacked(
  state: LiquidityState,
  { origin, dest, inputToken }: BackedRoute,
  proofWindowSeconds: number,
): UnixSeconds {
  const bonded = origin.id !== dest.id && demandedBond(state, origin.id, inputToken.address) > 0n;
  return latestFillDeadline(
    {
      paying: backingOn(state.ledgers.get(dest.id)),
      bonding: bonded ? backingOn(state.ledgers.get(origin.id)) : undefined,
    },
    proofWindowSeconds,
  );
}

async function latestBackedNow(
  state: LiquidityState,
  route: BackedRoute,
  proofWindowSeconds: number,
): Promise<UnixSeconds> {
  const ledgers = [route.origin.id, route.dest.id].map((id) => state.ledgers.get(id));
  await Promise.all(ledgers.map((ledger) => ledger && readDelays(ledger)));
  return latestBacked(state, route, proofWindowSeconds);
}

function start(deps: LiquidityDeps, state: LiquidityState): void {
  for (const ledger of state.ledgers.values())
    ledger.stop = ledger.port.onHead((head) => void follow(deps, state, ledger, head));
}

function stop(state: LiquidityState): void {
  for (const ledger of state.ledgers.values()) ledger.stop();
}
