/** Keeps in memory the balances, limits and bonds of the LPs of one escrow, and reads them from the chain. */

import { max } from '../../domain/amount.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { type Backing, type BackingDelays, type BondDemand, firmBond } from '../../domain/bond.ts';
import type { SpendingLimit } from '../../settlement/spending-limit.ts';
import type { OpenQuotes } from './open-quotes.ts';

export interface LiquidityDeps {
  chains: ReadonlyMap<number, ChainPort>;
  openQuotes: Pick<OpenQuotes, 'promised' | 'isPromised' | 'settle'>;
  bondDemands?: readonly BondDemand[];
  log: Log;
  metrics: Metrics;
}

interface Holding {
  balance: bigint;
  pending: bigint;
  lapsesAt: UnixSeconds;
  deferred: bigint;
  /** The LP's bond in this token, in base units; 0n where no bond is demanded. */
  bond: bigint;
  /** The spending limits by operator. An operator without limits is absent. */
  limits: Map<Address, SpendingLimit>;
}

interface Followed {
  /** Live sessions that named the account. Without one it is followed until its promises end. */
  sessions: number;
  holdings: Map<Address, Holding>;
  /** Besides the account itself, which may always sign. */
  operators: Set<Address>;
}

/** The ledger balances of one escrow's LPs, as the venue follows them. */
export interface EscrowLedger {
  port: ChainPort;
  accounts: Map<Address, Followed>;
  /** undefined before an account is followed. */
  delays: BackingDelays | undefined;
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

/** The ledgers that are followed, and the listeners for revoked operators. */
export interface LiquidityState {
  readonly bondDemands: readonly BondDemand[];
  readonly revoked: ((chainId: number, account: Address, operator: Address) => void)[];
  /** Opened cross-chain orders of promised nonce groups; a fill ends the group. */
  readonly groups: Map<Bytes32, string>;
  readonly ledgers: Map<number, EscrowLedger>;
}

/** Reads the delays of the contracts, once. */
export async function readDelays(ledger: EscrowLedger): Promise<void> {
  if (ledger.delays !== undefined) return;
  const { port } = ledger;
  const [withdrawalSeconds, takeBackSeconds] = await Promise.all([
    port.withdrawalDelay(),
    port.bondTakeBackDelay(),
  ]);
  ledger.delays = { withdrawalSeconds, takeBackSeconds };
}

const NOT_READ: BackingDelays = { withdrawalSeconds: 0, takeBackSeconds: 0 };

/** Before the delays are read nothing counts as backed. */
export const backingOn = (ledger: EscrowLedger | undefined): Backing => ({
  now: ledger?.port.head()?.timestamp ?? 0,
  delays: ledger?.delays ?? NOT_READ,
});

export const readAccount = (state: LiquidityState, ledger: EscrowLedger, account: Address): Promise<void[]> =>
  Promise.all(ledger.port.chain.tokens.map(({ address }) => readHolding(state, ledger, account, address)));

/**
 * Read before and after the balance, and the larger counts: money that is paid out meanwhile must not
 * appear free.
 */
export async function readHolding(
  state: LiquidityState,
  { port, accounts }: EscrowLedger,
  account: Address,
  token: Address,
): Promise<void> {
  const before = await port.ledgerDeferred(account, token);
  const operators = [...(accounts.get(account)?.operators ?? [])];
  const [balance, pending, bond, limits] = await Promise.all([
    port.ledgerBalance(account, token),
    port.pendingWithdrawal(account, token),
    demandedBond(state, port.chain.id, token) > 0n ? port.bond(account, token) : undefined,
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

export const demandedBond = (state: LiquidityState, chainId: number, token: Address): bigint =>
  state.bondDemands.find((demand) => demand.chainId === chainId && demand.token === token)?.amount ?? 0n;

export function dropUnused(
  deps: LiquidityDeps,
  { port, accounts }: EscrowLedger,
  account: Address,
  { sessions }: Followed,
): void {
  const { id, tokens } = port.chain;
  if (
    sessions === 0 &&
    !tokens.some(({ address }) => deps.openQuotes.promised(id, account, address, '') > 0n)
  )
    accounts.delete(account);
}
