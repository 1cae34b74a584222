/** `firmquote take`: one trade of a taker, from quotes to settlement or to the claim on a broken promise. */

import {
  type Client,
  createClient,
  DistrustError,
  NoQuoteError,
  type OrderStatusResponse,
  type SignedTrade,
  type Step,
  type TakeOptions,
  type Trade,
  type TradeRequest,
} from '../../client/client.ts';
import { formatTokens } from '../../domain/amount.ts';
import { parseAssetId } from '../../domain/asset.ts';
import { isBytes32 } from '../../domain/hex.ts';
import { STAGE_MEANINGS } from '../../protocol/api/stages.ts';
import type { Signer } from '../../ports/signer.ts';
import { readSecretFile, withoutLineEnd } from '../../adapters/keystore/file.ts';
import { badRequest } from '../wiring/bad-request.ts';
import { openTerminal } from '../terminal/ask.ts';
import { openKeystore } from '../terminal/open-keystore.ts';
import { loadConfig } from '../config/load.ts';
import { openSecret, type SecretContext } from '../wiring/keys.ts';
import { toolContext } from '../wiring/process.ts';
import { addressOfKey, withSigner } from '../wiring/signers.ts';
import { readAmount, readToken, type TakerToken } from './assets.ts';
import { type CandidateRow, checkAll, explainCandidates } from './candidates.ts';
import { type TakeConfig, zTakeConfig } from './config.ts';
import { claimLines, DeclinedError, type Reached, tellEnd, tellError, type TokenNames } from './end.ts';
import { createReport, EXIT_CODES, type Outcome, type Report } from './report.ts';
import { loadOrder, saveOrder } from './saved.ts';
import { describeStep } from './steps.ts';
import { type Nodes, openNodes } from './wallet.ts';

export interface TakeCommand {
  config: string;
  sell?: string;
  buy?: string;
  amount?: string;
  exact: 'input' | 'output';
  baseUnits?: boolean;
  limit?: string;
  receiver?: string;
  solver: readonly string[];
  bond?: boolean;
  /** Seconds. */
  firmFor?: number;
  router?: boolean;
  candidate?: number;
  yes?: boolean;
  dryRun?: boolean;
  keystore?: string;
  passwordFile?: string;
  passwordEnv?: string;
  keyFile?: string;
  claim: boolean;
  resume?: string;
  json?: boolean;
}

interface Context {
  options: TakeCommand;
  config: TakeConfig;
  report: Report;
  nodes: Nodes;
  secrets: SecretContext;
  reached: Reached;
  /** The reason why the bond of an LP was not claimed. */
  noClaim: string | undefined;
  clientOf(namespace: 'rfq' | 'router'): Client;
  resumeCommand(orderId: string): string;
}

/** Runs `firmquote take`. Exit codes: `EXIT_CODES`. */
export async function runTake(options: TakeCommand): Promise<void> {
  const report = createReport(options.json === true);
  const reached: Reached = { orderId: undefined, submitted: false, accepted: false };
  const resumeCommand = (orderId: string) => `firmquote take --config ${options.config} --resume ${orderId}`;
  const interrupted = () => {
    const { orderId, submitted } = reached;
    const resume = submitted && orderId !== undefined ? resumeCommand(orderId) : null;
    report.complain(
      'interrupted',
      { outcome: 'interrupted', exitCode: EXIT_CODES.interrupted, orderId: orderId ?? null, resume },
      resume === null
        ? 'Interrupted before an order was submitted. Transactions that were sent stay.'
        : `Interrupted. The order goes on without this command. Continue to follow it: ${resume}`,
    );
    process.exit(EXIT_CODES.interrupted);
  };
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted);
  let outcome: Outcome;
  try {
    const context = await open(options, report, reached, resumeCommand);
    outcome =
      options.resume === undefined ? await newTrade(context) : await resumeTrade(context, options.resume);
  } catch (error) {
    outcome = tellError(report, error, reached, resumeCommand);
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  }
  process.exitCode = EXIT_CODES[outcome];
}

async function open(
  options: TakeCommand,
  report: Report,
  reached: Reached,
  resumeCommand: Context['resumeCommand'],
): Promise<Context> {
  const { config } = await loadConfig(zTakeConfig, options.config, process.env);
  const { secrets } = toolContext('take', config);
  const nodes = openNodes(config.chains, secrets);
  const key = await apiKey(options, config, secrets);
  const { urls, timeoutMs } = config.venue;
  return {
    ...{ options, config, report, nodes, secrets, reached, resumeCommand, noClaim: undefined },
    clientOf: (namespace) => createClient({ url: urls, key, timeoutMs, chains: nodes.trusted, namespace }),
  };
}

async function apiKey(
  { keyFile }: TakeCommand,
  { venue }: TakeConfig,
  secrets: SecretContext,
): Promise<string> {
  if (keyFile !== undefined) return withoutLineEnd(await readSecretFile(keyFile, secrets));
  const fromEnv = secrets.env['FIRMQUOTE_KEY'];
  if (fromEnv !== undefined && fromEnv !== '') return fromEnv;
  if (venue.key !== null) return openSecret(venue.key, secrets);
  throw badRequest(
    'There is no API key. Give --key-file FILE, the variable FIRMQUOTE_KEY, or venue.key in the configuration.',
  );
}

async function newTrade(context: Context): Promise<Outcome> {
  const { options, config, nodes, report } = context;
  if (options.sell === undefined || options.buy === undefined || options.amount === undefined)
    throw badRequest(
      'Give what to trade: --sell USDC@base --buy WETH@base --amount 1000. To go on with an order: --resume ORDER_ID.',
    );
  const [sell, buy] = await Promise.all(
    [options.sell, options.buy].map((text) => readToken(text, config.chains, nodes.rpcOf)),
  );
  if (!sell || !buy) throw badRequest('Give what to trade.');
  const trade = { sell, buy };
  if (options.dryRun) {
    await quotesFor(context, trade, await takerOf(context));
    return 'settled';
  }
  return withWallet(context, async (signer) => {
    const { client, rows } = await quotesFor(context, trade, signer.address);
    const { checked } = await choose(context, rows, trade);
    const end = await client.take(checked, takeOptions(context, signer, sell.chain.id));
    return tellEnd(report, end, context);
  });
}

/** Asks, checks every candidate, and explains them. Throws `NoQuoteError`. */
async function quotesFor(
  { options, report, clientOf }: Context,
  { sell, buy }: { sell: TakerToken; buy: TakerToken },
  taker: string,
): Promise<{ client: Client; rows: CandidateRow[] }> {
  const exactInput = options.exact === 'input';
  const read = (text: string, token: TakerToken, option: string) =>
    readAmount(text, token, { option, baseUnits: options.baseUnits === true });
  const amount = read(options.amount as string, exactInput ? sell : buy, '--amount');
  const limit =
    options.limit === undefined ? undefined : read(options.limit, exactInput ? buy : sell, '--limit');
  const request: TradeRequest = {
    taker,
    ...(options.receiver !== undefined && { receiver: options.receiver }),
    input: { asset: sell.asset, ...(exactInput && { amount }) },
    output: { asset: buy.asset, ...(!exactInput && { amount }) },
    ...(options.firmFor !== undefined && { minValidUntil: Math.floor(Date.now() / 1_000) + options.firmFor }),
    ...(options.solver.length > 0 && { solvers: { include: [...options.solver] } }),
  };
  const client = clientOf(options.router ? 'router' : 'rfq');
  const answer = await client.requestQuotes(request);
  if (answer.productUnavailable || answer.quotes.length === 0)
    throw new NoQuoteError(
      answer.productUnavailable?.code ?? 'no_quotes',
      answer.productUnavailable?.message ?? 'No solver quoted.',
    );
  const rows = await checkAll(client, answer, {
    request,
    ...(limit !== undefined && (exactInput ? { minOutput: limit } : { maxInput: limit })),
    ...(options.bond && { bond: 'required' as const }),
  });
  explainCandidates(report, rows, { sell, buy });
  return { client, rows };
}

/** The best that passed its checks, or the one asked for; and the taker's consent. */
async function choose(
  { options, report }: Context,
  rows: readonly CandidateRow[],
  { sell, buy }: { sell: TakerToken; buy: TakerToken },
): Promise<{ checked: NonNullable<CandidateRow['checked']> }> {
  const wanted = options.candidate;
  const row = wanted === undefined ? rows.find(({ checked }) => checked) : rows[wanted - 1];
  if (!row && wanted !== undefined)
    throw badRequest(
      `There is no candidate ${wanted}: there are ${rows.length}. Nothing was signed; run the command again for new quotes.`,
    );
  const checked = row?.checked;
  if (!row || !checked)
    throw (
      (row ?? rows[0])?.refusal ?? new DistrustError('malformed_answer', 'The venue showed no candidate.')
    );
  const number = rows.indexOf(row) + 1;
  const terms = `give ${formatTokens(checked.inputAmount, sell)} on ${sell.chain.slug} for at least ${formatTokens(checked.outputAmount, buy)} on ${buy.chain.slug} to ${checked.receiver}`;
  report.say(
    'chosen',
    {
      number,
      orderId: checked.orderId,
      inputAmount: checked.inputAmount,
      outputAmount: checked.outputAmount,
      receiver: checked.receiver,
    },
    `Candidate ${number} of ${row.candidate.solverId}: ${terms}.`,
  );
  if (!options.yes) await askConsent();
  return { checked };
}

async function askConsent(): Promise<void> {
  const terminal = openTerminal();
  if (!terminal)
    throw badRequest(
      'There is no terminal to ask for your consent, and nothing was signed. Give --yes to trade without the question, or --dry-run to see the quotes only.',
    );
  const answer = await terminal.ask('Trade? The quote is firm for the time shown [y/N]');
  terminal.close();
  if (!/^y(?:es)?$/i.test(answer)) throw new DeclinedError();
}

async function resumeTrade(context: Context, text: string): Promise<Outcome> {
  const { config, report, reached, clientOf, options } = context;
  if (!isBytes32(text)) throw badRequest(`"${text}" is not an order id: 0x and 64 hex digits.`);
  const orderId = text.toLowerCase();
  const saved = await loadOrder(config.folder, orderId);
  reached.orderId = orderId;
  if (!saved) {
    report.say(
      'resumed',
      { orderId, saved: false },
      `${config.folder} has no signed order ${orderId}: following it without claims.`,
    );
    const client = clientOf(options.router ? 'router' : 'rfq');
    const following = client.follow(orderId, { onStage: (status) => tellStage(report, status) });
    const status = await following.final;
    const end: Pick<Trade, 'status' | 'claimed' | 'stopped'> = { status, claimed: [], stopped: null };
    return tellEnd(report, end as Trade, context);
  }
  return withWallet(context, async (signer) => {
    reached.submitted = true;
    report.say('resumed', { orderId, saved: true }, `Going on with order ${orderId}.`);
    const client = clientOf(saved.namespace);
    const end = await client.resume(saved, takeOptions(context, signer, originOf(saved)));
    return tellEnd(report, end, context);
  });
}

const LATER_CLAIM =
  'If the LP has one, add the address and resume this order: on one chain before its fill deadline, across chains at any time after the refund.';

const originOf = ({ expectations }: SignedTrade): number =>
  parseAssetId(expectations.request.input.asset)?.chainId ?? 0;

function takeOptions(context: Context, signer: Signer, originChainId: number): TakeOptions {
  const { options, config, report, nodes, reached } = context;
  const names = namesOf(config);
  const origin = config.chains.find(({ id }) => id === originChainId);
  const claims = options.claim && origin?.quoteBond != null;
  const again = () => context.resumeCommand(reached.orderId ?? 'ORDER_ID');
  if (!claims)
    context.noClaim = options.claim
      ? `No bond was looked at: the configuration names no quoteBond on ${origin?.slug ?? originChainId}. ${LATER_CLAIM}`
      : `No bond was looked at, because of --no-claim. ${LATER_CLAIM}`;
  return {
    wallet: (chainId) => nodes.walletOf(signer, chainId),
    claimFades: claims,
    untilRefunded: true,
    onStep: (step: Step) => {
      const { facts, line } = describeStep(step, names);
      report.say('preflight', facts, line);
    },
    onSent: ({ purpose, txHash }) => report.say('sent', { purpose, txHash }, `  mined: ${txHash}`),
    async onSigned(signed) {
      reached.orderId = signed.orderId;
      const namespace = options.router ? 'router' : 'rfq';
      const file = await saveOrder(config.folder, { ...signed, namespace });
      reached.submitted = true;
      report.say(
        'signed',
        { orderId: signed.orderId, file },
        `Signed order ${signed.orderId}, kept in ${file}.`,
      );
    },
    onOrder({ id }) {
      reached.accepted = true;
      report.say('submitted', { orderId: id }, 'Submitted. Ctrl-C stops following, not the order.');
    },
    onStage: (status) => tellStage(report, status),
    onClaimed: (claimed) => report.say('claimed', { claimed }, ...claimLines(claimed, names)),
    onClaimFailed: (error) => {
      const { shortMessage, message } = error as { shortMessage?: string; message: string };
      const why = shortMessage ?? message;
      context.noClaim = `The LP broke its promise, but the claim on its bond was not sent: ${why} Give the wallet gas, then claim: ${again()}`;
      report.complain('claim_failed', { message: why, resume: again() }, context.noClaim);
    },
  };
}

function tellStage(report: Report, { id, stage, status }: OrderStatusResponse): void {
  const meaning = Object.hasOwn(STAGE_MEANINGS, stage)
    ? STAGE_MEANINGS[stage as keyof typeof STAGE_MEANINGS]
    : 'a stage that this version does not know';
  const at = new Date().toISOString();
  report.say('stage', { orderId: id, stage, status, at }, `${at.slice(11, 19)}  ${stage}: ${meaning}`);
}

const takerOf = async ({ options, config, ...tools }: Context): Promise<string> => {
  if (options.keystore !== undefined)
    return addressOfKey({ keystore: options.keystore, passwordEnv: 'PASSWORD' }, toolsOf(config, tools));
  if (config.wallet === null) throw noWallet();
  return addressOfKey(config.wallet, toolsOf(config, tools));
};

/** Opened before quotes are requested, because decrypting takes seconds and a quote lives for seconds. */
async function withWallet<T>(context: Context, work: (signer: Signer) => Promise<T>): Promise<T> {
  const { options, config, secrets } = context;
  const { keystore, passwordFile, passwordEnv } = options;
  if (keystore !== undefined)
    return work(
      await openKeystore({ keystore, passwordFile, passwordEnv }, secrets, {
        question: 'Password of the keystore',
        instead: 'Give --password-file or --password-env.',
      }),
    );
  if (config.wallet === null) throw noWallet();
  return withSigner(config.wallet, toolsOf(config, context), work);
}

const toolsOf = (config: TakeConfig, { secrets }: Pick<Context, 'secrets'>) => ({
  secrets,
  log: toolContext('take', config).log,
});

const noWallet = () =>
  badRequest(
    'There is no key to sign with. Give --keystore FILE, or wallet in the configuration. A new one: firmquote keystore new FILE.',
  );

const namesOf =
  ({ chains }: TakeConfig): TokenNames =>
  (address) =>
    chains.flatMap(({ tokens }) => tokens).find((token) => token.address === address.toLowerCase()) ?? {
      symbol: address,
      decimals: null,
    };
