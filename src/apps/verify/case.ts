/** Holds the state of one verification. */

import { formatTokens } from '../../domain/amount.ts';
import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import type { TradeClaim } from './claim.ts';
import type { TransactionEvidence, Witness } from './witness.ts';

export interface VerifyCheck {
  /** Stable name, such as `taker.signature` or `output.0.filled`. */
  id: string;
  /** held: proven true. failed: proven false, or a required proof is missing. unchecked: no node to ask. */
  result: 'held' | 'failed' | 'unchecked';
  says: string;
}

type Proofs = TradeClaim['complianceProofs'];
export type ClaimedReceipt = Proofs['receipts'][number];
type ClaimedLocation = Pick<
  ClaimedReceipt,
  'chainId' | 'contract' | 'txHash' | 'blockNumber' | 'blockHash' | 'at'
>;

interface Material {
  claim: TradeClaim;
  order: StandardOrder;
  domain: { chainId: number; escrow: Address };
  id: Bytes32;
  witnesses: ReadonlyMap<number, Witness>;
}

/** Its functions add checks; `name` is the id of the check. */
export interface Case extends Material {
  trade: TradeClaim['trade'];
  intent: TradeClaim['intent'];
  proofs: Proofs;
  /** undefined: no node of the origin was given. */
  origin: Witness | undefined;
  opened: ClaimedReceipt | undefined;
  note(name: string, result: VerifyCheck['result'], says: string): void;
  fail(name: string, says: string): void;
  judge(name: string, held: boolean, yes: string, no: string): void;
  /** No node of the chain was given. */
  unasked(name: string, chainId: number): void;
  transaction(chainId: number, txHash: string): Promise<TransactionEvidence | undefined>;
  /** Records a failure unless the transaction is where the receipt says. */
  standing(name: string, place: ClaimedLocation): Promise<TransactionEvidence | undefined>;
  /** Prints an amount for people: in whole tokens when a node of that chain was given. */
  inTokens(amount: bigint, chainId: number, token: Address): Promise<string>;
}

export function openCase(material: Material, checks: VerifyCheck[]): Case {
  const { claim, domain, witnesses } = material;
  const seen = new Map<string, TransactionEvidence | undefined>();
  const note = (name: string, result: VerifyCheck['result'], says: string): void =>
    void checks.push({ id: name, result, says });
  const fail = (name: string, says: string): void => note(name, 'failed', says);
  const unasked = (name: string, chainId: number): void =>
    note(name, 'unchecked', `No node was given for chain ${chainId}: add --rpc ${chainId}=URL.`);

  async function transaction(chainId: number, txHash: string): Promise<TransactionEvidence | undefined> {
    const key = `${chainId} ${txHash}`;
    if (!seen.has(key)) seen.set(key, await witnesses.get(chainId)?.transaction(txHash as Hex));
    return seen.get(key);
  }

  async function standing(name: string, place: ClaimedLocation): Promise<TransactionEvidence | undefined> {
    if (!witnesses.has(place.chainId)) {
      unasked(name, place.chainId);
      return undefined;
    }
    const tx = await transaction(place.chainId, place.txHash);
    if (!tx?.succeeded) fail(name, `Chain ${place.chainId} has no successful transaction ${place.txHash}.`);
    else if (
      tx.blockNumber !== BigInt(place.blockNumber) ||
      tx.blockHash !== place.blockHash ||
      tx.at !== place.at
    )
      fail(
        name,
        `Transaction ${place.txHash} is in block ${tx.blockNumber} (${tx.blockHash}) of ${tx.at}, not where the dossier says.`,
      );
    else return tx;
    return undefined;
  }

  async function inTokens(amount: bigint, chainId: number, token: Address): Promise<string> {
    const unit = await witnesses.get(chainId)?.unit(token);
    return formatTokens(amount, unit ?? { decimals: null, symbol: token });
  }

  return {
    ...material,
    inTokens,
    trade: claim.trade,
    intent: claim.intent,
    proofs: claim.complianceProofs,
    origin: witnesses.get(domain.chainId),
    opened: claim.complianceProofs.receipts.find(({ event }) => event === 'Open'),
    note,
    fail,
    judge: (name, held, yes, no) => note(name, held ? 'held' : 'failed', held ? yes : no),
    unasked,
    transaction,
    standing,
  };
}

export const blockPhrase = (newest: boolean): string =>
  newest ? ', as of the newest block' : ' at that block';
