/** All messages between venue and solver; the protocol document is generated from these schemas. */

import * as z from 'zod';
import { DECLINE_REASONS } from '../../domain/decline.ts';
import { addressToBytes32, type Bytes32 } from '../../domain/hex.ts';
import type { MandateOutput } from '../../domain/order.ts';
import { zAddress, zAmount, zAssetId, zBytes32, zHex, zOrderMessage, zSeconds } from '../wire.ts';

export const LINK_PROTOCOL_VERSION = 1;
export const LINK_PATH = '/api/v1/solver/ws';
export const LINK_MAX_PAYLOAD_BYTES = 64 * 1024;
/** What a solver may send in a second by type; no answer is of these. More close the connection. */
export const LINK_FRAMES_PER_SECOND: Readonly<Record<string, number>> = { levels: 4_000, fill: 1_000 };
export const LINK_OTHER_FRAMES_PER_SECOND = 100;
/** The frames that answer a request or a slice; `LINK_FRAMES_PER_SECOND` does not limit them. */
export const LINK_ANSWERS: ReadonlySet<string> = new Set(['quote', 'partial', 'decline', 'commit']);
export const LINK_HEARTBEAT_SECONDS = 5;
/** Then the peer counts as dead. */
export const LINK_MISSED_HEARTBEATS = 3;

/** Domain {name: "FirmquoteLink", version: "1", chainId, verifyingContract: escrow}. */
export const LINK_PROOF_TYPE = 'LinkProof(bytes32 nonce,string venueId,string solverId,address account)';
export const LINK_DOMAIN_NAME = 'FirmquoteLink';
export const LINK_DOMAIN_VERSION = '1';

const zId = z.string().min(1).max(64);
const zCommitment = z.strictObject({ lp: zAddress, deadline: zSeconds, signature: zHex });
const zStage = z.string().max(32);
const zEvidence = z.strictObject({ chainId: z.int(), txHash: zBytes32, blockNumber: zAmount });

const zChallenge = z.strictObject({
  type: z.literal('challenge'),
  nonce: zBytes32,
  venueId: zId,
  protocolVersion: z.int(),
  chains: z.array(
    z.strictObject({
      ...{ chainId: z.int(), slug: zId, escrow: zAddress, oracle: zAddress },
      /** Absent where no bonds are read. */
      quoteBond: zAddress.optional(),
    }),
  ),
});

const zWelcome = z.strictObject({
  type: z.literal('welcome'),
  sessionId: zId,
  heartbeatSeconds: z.int(),
  /** The least bond of an LP that may quote, in base units; absent: none is demanded. */
  minBond: z.array(z.strictObject({ chainId: z.int(), token: zAddress, amount: zAmount })).optional(),
});
const zRefused = z.strictObject({ type: z.literal('refused'), code: z.string(), message: z.string() });

/** The solver fills in amounts, context and times. */
export const zSkeleton = z.strictObject({
  nonce: zAmount,
  originChainId: z.int(),
  /** The escrow itself on same-chain orders. */
  inputOracle: zAddress,
  outputOracle: zAddress,
  settler: zAddress,
  /** Absent: the receiver, and 0x. */
  delivery: z.strictObject({ recipient: zAddress, callbackData: zHex }).optional(),
  landingMarginSeconds: z.int(),
  proofWindowSeconds: z.int(),
});

const zRfq = z.strictObject({
  type: z.literal('rfq'),
  rfqId: zId,
  /** The time limit counts from when this message was sent. */
  deadlineMs: z.int().min(1),
  input: zAssetId,
  output: zAssetId,
  side: z.enum(['exactInput', 'exactOutput']),
  amount: zAmount,
  taker: zAddress,
  receiver: zAddress,
  minValidUntil: zSeconds.nullable(),
  platformFeeBps: z.int().min(0).max(10_000),
  /** Base units of the input; "0" on walletBroadcast. */
  relayFee: zAmount,
  executionMode: z.enum(['apiSubmit', 'walletBroadcast']),
  maxSplitParts: z.int().min(1),
  skeleton: zSkeleton,
});

const zSlice = z.strictObject({
  type: z.literal('slice'),
  rfqId: zId,
  quoteId: zBytes32,
  /** Every output is one solver's slice; the commitment is over the whole order. */
  order: zOrderMessage,
  outputIndex: z.int().min(0),
  validUntil: zSeconds,
  deadlineMs: z.int().min(1),
});

/** Tells that quotes are no longer needed. Without a `proof` from the chain a hold runs to its deadline. */
const zReleased = z.strictObject({
  type: z.literal('released'),
  quoteIds: z.array(zBytes32).max(256),
  proof: z.enum(['nonce_used', 'deadline_passed']).nullable(),
});

/** Tells why an answer was rejected. At most a few are sent a second; further ones are only counted. */
const zRejected = z.strictObject({
  type: z.literal('rejected'),
  /** null when the frame names none. */
  rfqId: zId.nullable(),
  quoteId: zBytes32.nullable(),
  /** A key of `REJECTIONS`; the list may grow. */
  code: z.string().max(32),
  message: z.string().max(400),
  /** Path in the answer. */
  field: z.string().max(200),
});

/**
 * Tells a shadow solver that was asked that another solver's quote was accepted. Amounts are as in the order,
 * which its transaction makes public.
 */
const zOutcome = z.strictObject({
  type: z.literal('outcome'),
  rfqId: zId,
  inputAmount: zAmount,
  outputAmount: zAmount,
});

const zAwardFields = {
  orderId: zBytes32,
  quoteId: zBytes32,
  order: zOrderMessage,
  signature: zHex,
  /** `openFor`'s signature argument: mode byte and data. */
  funding: zHex,
  /** The solver's own, for one that lost its state. */
  commitment: zCommitment,
  status: z.enum(['pending', 'settled', 'failed']),
  stage: zStage,
};
const zAward = z.strictObject({ type: z.literal('award'), ...zAwardFields });
const zOrderNews = z.strictObject({
  type: z.literal('order'),
  orderId: zBytes32,
  stage: zStage,
  evidence: zEvidence.nullable(),
});
const zResyncAnswer = z.strictObject({
  type: z.literal('resync'),
  awards: z.array(z.strictObject(zAwardFields)),
});

const zHello = z.strictObject({
  type: z.literal('hello'),
  solverId: zId,
  /** Replicas of a solver are connected at the same time, and any may be asked. */
  replica: z.string().min(1).max(40).optional(),
  kind: z.enum(['lp', 'solver']),
  name: z.string().min(1).max(80),
  /** The solver only observes: it proves no account and cannot quote. The roster shows it as standby. */
  shadow: z.literal(true).optional(),
  /** One per chain: payer, signer, and proof over the challenge. Empty with `shadow`. */
  accounts: z
    .array(z.strictObject({ chainId: z.int(), account: zAddress, operator: zAddress, signature: zHex }))
    .max(64),
  corridors: z.array(z.string().max(80)).max(512),
  /** The venue sends no more at a time. */
  maxInFlight: z.int().min(1).max(100_000),
  protocolVersion: z.int(),
});

const zSolverStatus = z.strictObject({
  type: z.literal('status'),
  status: z.enum(['active', 'standby']),
  note: z.string().max(200).nullable(),
});

const zLevels = z.strictObject({
  type: z.literal('levels'),
  input: zAssetId,
  output: zAssetId,
  /** [input base units, output base units], sizes rising. */
  levels: z.array(z.tuple([zAmount, zAmount])).max(32),
  atMs: z.int(),
});

const zQuote = z.strictObject({
  type: z.literal('quote'),
  rfqId: zId,
  quoteId: zBytes32,
  order: zOrderMessage,
  validUntil: zSeconds,
  /** The seconds from submission to settlement. */
  eta: z.int().min(0).nullable(),
  lpSpreadBps: z.int(),
  amountBeforeFees: zAmount,
  commitment: zCommitment,
  /** true when another quote for this rfq follows. Absent: the venue waits briefly for one. */
  more: z.boolean().optional(),
});

/** [input amount, output amount], sizes rising. Not firm: a slice is. */
const zPartial = z.strictObject({
  type: z.literal('partial'),
  rfqId: zId,
  ladder: z
    .array(z.tuple([zAmount, zAmount]))
    .min(1)
    .max(32),
  validUntil: zSeconds,
});

const zDecline = z.strictObject({
  type: z.literal('decline'),
  rfqId: zId,
  /** Names the slice that is declined. */
  quoteId: zBytes32.optional(),
  reason: z.enum(DECLINE_REASONS),
  /** Such as "vol_spike": for display and metrics only. */
  code: z
    .string()
    .regex(/^[a-z][a-z_]{0,31}$/)
    .optional(),
  maxAmount: zAmount.nullable(),
  /** With `size_below_min`, the smallest amount of the fixed side that would pass. */
  minAmount: zAmount.optional(),
});

const zCommit = z.strictObject({
  type: z.literal('commit'),
  rfqId: zId,
  quoteId: zBytes32,
  commitment: zCommitment,
  lpSpreadBps: z.int(),
});
const zFillHint = z.strictObject({
  type: z.literal('fill'),
  orderId: zBytes32,
  stage: zStage,
  txHash: zBytes32.nullable(),
});
const zResyncAsk = z.strictObject({ type: z.literal('resync') });

const zPing = z.strictObject({ type: z.literal('ping') });
const zPong = z.strictObject({ type: z.literal('pong') });

export const zFromVenue = z.discriminatedUnion('type', [
  zChallenge,
  zWelcome,
  zRefused,
  zRfq,
  zSlice,
  zReleased,
  zRejected,
  zOutcome,
  zAward,
  zOrderNews,
  zResyncAnswer,
  zPing,
  zPong,
]);
export const zFromSolver = z.discriminatedUnion('type', [
  zHello,
  zSolverStatus,
  zLevels,
  zQuote,
  zPartial,
  zDecline,
  zCommit,
  zFillHint,
  zResyncAsk,
  zPing,
  zPong,
]);

export type FromVenue = z.infer<typeof zFromVenue>;
export type FromSolver = z.infer<typeof zFromSolver>;
export type LinkMessage<
  T extends (FromVenue | FromSolver)['type'],
  From extends FromVenue | FromSolver = FromVenue | FromSolver,
> = Extract<From, { type: T }>;
export type Rfq = z.infer<typeof zRfq>;
export type Hello = z.infer<typeof zHello>;
export type LinkQuote = z.infer<typeof zQuote>;
export type LinkPartial = z.infer<typeof zPartial>;
export type LinkDecline = z.infer<typeof zDecline>;
export type SliceRequest = z.infer<typeof zSlice>;
export type Commit = z.infer<typeof zCommit>;
export type Award = z.infer<typeof zAward>;

export function recipientFor({
  receiver,
  skeleton: { delivery },
}: Pick<Rfq, 'receiver' | 'skeleton'>): Pick<MandateOutput, 'recipient' | 'callbackData'> {
  return {
    recipient: addressToBytes32(delivery?.recipient ?? receiver),
    callbackData: delivery?.callbackData ?? '0x',
  };
}

const VENUE_TYPES: ReadonlySet<string> = new Set(zFromVenue.options.map((option) => option.shape.type.value));
export const SOLVER_TYPES: ReadonlySet<string> = new Set(
  zFromSolver.options.map((option) => option.shape.type.value),
);

/** Ignore unknown types and warn once; count broken frames. */
type Read<M> =
  | { ok: true; message: M }
  | { ok: false; kind: 'unknown_type' | 'invalid'; detail: string; broken?: BrokenFrame };

/** A frame of a known type that its schema refuses: ids as far as they can be read, and where it is wrong. */
export interface BrokenFrame {
  type: string;
  rfqId: string | null;
  quoteId: Bytes32 | null;
  field: string;
}

export const readFromVenue = (text: string): Read<FromVenue> => read(text, zFromVenue, VENUE_TYPES);
export const readFromSolver = (text: string): Read<FromSolver> => read(text, zFromSolver, SOLVER_TYPES);

function read<M>(text: string, schema: z.ZodType<M>, types: ReadonlySet<string>): Read<M> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, kind: 'invalid', detail: 'not JSON' };
  }
  const type = typeof json === 'object' && json !== null && 'type' in json ? json.type : undefined;
  if (typeof type !== 'string') return { ok: false, kind: 'invalid', detail: 'no type' };
  if (!types.has(type)) return { ok: false, kind: 'unknown_type', detail: type.slice(0, 40) };
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ok: true, message: parsed.data };
  const issue = parsed.error.issues[0];
  return {
    ok: false,
    kind: 'invalid',
    detail: `${type}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
    broken: {
      type,
      rfqId: zId.safeParse((json as { rfqId?: unknown }).rfqId).data ?? null,
      quoteId: zBytes32.safeParse((json as { quoteId?: unknown }).quoteId).data ?? null,
      field: (issue?.path.join('.') ?? '').slice(0, 200),
    },
  };
}
