/** `firmquote lp account`: an LP's account that is the contract `LpAccount`, signed with its owner's key. */

import { formatUnits, parseUnits } from '../../../../domain/amount.ts';
import { type Address, type Bytes32, isBytes32 } from '../../../../domain/hex.ts';
import { lpAccountDeployment } from '../../../../adapters/evm/deploy/lp-account.ts';
import { describeAccountCall } from '../../../../settlement/lp-account.ts';
import { badRequest } from '../../../wiring/bad-request.ts';
import { dateOf } from '../../../lp/account/change.ts';
import {
  type AccountWishes,
  createLpAccountOwner,
  type LpAccountOwner,
  deployLpAccount,
} from '../../../lp/account/lp-account-owner.ts';
import { routesFrom } from '../../../lp/account/routes.ts';
import type { OwnerStep } from '../../../lp/account/sender.ts';
import {
  type LpAccountState,
  readLpAccount,
  readMoverLimit,
  readRoute,
  readWaitingChanges,
} from '../../../lp/account/state.ts';
import { readAddress, readSalt } from '../../option-values.ts';
import { withChain } from '../../../wiring/networks.ts';
import type { LpAppConfig } from '../../../lp/config.ts';
import { toolContext } from '../../../wiring/process.ts';
import { addressOfKey } from '../../../wiring/signers.ts';
import {
  answer,
  onChain,
  onChains,
  type OwnerContext,
  type OwnerOptions,
  read,
  chainTokenOf,
  type Who,
} from '../owner.ts';

type AccountContext = OwnerContext & { lpAccount: LpAccountState; own: LpAccountOwner };

export async function deployAccount({
  firstOwner,
  salt,
  ...options
}: OwnerOptions & { firstOwner?: string; salt?: string }): Promise<void> {
  const given = readAddress(firstOwner);
  const saltWord = readSalt(salt);
  if (options.dryRun && given === undefined)
    throw badRequest('Give the first owner with --first-owner ADDRESS: --dry-run opens no key.');
  const steps: OwnerStep[] = [];
  let address: Address | undefined;
  await onChains(
    options,
    async ({ port, sender, account }) => {
      const owner = given ?? sender.from;
      address = lpAccountDeployment(owner, saltWord).address;
      if (address !== account)
        sender.refuse(
          `The configuration names the account ${account}; the LpAccount of the first owner ${owner}${salt === undefined ? '' : ' and this salt'} is ${address}. Name the right first owner (--first-owner) and salt (--salt), or put this address into lp.chains of the configuration.`,
        );
      const step = await deployLpAccount(port, sender, { firstOwner: owner, salt: saltWord });
      if (step === undefined)
        sender.report(`the LpAccount ${address} is there already on ${port.chain.slug}`);
      else steps.push(step);
    },
    { mayBe: 'anyone', payer: given },
  );
  answer(options, { address, steps }, [
    `Next, with the owner's key: firmquote lp account set --treasury ADDRESS --config ${options.config}`,
  ]);
}

export interface SetOptions extends OwnerOptions {
  treasury?: string;
  mover?: string;
  moverLimit?: string[];
  routes?: boolean;
  dropRoutes?: boolean;
}

export async function setAccount({
  treasury: treasuryText,
  mover: moverText,
  moverLimit = [],
  routes = false,
  dropRoutes = false,
  ...options
}: SetOptions): Promise<void> {
  if (routes && dropRoutes) throw badRequest('Give --routes or --drop-routes, not both.');
  const treasury = readAddress(treasuryText);
  const limits = moverLimit.map(readMoverLimitOption);
  const { config } = await read(options);
  const mover = await moverOf(moverText, config);
  const known = new Set(config.networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
  const unknown = limits.find(({ symbol }) => !known.has(symbol));
  if (unknown !== undefined)
    throw badRequest(
      `No chain has a token ${unknown.symbol}: nothing was changed. There are ${[...known].join(', ')}.`,
    );
  const routesOn = (chainId: number) => routesFrom(chainId, config.bridges, config.networks);
  if ((routes || dropRoutes) && config.networks.every(({ id }) => routesOn(id).length === 0))
    throw badRequest(
      'The configuration has no bridge between its chains, so there are no routes: set bridges.cctp or bridges.oft (docs/lp/bridges.md).',
    );
  if (routes) await requireAccountEverywhere(options);
  const steps: OwnerStep[] = [];
  let hasSetup = false;
  await onEachAccount(options, async ({ port, own, sender }) => {
    const { chain } = port;
    const wishes: AccountWishes = {
      ...(treasury !== undefined && { treasury }),
      ...(mover !== undefined && { mover }),
      moverLimits: limits.flatMap(({ symbol, amount }) => {
        const token = chain.tokens.find((one) => one.symbol === symbol);
        return token === undefined ? [] : [{ token, most: parseUnits(amount, token.decimals) }];
      }),
      routes: routes ? routesOn(chain.id) : [],
      droppedRoutes: dropRoutes ? routesOn(chain.id) : [],
    };
    const done = await own.set(wishes);
    if (done.length === 0) sender.report(`nothing is to be changed on ${chain.slug}`);
    steps.push(...done);
    hasSetup ||= done.some(({ what }) => what.includes('begin the set-up'));
  });
  answer(
    options,
    { steps },
    hasSetup
      ? [
          `For a day from now nothing waits, and neither would a thief of the owner's key. Next: firmquote lp operator set --limit TOKEN=AMOUNT/1h, then firmquote lp account finish, then firmquote lp deposit, all with --config ${options.config}`,
        ]
      : [],
  );
}

/** Reads the option's mover. null: nobody; undefined: as it is. */
async function moverOf(text: string | undefined, config: LpAppConfig): Promise<Address | null | undefined> {
  if (text === 'none') return null;
  if (text !== 'config') return readAddress(text);
  if (config.keys.mover === null)
    throw badRequest(
      'The configuration has no key of a mover (keys.mover). Give its address: --mover ADDRESS.',
    );
  return addressOfKey(config.keys.mover, toolContext('owner', config));
}

/**
 * Requires the account's code on each chain: what is sent to an address without it is lost until the code is
 * deployed.
 */
async function requireAccountEverywhere(options: OwnerOptions): Promise<void> {
  const { config } = await read(options);
  for (const network of config.networks) {
    const account = config.lp.chains.find(({ chainId }) => chainId === network.id)?.account;
    if (account === undefined || routesFrom(network.id, config.bridges, config.networks).length === 0)
      continue;
    const there = await withChain(network, toolContext('owner', config), (port) =>
      readLpAccount(port, account),
    );
    if (there === undefined)
      throw badRequest(
        `The account ${account} is no LpAccount on ${network.slug}, and a route may only lead to chains that have it. Deploy it first: firmquote lp account deploy --chain ${network.slug}`,
      );
  }
}

export async function finishSetup(options: OwnerOptions): Promise<void> {
  const steps = await collect(options, ({ own }) => own.finish());
  answer(
    options,
    { steps },
    steps.some(({ txHash }) => txHash !== null)
      ? ['From now on a change that widens waits two days. What narrows counts at once.']
      : [],
  );
}

export async function cancelChange(id: string, options: OwnerOptions): Promise<void> {
  if (!isBytes32(id))
    throw badRequest(`"${id}" is not the id of a change. firmquote lp account show lists those that wait.`);
  const wanted = id.toLowerCase() as Bytes32;
  let found = false;
  const steps = await collect(options, async ({ port, account, sender, own }) => {
    const waiting = await readWaitingChanges(port, account, sender.now());
    if (!waiting.some((change) => change.id === wanted)) return [];
    found = true;
    return own.cancel(wanted);
  });
  if (!found)
    throw badRequest(
      'No such change waits: it was never scheduled, was made or cancelled, or has lapsed. firmquote lp account show lists those that wait.',
    );
  answer(options, { steps }, []);
}

export async function takeToTreasury({
  amount,
  ...options
}: OwnerOptions & { amount: string }): Promise<void> {
  await onAccount(options, async ({ port, own }) => {
    const token = options.token === 'native' ? undefined : chainTokenOf(port, options.token);
    const wanted = amount === 'all' ? undefined : parseUnits(amount, token?.decimals ?? 18);
    answer(options, { steps: await own.take(token, wanted) }, []);
  });
}

export async function offerAccount(to: string, options: OwnerOptions): Promise<void> {
  const address = to === 'none' ? null : (readAddress(to) ?? null);
  const steps = await collect(options, ({ own }) => own.offer(address));
  answer(
    options,
    { steps },
    address !== null && steps.some(({ txHash, scheduledFor }) => txHash !== null && scheduledFor === null)
      ? [`Next, with the key of ${address}: firmquote lp account accept --config ${options.config}`]
      : [],
  );
}

export async function acceptAccount(options: OwnerOptions): Promise<void> {
  answer(options, { steps: await collect(options, ({ own }) => own.accept(), { mayBe: 'offered' }) }, []);
}

export async function closeAccount({
  yes = false,
  ...options
}: OwnerOptions & { yes?: boolean }): Promise<void> {
  if (!yes && options.dryRun !== true)
    throw badRequest(
      'Nothing was sent. Closing is for good: the account can never trade or be changed again, and anybody may bring its money to its treasury. Add --yes to close it.',
    );
  const steps = await collect(options, ({ own }) => own.close());
  answer(options, { steps }, [
    'Any key may now bring the money to the treasury, token by token: firmquote lp withdraw --amount all, after the delay firmquote lp withdraw --complete, and firmquote lp account take --amount all.',
  ]);
}

export async function showAccount(options: OwnerOptions): Promise<void> {
  const shown: object[] = [];
  const lines: string[] = [];
  await onChains({ ...options, dryRun: true }, async ({ port, account, lpAccount, sender, config }) => {
    const { slug, id, tokens } = port.chain;
    if (lpAccount === undefined) {
      shown.push({ chain: slug, account, isLpAccount: false });
      lines.push(`${slug}: ${account} is a plain account, or an LpAccount that is not deployed there.`);
      return;
    }
    const now = sender.now();
    const limits = await Promise.all(
      tokens.map(async ({ symbol, decimals, address }) => {
        const [limit, lies] = await Promise.all([
          readMoverLimit(port, account, address),
          port.tokenBalance(account, address),
        ]);
        const text = (amount: bigint) => formatUnits(amount, decimals);
        return {
          ...{ token: symbol, most: text(limit.most), requested: text(limit.requested) },
          ...{ sent: text(limit.sent), lies: text(lies) },
        };
      }),
    );
    const routes = await Promise.all(
      routesFrom(id, config.bridges, config.networks).map(async (route) => {
        const { via, feeBps } = await readRoute(port, account, route);
        return { route: route.name, via, feeBps, listed: via === route.via };
      }),
    );
    const waiting = (await readWaitingChanges(port, account, now)).map(({ data, ...change }) => ({
      ...change,
      call: describeAccountCall(data) ?? data,
    }));
    shown.push({ chain: slug, account, isLpAccount: true, ...lpAccount, limits, routes, waiting });
    const none = (address: Address | null) => address ?? 'none';
    lines.push(
      `${slug}: LpAccount ${account}`,
      `  owner     ${lpAccount.owner}${lpAccount.pendingOwner === null ? '' : `, offered to ${lpAccount.pendingOwner}`}`,
      `  treasury  ${none(lpAccount.treasury)}`,
      `  mover     ${none(lpAccount.mover)}`,
      `  escrow    ${none(lpAccount.escrow)}; bond contract ${none(lpAccount.bond)}`,
      `  state     ${stateOf(lpAccount, now)}`,
      ...limits.map(
        ({ token, most, requested, sent, lies }) =>
          `  ${token}: the mover may move ${most} a day; today it requested ${requested} and sent ${sent}; ${lies} lie on the account`,
      ),
      ...routes.map(
        ({ route, listed, feeBps }) =>
          `  route ${route}: ${listed ? `listed, for a fee of at most ${feeBps} bps` : 'NOT LISTED'}`,
      ),
      ...waiting.map(
        ({ id: change, call, availableAt, lapsesAt }) =>
          `  WAITS: ${call}, from ${dateOf(availableAt)} until ${dateOf(lapsesAt)}; firmquote lp account cancel ${change}`,
      ),
    );
  });
  answer(options, { steps: [], accounts: shown }, lines);
}

function stateOf({ closed, escrow, setupEndsAt }: LpAccountState, now: number): string {
  if (closed) return 'CLOSED: anybody may bring its money to the treasury';
  if (escrow === null) return 'deployed, not set up: firmquote lp account set';
  if (now < setupEndsAt) return `in its set-up until ${dateOf(setupEndsAt)}: nothing waits`;
  return 'in use: what widens waits two days';
}

const asAccount =
  (work: (context: AccountContext) => Promise<void>) =>
  async (context: OwnerContext): Promise<void> => {
    const { lpAccount, port, account, sender } = context;
    if (lpAccount === undefined)
      throw badRequest(
        `The account ${account} is no LpAccount on ${port.chain.slug}. To deploy one: firmquote lp account deploy. To use a plain account: firmquote lp operator, deposit, withdraw and bond.`,
      );
    await work({ ...context, lpAccount, own: createLpAccountOwner(port, account, sender, lpAccount) });
  };

const onAccount = (options: OwnerOptions, work: (context: AccountContext) => Promise<void>): Promise<void> =>
  onChain(options, asAccount(work));

const onEachAccount = (
  options: OwnerOptions,
  work: (context: AccountContext) => Promise<void>,
  who: Who = {},
): Promise<void> => onChains(options, asAccount(work), who);

async function collect(
  options: OwnerOptions,
  work: (context: AccountContext) => Promise<OwnerStep[]>,
  who: Who = {},
): Promise<OwnerStep[]> {
  const steps: OwnerStep[] = [];
  await onEachAccount(options, async (context) => void steps.push(...(await work(context))), who);
  return steps;
}

/** Reads `USDC=1000000`: a token's symbol, and whole tokens of each day. */
function readMoverLimitOption(text: string): { symbol: string; amount: string } {
  const [, symbol = '', amount = ''] = /^([^=/]+)=([0-9]+(?:\.[0-9]+)?)$/.exec(text) ?? [];
  if (symbol === '')
    throw badRequest(
      `"${text}" is not a limit of the mover: write the token and the most that it moves in a day, such as USDC=1000000.`,
    );
  return { symbol, amount };
}
