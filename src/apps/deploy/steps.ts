/**
 * Decides what is still to be done on a chain, and what stands in the way. Pure: reads only the chain's
 * state.
 */

import { encodeFunctionData } from 'viem';
import { type Address, type Hex, hexToBytes, ZERO_ADDRESS } from '../../domain/hex.ts';
import { attestationOracleAbi } from '../../settlement/abi/attestation-oracle.ts';
import { builds } from '../../settlement/abi/build.ts';
import { permit2Address, permit2Salt } from '../../settlement/abi/permit2.ts';
import { CREATE2_DEPLOYER } from '../config/parts.ts';
import type { DeployConfig } from './config.ts';
import {
  type Committee,
  committeeOf,
  type Contract,
  type ContractName,
  CREATE2_DEPLOYER_CODE,
  deployCall,
} from './contracts.ts';
import type { DeployState, OracleState } from './state.ts';
import { creationCodeOf } from '../../adapters/evm/deploy/creation-code.ts';

export interface DeployStep {
  /** Describes the step, such as "deploy Escrow". */
  what: string;
  to: Address;
  data: Hex;
  /** The only account that may send it. null: anybody may. */
  by: Address | null;
  /** An upper bound, for as long as the chain cannot estimate it. */
  mostGas: bigint;
  /** True when it could be mined now: all that it needs is there. */
  ready: boolean;
  /** The contract that it creates. */
  contract: Address | null;
  /** The call as the Safe's Transaction Builder shows it. null: raw data. */
  call: OwnerCall | null;
}

export type OwnerCall =
  | { name: 'acceptOwnership' }
  | { name: 'transferOwnership'; newOwner: Address }
  | { name: 'scheduleSigners'; committee: Committee };

export interface Problem {
  what: string;
  todo: string;
}

interface Todo {
  /** Steps for the deployer's key, in this order. */
  send: DeployStep[];
  /** Steps for the owner of the oracle at that time. */
  sign: DeployStep[];
  /** Reasons to send nothing at all. */
  problems: Problem[];
}

export function todoOf(config: DeployConfig, state: DeployState, sender: Address): Todo {
  const steps = [...deploySteps(config, state), ...oracleSteps(config, state)];
  const mine = ({ by }: DeployStep) => by === null || by === sender;
  return {
    send: steps.filter(mine),
    sign: steps.filter((step) => !mine(step)),
    problems: problemsOf(config, state),
  };
}

function problemsOf(config: DeployConfig, state: DeployState): Problem[] {
  const problems: Problem[] = [];
  const { address: create2, code } = state.create2;
  if (code !== CREATE2_DEPLOYER_CODE)
    problems.push({
      what: `The CREATE2 deployer ${create2} ${code === '0x' ? 'is missing' : 'has other code than it must have'}`,
      todo:
        code === '0x'
          ? 'Send 0.01 of the native currency to 0x3fab184622dc19b6109349b94811493bf2a45362, then broadcast the signed transaction of github.com/Arachnid/deterministic-deployment-proxy, and plan again. A chain that takes only transactions with a chain id needs its operator to place it'
          : 'Do not deploy here: the addresses could not be the same as on other chains, and the code cannot be trusted',
    });
  if (!state.hasPermit2 && !makesPermit2(config, state))
    problems.push({
      what: `There is no Permit2 at ${config.permit2}`,
      todo: 'Correct permit2, or leave it out for the usual address',
    });
  for (const { contract, match } of state.contracts) {
    if (match.is === 'other_code' || match.is === 'other_immutables')
      problems.push({
        what: `The code at ${contract.address} is not that of ${contract.name}`,
        todo: `Take another salt, and do not use this address. ${config.deployments} and firmquote deploy verify tell what is there`,
      });
  }
  for (const { what, address } of state.missing)
    problems.push({
      what: `The ${what} ${address} has no code`,
      todo: `Correct chains.fillers: the ${what} of this chain is in its documentation`,
    });
  return problems;
}

/** Returns true when a run can put Permit2 at the configured address. */
const makesPermit2 = ({ permit2 }: DeployConfig, { create2 }: DeployState): boolean =>
  permit2 === permit2Address.toLowerCase() && create2.address === CREATE2_DEPLOYER;

function deploySteps(config: DeployConfig, state: DeployState): DeployStep[] {
  const { contracts } = state;
  const steps: DeployStep[] = [];
  if (!state.hasPermit2 && makesPermit2(config, state)) {
    const data: Hex = `${permit2Salt}${creationCodeOf('Permit2').slice(2)}`;
    steps.push({
      ...{ what: 'deploy Permit2', to: CREATE2_DEPLOYER, data, by: null, ready: true },
      ...{ mostGas: deployGas(data, RUNTIME_OF_PERMIT2), contract: config.permit2, call: null },
    });
  }
  const isThere = (address: Address) =>
    contracts.some(({ contract, match }) => contract.address === address && match.is === 'ours');
  for (const { contract, match } of contracts) {
    if (match.is !== 'absent') continue;
    const { name, address, needs } = contract;
    const { to, data } = deployCall(contract);
    steps.push({
      ...{ what: `deploy ${name}`, to, data, by: null, ready: needs === null || isThere(needs) },
      ...{ mostGas: deployGas(data, codeBytes(name)), contract: address, call: null },
    });
  }
  return steps;
}

const RUNTIME_OF_PERMIT2 = 9_152;

/** Counts the bytes of code that a deployment puts on the chain: an escrow makes its extension too. */
const codeBytes = (name: ContractName): number =>
  builds[name].runtime.length + (name === 'Escrow' ? builds.EscrowExtension.runtime.length : 0);

/** Gas of a constructor that reads other contracts, and stores the oracle's owner and signers. */
const CONSTRUCTOR_GAS = 150_000n;

/**
 * Computes the gas of creating a contract by CREATE2: what its bytes cost, and enough for its constructor.
 */
function deployGas(data: Hex, runtimeBytes: number): bigint {
  const bytes = hexToBytes(data);
  const zeros = bytes.filter((byte) => byte === 0).length;
  const calldata = 21_000 + 4 * zeros + 16 * (bytes.length - zeros);
  // EIP-3860 charges 2 gas for each word of creation code, CREATE2 6 more for hashing it.
  const create = 32_000 + Math.ceil(bytes.length / 32) * 8 + 200 * runtimeBytes;
  return BigInt(calldata + create) + CONSTRUCTOR_GAS;
}

/** The oracle as it is, or as it will be when it is deployed. */
function oracleOf({ oracle }: Pick<DeployState, 'oracle'>, config: DeployConfig): OracleState {
  return (
    oracle ?? {
      owner: config.oracle.initialOwner,
      pendingOwner: null,
      committee: committeeOf(config.oracle.initialCommittee),
      scheduled: null,
    }
  );
}

export const wantedCommittee = ({ oracle }: DeployConfig): Committee =>
  committeeOf(oracle.committee ?? oracle.initialCommittee);

export const isSameCommittee = (a: Committee, b: Committee): boolean =>
  a.threshold === b.threshold && a.signers.join() === b.signers.join();

/** Returns the committee that will sign when nothing else is done. */
const lastCommittee = ({ committee, scheduled }: OracleState): Committee => scheduled?.committee ?? committee;

function oracleSteps(config: DeployConfig, state: DeployState): DeployStep[] {
  const { address } = (
    state.contracts.find(({ contract }) => contract.key === 'oracle') as { contract: Contract }
  ).contract;
  const oracle = oracleOf(state, config);
  const wanted = state.owner.address;
  const steps: DeployStep[] = [];
  const owners = (what: string, call: OwnerCall, by: Address, mostGas: bigint, ready: boolean) =>
    steps.push({ what, to: address, data: dataOf(call), by, mostGas, ready, contract: null, call });
  const there = state.oracle !== null;

  const committee = wantedCommittee(config);
  if (!isSameCommittee(lastCommittee(oracle), committee))
    owners(
      `schedule ${committee.threshold} of ${committee.signers.length} signers of the oracle`,
      { name: 'scheduleSigners', committee },
      oracle.owner,
      200_000n + 10_000n * BigInt(committee.signers.length),
      there,
    );
  const isOffered = oracle.pendingOwner === wanted;
  if (oracle.owner !== wanted) {
    if (!isOffered)
      owners(
        `offer the oracle to its owner ${wanted}`,
        { name: 'transferOwnership', newOwner: wanted },
        oracle.owner,
        80_000n,
        there,
      );
    owners('accept the oracle', { name: 'acceptOwnership' }, wanted, 80_000n, there && isOffered);
  } else if (oracle.pendingOwner !== null)
    owners(
      `take back the offer of the oracle to ${oracle.pendingOwner}`,
      { name: 'transferOwnership', newOwner: ZERO_ADDRESS },
      oracle.owner,
      80_000n,
      there,
    );
  return steps;
}

function dataOf(call: OwnerCall): Hex {
  const abi = attestationOracleAbi;
  if (call.name === 'acceptOwnership') return encodeFunctionData({ abi, functionName: call.name });
  if (call.name === 'transferOwnership')
    return encodeFunctionData({ abi, functionName: call.name, args: [call.newOwner] });
  const { signers, threshold } = call.committee;
  return encodeFunctionData({ abi, functionName: call.name, args: [signers, BigInt(threshold)] });
}
