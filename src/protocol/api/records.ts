/** The dossier's compliance sections, with proofs that can be checked on the chain. */

import * as z from 'zod';
import { zExplained } from '../schema.ts';
import { zOrderId, zSignScheme } from './submit.ts';

const zAt = z.iso.datetime();
const VERDICTS = {
  allowed: 'no list names the address',
  denied: 'a list names it',
  unknown: 'a provider did not answer',
} as const;
const zDecision = zExplained('The result of screening.', {
  ...VERDICTS,
  not_screened: 'the venue ran without a screener',
}).meta({ id: 'ScreeningDecision' });
const hex = (what: string) =>
  z
    .string()
    .regex(/^0x[0-9a-f]*$/)
    .describe(what);
const PROVES = 'What it proves, in a sentence for people.';

const zCheck = z
  .object({
    provider: z.string().describe('Name of the provider.'),
    listVersion: z.string().nullable().describe('Version of its list. null when it has none.'),
    decision: zExplained('What the provider said.', VERDICTS),
    reason: zExplained('Why. It never tells the entry that matched.', {
      listed: 'the address is on the list',
      not_listed: 'it is not',
      unavailable: 'the provider did not answer, so the trade was refused',
      unavailable_let_through: 'the provider did not answer, and the venue is configured to go on',
    }),
    at: zAt.describe('When it was asked.'),
  })
  .meta({ id: 'ScreeningCheck', description: 'The answer of one provider.' });
const zParty = z
  .object({
    address: z.string().describe('The address that was screened.'),
    decision: zDecision,
    checks: z.array(zCheck).describe('One for each provider.'),
  })
  .meta({ id: 'ScreenedParty', description: 'One address, and what was found.' });

export const zCompliance = z
  .object({
    decision: zDecision,
    taker: zParty.describe('The taker.'),
    receiver: zParty.describe('The receiver; the taker again when nobody else was named.'),
  })
  .meta({ id: 'ComplianceSummary', description: 'Screening of the parties; the worse decision counts.' });
export type Compliance = z.infer<typeof zCompliance>;

export const zTravelRuleTransmission = z
  .object({
    attempt: z.int().min(1).describe('Which attempt this is, from 1.'),
    state: zExplained('How far the transmission is.', {
      due: 'to be sent at `dueAt`',
      sending: 'being sent',
      transmitted: 'the transmitter took it',
      failed: 'refused or without an answer, and to be tried again',
      unknown: 'it may have arrived; the next attempt has the same idempotency key',
      abandoned: 'given up; an operator has to act',
    }),
    thresholdUsd: z.number().describe('Notional in USD from which the workspace reports.'),
    amountUsd: z
      .number()
      .nullable()
      .describe('Notional of the trade in USD. null without a reference price.'),
    dueAt: zAt.describe('When it is to be sent.'),
    startedAt: zAt.nullable().describe('When the sending began. null before.'),
    endedAt: zAt.nullable().describe('When it ended. null before.'),
    transmitter: z.string().nullable().describe('Who transmits it. null before it is sent.'),
    reference: z.string().nullable().describe("The transmitter's reference. null when it gave none."),
    detail: z.string().nullable().describe('What the transmitter said, for people. null when nothing.'),
    messageSha256: z
      .string()
      .nullable()
      .describe('SHA-256 of the message as hex. null before there is a message.'),
  })
  .meta({ id: 'TravelRuleTransmission', description: 'The latest Travel Rule transmission of the trade.' });
export type TravelRuleTransmission = z.infer<typeof zTravelRuleTransmission>;

const placeFields = {
  chainId: z.int().describe('Chain of the event.'),
  contract: hex('Contract that emitted it.'),
  txHash: hex('Its transaction.'),
  blockNumber: z.int().describe('Its block.'),
  blockHash: hex('Hash of the block.'),
  at: z.int().describe('Time of the block in Unix seconds.'),
};

const zTakerSignature = z
  .object({
    proves: z.string().describe(PROVES),
    scheme: zSignScheme,
    signer: hex('Address that signed: the taker.'),
    digest: hex('The EIP-712 digest that was signed.'),
    signature: hex('The signature as submitted.'),
  })
  .meta({ id: 'TakerSignatureProof', description: 'That the taker agreed.' });
const OPERATOR_SIGNATURE =
  "Signature of the LP's operator. Longer than 65 bytes: of `QuoteTree(bytes32 root)`, then 32 bytes for each " +
  'step from the digest of the commitment up to that root; each pair is hashed in ascending order.';
const zCommitment = z
  .object({
    proves: z.string().describe(PROVES),
    outputIndex: z.int().describe('Which output of the order, from 0.'),
    lp: hex("The LP's account in the escrow."),
    quoteId: hex('The quote that it committed to.'),
    deadline: z.int().describe('Unix second until which the commitment can be executed.'),
    digest: hex('The EIP-712 digest of the commitment.'),
    signature: hex(OPERATOR_SIGNATURE),
  })
  .meta({ id: 'CommitmentProof', description: 'That an LP promised to pay an output.' });
const zChecksum = z
  .object({
    proves: z.string().describe(PROVES),
    value: z.string().describe('The `integrityChecksum` of the candidate.'),
  })
  .meta({ id: 'ChecksumProof', description: 'That the venue showed these terms.' });
const zFillReceipt = z
  .object({
    outputIndex: z.int().describe('Which output of the order, from 0.'),
    outputHash: hex('Hash of the output, as the escrow computes it.'),
    solver: hex('Account that delivered.'),
    timestamp: z.int().describe('Time of the delivery in Unix seconds, as the escrow recorded it.'),
    amount: z.string().describe('What was delivered, in base units.'),
  })
  .meta({ id: 'FillReceipt', description: 'What a fill delivered.' });
const zReceipt = z
  .object({
    ...placeFields,
    proves: z.string().describe(PROVES),
    event: zExplained('Event of the escrow.', {
      Open: 'the input was taken',
      OutputFilled: 'an output was delivered',
      Finalised: 'the input was paid out',
      Refunded: 'the input went back to the taker',
    }),
    fill: zFillReceipt.nullable().describe('Of `OutputFilled`. null on other events.'),
  })
  .meta({ id: 'Receipt', description: 'An event on a chain, at the configured depth.' });
const zAttestation = z
  .object({
    ...placeFields,
    proves: z.string().describe(PROVES),
    outputIndex: z.int().describe('Which output of the order, from 0.'),
    remoteChainId: z.int().describe('Chain of the delivery that is attested.'),
    application: hex('Escrow of that chain, as 32 bytes.'),
    payloadHash: hex('Hash of the attested payload.'),
  })
  .meta({ id: 'Attestation', description: 'That attesters proved a delivery on another chain.' });

export const zComplianceProofs = z
  .object({
    takerSignature: zTakerSignature,
    commitments: z
      .array(zCommitment)
      .describe('One for each output, in order. Empty where no LP stands behind the order.'),
    checksum: zChecksum.nullable().describe('null for orders whose candidate had none.'),
    receipts: z.array(zReceipt).describe('Events of the escrows so far.'),
    attestations: z
      .array(zAttestation)
      .describe('Proofs of deliveries on another chain. Empty on one chain.'),
  })
  .meta({ id: 'ComplianceProofs', description: 'Signatures and events, and what each proves.' });
export type ComplianceProofs = z.infer<typeof zComplianceProofs>;

const zIntentOutput = z
  .object({
    token: hex('Token, as 32 bytes.'),
    amount: z.string().describe('In base units.'),
    recipient: hex('Who gets it, as 32 bytes.'),
    chainId: z.int().describe('Chain of the token.'),
  })
  .meta({ id: 'IntentOutput', description: 'An amount of the intent.' });
const zFillInstruction = z
  .object({
    destinationChainId: z.int().describe('Chain to deliver on.'),
    destinationSettler: hex('Contract to call there, as 32 bytes.'),
    originData: hex('Data for that call.'),
  })
  .meta({ id: 'FillInstruction', description: 'How to deliver an output.' });
const zResolved = z
  .object({
    maxSpent: z.array(zIntentOutput).describe('The most that a filler spends.'),
    minReceived: z.array(zIntentOutput).describe('The least that it receives.'),
    fillInstructions: z.array(zFillInstruction).describe('One for each output.'),
  })
  .meta({ id: 'ResolvedIntent', description: 'What the intent means for a filler.' });
const zIntentFunding = z
  .object({
    mode: zExplained('How the input was pulled.', {
      self: 'by allowance, in a transaction of the taker',
      permit2Grant: 'by a standing Permit2 grant',
      permit2Lock: 'by a Permit2 permit for the order',
      eip3009: 'by an EIP-3009 authorization',
      resourceLock: "from the taker's balance in the ledger",
    })
      .nullable()
      .describe('How the input was pulled. null when the data names no known way.'),
    data: hex("The `signature` argument of the escrow's `openFor`."),
  })
  .meta({ id: 'IntentFunding', description: 'How the input was pulled.' });
const zIntentSignatures = z
  .object({
    taker: z
      .object({ scheme: zSignScheme, signature: hex('The signature as submitted.') })
      .meta({ id: 'TakerSignature', description: "The taker's signature." }),
    commitments: z
      .array(
        z
          .object({
            lp: hex("The LP's account in the escrow."),
            deadline: z.int().describe('Unix second until which the commitment can be executed.'),
            signature: hex(OPERATOR_SIGNATURE),
          })
          .meta({ id: 'Commitment', description: "An LP's promise to pay an output." }),
      )
      .describe('One for each output, in order.'),
  })
  .meta({ id: 'IntentSignatures', description: 'Who signed the order.' });

export const zIntent = z
  .object({
    standard: z.literal('ERC-7683').describe('Always `ERC-7683`.'),
    orderId: zOrderId,
    quoteId: hex('The quote that the order executes.'),
    originSettler: hex('Escrow that took the input.'),
    user: hex('The taker.'),
    nonce: z.string().describe('Nonce of the order: a decimal number.'),
    originChainId: z.int().describe('Chain of the input.'),
    openDeadline: z.int().describe('Unix second until which the order could be opened.'),
    fillDeadline: z.int().describe('Unix second until which it can be delivered.'),
    expires: z.int().describe('Unix second after which an undelivered order is refunded.'),
    orderDataType: hex('Type hash of `orderData`.'),
    orderData: hex('The order, ABI-encoded.'),
    resolved: zResolved,
    typedData: z.record(z.string(), z.unknown()).describe('The EIP-712 typed data that the taker signed.'),
    funding: zIntentFunding,
    signatures: zIntentSignatures,
  })
  .meta({ id: 'Intent', description: 'The order as an ERC-7683 intent.' });
export type IntentSection = z.infer<typeof zIntent>;
