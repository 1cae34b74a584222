/**
 * Runs `firmquote deploy run` on one chain. It decides from the chain what is left to do, again after every
 * transaction. Each transaction takes the account's nonce at the block that was read, so of all that this and
 * earlier, killed runs have sent for a step at most one is ever mined.
 */

import { formatUnits } from '../../domain/amount.ts';
import { SettlementError, UpstreamError } from '../../domain/errors.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { DeployNode } from '../../adapters/evm/deploy/node.ts';
import { bumpFees, firstFees, type TxFees } from '../../adapters/evm/transactor/fees.ts';
import { signTransaction } from '../../adapters/evm/transactor/sign.ts';
import type { SendOutcome } from '../../ports/chain.ts';
import type { Signer } from '../../ports/signer.ts';
import type { Deployment } from '../config/deployment.ts';
import { feeCapWei } from '../wiring/networks.ts';
import type { DeployChain, DeployConfig } from './config.ts';
import type { Patience } from './patience.ts';
import { gasLimitOf, requireChain } from './plan.ts';
import { conflictsOf, namesAll, readRecord, writeRecord } from './record.ts';
import { type DeployState, readDeployState } from './state.ts';
import { type Problem, type DeployStep, todoOf } from './steps.ts';

interface DeployRunOptions {
  signer: Signer;
  report: (line: string) => void;
  patience: Patience;
  /** The fees of a transaction are raised after this long without being mined. */
  bumpAfterMs?: number;
}

export interface RunResult {
  record: Deployment;
  /** The steps that the owner has to sign. */
  sign: DeployStep[];
  /** Transactions that were mined meanwhile. */
  mined: number;
}

/** The same bytes go to the node again after this many reads of the chain. */
const READS_PER_SENDING = 5;

export async function runChain(
  node: DeployNode,
  config: DeployConfig,
  chain: DeployChain,
  { signer, report, patience, bumpAfterMs = 60_000 }: DeployRunOptions,
): Promise<RunResult> {
  const { patiently, pause } = patience;
  const sender = signer.address;
  const feeCap = feeCapWei(chain);
  /** The blocks in which this process saw contracts appear. */
  const blocks = new Map<Address, bigint>();
  let mined = 0;
  let reverted: { what: string; hash: Hex } | undefined;

  const isUsed = async (nonce: number): Promise<boolean> =>
    (await node.nonce(sender, await node.headNumber())) > nonce;

  /**
   * Sends a step. `state`: the state by which it was decided. Returns when a transaction with the nonce of
   * that block is mined, this one or another.
   */
  async function send(step: DeployStep, { nonce, block }: DeployState): Promise<void> {
    // A later block may already have what an earlier run sent for this step, and there it would revert.
    const tried = await patiently(() => node.simulate({ ...step, from: sender }, block));
    if (!tried.ok)
      throw new SettlementError(
        `${chain.slug} would refuse to ${step.what}: ${tried.reason}. ${mined === 0 ? 'Nothing was sent' : 'What was mined before stays'}.`,
        { code: 'would_revert' },
      );
    const gas = gasLimitOf(tried.gasUsed);
    const sign = (at: TxFees) =>
      patiently(() =>
        signTransaction(signer, { chainId: chain.id, nonce, to: step.to, data: step.data, gas, ...at }),
      );
    let fees = firstFees(await patiently(() => node.fees()), feeCap);
    let signed = await sign(fees);
    let signedMs = performance.now();
    const hashes = [signed.hash];
    const goOn = patience.start();
    for (let said = ''; ;) {
      const outcome = await node.send(signed.raw);
      if (outcome.kind === 'out_of_funds') await requireFunds(gas * fees.maxFeePerGas, step);
      const line = saying(outcome, step, signed.hash);
      if (line !== said) report(`${chain.slug}: ${line}`);
      said = line;
      for (let reads = 0; reads < READS_PER_SENDING; reads += 1) {
        if (await patiently(() => isUsed(nonce))) return await noteReceipts(step, hashes);
        goOn(`The transaction to ${step.what} is not mined: ${signed.hash}.`);
        await pause();
      }
      if (performance.now() - signedMs < bumpAfterMs) continue;
      signedMs = performance.now();
      const raised = bumpFees(fees, await patiently(() => node.fees()), feeCap);
      if (raised === undefined) continue;
      fees = raised;
      signed = await sign(fees);
      hashes.push(signed.hash);
    }
  }

  async function noteReceipts({ what, contract }: DeployStep, hashes: readonly Hex[]): Promise<void> {
    mined += 1;
    for (const hash of hashes) {
      const receipt = await patiently(() => node.receipt(hash));
      if (receipt?.reverted) reverted = { what, hash };
      else if (receipt && contract) blocks.set(contract, receipt.block);
    }
  }

  async function requireFunds(most: bigint, { what }: DeployStep): Promise<void> {
    const balance = await patiently(async () => node.balance(sender, await node.headNumber()));
    if (balance >= most) return;
    throw new SettlementError(
      `The account ${sender} has ${formatUnits(balance, 18)} ${chain.native.symbol} on ${chain.slug}, and to ${what} may take ${formatUnits(most, 18)}: ${formatUnits(most - balance, 18)} are missing. Send them, and run again.`,
      { code: 'out_of_funds' },
    );
  }

  await patiently(() => requireChain(node, chain));
  const before = readRecord(config, chain);
  let settledAt: bigint | undefined;
  let waitingAt: bigint | undefined;
  let goOn = patience.start();
  for (;;) {
    const state = await patiently(() => readDeployState(node, config, chain, sender));
    const { send: left, sign, problems } = todoOf(config, state, sender);
    const contracts = state.contracts.map(({ contract }) => contract);
    refuseWith([...problems, ...conflictsOf(before, contracts, config, chain)], chain);
    const [step] = left;
    if (step !== undefined) {
      if (reverted?.what === step.what)
        throw new SettlementError(
          `The transaction to ${step.what} on ${chain.slug} was mined and reverted: ${reverted.hash}. Look at it in an explorer before you run again.`,
          { code: 'reverted' },
        );
      settledAt = undefined;
      await send(step, state);
      continue;
    }
    settledAt ??= state.block;
    // A reorganisation may take back what this run has sent, or an earlier one that was killed before it
    // wrote the record; then it is sent again.
    const isOld = mined === 0 && namesAll(before, contracts);
    if (isOld || state.block - settledAt >= BigInt(chain.depth)) {
      const record = await patiently(() => writeRecord(node, config, chain, state, blocks));
      return { record, sign, mined };
    }
    if (waitingAt === undefined) report(`${chain.slug}: waiting for ${chain.depth} more blocks`);
    if (waitingAt !== state.block) goOn = patience.start();
    waitingAt = state.block;
    goOn('No new blocks come.');
    await pause();
  }
}

function saying(outcome: SendOutcome, { what }: DeployStep, hash: Hex): string {
  if (outcome.kind === 'sent') return `sent the transaction to ${what}: ${hash}`;
  if (outcome.kind === 'rejected')
    throw new UpstreamError(`No node will take the transaction to ${what}: ${outcome.message}`, {
      code: 'not_sent',
      retry: 'never',
    });
  return `the transaction to ${what} was sent, and the node does not confirm it yet: ${outcome.message}`;
}

function refuseWith(problems: readonly Problem[], { slug }: DeployChain): void {
  if (problems.length === 0) return;
  const list = problems.map(({ what, todo }) => `\n  - ${what}. ${todo}.`).join('');
  throw new SettlementError(`Nothing more is sent on ${slug}.${list}`, { code: 'cannot_deploy' });
}
