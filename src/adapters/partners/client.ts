/** Asks a route partner over HTTP, signed in both directions. Errors say what the partner did wrong. */

import type { KeyObject } from 'node:crypto';
import type * as z from 'zod';
import { UpstreamError } from '../../domain/errors.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { OrderMessage } from '../../domain/order.ts';
import { toSeconds } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SignedAnswer } from '../../ports/payouts.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import {
  PARTNER_MAX_BYTES,
  PARTNER_OPERATIONS,
  PARTNER_TOLERANCE_SECONDS,
  type PARTNER_ERRORS,
  type PartnerOperation,
  type ReconciliationLine,
  zPartnerError,
  zReconciliationLine,
  zReconciliationRequest,
} from '../../protocol/partner/messages.ts';
import { partnerHeaders, partnerSignatureFault } from '../../protocol/partner/signature.ts';
import type { Outbound, OutboundAnswer } from '../outbound/request.ts';

interface PartnerEndpoint {
  /** Id of the partner at this venue. */
  id: string;
  /** Base of the partner's paths, without a slash at the end. */
  url: string;
  /** Ours: each signs what we ask. */
  keys: readonly KeyObject[];
  /** Theirs: one of them signs what they answer. */
  partnerKeys: readonly KeyObject[];
}

interface PartnerClientDeps {
  outbound: Outbound;
  clock: Clock;
  random: Random;
  metrics: Metrics;
}

type Requests = typeof PARTNER_OPERATIONS;
type Fields<T extends PartnerOperation> = T extends 'accept'
  ? { orderId: Bytes32; originChainId: number; order: OrderMessage }
  : Omit<z.input<Requests[T]['request']>, 'type' | 'partner'>;
type Answer<T extends PartnerOperation> = z.output<Requests[T]['answer']>;

export interface PartnerClient {
  /** Throws `PartnerFault`, or `PartnerRefusal` for an error of the protocol. */
  ask<T extends PartnerOperation>(type: T, fields: Fields<T>, timeoutMs: number): Promise<Answer<T>>;
  /** Asks like `ask`, and returns the answer as the partner signed it. */
  askSigned<T extends PartnerOperation>(
    type: T,
    fields: Fields<T>,
    timeoutMs: number,
  ): Promise<{ answer: Answer<T>; signed: SignedAnswer }>;
  /** Reads the lines of one day (UTC, such as 2026-11-28). */
  reconciliation(day: string, timeoutMs: number): Promise<ReconciliationLine[]>;
}

const OUTCOMES = ['answered', 'refused', 'silent', 'invalid'] as const;
/** A day of a busy partner. */
const RECONCILIATION_BYTES = 64 * 1024 * 1024;
const ID_HEX = 32;

export function createPartnerClient(
  { id, url, keys, partnerKeys }: PartnerEndpoint,
  { outbound, clock, random, metrics }: PartnerClientDeps,
): PartnerClient {
  outbound.check(url);
  const asked = metrics.counter('firmquote_venue_partner_requests_total', 'Requests to route partners', {
    partner: [id],
    request: [...Object.keys(PARTNER_OPERATIONS), 'reconciliation'],
    outcome: OUTCOMES,
  });

  async function post(
    request: string,
    fields: object,
    { timeoutMs, maxBytes = PARTNER_MAX_BYTES }: { timeoutMs: number; maxBytes?: number },
  ): Promise<SignedAnswer> {
    const count = (outcome: (typeof OUTCOMES)[number]) => asked.add({ partner: id, request, outcome });
    const body = JSON.stringify({ type: request, partner: id, ...fields });
    const message = { id: random.bytes32().slice(2, 2 + ID_HEX), timestamp: toSeconds(clock.nowMs()), body };
    let answer: OutboundAnswer;
    try {
      answer = await outbound.request({
        url: `${url}/${request}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...partnerHeaders(message, keys) },
        body,
        timeoutMs,
        maxBytes,
      });
    } catch (error) {
      count('silent');
      throw error;
    }
    const fault = faultOf(answer, message.id);
    if (fault !== undefined) {
      count('invalid');
      throw new PartnerFault(id, request, fault);
    }
    if (answer.status !== 200) {
      const refusal = refusalOf(answer.body);
      count(refusal === undefined ? 'invalid' : 'refused');
      throw refusal === undefined
        ? new PartnerFault(id, request, `the answer has the status ${answer.status} and no error in its body`)
        : new PartnerRefusal(id, request, refusal);
    }
    count('answered');
    return {
      id: message.id,
      timestamp: Number(answer.header('webhook-timestamp')),
      body: answer.body,
      signature: answer.header('webhook-signature') ?? '',
    };
  }

  function faultOf({ status, body, header }: OutboundAnswer, sent: string): string | undefined {
    const headers = {
      id: header('webhook-id'),
      timestamp: header('webhook-timestamp'),
      signature: header('webhook-signature'),
    };
    if (headers.id === undefined && headers.signature === undefined)
      return `the answer (status ${status}) is not signed`;
    const fault = partnerSignatureFault(headers, body, {
      keys: partnerKeys,
      now: toSeconds(clock.nowMs()),
      toleranceSeconds: PARTNER_TOLERANCE_SECONDS,
    });
    if (fault !== undefined) return FAULT[fault];
    return headers.id === sent ? undefined : 'the answer belongs to another request';
  }

  function read<T>(request: string, schema: z.ZodType<T>, text: string): T {
    const parsed = schema.safeParse(jsonOf(text));
    if (parsed.success) return parsed.data;
    asked.add({ partner: id, request, outcome: 'invalid' });
    const [issue] = parsed.error.issues;
    throw new PartnerFault(
      id,
      request,
      `the answer does not match its schema at "${issue?.path.join('.') ?? ''}": ${issue?.message ?? ''}`,
    );
  }

  async function askSigned<T extends PartnerOperation>(type: T, fields: Fields<T>, timeoutMs: number) {
    const signed = await post(type, fields, { timeoutMs });
    const schema = PARTNER_OPERATIONS[type].answer as unknown as z.ZodType<Answer<T>>;
    return { answer: read(type, schema, signed.body), signed };
  }

  return {
    askSigned,
    async ask(type, fields, timeoutMs) {
      return (await askSigned(type, fields, timeoutMs)).answer;
    },
    async reconciliation(day, timeoutMs) {
      const request = 'reconciliation' satisfies z.output<typeof zReconciliationRequest>['type'];
      const { body: text } = await post(request, { day }, { timeoutMs, maxBytes: RECONCILIATION_BYTES });
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map((line) => read(request, zReconciliationLine, line));
    },
  };
}

const FAULT = {
  headers: 'the answer lacks a header of its signature',
  time: 'the time of the answer is more than five minutes from our clock',
  signature: 'the signature of the answer does not hold',
} as const;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Refusal {
  code: keyof typeof PARTNER_ERRORS;
  message: string;
}

const refusalOf = (body: string): Refusal | undefined => zPartnerError.safeParse(jsonOf(body)).data?.error;

/** The partner breaks the protocol. */
export class PartnerFault extends UpstreamError {
  constructor(partner: string, request: string, what: string) {
    super(`The partner ${partner} answered ${request} wrongly: ${what}.`, {
      code: 'partner_fault',
      facts: { partner, request },
    });
  }
}

/** Thrown when the partner answered with an error of the protocol. */
export class PartnerRefusal extends UpstreamError {
  readonly reason: Refusal['code'];
  constructor(partner: string, request: string, { code, message }: Refusal) {
    super(`The partner ${partner} did not take ${request}: ${code}, ${message}`, {
      code: 'partner_refusal',
      facts: { partner, request, reason: code },
    });
    this.reason = code;
  }
}
