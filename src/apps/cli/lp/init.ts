/** `firmquote lp init`: writes a configuration and its keys. */

import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writeSecretFile } from '../../../adapters/keystore/file.ts';
import { encryptKey } from '../../../adapters/keystore/keystore.ts';
import { createSigner } from '../../../adapters/secp256k1/signer.ts';
import { systemRandom } from '../../../adapters/system/random.ts';
import { type Address, type Hex, isBytes32 } from '../../../domain/hex.ts';
import { ConfigError, parseConfig } from '../../config/load.ts';
import { openSecret, type SecretContext } from '../../wiring/keys.ts';
import { toolContext } from '../../wiring/process.ts';
import { type LpAppConfig, lpWarnings, zLpAppConfig } from '../../lp/config.ts';
import { type Answers, merge, readAnswers, readDemo } from '../../lp/init/answers.ts';
import { gasSymbolOf, quotingFor, defaultPairs, type NetworkSection } from '../../lp/init/compose.ts';
import { EXCHANGES } from '../../lp/init/exchanges.ts';
import { probeVenue } from '../../lp/init/probe.ts';
import { defaultPrice } from '../../lp/init/token-prices.ts';
import { lpAccountDeployment } from '../../../adapters/evm/deploy/lp-account.ts';
import { openTerminal, type Terminal } from '../../terminal/ask.ts';
import { newPassword } from '../keystore.ts';
import { AMOUNT, checkAccount } from './init/account-check.ts';
import { type Asker, createAsker, listOf, report } from './init/asker.ts';
import { isFixed, networksOf, type Price } from './init/networks.ts';
import { readAddress, readSalt } from '../option-values.ts';
import { badRequest } from '../../wiring/bad-request.ts';

export interface InitOptions {
  dir: string;
  answers?: string;
  fromDemo?: string;
  yes?: boolean;
  force?: boolean;
  venueUrl?: string;
  venueKeyFile?: string;
  venueKeyEnv?: string;
  solverId?: string;
  solverName?: string;
  account?: string;
  accountOwner?: string;
  accountSalt?: string;
  mover?: boolean;
  rpc?: string[];
  token?: string[];
  operatorKeyEnv?: string;
  operatorPasswordFile?: string;
  operatorPasswordEnv?: string;
  port?: number;
  databaseUrl?: string;
}

const FIRST_PORT = 9200;
export async function initLp(
  options: InitOptions,
  terminal: Terminal | undefined = options.yes ? undefined : openTerminal(),
): Promise<void> {
  const { secrets } = toolContext('init');
  const files = {
    config: join(options.dir, 'lp.json'),
    keystore: join(options.dir, 'secrets', 'operator.json'),
    mover: join(options.dir, 'secrets', 'mover.json'),
    password: join(options.dir, 'secrets', 'operator-password'),
    venueKey: join(options.dir, 'secrets', 'venue-key'),
  };
  const there = Object.values(files).filter((file) => existsSync(file));
  if (there.length > 0 && !options.force)
    throw badRequest(
      `${there.join(' and ')} exist${there.length > 1 ? '' : 's'} already. Choose another folder (--dir) or use --force: the old files are kept under another name.`,
    );

  const answers = merge(
    options.fromDemo === undefined ? {} : await readDemo(options.fromDemo),
    options.answers === undefined ? {} : await readAnswers(options.answers),
    fromFlags(options),
  );
  const asker = createAsker(terminal, options.yes === true);

  try {
    const venueUrl =
      answers.venue?.url ?? (await asker.need('Address of the venue (wss://…)', '--venue-url'));
    const venueKey = await venueKeyOf(answers, asker, secrets);
    const venue = await probeVenue(venueUrl, venueKey);
    report(
      `✓ the venue ${venue.venueId} accepts the key; chains: ${venue.chains.map(({ slug }) => slug).join(', ')}`,
    );

    const id = answers.solver?.id ?? (await asker.need('Your id on the roster', '--solver-id'));
    const name =
      answers.solver?.name ??
      (await asker.or('Your name, as takers see it', options.fromDemo === undefined ? id : 'My first LP'));
    const account = await accountOf(answers, asker);
    const feeds = answers.feeds ?? EXCHANGES;
    const pricing = { asker, feeds, given: answers.prices ?? {}, made: new Map<string, Price>() };
    const { networks, assets } = await networksOf(answers, venue, pricing, secrets);

    const operatorKey = operatorKeyOf(answers, secrets);
    const operator = createSigner(operatorKey);
    if (operator.address === account || operator.address === answers.accountOwner)
      throw badRequest(
        'This is the key of the account itself, or of its owner, which can withdraw everything. The operator needs its own key: leave it out to generate one.',
      );
    const password = await passwordOf(answers, asker);
    const moverKey = answers.mover === true ? systemRandom.bytes32() : undefined;
    const passwordSource = 'text' in password ? { passwordFile: files.password } : password.source;

    for (const gas of networks.map(gasSymbolOf)) pricing.made.set(gas, defaultPrice(gas));
    const prices: Record<string, unknown> = { ...Object.fromEntries(pricing.made), ...pricing.given };
    const isDollar = (symbol: string) => isFixed(prices[assets[symbol]?.price ?? '']);
    const params = {
      minSpreadBps: asker.number(await asker.or('Minimum spread in basis points', '1')),
      maxSize: asker.number(await asker.or('Maximum trade size in USD', '20000')),
    };
    const attesters =
      answers.attesters ??
      listOf(
        await asker.or('URLs of attesters for cross-chain trades, separated by commas (may be empty)', ''),
      );
    const port = answers.port ?? (await freePorts());
    const dataDir = join(options.dir, 'data');
    const config = {
      app: 'lp',
      ops: { port },
      admin: { port: port + 1, tokenFile: `${dataDir}/admin.token`, console: { port: port + 2 } },
      database: { url: answers.databaseUrl ?? null, embeddedDir: dataDir },
      keys: {
        operator: { keystore: files.keystore, ...passwordSource },
        ...(moverKey !== undefined && { mover: { keystore: files.mover, ...passwordSource } }),
      },
      venues: [
        {
          name: answers.venue?.name ?? venue.venueId.slice(0, 40),
          url: venueUrl,
          venueId: venue.venueId,
          apiKey: { file: files.venueKey },
        },
      ],
      networks,
      attesters: { urls: attesters },
      feeds,
      lp: {
        solver: { id, name },
        chains: networks.map((network) => ({ chainId: network.id, account, ...answers.chain })),
        prices,
        assets,
        pairs: answers.pairs ?? pairsOf(networks, isDollar, params),
        quoting: quotingFor(networks),
      },
    };
    const understood = understand(config);
    for (const warning of lpWarnings(understood)) report(`\nWARNING: ${warning}`);
    const todo = await checkAccount(understood, account, {
      ...{ operator: operator.address, config: files.config, secrets },
      isLpAccount: answers.accountOwner !== undefined,
      mover: moverKey === undefined ? undefined : createSigner(moverKey).address,
      salt: answers.accountSalt,
    });

    for (const file of there) await rename(file, `${file}.${Date.now()}.old`);
    await mkdir(dataDir, { recursive: true });
    if ('text' in password) await writeSecretFile(files.password, password.text);
    const secret = 'text' in password ? password.text : password.value;
    for (const [file, privateKey] of [
      [files.keystore, operatorKey],
      [files.mover, moverKey],
    ] as const)
      if (privateKey !== undefined)
        await writeSecretFile(
          file,
          await encryptKey({ privateKey, address: createSigner(privateKey).address }, secret),
        );
    await writeSecretFile(files.venueKey, venueKey);
    await writeSecretFile(files.config, `${JSON.stringify(config, null, 2)}\n`);

    report(
      `\nWritten: ${files.config}, and below ${join(options.dir, 'secrets')} the operator's keystore${moverKey === undefined ? '' : ", the mover's"}${'text' in password ? ', its password' : ''} and the venue's key, readable only by this user. The operator is ${operator.address}.`,
    );
    if (todo.length > 0) report(`\nBefore the LP can quote:\n${todo.map((line) => `  ${line}`).join('\n')}`);
    if (todo.some((line) => line.includes(`=${AMOUNT}/`)))
      report(
        `\n${AMOUNT}: the most that the operator may spend of that token in the time given, and so the most that a thief of its key can take. A quarter of what you deposit is a start; it must exceed what you trade in that time.`,
      );
    report(
      `\nNext:\n  firmquote config check ${files.config}\n  firmquote lp --config ${files.config}\n  firmquote lp status --config ${files.config}\nWhile it runs, its console is at http://127.0.0.1:${port + 2}/console/: log in with the text of ${dataDir}/admin.token.`,
    );
  } finally {
    terminal?.close();
  }
}

function understand(config: object): LpAppConfig {
  try {
    return parseConfig(zLpAppConfig, config, {}).config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw badRequest(
      `These answers make a configuration that cannot be used, so no file was written: ${error.problems.join('; ')}. Change the answers, or give prices, pairs and feeds in an answers file (--answers).`,
    );
  }
}

function fromFlags({
  rpc = [],
  token = [],
  account,
  accountOwner,
  accountSalt,
  mover,
  port,
  databaseUrl,
  ...flags
}: InitOptions): Answers {
  const chains: NonNullable<Answers['chains']> = {};
  for (const [flag, texts] of [
    ['--rpc', rpc],
    ['--token', token],
  ] as const) {
    for (const text of texts) {
      const at = text.indexOf('=');
      if (at <= 0)
        throw badRequest(
          `${flag} needs the chain too, such as ${flag} base=${flag === '--rpc' ? 'https://…' : '0x…'}.`,
        );
      const slug = text.slice(0, at);
      const chain = (chains[slug] ??= { rpcUrl: '', tokens: [] });
      if (flag === '--rpc') chain.rpcUrl = text.slice(at + 1);
      else chain.tokens.push(text.slice(at + 1) as Address);
    }
  }
  return {
    venue: { url: flags.venueUrl, keyFile: flags.venueKeyFile, keyEnv: flags.venueKeyEnv },
    solver: { id: flags.solverId, name: flags.solverName },
    ...(account !== undefined && { account }),
    ...(accountOwner !== undefined && { accountOwner: readAddress(accountOwner) }),
    ...(accountSalt !== undefined && { accountSalt: readSalt(accountSalt) }),
    ...(mover !== undefined && { mover }),
    operator: {
      keyEnv: flags.operatorKeyEnv,
      passwordFile: flags.operatorPasswordFile,
      passwordEnv: flags.operatorPasswordEnv,
    },
    ...(Object.keys(chains).length > 0 && { chains }),
    ...(port !== undefined && { port }),
    ...(databaseUrl !== undefined && { databaseUrl }),
  } as Answers;
}

/** The owner's own address, or that of the `LpAccount` that an owner has or will deploy. */
async function accountOf({ account, accountOwner, accountSalt }: Answers, asker: Asker): Promise<Address> {
  if (account !== undefined && accountOwner !== undefined)
    throw badRequest(
      'Give --account for a plain account or an LpAccount that exists, or --account-owner for the LpAccount of that owner, not both.',
    );
  if (accountOwner === undefined && accountSalt !== undefined)
    throw badRequest(
      '--account-salt needs --account-owner: both together give the address of the LpAccount.',
    );
  if (accountOwner !== undefined) {
    const owned = lpAccountDeployment(accountOwner, accountSalt).address;
    report(`✓ the account is the LpAccount ${owned}, whose first owner is ${accountOwner}`);
    return owned;
  }
  const typed =
    account ?? (await asker.need("The owner's address, whose escrow balance pays for quotes", '--account'));
  return typed.toLowerCase() as Address;
}

async function venueKeyOf(
  { venue, venueKey }: Answers,
  asker: Asker,
  secrets: SecretContext,
): Promise<string> {
  if (venue?.keyFile !== undefined) return openSecret({ file: venue.keyFile }, secrets);
  if (venue?.keyEnv !== undefined) return openSecret({ env: venue.keyEnv }, secrets);
  return (
    venueKey ?? asker.secret('The solver key from the venue (fq_…)', '--venue-key-file or --venue-key-env')
  );
}

function pairsOf(networks: readonly NetworkSection[], isDollar: (symbol: string) => boolean, params: object) {
  const pairs = defaultPairs(networks, isDollar, params);
  if (pairs.length > 0) return pairs;
  throw badRequest(
    'No pair can be made of these tokens: a pair needs a dollar, and something to trade against it. Add a token (--token), or give pairs in an answers file (--answers).',
  );
}

function operatorKeyOf({ operator, operatorKey }: Answers, { env }: SecretContext): Hex {
  const given = operator?.keyEnv === undefined ? operatorKey : (env[operator.keyEnv] ?? '');
  if (given === undefined) return systemRandom.bytes32();
  if (!isBytes32(given))
    throw badRequest(
      `${operator?.keyEnv === undefined ? 'demo.json' : `The variable ${operator.keyEnv}`} does not hold a private key: 0x and 64 hex digits.`,
    );
  return given.toLowerCase() as Hex;
}

/** A typed password reaches the LP by variable; a generated one is stored in a file. */
async function passwordOf(
  { operator }: Answers,
  asker: Asker,
): Promise<{ text: string } | { value: string; source: object }> {
  const source =
    operator?.passwordFile !== undefined
      ? { passwordFile: operator.passwordFile }
      : operator?.passwordEnv !== undefined && { passwordEnv: operator.passwordEnv };
  if (source) return { value: await newPassword(source), source };
  const typed = asker.interactive
    ? await asker.secret(
        "Password of the operator's keystore, which the LP reads from OPERATOR_PASSWORD (empty: generate one and store it in a file)",
        '',
      )
    : '';
  if (typed === '') return { text: systemRandom.bytes32().slice(2) };
  if (typed.length < 8) throw badRequest('The password is shorter than 8 characters. Use a longer one.');
  return { value: typed, source: { passwordEnv: 'OPERATOR_PASSWORD' } };
}

async function freePorts(): Promise<number> {
  for (let port = FIRST_PORT; port < FIRST_PORT + 600; port += 3)
    if ((await isFree(port)) && (await isFree(port + 1)) && (await isFree(port + 2))) return port;
  return FIRST_PORT;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
