/** Compares code with this version's build where the constructor's arguments are not known. */

import type { Address, Hex } from '../../domain/hex.ts';
import { builds } from '../../settlement/abi/build.ts';
import type { ContractName } from '../deploy/contracts.ts';
import { creationCodeOf } from '../../adapters/evm/deploy/creation-code.ts';

const BLANK = '0'.repeat(64);

/** Returns true when code is that of a contract of this version, whatever its constructor put into it. */
export function hasBuild(name: ContractName, code: Hex): boolean {
  const { runtime, immutables } = builds[name];
  const built = creationCodeOf(name).slice(2 + 2 * runtime.start, 2 + 2 * (runtime.start + runtime.length));
  const blanked = (text: string) =>
    Object.values(immutables)
      .flat()
      .reduce((left, start) => left.slice(0, 2 * start) + BLANK + left.slice(2 * start + 64), text);
  return code.length === built.length + 2 && blanked(code.slice(2)) === blanked(built);
}

/** Reads the address that the constructor put into the code. */
export function addressIn(name: ContractName, code: Hex, immutable: string): Address | undefined {
  const places: Readonly<Record<string, readonly number[]>> = builds[name].immutables;
  const start = places[immutable]?.[0];
  return start === undefined ? undefined : `0x${code.slice(2 * start + 26, 2 * start + 66)}`;
}
