/** `firmquote deploy plan | run | verify`: puts the contracts on chains and checks what is there. */

import { join } from 'node:path';
import { BaseError } from '../../domain/errors.ts';
import { createDeployNode, type DeployNode } from '../../adapters/evm/deploy/node.ts';
import type { Log } from '../../ports/log.ts';
import type { Signer } from '../../ports/signer.ts';
import { badRequest } from '../wiring/bad-request.ts';
import { openTerminal } from '../terminal/ask.ts';
import { printLines } from '../terminal/table.ts';
import { loadConfig } from '../config/load.ts';
import { expand, type SecretContext } from '../wiring/keys.ts';
import { minBaseFeeWei } from '../wiring/networks.ts';
import { toolContext } from '../wiring/process.ts';
import { addressOfKey, withSigner } from '../wiring/signers.ts';
import { compilerVersion, builds } from '../../settlement/abi/build.ts';
import { type DeployChain, type DeployConfig, zDeployConfig } from './config.ts';
import { createPatience } from './patience.ts';
import { type ChainPlan, planChain, planJson } from './plan.ts';
import { planLines } from './print.ts';
import { recordFile, writeWhole } from './record.ts';
import { type RunResult, runChain } from './run.ts';
import { writeSafeFiles } from './safe.ts';
import { standardJson } from './standard-json.ts';
import { verifyChain } from './verify.ts';

export interface DeployOptions {
  config: string;
  /** Slugs; all chains when there are none. */
  chain: readonly string[];
  json?: boolean;
}

interface Opened {
  chain: DeployChain;
  node: DeployNode;
}

const POLL_MS = 1_000;

export async function deployPlan(options: DeployOptions): Promise<void> {
  await withChains(options, async ({ config, opened, ...tools }) => {
    const sender = await addressOfKey(config.keys.deployer, tools);
    const plans: object[] = [];
    for (const { chain, node } of opened) {
      const plan = await attempt(chain, () => planChain(node, config, chain, sender));
      if ('failed' in plan) {
        plans.push(plan);
        if (!options.json) console.log(`\n${plan.failed}`);
        continue;
      }
      if (plan.problems.length > 0) process.exitCode = 1;
      plans.push(planJson(plan));
      if (!options.json) printLines(planLines(plan));
    }
    if (options.json) printJson({ compiler: compilerVersion, chains: plans });
  });
}

export async function deployRun({
  yes,
  patience: patienceSeconds,
  ...options
}: DeployOptions & { yes?: boolean; patience: number }): Promise<void> {
  const report = (line: string): void => (options.json ? console.error(line) : console.log(line));
  await withDeployer(options, async ({ config, opened, signer }) => {
    const patienceOf = ({ slug }: DeployChain) =>
      createPatience({ slug, report, patienceMs: patienceSeconds * 1_000, pollMs: POLL_MS });
    const plans: ChainPlan[] = [];
    for (const { chain, node } of opened) {
      const plan = await patienceOf(chain).patiently(() => planChain(node, config, chain, signer.address));
      plans.push(plan);
      planLines(plan).forEach(report);
    }
    if (plans.some(({ problems }) => problems.length > 0)) {
      report('\nNothing was sent.');
      process.exitCode = 1;
      return;
    }
    const count = plans.reduce((sum, { send }) => sum + send.length, 0);
    if (count > 0 && yes !== true) await confirm(count);
    const results: object[] = [];
    for (const { chain, node } of opened) {
      const result = await attempt(chain, () =>
        runChain(node, config, chain, { signer, report, patience: patienceOf(chain) }),
      );
      if ('failed' in result) report(`\n${result.failed}`);
      else report(`\n${(await finish(options.config, config, chain, result)).join('\n')}`);
      results.push('failed' in result ? result : { slug: chain.slug, ...result });
    }
    if (options.json) printJson({ chains: results });
  });
}

/** Writes what an owner has to sign, and says what was done and what is next. */
async function finish(
  file: string,
  config: DeployConfig,
  chain: DeployChain,
  { sign, mined }: RunResult,
): Promise<string[]> {
  const signers = [chain.owner ?? config.owner, ...sign.flatMap(({ by }) => by ?? [])];
  const files = await writeSafeFiles(config, chain, { steps: sign, nowMs: Date.now(), signers });
  return [
    `${chain.slug}: everything is deployed (${mined} transactions mined now). Recorded in ${recordFile(config, chain)}.`,
    ...(files.length === 0
      ? []
      : [
          `${chain.slug}: not complete until signed: ${sign.map(({ what }) => what).join('; ')}.`,
          ...files.map((file) => `  Import into the Safe's Transaction Builder: ${file}`),
        ]),
    `${chain.slug}: check with: firmquote deploy verify --config ${file} --chain ${chain.slug}`,
  ];
}

async function confirm(count: number): Promise<void> {
  const terminal = openTerminal();
  if (terminal === undefined)
    throw badRequest('Nothing was sent. To send without a terminal to confirm at, add --yes.');
  try {
    const answer = await terminal.ask(`Send these ${count} transactions? Type yes`);
    if (answer !== 'yes') throw badRequest('Nothing was sent.');
  } finally {
    terminal.close();
  }
}

export async function deployVerify({
  standardJson: folder,
  ...options
}: DeployOptions & { standardJson?: string }): Promise<void> {
  await withChains(options, async ({ config, opened }) => {
    const answers: object[] = [];
    for (const { chain, node } of opened) {
      const verified = await attempt(chain, () => verifyChain(node, config, chain));
      if ('failed' in verified) {
        answers.push(verified);
        if (!options.json) console.log(verified.failed);
        continue;
      }
      const { state, differences } = verified;
      if (differences.length > 0) process.exitCode = 1;
      answers.push({ slug: chain.slug, chainId: chain.id, block: state.block, differences });
      if (options.json) continue;
      console.log(
        differences.length === 0
          ? `${chain.slug}: ${state.contracts.length} contracts, their immutables, owner and signers are as they shall be, at block ${state.block}.`
          : `${chain.slug}: ${differences.length} differences at block ${state.block}:`,
      );
      for (const { what, todo } of differences) console.log(`  - ${what}. ${todo}.`);
      if (folder !== undefined)
        for (const { contract } of state.contracts)
          console.log(
            `  ${chain.slug} ${contract.address} ${builds[contract.name].file}:${contract.name}, constructor arguments ${contract.encodedArgs}`,
          );
    }
    if (folder !== undefined) await writeStandardJson(folder, options.json === true);
    if (options.json) printJson({ compiler: compilerVersion, chains: answers });
  });
}

async function writeStandardJson(folder: string, quiet: boolean): Promise<void> {
  for (const name of Object.keys(builds) as (keyof typeof builds)[])
    await writeWhole(join(folder, `${name}.json`), `${JSON.stringify(await standardJson(name), null, 1)}\n`);
  if (!quiet)
    console.log(
      `${folder}: standard JSON input for explorers, compiler v${compilerVersion}, one file for each contract.`,
    );
}

/** A chain that fails does not stop the others. */
async function attempt<T extends object>(
  { slug }: DeployChain,
  work: () => Promise<T>,
): Promise<T | { slug: string; failed: string }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    process.exitCode = 1;
    return { slug, failed: `${slug}: ${error.message}` };
  }
}

interface DeployTools {
  config: DeployConfig;
  opened: readonly Opened[];
  log: Log;
  secrets: SecretContext;
}

/** Opens the key that pays, and runs with it. */
const withDeployer = (
  options: DeployOptions,
  work: (tools: DeployTools & { signer: Signer }) => Promise<void>,
): Promise<void> =>
  withChains(options, (tools) =>
    withSigner(tools.config.keys.deployer, tools, (signer) => work({ ...tools, signer })),
  );

async function withChains(
  { config: file, chain: slugs }: DeployOptions,
  work: (tools: DeployTools) => Promise<void>,
): Promise<void> {
  const { config } = await loadConfig(zDeployConfig, file, process.env);
  const { log, secrets } = toolContext('deploy', config);
  const unknown = slugs.find((slug) => !config.chains.some((chain) => chain.slug === slug));
  if (unknown !== undefined)
    throw badRequest(
      `${file} has no chain "${unknown}". It has: ${config.chains.map(({ slug }) => slug).join(', ')}.`,
    );
  const opened = config.chains
    .filter(({ slug }) => slugs.length === 0 || slugs.includes(slug))
    .map((chain) => ({
      chain,
      node: createDeployNode(
        chain.rpcUrls.map((url) => expand(url, secrets)),
        { timeoutMs: chain.timeoutMs, feeModel: chain.feeModel, minBaseFee: minBaseFeeWei(chain) },
      ),
    }));
  try {
    await work({ config, opened, log, secrets });
  } finally {
    for (const { node } of opened) node.close();
  }
}

const printJson = (body: object): void =>
  console.log(
    JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  );
