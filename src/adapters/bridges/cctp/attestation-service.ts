/**
 * Circle's attestation service (Iris) over HTTP: fees, messages with their signatures, and new signatures for
 * expired messages. Circle refuses an address for five minutes after 35 requests in a second, so requests are
 * spaced, and none is sent during such a pause.
 */

import * as z from 'zod';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Bytes32, Hex } from '../../../domain/hex.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Outbound } from '../../outbound/request.ts';
import { readRetryAfter } from '../../outbound/retry-after.ts';

export interface AttestationService {
  /** Reads the fees by finality threshold, in thousandths of a basis point, rounded up. */
  fees(source: number, destination: number): Promise<ReadonlyMap<number, bigint>>;
  /**
   * Returns how much all fast transfers together may carry now, base units rounded down; undefined: the
   * service does not say.
   */
  fastAllowance(): Promise<bigint | undefined>;
  /** Reads the messages of one transaction; undefined while the service has not seen it. */
  messages(source: number, txHash: Hex): Promise<readonly AttestedMessage[] | undefined>;
  /** Asks for signatures that do not expire. Returns the service's words. */
  attestAgain(nonce: Bytes32): Promise<string>;
}

export interface AttestedMessage {
  /** undefined before the service shows it. */
  message: Hex | undefined;
  /** undefined until it is signed. */
  attestation: Hex | undefined;
  status: string;
  /** The service's reason for a longer wait, in its own words. */
  delay: string | undefined;
}

interface ServiceOptions {
  url: string;
  timeoutMs: number;
  /** The least time between two requests, ms. */
  spacingMs?: number;
}

const MOST_BYTES = 1024 * 1024;
const SPACING_MS = 100;
const USDC_UNIT = 1_000_000n;
const BLOCKED_MS = 5 * 60_000;

const zFees = z.array(
  z.object({ finalityThreshold: z.int().min(0), minimumFee: z.number().min(0).max(10_000) }),
);
const zAllowance = z.object({ allowance: z.number().min(0) });
const zMessages = z.object({
  messages: z.array(
    z.object({
      message: z.string().nullish(),
      attestation: z.string().nullish(),
      status: z.string(),
      delayReason: z.string().nullish(),
    }),
  ),
});
const zWords = z.object({ message: z.string().optional(), error: z.string().optional() });

export function createAttestationService(
  { outbound, clock }: { outbound: Outbound; clock: Clock },
  { url, timeoutMs, spacingMs = SPACING_MS }: ServiceOptions,
): AttestationService {
  const base = url.replace(/\/+$/, '');
  outbound.check(base);
  let nextMs = 0;
  let pausedUntilMs = 0;

  async function request(method: 'GET' | 'POST', path: string) {
    const nowMs = clock.monotonicMs();
    const waitMs = nextMs - nowMs;
    nextMs = Math.max(nowMs, nextMs) + spacingMs;
    if (waitMs > 0) await new Promise<void>((done) => void clock.after(waitMs, done));
    const pauseMs = pausedUntilMs - clock.monotonicMs();
    if (pauseMs > 0) throw busy(pauseMs);
    const answer = await outbound.request({
      url: `${base}${path}`,
      method,
      ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }),
      timeoutMs,
      maxBytes: MOST_BYTES,
    });
    if (answer.status !== 429) return answer;
    const waitFor =
      readRetryAfter(answer.header('retry-after'), { nowMs: clock.nowMs(), date: answer.header('date') }) ??
      BLOCKED_MS;
    pausedUntilMs = clock.monotonicMs() + waitFor;
    throw busy(waitFor);
  }

  async function get<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
    const { status, body } = await request('GET', path);
    if (status === 404) return undefined;
    if (status !== 200) throw unexpected(`status ${status}`);
    return read(body, schema);
  }

  return {
    async fees(source, destination) {
      const tiers = await get(`/v2/burn/USDC/fees/${source}/${destination}`, zFees);
      // A float of the wire; beyond a thousandth of a basis point it is noise.
      const milliBps = (bps: number) => BigInt(Math.ceil(Number((bps * 1_000).toFixed(3))));
      return new Map((tiers ?? []).map((tier) => [tier.finalityThreshold, milliBps(tier.minimumFee)]));
    },
    async fastAllowance() {
      const found = await get('/v2/fastBurn/USDC/allowance', zAllowance);
      return found && BigInt(Math.floor(found.allowance)) * USDC_UNIT;
    },
    async messages(source, txHash) {
      const found = await get(`/v2/messages/${source}?transactionHash=${txHash}`, zMessages);
      return found?.messages.map(({ message, attestation, status, delayReason }) => ({
        message: bytes(message),
        attestation: bytes(attestation),
        status,
        delay: delayReason ?? undefined,
      }));
    },
    async attestAgain(nonce) {
      const { status, body } = await request('POST', `/v2/reattest/${nonce}`);
      if (status >= 500) throw unexpected(`status ${status}`);
      const { message, error } = read(body, zWords);
      return [message, error].filter((words) => words !== undefined).join(' ') || `status ${status}`;
    },
  };
}

/** The service writes null, "0x" or "PENDING" where there is nothing yet. */
const bytes = (text: string | null | undefined): Hex | undefined =>
  text && /^0x(?:[0-9a-fA-F]{2})+$/.test(text) ? (text as Hex) : undefined;

function read<T>(body: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(body));
  } catch {
    throw unexpected('an answer that cannot be read');
  }
}

const busy = (waitMs: number) =>
  new UpstreamError(
    `Circle's attestation service takes no requests from this address for ${Math.ceil(waitMs / 1_000)} s. ` +
      'Transfers go on afterwards; ask less often, and from one process.',
    { code: 'attestation_busy', facts: { waitMs } },
  );

const unexpected = (what: string) =>
  new UpstreamError(`Circle's attestation service answered with ${what}. It is asked again.`, {
    code: 'attestation_failed',
  });
