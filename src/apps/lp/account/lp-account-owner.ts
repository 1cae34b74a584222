/** The owner's actions that only an `LpAccount` has: set-up, roles, limits, routes, treasury, and its end. */

import { formatTokens, formatUnits } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import { type Address, type Bytes32, type Hex, ZERO_ADDRESS } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import { lpAccountDeployment } from '../../../adapters/evm/deploy/lp-account.ts';
import { accountCall } from '../../../settlement/lp-account.ts';
import { dateOf, makeChange } from './change.ts';
import type { OwnerStep, Sender } from './sender.ts';
import { type LpAccountState, readLpAccount, readMoverLimit, readRoute } from './state.ts';

/** Leads to the same address on another chain. `via`: messenger of CCTP, or token of the OFT. */
export interface TransferRoute {
  list: 'cctpRoute' | 'oftRoute';
  asset: Address;
  destination: number;
  via: Address;
  feeBps: number;
  /** The route for people, such as "USDC by CCTP to arc". */
  name: string;
}

/** Changes to an account; what is undefined stays as it is. */
export interface AccountWishes {
  treasury?: Address;
  /** null: no address may move money. */
  mover?: Address | null;
  /** Base units of each day. */
  moverLimits: readonly { token: TokenInfo; most: bigint }[];
  routes: readonly TransferRoute[];
  droppedRoutes: readonly TransferRoute[];
}

/** The account keeps a limit of the mover in 128 bits. */
const MAX_MOST = 2n ** 128n - 1n;

/** Sends the account's creation code. Anyone may. undefined: it is there. */
export async function deployLpAccount(
  port: ChainPort,
  sender: Sender,
  { firstOwner, salt }: { firstOwner: Address; salt: Bytes32 },
): Promise<OwnerStep | undefined> {
  const { address, to, data } = lpAccountDeployment(firstOwner, salt);
  if ((await readLpAccount(port, address)) !== undefined) return undefined;
  if (!(await port.hasCode(to)))
    sender.refuse(
      `The CREATE2 deployer ${to} is not on ${port.chain.slug}, so the account cannot have its address there. Whoever deployed the escrow on this chain knows how: docs/venue/deploy.md.`,
    );
  return sender.run(`deploy the LpAccount ${address} on ${port.chain.slug}`, to, data);
}

export interface LpAccountOwner {
  /** Initialises the account where that was not done, and brings about each wish that is not true yet. */
  set(wishes: AccountWishes): Promise<OwnerStep[]>;
  /** Ends the set-up, in which changes need no delay. */
  finish(): Promise<OwnerStep[]>;
  /** Cancels a scheduled change. */
  cancel(id: Bytes32): Promise<OwnerStep[]>;
  /**
   * Takes from the account. `token` undefined: native currency. `amount` undefined: everything that lies on
   * the account.
   */
  take(token: TokenInfo | undefined, amount: bigint | undefined): Promise<OwnerStep[]>;
  /** Offers the account to a new owner, who has to accept; null takes an offer back. */
  offer(to: Address | null): Promise<OwnerStep[]>;
  accept(): Promise<OwnerStep[]>;
  close(): Promise<OwnerStep[]>;
}

interface Ground {
  port: ChainPort;
  account: Address;
  sender: Sender;
  state: LpAccountState;
}

/** Sends a change of the account now, or schedules it where the account wants a delay. */
type Change = (what: string, data: Hex) => Promise<OwnerStep[]>;

export function createLpAccountOwner(
  port: ChainPort,
  account: Address,
  sender: Sender,
  state: LpAccountState,
): LpAccountOwner {
  const ground: Ground = { port, account, sender, state };
  return {
    set: (wishes) => set(ground, wishes),
    finish: () => finish(ground),
    cancel: (id) => call(ground, `cancel the scheduled change ${id}`, accountCall.cancelById(id)),
    take: (token, amount) => take(ground, token, amount),
    offer: (to) => offer(ground, to),
    accept: () => call(ground, `accept the account on ${port.chain.slug}`, accountCall.acceptOwnership()),
    close: () => close(ground),
  };
}

const call = async ({ account, sender }: Ground, what: string, data: Hex): Promise<OwnerStep[]> => [
  await sender.run(what, account, data),
];

async function set(
  ground: Ground,
  { treasury, mover, moverLimits, routes, droppedRoutes }: AccountWishes,
): Promise<OwnerStep[]> {
  const { port, account, sender, state } = ground;
  for (const { token, most } of moverLimits)
    if (most > MAX_MOST)
      sender.refuse(`A limit of ${formatTokens(most, token)} is more than the account can count.`);
  for (const [role, address] of [
    ['treasury', treasury],
    ['mover', mover],
  ] as const)
    if (address === account || (role === 'mover' && address === state.owner))
      sender.refuse(
        `The ${role} cannot be ${address === account ? 'the account itself' : "the owner: the mover's key is on a machine, the owner's is not"}. Name another address.`,
      );
  const steps = await initialise(ground);
  const change = changer(ground, steps.length === 0 || sender.sends);
  if (treasury !== undefined && treasury !== state.treasury)
    steps.push(...(await change(`make ${treasury} the treasury`, accountCall.setTreasury(treasury))));
  if (mover !== undefined && mover !== state.mover)
    steps.push(
      ...(await change(
        mover === null ? 'let nobody move inventory' : `make ${mover} the mover`,
        accountCall.setMover(mover ?? ZERO_ADDRESS),
      )),
    );
  for (const { token, most } of moverLimits) {
    const now = await readMoverLimit(port, account, token.address);
    if (now.most === most) continue;
    const what = `let the mover move ${formatTokens(most, token)} a day`;
    steps.push(...(await change(what, accountCall.setMoverLimit(token.address, most))));
  }
  for (const route of routes) steps.push(...(await setRoute(ground, route, route, change)));
  for (const route of droppedRoutes)
    steps.push(...(await setRoute(ground, route, { via: ZERO_ADDRESS, feeBps: 0 }, change)));
  return steps;
}

async function initialise(ground: Ground): Promise<OwnerStep[]> {
  const {
    port: { chain },
    account,
    sender,
    state,
  } = ground;
  const bond = chain.quoteBond ?? ZERO_ADDRESS;
  if (state.escrow === null)
    return call(
      ground,
      `name the escrow ${chain.escrow} and ${chain.quoteBond === null ? 'no bond contract' : `the bond contract ${bond}`} for good, and begin the set-up on ${chain.slug}`,
      accountCall.initialize(chain.escrow, bond),
    );
  if (state.escrow !== chain.escrow)
    sender.refuse(
      `The account ${account} on ${chain.slug} belongs to the escrow ${state.escrow} for good; the configuration names ${chain.escrow}. Correct the configuration, or deploy another account (--salt).`,
    );
  if ((state.bond ?? ZERO_ADDRESS) !== bond)
    sender.report(
      `WARNING: the account's bond contract on ${chain.slug} is ${state.bond ?? 'none'} for good; the configuration names ${chain.quoteBond ?? 'none'}.`,
    );
  return [];
}

/** Makes changes; before `initialize` is mined, nothing that follows can be simulated. */
const changer =
  ({ port, account, sender }: Ground, isSimulable: boolean): Change =>
  async (what, data) =>
    isSimulable ? makeChange(port, sender, account, what, data) : [sender.later(what, account, data)];

async function setRoute(
  { port, account, sender }: Ground,
  { list, asset, destination, name }: TransferRoute,
  { via, feeBps }: { via: Address; feeBps: number },
  change: Change,
): Promise<OwnerStep[]> {
  const now = await readRoute(port, account, { list, asset, destination });
  if ((now.via ?? ZERO_ADDRESS) === via && now.feeBps === feeBps) {
    sender.report(
      `${name}: ${via === ZERO_ADDRESS ? 'is not listed' : 'is listed already'} on ${port.chain.slug}`,
    );
    return [];
  }
  const set = list === 'cctpRoute' ? accountCall.setCctpRoute : accountCall.setOftRoute;
  const what =
    via === ZERO_ADDRESS
      ? `take the route off the list: ${name}`
      : `list the route ${name} through ${via}, for a fee of at most ${feeBps} bps`;
  return change(what, set(asset, destination, via, feeBps));
}

async function finish(ground: Ground): Promise<OwnerStep[]> {
  const {
    port: { chain },
    sender,
    state,
  } = ground;
  if (state.escrow === null)
    sender.refuse(
      `The set-up on ${chain.slug} has not begun: firmquote lp account set --treasury ADDRESS. Without escrow and treasury the account is of no use.`,
    );
  if (sender.now() >= state.setupEndsAt) {
    sender.report(`the set-up on ${chain.slug} is over since ${dateOf(state.setupEndsAt)}`);
    return [];
  }
  if (state.treasury === null)
    sender.refuse(
      `The account on ${chain.slug} has no treasury, so no money could leave it, and naming one later takes two days. Name it first: firmquote lp account set --treasury ADDRESS.`,
    );
  return call(ground, `finish the set-up on ${chain.slug}`, accountCall.finishSetup());
}

async function take(
  ground: Ground,
  token: TokenInfo | undefined,
  amount: bigint | undefined,
): Promise<OwnerStep[]> {
  const { port, account, sender, state } = ground;
  const { chain } = port;
  const lies = await (token === undefined
    ? port.nativeBalance(account)
    : port.tokenBalance(account, token.address));
  const wanted = amount ?? lies;
  const text = (units: bigint) =>
    token === undefined ? `${formatUnits(units, 18)} of native currency` : formatTokens(units, token);
  if (state.treasury === null)
    sender.refuse(
      `The account on ${chain.slug} has no treasury yet. Name one: firmquote lp account set --treasury ADDRESS.`,
    );
  if (wanted <= 0n || wanted > lies)
    sender.refuse(
      `On the account ${account} on ${chain.slug} lie ${text(lies)}: ${text(wanted)} cannot be taken. What is in the escrow is withdrawn first: firmquote lp withdraw.`,
    );
  return call(
    ground,
    `take ${text(wanted)} to the treasury ${state.treasury}`,
    token === undefined
      ? accountCall.takeNativeToTreasury(wanted)
      : accountCall.takeToTreasury(token.address, wanted),
  );
}

async function offer(ground: Ground, to: Address | null): Promise<OwnerStep[]> {
  const { port, account, sender, state } = ground;
  const { chain } = port;
  if (to === state.pendingOwner) {
    sender.report(
      to === null ? `nobody is offered the account on ${chain.slug}` : `${to} is offered it already`,
    );
    return [];
  }
  if (to === null) return call(ground, 'take the offer back', accountCall.transferOwnership(ZERO_ADDRESS));
  const what = `offer the account on ${chain.slug} to ${to}, who then accepts it`;
  return makeChange(port, sender, account, what, accountCall.transferOwnership(to));
}

async function close(ground: Ground): Promise<OwnerStep[]> {
  const {
    port: { chain },
    sender,
    state,
  } = ground;
  if (state.closed) {
    sender.report(`the account on ${chain.slug} is closed`);
    return [];
  }
  if (state.treasury === null)
    sender.refuse(
      `The account on ${chain.slug} has no treasury, so it cannot be closed. Name one: firmquote lp account set --treasury ADDRESS.`,
    );
  return call(ground, `close the account on ${chain.slug} for good`, accountCall.close());
}
