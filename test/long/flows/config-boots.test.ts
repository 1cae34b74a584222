/**
 * The example configurations start: each as the process that compose.yaml or a unit of ops/systemd would run,
 * on real chains and a real database, until it answers whether it is ready; then it ends cleanly.
 */

import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { schemaOf, type App } from '../../../src/apps/cli/config-check.ts';
import { parseConfig, readJson } from '../../../src/apps/config/load.ts';
import { startFirmquote } from '../../support/command.ts';
import { account, type Devnet, startDevnet } from '../../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { credentialsOf, readUnit, unitNames, variablesOf, wordsOf } from '../../support/systemd.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PASSWORD = 'a password for tests';
const example = (app: App) => join(ROOT, 'config', `${app}.example.json`);

/** As compose.yaml has them. */
const SERVICES: readonly { service: string; app: App; args: readonly string[]; chains: string }[] = [
  { service: 'api', app: 'venue', args: ['venue', '--role', 'api'], chains: 'CHAINS' },
  { service: 'worker', app: 'venue', args: ['venue', '--role', 'worker'], chains: 'CHAINS' },
  { service: 'lp', app: 'lp', args: ['lp'], chains: 'NETWORKS' },
  { service: 'attester', app: 'attester', args: ['attester'], chains: 'CHAINS' },
];

const compose = await readFile(join(ROOT, 'compose.yaml'), 'utf8');

/** The variables that compose.yaml gives a service, anchors followed. */
function environmentOf(service: string): Map<string, string> {
  const block = new RegExp(`^ {2}${service}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(compose)?.[1] ?? '';
  const alias = /^ {4}environment: \*(\w+)$/m.exec(block)?.[1];
  const lines =
    (alias === undefined
      ? /^ {4}environment:.*\n((?: {6}.*\n)+)/m.exec(block)
      : new RegExp(`environment: &${alias}\\n((?: {6}.*\\n)+)`).exec(compose)
    )?.[1] ?? '';
  const found = new Map<string, string>();
  for (const [, name = '', value = ''] of lines.matchAll(/^ +([A-Z_0-9]+|<<): (.*)$/gm)) {
    if (name !== '<<') found.set(name, value);
    else
      for (const [, inner = '', text = ''] of (
        new RegExp(`&${value.slice(1)}\\n((?: {2}.*\\n)+)`).exec(compose)?.[1] ?? ''
      ).matchAll(/^ +([A-Z_0-9]+): (.*)$/gm))
        found.set(inner, text);
  }
  return found;
}

describe.each(SERVICES)('compose.yaml, $service', ({ service, app, args }) => {
  test('sets every environment variable that the configuration uses', async () => {
    const text = await readFile(example(app), 'utf8');
    const wanted = [...text.matchAll(/\$\{(\w+)\}|"(?:passwordEnv|env)": "(\w+)"/g)].map(
      ([, expanded, named]) => expanded ?? named ?? '',
    );
    expect(wanted.length).toBeGreaterThan(0);
    expect([...environmentOf(service).keys()]).toEqual(expect.arrayContaining([...new Set(wanted)]));
  });

  test('sets only existing options, and polls the port that the process opens', async () => {
    const env = Object.fromEntries(
      [...environmentOf(service)].filter(([name]) => name.startsWith('FIRMQUOTE__')),
    );
    const { config } = parseConfig(await schemaOf(app), await readJson(example(app)), env) as {
      config: { ops: { host: string; port: number } };
    };
    expect(config.ops).toEqual({ host: '0.0.0.0', port: Number(environmentOf(service).get('OPS_PORT')) });
    expect(compose).toContain(`command: ["${[...args, '--config', `/deploy/${app}.json`].join('", "')}"]`);
  });
});

const unitOf = (service: string) => readUnit(`firmquote-${service}.service`);

describe('ops/systemd', () => {
  test('has a unit for each service', async () => {
    expect(await unitNames()).toEqual(
      SERVICES.map(({ service }) => `firmquote-${service}.service`).toSorted(),
    );
  });

  test.each(SERVICES)(
    '$service: runs the command, with existing options and its own credentials',
    async ({ service, app, args }) => {
      const unit = await unitOf(service);
      expect(wordsOf(unit)).toEqual([...args, '--config', `/etc/firmquote/${app}.json`]);
      const variables = variablesOf(unit, '/credentials');
      const { fromEnv } = parseConfig(await schemaOf(app), await readJson(example(app)), variables);
      expect(fromEnv).toContain('secrets.mounted');
      const used = Object.values(variables).filter((value) => value.startsWith('/credentials/'));
      expect(used.toSorted()).toEqual(
        credentialsOf(unit)
          .map(([name]) => `/credentials/${name}`)
          .toSorted(),
      );
      for (const [name, file] of credentialsOf(unit)) expect(file).toBe(`/etc/firmquote/secrets/${name}`);
      expect(unit('Service', 'WorkingDirectory')).toEqual([
        `/var/lib/${unit('Service', 'StateDirectory')[0]}`,
      ]);
    },
  );

  test.each(SERVICES)(
    '$service: stops as the process does, restarts after failures alone',
    async ({ service }) => {
      const unit = await unitOf(service);
      expect(unit('Service', 'KillSignal')).toEqual(['SIGTERM']);
      expect(Number(unit('Service', 'TimeoutStopSec')[0])).toBeGreaterThan(10);
      expect(unit('Service', 'Restart')).toEqual(['on-failure']);
      expect(unit('Unit', 'StartLimitIntervalSec')).toEqual(['0']);
      for (const directive of ['DynamicUser', 'NoNewPrivileges', 'PrivateTmp', 'ProtectHome'])
        expect([directive, unit('Service', directive)]).toEqual([directive, ['yes']]);
      expect(unit('Service', 'ProtectSystem')).toEqual(['strict']);
    },
  );
});

/** What a deployment gives a process: variables and a working folder, and the words of its command. */
interface Deployed {
  env: Record<string, string>;
  folder: string;
}

describe('starts', () => {
  let folder: string;
  let devnet: Devnet;
  let postgres: TestPostgres;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fq-boots-'));
    await chmod(folder, 0o755);
    // Of the ids that the examples name.
    [devnet, postgres] = await Promise.all([
      startDevnet([8453, 5042], { arcIds: [5042] }),
      startTestPostgres(),
    ]);
    await Promise.all(devnet.chains.map(({ anvil }) => anvil.mine(8)));
    // Who cannot pay for gas is not ready.
    for (const chain of devnet.chains) await chain.fund(account(51).address, 0n);
    const keystore = await encryptKey(account(51), PASSWORD, { n: 1 << 10 });
    for (const name of ['operator', 'relayer', 'attester'])
      await writeSecretFile(join(folder, 'secrets', `${name}.json`), keystore);
    await writeSecretFile(join(folder, 'secrets', 'relayer.password'), PASSWORD);
    await writeSecretFile(join(folder, 'secrets', 'attester.password'), `\ufeff${PASSWORD}\r\n`);
    for (const name of ['seal', 'admin', 'webhooks'])
      await writeSecretFile(join(folder, 'secrets', name), 'ab'.repeat(32));
    await writeSecretFile(join(folder, 'secrets', 'venue-key'), `fq_test_${'k'.repeat(43)}`);
    // As Docker and Kubernetes mount them; other flows have files of mode 0600.
    for (const name of await readdir(join(folder, 'secrets')))
      await chmod(join(folder, 'secrets', name), 0o440);
  }, 90_000);

  afterAll(async () => {
    await Promise.all([devnet?.stop(), postgres?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  /** What compose gives, as far as this machine has it. */
  const byCompose = async (service: string, given: Record<string, string>): Promise<Deployed> => ({
    env: {
      ...Object.fromEntries(
        [...environmentOf(service).keys()]
          .filter((name) => name in given)
          .map((name) => [name, given[name] as string]),
      ),
      FIRMQUOTE__SECRETS__MOUNTED: 'true',
    },
    folder,
  });

  /** What systemd gives: an empty folder to work in, and the credentials of the unit alone. */
  async function bySystemd(service: string, given: Record<string, string>): Promise<Deployed> {
    const unit = await unitOf(service);
    const [state, credentials] = [join(folder, service, 'state'), join(folder, service, 'credentials')];
    for (const made of [state, credentials]) await mkdir(made, { recursive: true });
    for (const [name] of credentialsOf(unit))
      await copyFile(join(folder, 'secrets', name), join(credentials, name));
    return { env: { ...given, ...variablesOf(unit, credentials) }, folder: state };
  }

  test.concurrent.each(
    SERVICES.flatMap((one) => [
      { ...one, by: 'compose.yaml', deploy: byCompose },
      { ...one, by: 'ops/systemd', deploy: bySystemd },
    ]),
  )(
    '$service starts from its example by $by, says whether it is ready, and ends with 0',
    { timeout: 180_000 },
    async ({ service, app, args, chains, by, deploy }) => {
      const [opsPort, otherPort] = [await freePort(), await freePort()];
      const addresses = devnet.chains.flatMap(
        ({ chain: { escrow, oracle, permit2, tokens } }, at): [string, string][] => [
          [`${at}__ESCROW`, escrow],
          [`${at}__ORACLE`, oracle],
          [`${at}__PERMIT2`, permit2],
          // The preset knows where Arc's USDC is, and that base has the contract of its data fees.
          ...(at === 0 ? tokens : []).map(({ address }, index): [string, string] => [
            `${at}__TOKENS__${index}__ADDRESS`,
            address,
          ]),
          ...(at === 0 ? [[`${at}__FEE_MODEL`, 'auto'] as [string, string]] : []),
        ],
      );
      const [base, arc] = devnet.chains;
      const given: Record<string, string> = {
        BASE_RPC_URL: base?.anvil.url ?? '',
        ARC_RPC_URL: arc?.anvil.url ?? '',
        OPERATOR_PASSWORD: PASSWORD,
        DATABASE_URL: await postgres.server.database(`boot_${app}_${by.replace(/\W/g, '_')}`),
      };
      // No test calls an exchange.
      const { feeds = {} } = (await readJson(example(app))) as { feeds?: Record<string, { url?: string }> };
      const quiet = Object.fromEntries(
        Object.entries(feeds).flatMap(([name, { url }]): [string, string][] =>
          url === undefined
            ? []
            : [[`FIRMQUOTE__FEEDS__${name}__URL`, url.replace(/\/\/[^/]*/, '//127.0.0.1:1')]],
        ),
      );
      const deployed = await deploy(service, given);
      const env = {
        ...deployed.env,
        // What only a deployment knows.
        ...Object.fromEntries(addresses.map(([path, address]) => [`FIRMQUOTE__${chains}__${path}`, address])),
        ...quiet,
        FIRMQUOTE__OPS__PORT: String(opsPort),
        [app === 'lp' ? 'FIRMQUOTE__ADMIN__PORT' : 'FIRMQUOTE__HTTP__PORT']: String(otherPort),
        ...(app === 'venue' ? { FIRMQUOTE__ADMIN__PORT: '0' } : {}),
      };
      const running = startFirmquote([...args, '--config', example(app)], env, deployed.folder);
      const ready = async () => {
        const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`).catch(() => undefined);
        const body = (await answer?.json()) as { ready: boolean; reasons: string[] } | undefined;
        // A busy machine may hold a process up for seconds, or its chains, which it says too.
        return body?.reasons.some((reason) => /starting|stood still|newest block/.test(reason))
          ? undefined
          : body;
      };
      try {
        let body = await ready();
        while (body === undefined) {
          if (running.child.exitCode !== null) throw new Error(running.output());
          await new Promise((resolve) => setTimeout(resolve, 100));
          // These chains mine only on request, and a chain without new blocks keeps a slow process waiting.
          await Promise.all(devnet.chains.map(({ anvil }) => anvil.mine(1)));
          body = await ready();
        }
        // An LP has reasons left: nobody named its operator, and its prices come from exchanges that a test
        // does not call.
        if (app !== 'lp') expect(body).toEqual({ ready: true, reasons: [] });
        else expect(body.reasons).toEqual(expect.arrayContaining([expect.stringMatching(/operator/)]));
        expect([await running.stop(), running.output()]).toEqual([
          0,
          expect.stringContaining('"msg":"stopped"'),
        ]);
        // The LP's example names oracles that no development chain has, and says so.
        if (app !== 'lp') expect(running.output()).not.toContain('"level":"error"');
      } finally {
        if (running.child.exitCode === null) running.child.kill('SIGKILL');
      }
    },
  );
});
