/** Sections of a dossier that come from the order's stored record alone. */

import type { Chain } from '../../domain/chain.ts';
import { commitmentDigest } from '../../domain/commitment.ts';
import type { Evidence } from '../../domain/fact.ts';
import type { Address } from '../../domain/hex.ts';
import { orderDigest, orderEnvelope, outputHash } from '../../domain/order.ts';
import { toIso } from '../../domain/time.ts';
import type { Screened, ScreenedParty } from '../../ports/screening.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { TravelRuleRecord } from '../../ports/stores/travel-rule.ts';
import type {
  Compliance,
  ComplianceProofs,
  IntentSection,
  TravelRuleTransmission,
} from '../../protocol/api/records.ts';
import { decodeFunding } from '../../settlement/funding.ts';
import { intentOf } from '../../settlement/intent.ts';
import { foldFacts } from '../../settlement/lifecycle.ts';

export const complianceSection = ({ decision, taker, receiver }: Screened): Compliance => ({
  decision,
  taker: partySection(taker),
  receiver: partySection(receiver),
});

const partySection = ({ address, decision, checks }: ScreenedParty): Compliance['taker'] => ({
  address,
  decision,
  checks: checks.map(({ atMs, provider, listVersion, decision: verdict, reason }) => ({
    provider,
    listVersion,
    decision: verdict,
    reason,
    at: toIso(atMs),
  })),
});

/** Returns the report; null when the order is not reported. */
export function travelRuleSection(
  { travelRule }: Pick<OrderRecord, 'travelRule'>,
  latest: TravelRuleRecord | undefined,
): TravelRuleTransmission | null {
  if (!travelRule || !latest) return null;
  const { attempt, state, dueAtMs, startedAtMs, endedAtMs, transmitter, reference, detail, messageSha256 } =
    latest;
  return {
    attempt,
    state,
    ...travelRule,
    dueAt: toIso(dueAtMs),
    startedAt: isoOrNull(startedAtMs),
    endedAt: isoOrNull(endedAtMs),
    transmitter,
    reference,
    detail,
    messageSha256,
  };
}

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

/**
 * Lists every signature and receipt so far, and what it proves. null when the venue no longer has the chain.
 */
export function proofsSection(
  record: OrderRecord,
  chains: ReadonlyMap<number, Chain>,
): ComplianceProofs | null {
  const { order, orderId, quoteId, commitments, signature, signScheme } = record;
  const origin = chains.get(record.originChainId);
  if (!origin) return null;
  const escrow = { chainId: origin.id, escrow: origin.escrow };
  const { opened, fills, attested, finalised, refunded } = foldFacts(
    order,
    record.facts.map(({ fact }) => fact),
  );
  const receipts: ComplianceProofs['receipts'] = [];
  const on = (chainId: number): Address => chains.get(chainId)?.escrow ?? origin.escrow;
  const receipt = (
    event: ComplianceProofs['receipts'][number]['event'],
    evidence: Evidence | undefined,
    proves: string,
  ) => {
    if (evidence) receipts.push({ proves, event, ...placeOf(evidence, on(evidence.chainId)), fill: null });
  };
  receipt('Open', opened, 'The escrow on the origin took the input of exactly this order.');
  fills.forEach((fill, outputIndex) => {
    const output = order.outputs[outputIndex];
    if (!fill || !output) return;
    const { evidence, solver, timestamp, amount } = fill;
    receipts.push({
      proves: `Output ${outputIndex} was delivered to its recipient in full, by this solver, in this block.`,
      event: 'OutputFilled',
      ...placeOf(evidence, on(evidence.chainId)),
      fill: { outputIndex, outputHash: outputHash(output), solver, timestamp, amount: amount.toString() },
    });
  });
  receipt(
    'Finalised',
    finalised,
    'The escrow released the input to those who delivered; it cannot be refunded or paid out again.',
  );
  receipt(
    'Refunded',
    refunded,
    'The escrow gave the input back to the taker; it cannot be paid out to anybody else.',
  );
  return {
    takerSignature: {
      proves:
        'The taker agreed to exactly these inputs, outputs, recipients and times, on this escrow and no other.',
      scheme: signScheme,
      signer: order.user,
      digest: orderDigest(escrow, order),
      signature,
    },
    commitments: commitments.map(({ lp, deadline, signature: signed }, outputIndex) => ({
      proves: `The LP promised to pay output ${outputIndex} of exactly this order until the deadline, from its balance in the escrow.`,
      outputIndex,
      lp,
      quoteId,
      deadline,
      digest: commitmentDigest(escrow, { orderId, quoteId, lp, deadline }),
      signature: signed,
    })),
    checksum: checksumOf(record),
    receipts,
    attestations: attested.flatMap((fact, outputIndex) => {
      const output = order.outputs[outputIndex];
      if (!fact || !output) return [];
      const { evidence, payloadHash } = fact;
      return [
        {
          proves: `A quorum of attesters told the origin that output ${outputIndex} was delivered on the other chain.`,
          ...placeOf(evidence, order.inputOracle),
          outputIndex,
          remoteChainId: Number(output.chainId),
          application: output.settler,
          payloadHash,
        },
      ];
    }),
  };
}

const placeOf = ({ chainId, txHash, blockNumber, blockHash, at }: Evidence, contract: Address) => ({
  chainId,
  contract,
  txHash,
  blockNumber: Number(blockNumber),
  blockHash,
  at,
});

function checksumOf({ candidate }: OrderRecord): ComplianceProofs['checksum'] {
  const { integrityChecksum } = JSON.parse(candidate) as { integrityChecksum?: string };
  if (integrityChecksum === undefined) return null;
  return {
    proves:
      'The venue showed the taker the terms that were submitted; the LP commitments travel inside it. Only the venue can recompute its MAC.',
    value: integrityChecksum,
  };
}

/** Returns the order as an ERC-7683 intent. null when the venue no longer has the chain. */
export function intentSection(record: OrderRecord, chains: ReadonlyMap<number, Chain>): IntentSection | null {
  const { order, orderId, quoteId, commitments, signature, signScheme, funding } = record;
  const origin = chains.get(record.originChainId);
  if (!origin) return null;
  const { maxSpent, minReceived, fillInstructions, ...envelope } = intentOf(origin.escrow, order);
  return {
    standard: 'ERC-7683',
    orderId,
    quoteId,
    ...envelope,
    expires: order.expires,
    resolved: { maxSpent, minReceived, fillInstructions },
    typedData: { ...orderEnvelope({ chainId: origin.id, escrow: origin.escrow }, order) },
    funding: { mode: decodeFunding(funding)?.mode ?? null, data: funding },
    signatures: {
      taker: { scheme: signScheme, signature },
      commitments: commitments.map(({ lp, deadline, signature: signed }) => ({
        lp,
        deadline,
        signature: signed,
      })),
    },
  };
}
