/** `firmquote deploy verify`: the chain against the repository's build, the parameters and the record. */

import type { DeployNode } from '../../adapters/evm/deploy/node.ts';
import { keccakHex } from '../../domain/keccak.ts';
import { toIso } from '../../domain/time.ts';
import { compilerVersion } from '../../settlement/abi/build.ts';
import type { Deployment } from '../config/deployment.ts';
import type { DeployChain, DeployConfig } from './config.ts';
import type { Committee } from './contracts.ts';
import { requireChain } from './plan.ts';
import { conflictsOf, readRecord, recordFile } from './record.ts';
import { type DeployState, readDeployState, type OracleState } from './state.ts';
import { isSameCommittee, type Problem, wantedCommittee } from './steps.ts';

interface Verified {
  state: DeployState;
  record: Deployment | undefined;
  differences: Problem[];
}

export async function verifyChain(
  node: DeployNode,
  config: DeployConfig,
  chain: DeployChain,
): Promise<Verified> {
  await requireChain(node, chain);
  const state = await readDeployState(node, config, chain, chain.owner ?? config.owner);
  const record = readRecord(config, chain);
  const differences = [
    ...codeDifferences(state),
    ...recordDifferences(config, chain, state, record),
    ...(state.oracle === null ? [] : oracleDifferences(config, chain, state, state.oracle)),
  ];
  if (!state.hasPermit2)
    differences.push({
      what: `There is no code at permit2 ${config.permit2}`,
      todo: 'Run: firmquote deploy run',
    });
  return { state, record, differences };
}

function codeDifferences({ contracts }: DeployState): Problem[] {
  return contracts.flatMap(({ contract: { key, name, address }, match }): Problem[] => {
    if (match.is === 'ours') return [];
    if (match.is === 'absent')
      return [{ what: `${key}: there is no code at ${address}`, todo: 'Run: firmquote deploy run' }];
    if (match.is === 'other_code')
      return [
        {
          what: `${key}: the code at ${address} is not that of ${name}, built by solc ${compilerVersion}`,
          todo: 'Do not use this address. If it was deployed from another version, verify with that one',
        },
      ];
    return match.immutables.map((one) => ({
      what: `${key}: ${one.name} in the code at ${address} is ${one.found}, not ${one.wanted}`,
      todo: 'Do not use this address. It was made with other arguments than the parameters say',
    }));
  });
}

function recordDifferences(
  config: DeployConfig,
  chain: DeployChain,
  { contracts, owner }: DeployState,
  record: Deployment | undefined,
): Problem[] {
  const file = recordFile(config, chain);
  const again = 'Run: firmquote deploy run';
  if (record === undefined) return [{ what: `${file} does not exist`, todo: again }];
  const differences = conflictsOf(
    record,
    contracts.map(({ contract }) => contract),
    config,
    chain,
  );
  const differs = (name: string, found: unknown, wanted: unknown, todo: string) => {
    if (String(found) !== String(wanted))
      differences.push({ what: `${file}: ${name} is ${String(found)}, not ${String(wanted)}`, todo });
  };
  const byHand = 'The file was changed by hand or belongs to another chain: restore it';
  differs('slug', record.slug, chain.slug, byHand);
  for (const { contract, code, match } of contracts) {
    const recorded = record.contracts[contract.key];
    if (recorded === undefined) {
      differences.push({ what: `${file} does not name ${contract.key}`, todo: again });
      continue;
    }
    if (recorded.address !== contract.address) continue;
    for (const field of ['salt', 'encodedArgs', 'initCodeHash'] as const)
      differs(`${contract.key}.${field}`, recorded[field], contract[field], byHand);
    if (match.is !== 'absent')
      differs(`${contract.key}.codeHash`, recorded.codeHash, keccakHex(code), byHand);
  }
  const known = new Set<string>(contracts.map(({ contract }) => contract.key));
  for (const key of Object.keys(record.contracts))
    if (!known.has(key))
      differences.push({
        what: `${file} names ${key}, and the parameters do not`,
        todo: 'Put it back into the parameters, or remove it from the file',
      });
  const { signers, threshold } = wantedCommittee(config);
  const later = 'If the parameters are right, run: firmquote deploy run';
  differs('oracle.owner', record.oracle.owner, owner.address, later);
  differs('oracle.signers', record.oracle.signers, signers, later);
  differs('oracle.threshold', record.oracle.threshold, threshold, later);
  return differences;
}

function oracleDifferences(
  config: DeployConfig,
  { slug }: DeployChain,
  { owner: { address: wanted } }: DeployState,
  { owner, pendingOwner, committee, scheduled }: OracleState,
): Problem[] {
  const differences: Problem[] = [];
  const toSign = `The multisig signs ${config.deployments}/safe/${slug}-`;
  if (owner !== wanted)
    differences.push({
      what: `oracle: its owner is ${owner}, not ${wanted}`,
      todo:
        pendingOwner === wanted
          ? `It was offered to ${wanted}, who has to accept. ${toSign}${wanted}.json`
          : owner === config.oracle.initialOwner
            ? 'Run: firmquote deploy run'
            : `If you do not control ${owner}, do not use this oracle: deploy another with another salt`,
    });
  if (pendingOwner !== null && pendingOwner !== wanted)
    differences.push({
      what: `oracle: it is offered to ${pendingOwner}`,
      todo: `Run firmquote deploy run to take the offer back. ${toSign}${owner}.json`,
    });
  const right = wantedCommittee(config);
  if (!isSameCommittee(committee, right))
    differences.push({
      what: `oracle: the signers are ${textOf(committee)}, not ${textOf(right)}`,
      todo:
        scheduled !== null && isSameCommittee(scheduled.committee, right)
          ? `The right ones take over at ${toIso(scheduled.from * 1_000)}. Do not use the oracle before`
          : `Run firmquote deploy run. If the owner is a multisig: ${toSign}${owner}.json`,
    });
  if (scheduled !== null && !isSameCommittee(scheduled.committee, right))
    differences.push({
      what: `oracle: other signers take over at ${toIso(scheduled.from * 1_000)}: ${textOf(scheduled.committee)}`,
      todo: `If that is wanted, name them as oracle.committee in the parameters. If not, act before: firmquote deploy run. ${toSign}${owner}.json`,
    });
  return differences;
}

const textOf = ({ threshold, signers }: Committee): string => `${threshold} of ${signers.join(', ')}`;
