/** Reads a dossier: checks its form only. */

import * as z from 'zod';
import { RequestError, UpstreamError } from '../../domain/errors.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import { zComplianceProofs, zIntent } from '../../protocol/api/records.ts';
import { OddTextError, readTextFile } from '../../adapters/system/text-file.ts';
import { badRequest } from '../wiring/bad-request.ts';

const zStage = z
  .object({
    txHash: z.string().nullable(),
    chainId: z.int().nullable(),
    blockNumber: z.union([z.int(), z.string()]).nullable(),
    gasUsed: z.union([z.int(), z.string()]).nullable(),
  })
  .partial();
const zLeg = z.object({
  asset: z.object({ chainId: z.int().nullable(), address: z.string().nullable() }),
  rawAmount: z.string(),
});
const zFee = z.object({ amount: z.string().nullable(), asset: z.string().nullable() }).partial().nullable();

/** The fields that are checked; others are ignored. */
const zClaim = z.object({
  trade: z.object({
    orderId: z.string(),
    orderKind: z.string(),
    status: z.enum(['pending', 'settled', 'failed']),
    settlementStatus: z.string(),
    route: z.object({ input: zLeg, output: zLeg }),
  }),
  settlement: z.object({ stages: z.record(z.string(), zStage.nullable()) }),
  intent: zIntent,
  complianceProofs: zComplianceProofs,
  fees: z.object({ protocolFee: zFee, relayerTip: zFee }).partial().nullable().optional(),
});
export type TradeClaim = z.infer<typeof zClaim>;

/** Throws `RequestError`, also for a dossier without its admin-only sections. */
export function readClaim(json: unknown): TradeClaim {
  const parsed = zClaim.safeParse(json);
  if (parsed.success) return parsed.data;
  const hidden =
    typeof json === 'object' &&
    json !== null &&
    'trade' in json &&
    !('intent' in json && 'complianceProofs' in json);
  if (hidden)
    throw new RequestError(
      'This dossier has no intent and no proofs: only owners and admins of a workspace see them. Fetch it with a key of an admin or owner (fq_…).',
      { code: 'no_proofs' },
    );
  const [issue] = parsed.error.issues;
  throw new RequestError(
    `This is not a dossier of a venue: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`,
    { code: 'no_dossier' },
  );
}

export async function claimFromFile(path: string): Promise<TradeClaim> {
  const text = await readTextFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof OddTextError) throw cause;
    throw badRequest(`${path} cannot be read (${cause.code ?? 'unknown error'}).`);
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw badRequest(`${path} is not JSON. Save the venue's answer unchanged.`);
  }
  return readClaim(json);
}

const TIMEOUT_MS = 15_000;

export async function claimFromVenue({
  url,
  key,
  workspace,
  orderId,
}: {
  url: string;
  key: string;
  workspace: string;
  orderId: Bytes32;
}): Promise<TradeClaim> {
  const address = `${url.replace(/\/+$/, '')}/api/v1/workspaces/${encodeURIComponent(workspace)}/trades/${orderId}`;
  const response = await fetch(address, {
    headers: { 'X-API-Key': key },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new UpstreamError(`The venue at ${url} does not answer.`, { code: 'venue_unreachable', cause });
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 200) return readClaim(body);
  const message = (body as { error?: { message?: string } } | undefined)?.error?.message;
  throw new RequestError(`The venue answered ${response.status}: ${message ?? 'an unreadable body'}`, {
    code: 'venue_refused',
  });
}
