/** Creation code of contracts, for programs that deploy a contract or compare one with this version's. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from '../../../domain/hex.ts';
import { PACKAGE_FOLDER } from '../../system/version.ts';

const read = new Map<string, Hex>();

/** Reads a contract by its path in `contracts/artifacts`: `Escrow`, or `devnet/DevToken` of a local chain. */
export function creationCodeOf(contract: string): Hex {
  let code = read.get(contract);
  if (code === undefined) {
    const file = join(PACKAGE_FOLDER, 'contracts', 'artifacts', `${contract}.json`);
    // Base64 is a third shorter than hex, which counts in the package.
    const { creationCode } = JSON.parse(readFileSync(file, 'utf8')) as { creationCode: string };
    code = `0x${Buffer.from(creationCode, 'base64').toString('hex')}`;
    read.set(contract, code);
  }
  return code;
}
