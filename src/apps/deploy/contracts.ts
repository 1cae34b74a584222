/** Decides which contracts a chain gets, with which constructor arguments, and so at which addresses. */

import { type Abi, encodeAbiParameters, encodeDeployData, getContractAddress, getCreate2Address } from 'viem';
import { separatorOf, domainSeparator } from '../../domain/escrow-domain.ts';
import { addressToBytes32, type Address, type Bytes32, bytesToHex, type Hex } from '../../domain/hex.ts';
import { keccakHex, keccakText } from '../../domain/keccak.ts';
import { attestationOracleAbi } from '../../settlement/abi/attestation-oracle.ts';
import { batchAbi } from '../../settlement/abi/batch.ts';
import { builds } from '../../settlement/abi/build.ts';
import { concentratedFillerAbi } from '../../settlement/abi/concentrated-filler.ts';
import { constantProductFillerAbi } from '../../settlement/abi/constant-product-filler.ts';
import { escrowAbi } from '../../settlement/abi/escrow.ts';
import { pegFillerAbi } from '../../settlement/abi/peg-filler.ts';
import { quoteBondAbi } from '../../settlement/abi/quote-bond.ts';
import { vaultFillerAbi } from '../../settlement/abi/vault-filler.ts';
import { wrapFillerAbi } from '../../settlement/abi/wrap-filler.ts';
import type { ContractKey } from '../config/deployment.ts';
import { CREATE2_DEPLOYER } from '../config/parts.ts';
import type { DeployChain, DeployConfig } from './config.ts';
import { creationCodeOf } from '../../adapters/evm/deploy/creation-code.ts';

/** Calls CREATE2 with the first 32 bytes of its input as salt and the rest as creation code. */
export const CREATE2_DEPLOYER_CODE: Hex =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';

export type ContractName = keyof typeof builds;

export interface Contract {
  /** The contract's name in the records and in configurations. */
  key: ContractKey;
  name: ContractName;
  address: Address;
  create2Deployer: Address;
  salt: Bytes32;
  /** Constructor arguments by name, as text. */
  args: Readonly<Record<string, string | readonly string[]>>;
  encodedArgs: Hex;
  /** Creation code with the arguments. */
  initCode: Hex;
  initCodeHash: Bytes32;
  /** Words that the constructor puts into the code. */
  immutables: Readonly<Record<string, Bytes32>>;
  /** A contract that the constructor calls. */
  needs: Address | null;
  /** The reason why its address differs on other chains. null: it is the same. */
  differs: string | null;
}

interface Recipe {
  key: ContractKey;
  name: ContractName;
  abi: Abi;
  args: readonly unknown[];
  immutables: (address: Address) => Record<string, Bytes32>;
  needs?: Address;
  differs?: string;
}

/**
 * Computes the address of the `EscrowExtension` of an escrow: its constructor makes it, and the escrow's code
 * makes no other contract.
 */
export const extensionOf = (escrow: Address): Address =>
  getContractAddress({ from: escrow, nonce: 1n }).toLowerCase() as Address;

/** Encodes an unsigned number or an address as a word of 32 bytes. */
const word = (value: bigint | number | Address): Bytes32 =>
  typeof value === 'string' ? addressToBytes32(value) : `0x${value.toString(16).padStart(64, '0')}`;

/** Text of less than 32 bytes in one word, as OpenZeppelin keeps it: left-aligned, its length at the end. */
function shortString(text: string): Bytes32 {
  const bytes = new Uint8Array(32);
  bytes.set(new TextEncoder().encode(text));
  bytes[31] = text.length;
  return bytesToHex(bytes);
}

/** Hex is taken as it is, other text is hashed. */
const saltOf = (text: string): Bytes32 =>
  /^0x[0-9a-f]{64}$/i.test(text) ? (text.toLowerCase() as Bytes32) : keccakText(text);

const ascending = (signers: readonly Address[]): Address[] =>
  [...signers].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

export interface Committee {
  /** The signers in ascending order. */
  signers: readonly Address[];
  threshold: number;
}

export const committeeOf = ({ signers, threshold }: Committee): Committee => ({
  signers: ascending(signers),
  threshold,
});

/** Lists the contracts in the order in which they are deployed. */
export function contractsOf(config: DeployConfig, chain: DeployChain): Contract[] {
  const salt = saltOf(config.salt);
  const from = chain.create2Deployer;
  const otherDeployer = from === CREATE2_DEPLOYER ? null : 'its CREATE2 deployer is not the usual one';
  const make = (recipe: Recipe): Contract => {
    const { key, name, abi, args, immutables, needs = null, differs = otherDeployer } = recipe;
    const inputs = abi.find((entry) => entry.type === 'constructor')?.inputs ?? [];
    const initCode = encodeDeployData({ abi, bytecode: creationCodeOf(name), args });
    const address = getCreate2Address({ from, salt, bytecode: initCode }).toLowerCase() as Address;
    const named = inputs.map(({ name: input }, at) => [input ?? String(at), textOf(args[at])]);
    return {
      key,
      name,
      address,
      create2Deployer: from,
      salt,
      args: Object.fromEntries(named),
      encodedArgs: encodeAbiParameters(inputs, args),
      initCode,
      initCodeHash: keccakHex(initCode),
      immutables: immutables(address),
      needs,
      differs,
    };
  };
  const { permit2 } = config;
  const { feeRecipient, maxFeeBps, withdrawalDelaySeconds, withdrawalWindowSeconds, minProofWindowSeconds } =
    config.escrow;
  const escrow = make({
    key: 'escrow',
    name: 'Escrow',
    abi: escrowAbi,
    args: [
      permit2,
      feeRecipient,
      BigInt(maxFeeBps),
      BigInt(withdrawalDelaySeconds),
      BigInt(withdrawalWindowSeconds),
      BigInt(minProofWindowSeconds),
    ],
    immutables: (address) => ({
      PERMIT2: word(permit2),
      feeRecipient: word(feeRecipient),
      MAX_FEE_BPS: word(maxFeeBps),
      WITHDRAWAL_DELAY: word(withdrawalDelaySeconds),
      WITHDRAWAL_WINDOW: word(withdrawalWindowSeconds),
      MIN_PROOF_WINDOW: word(minProofWindowSeconds),
      EXTENSION: word(extensionOf(address)),
      _deploymentChainId: word(chain.id),
      _deploymentDomain: domainSeparator({ chainId: chain.id, escrow: address }),
    }),
  });
  const { initialOwner, initialCommittee, rotationDelaySeconds } = config.oracle;
  const { signers, threshold } = committeeOf(initialCommittee);
  const [oracleName, oracleVersion] = ['AttestationOracle', '1'];
  const oracle = make({
    key: 'oracle',
    name: 'AttestationOracle',
    abi: attestationOracleAbi,
    args: [initialOwner, signers, BigInt(threshold), BigInt(rotationDelaySeconds)],
    immutables: (address) => ({
      ROTATION_DELAY: word(rotationDelaySeconds),
      _cachedChainId: word(chain.id),
      _cachedThis: word(address),
      _cachedDomainSeparator: separatorOf({
        name: oracleName,
        version: oracleVersion,
        chainId: chain.id,
        verifyingContract: address,
      }),
      _hashedName: keccakText(oracleName),
      _hashedVersion: keccakText(oracleVersion),
      _name: shortString(oracleName),
      _version: shortString(oracleVersion),
    }),
  });
  const contracts = [escrow, oracle];
  if (config.quoteBond !== null) {
    const { forfeitTo, shareBps, takeBackDelaySeconds } = config.quoteBond;
    contracts.push(
      make({
        key: 'quoteBond',
        name: 'QuoteBond',
        abi: quoteBondAbi,
        args: [escrow.address, forfeitTo, BigInt(shareBps), BigInt(takeBackDelaySeconds)],
        immutables: () => ({
          ESCROW: word(escrow.address),
          FORFEIT_TO: word(forfeitTo),
          SHARE_BPS: word(shareBps),
          TAKE_BACK_DELAY: word(takeBackDelaySeconds),
          WITHDRAWAL_DELAY: word(withdrawalDelaySeconds),
        }),
        needs: escrow.address,
      }),
    );
  }
  if (config.batch)
    contracts.push(
      make({
        key: 'batch',
        name: 'Batch',
        abi: batchAbi,
        args: [escrow.address],
        immutables: () => ({ ESCROW: word(escrow.address) }),
        needs: escrow.address,
      }),
    );
  for (const { kind, immutable, what, ...recipe } of FILLERS) {
    const chosen = chain.fillers[kind];
    if (chosen === null || chosen === false) continue;
    const place = chosen === true ? undefined : chosen;
    contracts.push(
      make({
        ...recipe,
        args: [escrow.address, ...(place === undefined ? [] : [place])],
        immutables: () => ({
          ESCROW: word(escrow.address),
          ...(place !== undefined && { [immutable]: word(place) }),
        }),
        needs: escrow.address,
        ...(place !== undefined && { differs: `its constructor takes the ${what} of ${chain.slug}` }),
      }),
    );
  }
  return contracts;
}

interface FillerRecipe extends Pick<Recipe, 'key' | 'name' | 'abi'> {
  kind: keyof DeployChain['fillers'];
  /** The constructor's argument beside the escrow; empty where there is none. */
  immutable: 'FACTORY' | 'PSM' | '';
  what: string;
}

const FILLERS: readonly FillerRecipe[] = [
  {
    kind: 'constantProduct',
    key: 'constantProductFiller',
    name: 'ConstantProductFiller',
    abi: constantProductFillerAbi,
    immutable: 'FACTORY',
    what: 'DEX factory',
  },
  {
    kind: 'concentrated',
    key: 'concentratedFiller',
    name: 'ConcentratedFiller',
    abi: concentratedFillerAbi,
    immutable: 'FACTORY',
    what: 'DEX factory',
  },
  {
    kind: 'peg',
    key: 'pegFiller',
    name: 'PegFiller',
    abi: pegFillerAbi,
    immutable: 'PSM',
    what: 'peg-stability module',
  },
  { kind: 'vault', key: 'vaultFiller', name: 'VaultFiller', abi: vaultFillerAbi, immutable: '', what: '' },
  { kind: 'wrap', key: 'wrapFiller', name: 'WrapFiller', abi: wrapFillerAbi, immutable: '', what: '' },
];

const textOf = (value: unknown): string | string[] =>
  Array.isArray(value) ? value.map((each) => String(each)) : String(value);

/** Builds the call of the deployer contract. */
export const deployCall = ({ create2Deployer, salt, initCode }: Contract): { to: Address; data: Hex } => ({
  to: create2Deployer,
  data: `${salt}${initCode.slice(2)}`,
});
