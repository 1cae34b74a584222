/** Checks a trade's dossier without trusting the venue. */

import type { Address, Bytes32 } from '../../domain/hex.ts';
import { orderId } from '../../domain/order.ts';
import { type Case, type VerifyCheck, openCase } from './case.ts';
import { checkBond } from './bond.ts';
import type { TradeClaim } from './claim.ts';
import { addressOf, checkAttestation, checkEnding, checkFill, checkOpening, checkState } from './on-chain.ts';
import { checkAmounts, checkFees, checkStages } from './dossier.ts';
import { checkChecksum, checkCommitment, checkEnvelope, readSigned, checkTakerSignature } from './signed.ts';
import type { Witness } from './witness.ts';

export type { VerifyCheck };

interface VerifyInput {
  orderId: Bytes32;
  claim: TradeClaim;
  witnesses: ReadonlyMap<number, Witness>;
  knownEscrows: ReadonlyMap<number, Address>;
  /** Bond contracts by chain; without that of the origin, bonds are not checked. */
  knownBonds?: ReadonlyMap<number, Address>;
}

export async function verifyClaim({
  orderId: asked,
  claim,
  witnesses,
  knownEscrows,
  knownBonds = new Map(),
}: VerifyInput): Promise<VerifyCheck[]> {
  const signed = readSigned(claim);
  if (!signed)
    return [
      {
        id: 'order.envelope',
        result: 'failed',
        says: 'The envelope is not an escrow-v0 order, so nothing in it can be checked.',
      },
    ];
  const { order, domain, exact } = signed;
  const id = orderId(domain, order);
  const checks: VerifyCheck[] = [];
  const c = openCase({ claim, order, domain, id, witnesses }, checks);
  const { trade, intent } = c;

  c.judge(
    'order.id',
    id === asked && intent.orderId === id && trade.orderId === id,
    `The signed order is ${id}, recomputed from its own terms.`,
    `The signed terms make order ${id}, which is not the requested order (${asked}) or not the one in the dossier.`,
  );
  checkEnvelope(c, exact);
  escrows(c, knownEscrows);
  await checkTakerSignature(c);
  for (const index of order.outputs.keys()) await checkCommitment(c, index);
  const bond = knownBonds.get(domain.chainId);
  if (bond !== undefined) for (const index of order.outputs.keys()) await checkBond(c, index, bond);
  checkChecksum(c);

  const delivered: bigint[] = [];
  await checkOpening(c);
  for (const index of order.outputs.keys()) await checkFill(c, delivered, index);
  for (const index of order.outputs.keys()) await checkAttestation(c, index);
  await checkEnding(c, 'Finalised', 'order.finalised', trade.status === 'settled');
  await checkEnding(c, 'Refunded', 'order.refunded', trade.settlementStatus === 'refunded');
  await checkState(c);

  await checkAmounts(c, delivered);
  await checkFees(c);
  await checkStages(c);
  return checks;
}

function escrows({ order, domain, judge }: Case, known: ReadonlyMap<number, Address>): void {
  const named = [
    { chainId: domain.chainId, escrow: domain.escrow },
    ...order.outputs.map(({ chainId, settler }) => ({
      chainId: Number(chainId),
      escrow: addressOf(settler),
    })),
  ];
  for (const chainId of new Set(named.map((each) => each.chainId))) {
    const own = known.get(chainId);
    const other = named.find((each) => each.chainId === chainId && each.escrow !== own);
    if (own)
      judge(
        `escrow.${chainId}`,
        !other,
        `The escrow on chain ${chainId} is the one you expected.`,
        `The order names escrow ${other?.escrow} on chain ${chainId}; you expected ${own}.`,
      );
  }
}
