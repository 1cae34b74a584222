/**
 * Reads what an `LpAccount` says of itself on one chain: roles, limits of the mover, and changes that wait.
 */

import { decodeEventLog, encodeEventTopics, type Hex as ViemHex } from 'viem';
import { readContract, tryReadContract } from '../../../adapters/evm/chain/read-contract.ts';
import { type Address, type Bytes32, type Hex, ZERO_ADDRESS } from '../../../domain/hex.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import { lpAccountAbi } from '../../../settlement/abi/lp-account.ts';

export interface LpAccountState {
  owner: Address;
  /** null: nobody was offered the account. */
  pendingOwner: Address | null;
  /** null: `initialize` was not called yet. */
  escrow: Address | null;
  bond: Address | null;
  mover: Address | null;
  treasury: Address | null;
  /** Changes need not wait before this time. */
  setupEndsAt: UnixSeconds;
  closed: boolean;
}

/** A change that the owner scheduled and has neither made nor cancelled. */
interface WaitingChange {
  id: Bytes32;
  /** Calldata of the call that will make it. */
  data: Hex;
  availableAt: UnixSeconds;
  lapsesAt: UnixSeconds;
}

interface MoverLimit {
  /** Base units of each day; 0n: the mover moves nothing. */
  most: bigint;
  requested: bigint;
  sent: bigint;
}

type Reader = Pick<ChainPort, 'read'>;

/** Reads the account; undefined: there is no code at the address, or the code of another contract. */
export async function readLpAccount(
  { read }: Reader,
  account: Address,
  at?: bigint,
): Promise<LpAccountState | undefined> {
  const setupEndsAt = await tryReadContract(read, { ...view(account), functionName: 'setupEndsAt' }, at);
  const changeDelay = await tryReadContract(read, { ...view(account), functionName: 'CHANGE_DELAY' }, at);
  if (setupEndsAt === undefined || changeDelay === undefined) return undefined;
  const addressOf = async (functionName: 'pendingOwner' | 'escrow' | 'bond' | 'mover' | 'treasury') =>
    presentOf(await readContract(read, { ...view(account), functionName }, at));
  const [owner, pendingOwner, escrow, bond, mover, treasury, closed] = await Promise.all([
    readContract(read, { ...view(account), functionName: 'owner' }, at),
    addressOf('pendingOwner'),
    addressOf('escrow'),
    addressOf('bond'),
    addressOf('mover'),
    addressOf('treasury'),
    readContract(read, { ...view(account), functionName: 'closed' }, at),
  ]);
  return {
    ...{ pendingOwner, escrow, bond, mover, treasury, closed },
    owner: owner.toLowerCase() as Address,
    setupEndsAt: Number(setupEndsAt),
  };
}

export async function readMoverLimit(
  { read }: Reader,
  account: Address,
  token: Address,
  at?: bigint,
): Promise<MoverLimit> {
  const request = { ...view(account), functionName: 'moverLimit', args: [token] } as const;
  const [most, requested, sent] = await readContract(read, request, at);
  return { most, requested, sent };
}

/** Reads a route. `via`: null where it is not listed. */
export async function readRoute(
  { read }: Reader,
  account: Address,
  { list, asset, destination }: { list: 'cctpRoute' | 'oftRoute'; asset: Address; destination: number },
  at?: bigint,
): Promise<{ via: Address | null; feeBps: number }> {
  const request = { ...view(account), functionName: list, args: [asset, destination] } as const;
  const [via, feeBps] = await readContract(read, request, at);
  return { via: presentOf(via), feeBps };
}

const [SCHEDULED] = encodeEventTopics({ abi: lpAccountAbi, eventName: 'ChangeScheduled' });

/** Ascending by the time from which they can be made. `now`: the chain's. */
export async function readWaitingChanges(
  port: Pick<ChainPort, 'read' | 'logsSince'>,
  account: Address,
  now: UnixSeconds,
): Promise<WaitingChange[]> {
  const [delay, window] = await Promise.all([
    readContract(port.read, { ...view(account), functionName: 'CHANGE_DELAY' }),
    readContract(port.read, { ...view(account), functionName: 'CHANGE_WINDOW' }),
  ]);
  const logs = await port.logsSince(account, [SCHEDULED as Hex], now - Number(delay + window));
  const newest = new Map<Bytes32, WaitingChange>();
  for (const { topics, data } of logs) {
    const { args } = decodeEventLog({
      ...{ abi: lpAccountAbi, eventName: 'ChangeScheduled', data },
      topics: topics as [ViemHex, ...ViemHex[]],
    });
    newest.set(args.id, {
      ...{ id: args.id, data: args.change },
      availableAt: Number(args.availableAt),
      lapsesAt: Number(args.lapsesAt),
    });
  }
  const changes = [...newest.values()].filter(({ lapsesAt }) => lapsesAt >= now);
  const still = await Promise.all(
    changes.map(({ id }) =>
      readContract(port.read, { ...view(account), functionName: 'availableAt', args: [id] }),
    ),
  );
  return changes
    .filter(({ availableAt }, at) => still[at] === BigInt(availableAt))
    .sort((a, b) => a.availableAt - b.availableAt);
}

const view = (address: Address) => ({ abi: lpAccountAbi, address }) as const;

const presentOf = (address: Address): Address | null =>
  address === ZERO_ADDRESS ? null : (address.toLowerCase() as Address);
