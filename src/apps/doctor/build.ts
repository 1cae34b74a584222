/** Compares code with this version's build where the constructor's arguments are not known. */

import type { Address, Hex } from '../../domain/hex.ts';
import { attestationOracleBytecode } from '../../settlement/abi/attestation-oracle.ts';
import { batchBytecode } from '../../settlement/abi/batch.ts';
import { builds } from '../../settlement/abi/build.ts';
import { concentratedFillerBytecode } from '../../settlement/abi/concentrated-filler.ts';
import { constantProductFillerBytecode } from '../../settlement/abi/constant-product-filler.ts';
import { escrowBytecode } from '../../settlement/abi/escrow.ts';
import { lpAccountBytecode } from '../../settlement/abi/lp-account.ts';
import { pegFillerBytecode } from '../../settlement/abi/peg-filler.ts';
import { quoteBondBytecode } from '../../settlement/abi/quote-bond.ts';
import { vaultFillerBytecode } from '../../settlement/abi/vault-filler.ts';
import { wrapFillerBytecode } from '../../settlement/abi/wrap-filler.ts';
import type { ContractName } from '../deploy/contracts.ts';

const BYTECODES: Readonly<Record<ContractName, Hex>> = {
  Escrow: escrowBytecode,
  AttestationOracle: attestationOracleBytecode,
  QuoteBond: quoteBondBytecode,
  Batch: batchBytecode,
  ConstantProductFiller: constantProductFillerBytecode,
  ConcentratedFiller: concentratedFillerBytecode,
  VaultFiller: vaultFillerBytecode,
  PegFiller: pegFillerBytecode,
  WrapFiller: wrapFillerBytecode,
  LpAccount: lpAccountBytecode,
};
const BLANK = '0'.repeat(64);

/** Whether code is that of a contract of this version, whatever its constructor put into it. */
export function hasBuild(name: ContractName, code: Hex): boolean {
  const { runtime, immutables } = builds[name];
  const built = BYTECODES[name].slice(2 + 2 * runtime.start, 2 + 2 * (runtime.start + runtime.length));
  const blanked = (text: string) =>
    Object.values(immutables)
      .flat()
      .reduce((left, start) => left.slice(0, 2 * start) + BLANK + left.slice(2 * start + 64), text);
  return code.length === built.length + 2 && blanked(code.slice(2)) === blanked(built);
}

/** The address that the constructor put into the code. */
export function addressIn(name: ContractName, code: Hex, immutable: string): Address | undefined {
  const places: Readonly<Record<string, readonly number[]>> = builds[name].immutables;
  const start = places[immutable]?.[0];
  return start === undefined ? undefined : `0x${code.slice(2 * start + 26, 2 * start + 66)}`;
}
