/** Compares the code at an address with the build. */

import { InvariantError } from '../../domain/errors.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import { builds } from '../../settlement/abi/build.ts';
import type { Contract } from './contracts.ts';

function wordOf({ name, immutables }: Contract, immutable: string): Bytes32 {
  const word = immutables[immutable];
  if (word === undefined) throw new InvariantError(`Nothing says what ${immutable} of ${name} must be.`);
  return word;
}

/** The code that the chain must have at the address. */
export function runtimeOf(contract: Contract): Hex {
  const { initCode, name } = contract;
  const { runtime, immutables: places } = builds[name];
  let code = initCode.slice(2 + 2 * runtime.start, 2 + 2 * (runtime.start + runtime.length));
  for (const [immutable, starts] of Object.entries(places))
    for (const start of starts)
      code = code.slice(0, 2 * start) + wordOf(contract, immutable).slice(2) + code.slice(2 * start + 64);
  return `0x${code}`;
}

export type CodeMatch =
  | { is: 'absent' }
  | { is: 'ours' }
  /** The code is the build's; what the constructor put into it is not what the parameters say. */
  | { is: 'other_immutables'; immutables: { name: string; found: Bytes32; wanted: Bytes32 }[] }
  | { is: 'other_code' };

/** Compares code with the build, apart from the immutables, and then each immutable at each of its places. */
export function matchCode(contract: Contract, code: Hex): CodeMatch {
  if (code === '0x') return { is: 'absent' };
  const wanted = runtimeOf(contract);
  if (code === wanted) return { is: 'ours' };
  if (code.length !== wanted.length) return { is: 'other_code' };
  let masked = code;
  const immutables: { name: string; found: Bytes32; wanted: Bytes32 }[] = [];
  for (const [name, starts] of Object.entries(builds[contract.name].immutables))
    for (const start of starts) {
      const from = 2 + 2 * start;
      const [found, right] = [code, wanted].map((text) => `0x${text.slice(from, from + 64)}` as const) as [
        Bytes32,
        Bytes32,
      ];
      if (found !== right && !immutables.some((each) => each.name === name && each.found === found))
        immutables.push({ name, found, wanted: right });
      masked = `${masked.slice(0, from)}${right.slice(2)}${masked.slice(from + 64)}` as Hex;
    }
  return masked === wanted ? { is: 'other_immutables', immutables } : { is: 'other_code' };
}
