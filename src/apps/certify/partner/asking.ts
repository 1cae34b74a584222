/** Asks the partner as a venue does, or as no venue would, and checks every answer. */

import { randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type * as z from 'zod';
import { createOutbound } from '../../../adapters/outbound/request.ts';
import {
  PARTNER_OPERATIONS,
  PARTNER_TOLERANCE_SECONDS,
  type PartnerOperation,
  zPartnerError,
} from '../../../protocol/partner/messages.ts';
import { partnerHeaders, partnerSignatureFault } from '../../../protocol/partner/signature.ts';
import type { RuleFindings } from '../findings.ts';
import type { PartnerRule } from './rules.ts';

export interface Reply {
  status: number;
  body: string;
  /** The error of the protocol; null in a 200 and in an answer that is no such error. */
  code: string | null;
}

interface Sending {
  id?: string;
  timestamp?: number;
  /** The key that signs the request; null: it goes without a signature. */
  key?: KeyObject | null;
}

type Answer<T extends PartnerOperation> = z.output<(typeof PARTNER_OPERATIONS)[T]['answer']>;

export interface PartnerAsking {
  /** undefined when the partner cannot be reached. */
  send(path: string, body: object, how?: Sending): Promise<Reply | undefined>;
  /** Sends a lawful request. undefined when there is no answer that holds; the rule is then broken. */
  ask<T extends PartnerOperation>(type: T, fields: object): Promise<Answer<T> | undefined>;
  /** A lawful request that the partner may answer with an error. */
  reply(type: string, fields: object): Promise<Reply | undefined>;
  counts: { asked: number; errors: number; late: number };
  close(): void;
}

/** Longer than any deadline, to tell late from none. */
const PATIENCE_MS = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Answered while a taker waits. */
const HURRIED: ReadonlySet<string> = new Set(['quote', 'reserve']);

export function createPartnerAsking({
  url,
  partner,
  key,
  partnerKey,
  findings,
  deadlineMs,
}: {
  url: string;
  partner: string;
  key: KeyObject;
  partnerKey: KeyObject;
  findings: RuleFindings<PartnerRule>;
  deadlineMs: number;
}): PartnerAsking {
  const outbound = createOutbound({ allowPrivate: true });
  const counts = { asked: 0, errors: 0, late: 0 };

  async function send(
    path: string,
    body: object,
    { id = newId(), timestamp = seconds(), key: by = key }: Sending = {},
  ): Promise<Reply | undefined> {
    const text = JSON.stringify(body);
    const startedMs = performance.now();
    counts.asked += 1;
    const answer = await outbound
      .request({
        url: `${url}/${path}`,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(by && partnerHeaders({ id, timestamp, body: text }, [by])),
        },
        body: text,
        timeoutMs: PATIENCE_MS,
        maxBytes: MOST_BYTES,
      })
      .catch(() => undefined);
    if (answer === undefined) return undefined;
    const tookMs = performance.now() - startedMs;
    const { status } = answer;
    const headers = {
      id: answer.header('webhook-id'),
      timestamp: answer.header('webhook-timestamp'),
      signature: answer.header('webhook-signature'),
    };
    const fault = partnerSignatureFault(headers, answer.body, {
      keys: [partnerKey],
      now: seconds(),
      toleranceSeconds: PARTNER_TOLERANCE_SECONDS,
    });
    // Without a signature of ours there is no id that the answer could carry.
    if (by !== null) {
      if (fault !== undefined)
        findings.fail('answers', `the answer to ${path} (status ${status}) is not signed: ${fault}`);
      else if (headers.id !== id) findings.fail('answers', `the answer to ${path} carries another id`);
      else findings.pass('answers', 'every answer was signed with the id of its request');
    }
    if (HURRIED.has(path) && status === 200) {
      if (tookMs > deadlineMs) {
        counts.late += 1;
        findings.fail('deadline', `${path} took ${Math.round(tookMs)} ms; there are ${deadlineMs}`);
      } else findings.pass('deadline', `every price and reservation came within ${deadlineMs} ms`);
    }
    if (status !== 200) counts.errors += 1;
    const code =
      status === 200 ? null : (zPartnerError.safeParse(jsonOf(answer.body)).data?.error.code ?? null);
    return { status, body: answer.body, code };
  }

  const reply = (type: string, fields: object) => send(type, { type, partner, ...fields });

  return {
    send,
    reply,
    async ask(type, fields) {
      const answered = await reply(type, fields);
      if (answered?.status !== 200) {
        const what = answered === undefined ? 'no answer' : `the status ${answered.status}`;
        findings.fail('schema', `${type} got ${what}`);
        return undefined;
      }
      const schema = PARTNER_OPERATIONS[type].answer as unknown as z.ZodType<Answer<typeof type>>;
      const parsed = schema.safeParse(jsonOf(answered.body));
      if (parsed.success) {
        findings.pass('schema', 'every answer matched its schema');
        return parsed.data;
      }
      const [issue] = parsed.error.issues;
      findings.fail('schema', `${type} at "${issue?.path.join('.') ?? ''}": ${issue?.message ?? ''}`);
      return undefined;
    },
    counts,
    close: () => outbound.close(),
  };
}

export const seconds = (): number => Math.floor(Date.now() / 1_000);
export const newId = (): string => randomBytes(16).toString('hex');

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
