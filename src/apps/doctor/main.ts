/** `firmquote doctor`: checks everything that a process needs, and changes nothing. */

import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { type AttesterConfig, zAttesterConfig } from '../attester/config.ts';
import { loadConfig, readJson } from '../config/load.ts';
import type { ChainSection } from '../config/parts.ts';
import { zLpAppConfig } from '../lp/config.ts';
import { parseShadowConfig } from '../lp/shadow.ts';
import { printLines, table } from '../terminal/table.ts';
import { zVenueConfig } from '../venue/config.ts';
import { badRequest } from '../wiring/bad-request.ts';
import { runningDatabaseUrl } from '../wiring/database.ts';
import { createFeeds } from '../wiring/feeds.ts';
import { expand } from '../wiring/keys.ts';
import { createToolChain } from '../wiring/networks.ts';
import { toolContext } from '../wiring/process.ts';
import { mayPass } from '../wiring/until-up.ts';
import { checkCommittee } from './accounts.ts';
import { checkAlerts } from './alerts.ts';
import { checkContracts, type Expected } from './contracts.ts';
import { checkDatabase, checkRedis } from './database.ts';
import { checkEndpoints } from './endpoints.ts';
import { checkFeeds } from './feeds.ts';
import { attempt, type Finding, ok } from './finding.ts';
import { lpNeeds, shadowNeeds } from './lp-needs.ts';
import { CHAIN_TODO, type DoctorTools, type Needs, onEach, withNode } from './needs.ts';
import { checkSigner } from './signers.ts';
import { checkTokens } from './tokens.ts';
import { venueNeeds } from './venue-needs.ts';

export interface DoctorOptions {
  venue?: string;
  lp?: string;
  /** Checks what an LP needs in shadow mode; only with `lp`. */
  shadow?: boolean;
  attester?: string;
  prometheus?: string;
  json?: boolean;
}

const FEED_PATIENCE_MS = 15_000;
const START_PAUSES_MS = [500, 1_000, 2_000];
const START_TODO =
  'No process starts on this chain until then: correct its section of the configuration, or its endpoints';

/** Prints the report. Exit code 1: something fails. */
export async function runDoctor(options: DoctorOptions): Promise<void> {
  const { needs, tools } = await needsOf(options);
  const rows = [...(await examine(needs, tools)), ...(await checkAlerts(options.prometheus))];
  const failures = rows.filter(({ verdict }) => verdict === 'failure').length;
  if (options.json === true) console.log(JSON.stringify({ ok: failures === 0, rows }));
  else printLines(page(rows));
  process.exitCode = failures === 0 ? 0 : 1;
}

async function needsOf({
  venue,
  lp,
  attester,
  shadow = false,
}: DoctorOptions): Promise<{ needs: Needs; tools: DoctorTools }> {
  if ([venue, lp, attester].filter((file) => file !== undefined).length !== 1)
    throw badRequest('Give one configuration: --venue FILE, --lp FILE or --attester FILE.');
  if (shadow && lp === undefined)
    throw badRequest('Only an LP has a shadow mode: give --shadow with --lp FILE.');
  if (venue !== undefined) {
    const { config } = await loadConfig(zVenueConfig, venue, process.env);
    const tools = toolContext('doctor', config);
    return { needs: venueNeeds(config, tools.secrets), tools };
  }
  if (lp !== undefined) {
    const { config } = shadow
      ? parseShadowConfig(await readJson(lp), process.env, lp)
      : await loadConfig(zLpAppConfig, lp, process.env);
    const tools = toolContext('doctor', config);
    return { needs: shadow ? shadowNeeds(config) : lpNeeds(config), tools };
  }
  const { config } = await loadConfig(zAttesterConfig, attester as string, process.env);
  return { needs: attesterNeeds(config), tools: toolContext('doctor', config) };
}

function attesterNeeds({ chains, lookBackSeconds, keys }: AttesterConfig): Needs {
  return {
    chains,
    lookBackSeconds,
    redis: [],
    feeds: { sections: {}, wanted: [], groups: [] },
    contracts: () => [],
    async more(tools, opened) {
      const { row, address } = await checkSigner('attester', keys.attester, tools);
      const seats = await onEach(opened, 'attesters', (chain) =>
        address === undefined ? [] : checkCommittee(chain, address),
      );
      return [row, ...seats];
    },
  };
}

async function examine(needs: Needs, tools: DoctorTools): Promise<Finding[]> {
  const { secrets, log } = tools;
  const nowMs = systemClock.nowMs;
  const chains = needs.chains.map((section) => createToolChain(section, tools));
  try {
    const { lookBackSeconds } = needs;
    const endpoints = await Promise.all(
      needs.chains.map((section) =>
        attempt(
          'endpoint',
          section.slug,
          () => checkEndpoints(section, { secrets, lookBackSeconds, nowMs }),
          CHAIN_TODO,
        ),
      ),
    );
    // The chains stay started: price feeds may read oracles on them.
    const starts = await onEach(
      chains,
      'start',
      async (chain) => {
        await startPatiently(chain);
        return ok(
          'start',
          chain.chain.slug,
          `follows the chain from block ${chain.head()?.number ?? 'unknown'}`,
        );
      },
      START_TODO,
    );
    const contracts = await Promise.all(
      needs.chains.map((section) => onNode(section, tools, needs.contracts(section.id))),
    );
    const { database, redis, feeds } = needs;
    const stores = await Promise.all([
      database === undefined
        ? []
        : attempt(
            'database',
            database.schema,
            async () =>
              checkDatabase(
                await runningDatabaseUrl(database.section, secrets),
                { ...database, maxConnections: database.section.maxConnections },
                { log, nowMs },
              ),
            'Correct database.url or DATABASE_URL',
          ),
      ...redis.map(({ url, use }) =>
        attempt('redis', use, () => checkRedis(expand(url, secrets), use), 'Correct its URL'),
      ),
    ]);
    const prices = await attempt(
      'feed',
      'all',
      () =>
        checkFeeds(
          createFeeds(feeds.sections, feeds.wanted, { secrets, chains }).map(({ feed }) => feed),
          feeds.wanted,
          feeds.groups,
          FEED_PATIENCE_MS,
        ),
      'Correct feeds and prices',
    );
    return [
      ...endpoints.flat(),
      ...starts,
      ...contracts.flat(),
      ...(await needs.more(tools, chains)),
      ...stores.flat(),
      ...prices,
    ];
  } finally {
    await Promise.all(chains.map((chain) => chain.close()));
  }
}

/** Starts a chain like a process does: tries again after an error that may pass, but only so often. */
async function startPatiently(chain: EvmChain): Promise<void> {
  for (const pauseMs of START_PAUSES_MS)
    try {
      return await chain.start();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  await chain.start();
}

const onNode = (section: ChainSection, tools: DoctorTools, more: readonly Expected[]): Promise<Finding[]> =>
  withNode(section, tools, async (node) => [
    ...(await attempt('contract', section.slug, () => checkContracts(section, node, more), CHAIN_TODO)),
    ...(await attempt('token', section.slug, () => checkTokens(section, node.read), CHAIN_TODO)),
  ]);

function page(rows: readonly Finding[]): string[] {
  const lines = table(
    ['', 'check', 'of', 'found'],
    rows.map(({ verdict, check, subject, found }) => [verdict, check, subject, found]),
  );
  const todos = rows.flatMap(({ verdict, check, subject, todo }) =>
    todo === null ? [] : [`${verdict}: ${check}, ${subject}`, `  ${todo}.`],
  );
  const count = (verdict: Finding['verdict']) => rows.filter((row) => row.verdict === verdict).length;
  return [
    ...lines,
    ...(todos.length > 0 ? ['', 'What to do', ...todos] : []),
    '',
    `${count('ok')} ok, ${count('warning')} warnings, ${count('failure')} failures. Nothing was changed.`,
  ];
}
