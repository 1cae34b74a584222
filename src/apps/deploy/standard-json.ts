/** The input with which a block explorer compiles a contract and compares it with the chain. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import { keccak } from '../../domain/keccak.ts';
import { builds } from '../../settlement/abi/build.ts';
import { badRequest } from '../wiring/bad-request.ts';
import type { ContractName } from './contracts.ts';

/**
 * Builds the Standard JSON of solc. Throws `RequestError` unless every source is the one that the build was
 * made of.
 */
export async function standardJson(name: ContractName): Promise<object> {
  const { sources, settings } = builds[name];
  const contents = await Promise.all(
    Object.entries(sources).map(async ([path, hash]) => {
      const bytes = await readFile(join(PACKAGE_FOLDER, path)).catch(() => undefined);
      if (bytes === undefined)
        throw badRequest(
          `${path} is missing, so ${name} cannot be given to an explorer. Run this in a checkout, after npm ci.`,
        );
      if (keccak(bytes) !== hash)
        throw badRequest(
          `${path} was changed after ${name} was built. Check out the recorded commit, or build the contracts again.`,
        );
      return [path, { content: bytes.toString('utf8') }] as const;
    }),
  );
  return {
    language: 'Solidity',
    sources: Object.fromEntries(contents),
    settings: {
      ...settings,
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode', 'evm.deployedBytecode', 'metadata'] } },
    },
  };
}
