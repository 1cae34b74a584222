/** Reads what a chain shows of a deployment at one block: all that a run decides by. */

import { type Address, type Hex, ZERO_ADDRESS } from '../../domain/hex.ts';
import type { DeployNode } from '../../adapters/evm/deploy/node.ts';
import { readContract } from '../../adapters/evm/chain/read-contract.ts';
import { attestationOracleAbi } from '../../settlement/abi/attestation-oracle.ts';
import { type CodeMatch, matchCode } from './code.ts';
import type { DeployChain, DeployConfig } from './config.ts';
import { type Committee, committeeOf, type Contract, contractsOf } from './contracts.ts';

export interface OracleState {
  owner: Address;
  /** The address that may accept the ownership; null: it is not offered. */
  pendingOwner: Address | null;
  committee: Committee;
  /** Takes the place of the committee at `from`, unix seconds. null: nothing is scheduled. */
  scheduled: { committee: Committee; from: number } | null;
}

export interface DeployState {
  block: bigint;
  /** The nonce of the sending account. */
  nonce: number;
  /** Wei. */
  balance: bigint;
  create2: { address: Address; code: Hex };
  hasPermit2: boolean;
  contracts: readonly { contract: Contract; code: Hex; match: CodeMatch }[];
  /** null until the oracle is deployed. */
  oracle: OracleState | null;
  owner: { address: Address; hasCode: boolean };
  /** Configured DEX factories and peg-stability modules that have no code. */
  missing: readonly { what: string; address: Address }[];
}

/** Reads the newest block. Nonce and code are of one block, so what was mined after it is in neither. */
export async function readDeployState(
  node: DeployNode,
  config: DeployConfig,
  chain: DeployChain,
  sender: Address,
): Promise<DeployState> {
  const at = await node.headNumber();
  const hasCode = async (address: Address) => (await node.code(address, at)) !== '0x';
  const owner = chain.owner ?? config.owner;
  const { constantProduct, concentrated, peg } = chain.fillers;
  const filledFrom = [
    { what: 'DEX factory', address: constantProduct },
    { what: 'DEX factory', address: concentrated },
    { what: 'peg-stability module', address: peg },
  ].flatMap(({ what, address }) => (address === null ? [] : [{ what, address }]));
  const [nonce, balance, create2Code, hasPermit2, contracts, ownerHasCode, areThere] = await Promise.all([
    node.nonce(sender, at),
    node.balance(sender, at),
    node.code(chain.create2Deployer, at),
    hasCode(config.permit2),
    Promise.all(
      contractsOf(config, chain).map(async (contract) => {
        const code = await node.code(contract.address, at);
        return { contract, code, match: matchCode(contract, code) };
      }),
    ),
    hasCode(owner),
    Promise.all(filledFrom.map(({ address }) => hasCode(address))),
  ]);
  const oracle = contracts.find(({ contract }) => contract.key === 'oracle');
  return {
    block: at,
    nonce,
    balance,
    create2: { address: chain.create2Deployer, code: create2Code },
    hasPermit2,
    contracts,
    oracle: oracle?.match.is === 'ours' ? await readOracleState(node, oracle.contract.address, at) : null,
    owner: { address: owner, hasCode: ownerHasCode },
    missing: filledFrom.filter((_, index) => !areThere[index]),
  };
}

async function readOracleState(node: DeployNode, address: Address, at: bigint): Promise<OracleState> {
  const read = <TName extends 'owner' | 'pendingOwner' | 'signers' | 'threshold' | 'scheduledSigners'>(
    functionName: TName,
  ) => readContract(node.read, { abi: attestationOracleAbi, address, functionName }, at);
  const [owner, pendingOwner, signers, threshold, [nextSigners, nextThreshold, from]] = await Promise.all([
    read('owner'),
    read('pendingOwner'),
    read('signers'),
    read('threshold'),
    read('scheduledSigners'),
  ]);
  const lower = (text: string) => text.toLowerCase() as Address;
  const committee = (list: readonly string[], least: bigint): Committee =>
    committeeOf({ signers: list.map(lower), threshold: Number(least) });
  return {
    owner: lower(owner),
    pendingOwner: pendingOwner === ZERO_ADDRESS ? null : lower(pendingOwner),
    committee: committee(signers, threshold),
    scheduled:
      nextSigners.length === 0
        ? null
        : { committee: committee(nextSigners, nextThreshold), from: Number(from) },
  };
}
