/** The dossier's compliance sections, with proofs that can be checked on the chain. */

import { z } from 'zod';

const zAt = z.iso.datetime();
const zDecision = z.enum(['allowed', 'denied', 'unknown', 'not_screened']);
const zHexText = z.string().regex(/^0x[0-9a-f]*$/);

const zParty = z.object({
  address: z.string(),
  /** `not_screened`: the venue ran without a screener. */
  decision: zDecision,
  checks: z.array(
    z.object({
      provider: z.string(),
      listVersion: z.string().nullable(),
      decision: z.enum(['allowed', 'denied', 'unknown']),
      /** Never the entry that matched. */
      reason: z.enum(['listed', 'not_listed', 'unavailable', 'unavailable_let_through']),
      at: zAt,
    }),
  ),
});

export const zCompliance = z.object({ decision: zDecision, taker: zParty, receiver: zParty });
export type Compliance = z.infer<typeof zCompliance>;

export const zTravelRuleTransmission = z.object({
  attempt: z.int().min(1),
  state: z.enum(['due', 'sending', 'transmitted', 'failed', 'unknown', 'abandoned']),
  thresholdUsd: z.number(),
  amountUsd: z.number().nullable(),
  dueAt: zAt,
  startedAt: zAt.nullable(),
  endedAt: zAt.nullable(),
  transmitter: z.string().nullable(),
  reference: z.string().nullable(),
  detail: z.string().nullable(),
  messageSha256: z.string().nullable(),
});
export type TravelRuleTransmission = z.infer<typeof zTravelRuleTransmission>;

const zPlace = z.object({
  chainId: z.int(),
  contract: zHexText,
  txHash: zHexText,
  blockNumber: z.int(),
  blockHash: zHexText,
  at: z.int(),
});

export const zComplianceProofs = z.object({
  takerSignature: z.object({
    proves: z.string(),
    scheme: z.enum(['EIP712', 'EIP1271']),
    signer: zHexText,
    digest: zHexText,
    signature: zHexText,
  }),
  /** One per output, in order; none where no LP stands behind the order. */
  commitments: z.array(
    z.object({
      proves: z.string(),
      outputIndex: z.int(),
      lp: zHexText,
      quoteId: zHexText,
      deadline: z.int(),
      digest: zHexText,
      signature: zHexText,
    }),
  ),
  checksum: z.object({ proves: z.string(), value: z.string() }).nullable(),
  receipts: z.array(
    zPlace.extend({
      proves: z.string(),
      event: z.enum(['Open', 'OutputFilled', 'Finalised', 'Refunded']),
      /** Of OutputFilled only. */
      fill: z
        .object({
          outputIndex: z.int(),
          outputHash: zHexText,
          solver: zHexText,
          timestamp: z.int(),
          amount: z.string(),
        })
        .nullable(),
    }),
  ),
  attestations: z.array(
    zPlace.extend({
      proves: z.string(),
      outputIndex: z.int(),
      remoteChainId: z.int(),
      application: zHexText,
      payloadHash: zHexText,
    }),
  ),
});
export type ComplianceProofs = z.infer<typeof zComplianceProofs>;

const zIntentOutput = z.object({
  token: zHexText,
  amount: z.string(),
  recipient: zHexText,
  chainId: z.int(),
});

export const zIntent = z.object({
  standard: z.literal('ERC-7683'),
  orderId: zHexText,
  quoteId: zHexText,
  originSettler: zHexText,
  user: zHexText,
  nonce: z.string(),
  originChainId: z.int(),
  openDeadline: z.int(),
  fillDeadline: z.int(),
  expires: z.int(),
  orderDataType: zHexText,
  orderData: zHexText,
  resolved: z.object({
    maxSpent: z.array(zIntentOutput),
    minReceived: z.array(zIntentOutput),
    fillInstructions: z.array(
      z.object({ destinationChainId: z.int(), destinationSettler: zHexText, originData: zHexText }),
    ),
  }),
  typedData: z.record(z.string(), z.unknown()),
  /** How the input was pulled: `openFor`'s signature argument. */
  funding: z.object({
    mode: z.enum(['self', 'permit2Grant', 'permit2Lock', 'eip3009', 'resourceLock']).nullable(),
    data: zHexText,
  }),
  signatures: z.object({
    taker: z.object({ scheme: z.enum(['EIP712', 'EIP1271']), signature: zHexText }),
    commitments: z.array(z.object({ lp: zHexText, deadline: z.int(), signature: zHexText })),
  }),
});
export type IntentSection = z.infer<typeof zIntent>;
