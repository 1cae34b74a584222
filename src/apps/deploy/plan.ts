/** `firmquote deploy plan`: what a run would send and what it costs, before anything is sent. */

import { formatUnits } from '../../domain/amount.ts';
import { UpstreamError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import { keccakHex } from '../../domain/keccak.ts';
import type { DeployNode } from '../../adapters/evm/deploy/node.ts';
import { firstFees, type TxFees } from '../../adapters/evm/transactor/fees.ts';
import { feeCapWei } from '../wiring/networks.ts';
import { runtimeOf } from './code.ts';
import type { DeployChain, DeployConfig } from './config.ts';
import { conflictsOf, readRecord } from './record.ts';
import { type DeployState, readDeployState } from './state.ts';
import { type Problem, type DeployStep, todoOf } from './steps.ts';

interface PricedStep extends DeployStep {
  /** The node's estimate, or an upper bound where earlier steps have to be mined first. */
  gas: bigint;
  isEstimate: boolean;
  /** Wei: gas limit at the fee cap of the transaction, and a rollup's own fee. */
  mostCost: bigint;
}

export interface ChainPlan {
  chain: DeployChain;
  sender: Address;
  state: DeployState;
  send: PricedStep[];
  sign: DeployStep[];
  /** Reasons to send nothing at all. */
  problems: Problem[];
  /** Remarks for attention; they stop nothing. */
  notes: string[];
  fees: TxFees;
  mostCost: bigint;
}

/** A gas limit is the estimate and a fifth. */
export const gasLimitOf = (gas: bigint): bigint => (gas * 12n) / 10n;
/** Beside its data, an unsigned transaction has at most so many bytes. */
const ENVELOPE_BYTES = 100;

export async function planChain(
  node: DeployNode,
  config: DeployConfig,
  chain: DeployChain,
  sender: Address,
): Promise<ChainPlan> {
  await requireChain(node, chain);
  const state = await readDeployState(node, config, chain, sender);
  const { send, sign, problems } = todoOf(config, state, sender);
  const [fees, rollupFee] = await Promise.all([
    node.fees().then((now) => firstFees(now, feeCapWei(chain))),
    node.rollupFees(),
  ]);
  const record = readRecord(config, chain);
  const contracts = state.contracts.map(({ contract }) => contract);
  problems.push(...conflictsOf(record, contracts, config, chain));
  const priced: PricedStep[] = [];
  for (const step of send) {
    const tried =
      step.ready && problems.length === 0
        ? await node.simulate({ ...step, from: sender }, state.block)
        : undefined;
    if (tried?.ok === false)
      problems.push({
        what: `${chain.slug} would refuse to ${step.what}: ${tried.reason}`,
        todo: 'Correct the parameters, and plan again',
      });
    const gas = tried?.ok ? tried.gasUsed : step.mostGas;
    const unsignedBytes = (step.data.length - 2) / 2 + ENVELOPE_BYTES;
    const limit = gasLimitOf(gas);
    const mostCost = limit * fees.maxFeePerGas + rollupFee({ unsignedBytes, gas: limit });
    priced.push({ ...step, gas, isEstimate: tried?.ok === true, mostCost });
  }
  const mostCost = priced.reduce((sum, step) => sum + step.mostCost, 0n);
  if (state.balance < mostCost)
    problems.push({
      what: `The account ${sender} has ${formatUnits(state.balance, 18)} ${chain.native.symbol}, and the transactions may take ${formatUnits(mostCost, 18)}`,
      todo: `Send it ${formatUnits(mostCost - state.balance, 18)} ${chain.native.symbol} more`,
    });
  return { chain, sender, state, send: priced, sign, problems, notes: notesOf(state), fees, mostCost };
}

function notesOf({ owner }: DeployState): string[] {
  return owner.hasCode
    ? []
    : [
        `The owner ${owner.address} has no code here. If it is a multisig, create it on this chain first: until then nobody can accept the oracle.`,
      ];
}

/** Throws `wrong_chain`. */
export async function requireChain(node: DeployNode, { id, slug }: DeployChain): Promise<void> {
  const answered = await node.chainId();
  if (answered !== id)
    throw new UpstreamError(
      `The node configured for ${slug} (chain ${id}) is on chain ${answered}. Correct its rpcUrls.`,
      { code: 'wrong_chain', retry: 'never' },
    );
}

/** Formats a plan for `--json`. */
export const planJson = (plan: ChainPlan): object => {
  const { chain, sender, state, send, sign, problems, notes, mostCost } = plan;
  return {
    chainId: chain.id,
    slug: chain.slug,
    block: state.block,
    sender,
    balance: state.balance,
    owner: state.owner.address,
    contracts: state.contracts.map(({ contract, match }) => {
      const { key, name, address, salt, args, initCodeHash, immutables, differs } = contract;
      return {
        ...{ key, name, address, salt, args, initCodeHash },
        codeHash: keccakHex(runtimeOf(contract)),
        immutables,
        sameOnEveryChain: differs === null,
        found: match.is,
      };
    }),
    oracle: state.oracle,
    send: send.map(({ what, to, gas, isEstimate, mostCost: cost }) => ({
      ...{ what, to, gas, isEstimate, mostCost: cost },
    })),
    sign: sign.map(({ what, to, data, by }) => ({ what, to, data, by })),
    mostCost,
    problems,
    notes,
  };
};
