/** `firmquote lp deposit`, `withdraw` and `operator`: signed with the owner's key. */

import { formatUnits, parseUnits } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Signer } from '../../../ports/signer.ts';
import { loadConfig } from '../../config/load.ts';
import type { SecretContext } from '../../wiring/keys.ts';
import { addressOfKey } from '../../wiring/signers.ts';
import { type LpAppConfig, zLpAppConfig } from '../../lp/config.ts';
import { dateOf } from '../../lp/account/change.ts';
import { createSender, type OwnerStep, type Sender } from '../../lp/account/sender.ts';
import { type LpAccountState, readLpAccount } from '../../lp/account/state.ts';
import { createOwner, type Owner } from '../../lp/owner/owner.ts';
import { withChain } from '../../wiring/networks.ts';
import { lpAccountDeployment } from '../../../adapters/evm/deploy/lp-account.ts';
import { toolContext } from '../../wiring/process.ts';
import { badConfig, badRequest } from '../../wiring/bad-request.ts';
import { openKeystore } from '../../terminal/open-keystore.ts';
import { readAddress, secondsOf } from '../option-values.ts';
import { printLines } from '../../terminal/table.ts';

export interface OwnerOptions {
  config?: string;
  owner?: string;
  ownerPasswordFile?: string;
  ownerPasswordEnv?: string;
  chain?: string;
  token?: string;
  dryRun?: boolean;
  json?: boolean;
}

export interface OwnerContext {
  config: LpAppConfig;
  account: Address;
  port: ChainPort;
  sender: Sender;
  /** undefined: a plain account. */
  lpAccount: LpAccountState | undefined;
  owner: Owner;
}

export async function deposit({ amount, ...options }: OwnerOptions & { amount: string }): Promise<void> {
  await onChain(options, async ({ port, owner, account, lpAccount }) => {
    const token = chainTokenOf(port, options.token);
    const steps = await owner.deposit(
      token,
      amount === 'all' && lpAccount !== undefined
        ? await port.tokenBalance(account, token.address)
        : parseUnits(amount, token.decimals),
    );
    const balance = await port.ledgerBalance(account, token.address);
    answer(
      options,
      { steps, balance: formatUnits(balance, token.decimals) },
      steps[0]?.txHash === null
        ? []
        : [
            `The account has ${formatUnits(balance, token.decimals)} ${token.symbol} in the escrow on ${port.chain.slug}; a running LP uses it when the block is final (depth ${port.chain.depth}).`,
          ],
    );
  });
}

export async function withdraw({
  amount,
  complete,
  cancel,
  replace,
  to,
  ...options
}: OwnerOptions & {
  amount?: string;
  complete?: boolean;
  cancel?: boolean;
  replace?: boolean;
  to?: string;
}): Promise<void> {
  if ([amount !== undefined, complete, cancel].filter(Boolean).length > 1)
    throw badRequest('Give only one of --amount (request), --complete (withdraw) and --cancel.');
  const receiver = readAddress(to);
  const isQuery = amount === undefined && !complete && !cancel;
  await onChain({ ...options, dryRun: options.dryRun || isQuery }, async ({ port, owner, account }) => {
    const token = chainTokenOf(port, options.token);
    const act = async (): Promise<OwnerStep[]> => {
      if (complete) return owner.complete(token, receiver ?? account);
      if (cancel) return owner.cancel(token);
      if (amount === undefined) return [];
      return owner.request(
        token,
        amount === 'all'
          ? await port.ledgerBalance(account, token.address)
          : parseUnits(amount, token.decimals),
        replace === true,
      );
    };
    const steps = await act();
    const standing = await owner.pending(token);
    const lines =
      standing === undefined
        ? [`No withdrawal of ${token.symbol} is pending on ${port.chain.slug}.`]
        : [
            `${formatUnits(standing.amount, token.decimals)} ${token.symbol} can be withdrawn from ${dateOf(standing.availableAt)} until ${dateOf(standing.lapsesAt)} with: firmquote lp withdraw --complete`,
          ];
    answer(
      options,
      {
        steps,
        pending:
          standing === undefined
            ? null
            : { ...standing, amount: formatUnits(standing.amount, token.decimals) },
      },
      lines,
    );
  });
}

export async function setOperator(
  address: string | undefined,
  { limit = [], unlimited = false, ...options }: OwnerOptions & { limit?: string[]; unlimited?: boolean },
): Promise<void> {
  const limits = limit.map(readLimit);
  if (unlimited && limits.length > 0) throw badRequest('Give --limit or --unlimited, not both.');
  if (!unlimited && limits.length === 0)
    throw badRequest(
      'Say what the operator may spend: --limit USDC=250000/1h for each token, or --unlimited. A limit is the most that a thief of its key can take in that time; without one it is all that the account has in the escrow.',
    );
  await requireTokens(limits, options);
  const { operator, steps } = await onEachChain(address, options, async (owner, who, { chain }) => {
    if (unlimited) return owner.allowOperator(who);
    const here = limits.flatMap(({ symbol, amount, windowSeconds }) => {
      const token = chain.tokens.find((one) => one.symbol === symbol);
      return token === undefined ? [] : [{ token, most: parseUnits(amount, token.decimals), windowSeconds }];
    });
    return owner.limitOperator(who, here);
  });
  answer(
    options,
    { operator, steps },
    steps.some(isMade)
      ? [
          `${operator} may now sign quotes and fills for the account${unlimited ? ', without limits' : ', within its limits'}; it cannot withdraw.`,
        ]
      : [],
  );
}

export async function revokeOperator(address: string | undefined, options: OwnerOptions): Promise<void> {
  const { operator, steps } = await onEachChain(address, options, (owner, who) => owner.revokeOperator(who));
  answer(
    options,
    { operator, steps },
    steps.some(({ txHash }) => txHash !== null)
      ? [
          `${operator} may no longer sign for the account: its signed quotes can no longer be executed. Its limits are kept: they hold again if it is set again.`,
        ]
      : [],
  );
}

/** Runs on each chain with the operator given, or with that of the configuration. */
async function onEachChain(
  address: string | undefined,
  options: OwnerOptions,
  work: (owner: Owner, operator: Address, port: ChainPort) => Promise<OwnerStep[]>,
): Promise<{ operator: Address; steps: OwnerStep[] }> {
  const given = readAddress(address);
  const { config } = await read(options);
  const operator = given ?? (await addressOfKey(config.keys.operator, toolContext('owner', config)));
  const steps: OwnerStep[] = [];
  await onChains(options, async ({ owner, port }) => {
    steps.push(...(await work(owner, operator, port)));
  });
  return { operator, steps };
}

/** A limit counts on every chain that has its token. A symbol that none has is a mistake. */
async function requireTokens(limits: readonly { symbol: string }[], options: OwnerOptions): Promise<void> {
  const { config } = await read(options);
  const chains = config.networks.filter(
    ({ slug, id }) => options.chain === undefined || slug === options.chain || String(id) === options.chain,
  );
  const known = new Set(chains.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
  const unknown = limits.filter(({ symbol }) => !known.has(symbol));
  if (chains.length > 0 && unknown.length > 0)
    throw badRequest(
      `No chain has a token ${unknown.map(({ symbol }) => symbol).join(' or ')}: nothing was changed. There are ${[...known].join(', ')}.`,
    );
}

/** Reads `USDC=250000/1h`: a token's symbol, whole tokens, and the window. */
function readLimit(text: string): { symbol: string; amount: string; windowSeconds: number } {
  const [, symbol = '', amount = '', window = ''] = /^([^=/]+)=([0-9]+(?:\.[0-9]+)?)\/(.+)$/.exec(text) ?? [];
  const windowSeconds = secondsOf(window);
  if (windowSeconds === undefined)
    throw badRequest(
      `"${text}" is not a limit: write the token, the most it may spend and the time, such as USDC=250000/1h (s, m, h or d).`,
    );
  return { symbol, amount, windowSeconds };
}

export interface Who {
  /** The account whose key may sign; `offered`: the one that was offered an `LpAccount`. */
  mayBe?: 'owner' | 'offered' | 'anyone';
  /** The address that would send when no key is opened. Default: the owner. */
  payer?: Address | undefined;
}

/** Runs on the chain of the options, or on one after the other. The owner's keystore is opened once. */
export async function onChains(
  options: OwnerOptions,
  work: (context: OwnerContext) => Promise<void>,
  who: Who = {},
): Promise<void> {
  const { config } = await read(options);
  const chains = options.chain === undefined ? config.networks.map(({ slug }) => slug) : [options.chain];
  const signer = await signerOf(options, config);
  for (const chain of chains) await onChain({ ...options, chain }, work, who, signer);
}

const signerOf = async (options: OwnerOptions, config: LpAppConfig): Promise<Signer | undefined> =>
  options.dryRun ? undefined : openOwner(options, config, toolContext('owner', config).secrets);

export async function onChain(
  options: OwnerOptions,
  work: (context: OwnerContext) => Promise<void>,
  { mayBe = 'owner', payer }: Who = {},
  opened?: Signer,
): Promise<void> {
  const { config } = await read(options);
  const named = options.chain;
  const network =
    config.networks.length === 1 && named === undefined
      ? config.networks[0]
      : config.networks.find(({ slug, id }) => slug === named || String(id) === named);
  const slugs = config.networks.map(({ slug }) => slug).join(', ');
  if (network === undefined)
    throw badRequest(
      named === undefined
        ? `Give the chain with --chain. One of: ${slugs}.`
        : `The configuration has no chain "${named}". It has: ${slugs}.`,
    );
  const account = config.lp.chains.find(({ chainId }) => chainId === network.id)?.account;
  if (account === undefined)
    throw badConfig(`The configuration names no account on ${network.slug} (lp.chains).`);
  const { log, secrets } = toolContext('owner', config);
  const signer = opened ?? (await signerOf(options, config));
  const report = (line: string): void => void (options.json || console.log(line));
  await withChain(network, { log, secrets }, async (port) => {
    const lpAccount = await readLpAccount(port, account);
    if (signer !== undefined && mayBe !== 'anyone')
      requireOwner(signer.address, { account, lpAccount, slug: network.slug, mayBe });
    const sender = createSender(
      port,
      signer?.address ?? payer ?? lpAccount?.owner ?? account,
      signer,
      report,
    );
    await work({
      config,
      account,
      port,
      sender,
      lpAccount,
      owner: createOwner(port, account, sender, lpAccount),
    });
  });
}

/**
 * Requires the owner's key, unless an `LpAccount` is closed: then everybody may bring its money to its
 * treasury.
 */
function requireOwner(
  key: Address,
  {
    account,
    lpAccount,
    slug,
    mayBe,
  }: { account: Address; lpAccount: LpAccountState | undefined; slug: string; mayBe: 'owner' | 'offered' },
): void {
  if (lpAccount === undefined) {
    if (key === account) return;
    const advice =
      lpAccountDeployment(key).address === account
        ? `It is the address of this key's LpAccount, which is not deployed there: firmquote lp account deploy`
        : "Use the keystore of the account's owner";
    throw badRequest(`This key is ${key}'s, but the account of the LP on ${slug} is ${account}. ${advice}.`);
  }
  const right = mayBe === 'owner' ? lpAccount.owner : lpAccount.pendingOwner;
  if (key === right || lpAccount.closed) return;
  throw badRequest(
    mayBe === 'owner'
      ? `This key is ${key}'s, but the owner of the LpAccount ${account} on ${slug} is ${lpAccount.owner}. Use the keystore of the owner.`
      : `This key is ${key}'s, but the LpAccount ${account} on ${slug} is offered to ${right ?? 'nobody'}. Use the keystore of who was offered it.`,
  );
}

/** Returns true when the step has taken effect, so was neither only simulated nor only scheduled. */
const isMade = ({ txHash, scheduledFor }: OwnerStep): boolean => txHash !== null && scheduledFor === null;

export async function read({ config: file }: OwnerOptions): Promise<{ config: LpAppConfig }> {
  if (file === undefined) throw badRequest('Give the configuration of the LP: --config FILE.');
  return loadConfig(zLpAppConfig, file, process.env);
}

async function openOwner(
  { owner, ownerPasswordFile, ownerPasswordEnv }: OwnerOptions,
  { keys }: LpAppConfig,
  secrets: SecretContext,
) {
  if (owner === undefined)
    throw badRequest(
      "Give the owner's keystore: --owner KEYSTORE. To print the transactions for a multisig or hardware wallet: --dry-run.",
    );
  if ('keystore' in keys.operator && keys.operator.keystore === owner)
    throw badRequest(`${owner} is the operator's key, which cannot withdraw. Give the owner's keystore.`);
  return openKeystore(
    { keystore: owner, passwordFile: ownerPasswordFile, passwordEnv: ownerPasswordEnv },
    secrets,
    {
      question: 'Password of the owner’s keystore',
      instead: 'Give --owner-password-file or --owner-password-env.',
    },
  );
}

export function chainTokenOf({ chain }: ChainPort, symbol: string | undefined): TokenInfo {
  const symbols = chain.tokens.map((token) => token.symbol).join(', ');
  if (symbol === undefined) throw badRequest(`Give the token with --token. One of: ${symbols}.`);
  const token = chain.tokens.find((one) => one.symbol === symbol || one.address === symbol.toLowerCase());
  if (token === undefined)
    throw badRequest(`The configuration has no token "${symbol}" on ${chain.slug}. It has: ${symbols}.`);
  return token;
}

export function answer(
  { json, dryRun }: OwnerOptions,
  body: { steps: readonly OwnerStep[]; [fact: string]: unknown },
  lines: readonly string[],
): void {
  if (json)
    return console.log(
      JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
    );
  if (dryRun)
    for (const { what, to, data } of body.steps) console.log(`\n${what}\n  to    ${to}\n  data  ${data}`);
  printLines(lines);
}
