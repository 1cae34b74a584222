/**
 * Writes what a multisig has to sign, as files that the Transaction Builder of Safe imports. Format and
 * checksum are those of apps/tx-builder in github.com/safe-global/safe-react-apps, version 1.18.
 */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checksummed } from '../../domain/address.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import { keccakText } from '../../domain/keccak.ts';
import { attestationOracleAbi } from '../../settlement/abi/attestation-oracle.ts';
import type { DeployChain, DeployConfig } from './config.ts';
import { writeWhole } from './record.ts';
import type { OwnerCall, DeployStep } from './steps.ts';

interface BatchFile {
  version: '1.0';
  chainId: string;
  createdAt: number;
  meta: Record<string, string>;
  transactions: {
    to: string;
    value: string;
    data: null;
    contractMethod: {
      name: string;
      payable: boolean;
      inputs: readonly { name: string; type: string; internalType: string }[];
    };
    contractInputsValues: Record<string, string>;
  }[];
}

/**
 * Writes one file for each account that has to sign, and removes files of finished steps. Returns the files.
 */
export async function writeSafeFiles(
  config: DeployConfig,
  chain: DeployChain,
  { steps, nowMs, signers }: { steps: readonly DeployStep[]; nowMs: number; signers: readonly Address[] },
): Promise<string[]> {
  const files: string[] = [];
  for (const signer of new Set(signers)) {
    const file = join(config.deployments, 'safe', `${chain.slug}-${signer}.json`);
    const theirs = steps.filter(({ by }) => by === signer);
    if (theirs.length === 0) {
      await rm(file, { force: true });
      continue;
    }
    await writeWhole(file, `${JSON.stringify(safeBatch(chain, signer, theirs, nowMs), null, 2)}\n`);
    files.push(file);
  }
  return files;
}

function safeBatch(
  chain: DeployChain,
  safe: Address,
  steps: readonly DeployStep[],
  nowMs: number,
): BatchFile {
  const batch: BatchFile = {
    version: '1.0',
    chainId: String(chain.id),
    createdAt: nowMs,
    meta: {
      name: `firmquote on ${chain.slug}`,
      description: steps.map(({ what }) => what).join('; '),
      txBuilderVersion: '1.18.3',
      createdFromSafeAddress: checksummed(safe),
      createdFromOwnerAddress: '',
    },
    transactions: steps.flatMap(({ to, call }) =>
      call === null ? [] : [{ to: checksummed(to), value: '0', data: null, ...methodOf(call) }],
    ),
  };
  return { ...batch, meta: { ...batch.meta, checksum: safeChecksum(batch) } };
}

function methodOf(call: OwnerCall) {
  const entry = attestationOracleAbi.find((one) => one.type === 'function' && one.name === call.name);
  const inputs: readonly { name: string; type: string }[] = entry && 'inputs' in entry ? entry.inputs : [];
  const values =
    call.name === 'acceptOwnership'
      ? []
      : call.name === 'transferOwnership'
        ? [checksummed(call.newOwner)]
        : [`[${call.committee.signers.map(checksummed).join(',')}]`, String(call.committee.threshold)];
  return {
    contractMethod: {
      name: call.name,
      payable: false,
      inputs: inputs.map(({ name, type }) => ({ name, type, internalType: type })),
    },
    contractInputsValues: Object.fromEntries(inputs.map(({ name }, at) => [name, values[at] ?? ''])),
  };
}

/** The importer warns when it does not fit the file. It covers everything but itself and the batch's name. */
export function safeChecksum({ meta, ...batch }: Pick<BatchFile, 'meta'>): Bytes32 {
  const { checksum: _, ...rest } = meta;
  return keccakText(sortedText({ ...batch, meta: { ...rest, name: null } }));
}

/** JSON with sorted keys, which are written once before the values of their object. */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).sort();
  const values = keys.map((key) => `${sortedText((value as Record<string, unknown>)[key])},`);
  return `{${JSON.stringify(keys)}${values.join('')}}`;
}
