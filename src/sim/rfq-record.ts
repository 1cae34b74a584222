/** A recorded request with its outcome, one JSON object per line. */

import * as z from 'zod';
import { RequestError } from '../domain/errors.ts';

const zAmount = z.string().regex(/^[1-9][0-9]{0,77}$/, 'must be base units as decimal text');

const zRfqRecord = z.strictObject({
  atMs: z.number().min(0),
  id: z.string().min(1).max(128),
  taker: z.string().min(1).max(128),
  corridor: z.string().min(3).max(80),
  input: z.string().min(1).max(64),
  output: z.string().min(1).max(64),
  side: z.enum(['exactInput', 'exactOutput']),
  amount: zAmount,
  platformFeeBps: z.int().min(0).max(5_000).default(0),
  minValidSeconds: z.int().min(0).max(3_600).default(0),
  /** `accepted` from us, `lost` to a rival, `expired` unused, `declined` by us; null: unknown. */
  outcome: z.enum(['accepted', 'lost', 'expired', 'declined']).nullable().default(null),
  /** Our quote on the free side; null: we did not quote. */
  quoted: zAmount.nullable().default(null),
  acceptedAtMs: z.number().min(0).nullable().default(null),
  /** The winner's amount on the free side, if the venue showed it. */
  rival: zAmount.nullable().default(null),
});

export type RfqRecord = z.infer<typeof zRfqRecord>;

const MOST_PROBLEMS = 5;

/** Sorts by time. Throws `RequestError` naming the first wrong lines. */
export function parseRfqs(text: string, source: string): RfqRecord[] {
  const records: RfqRecord[] = [];
  const problems: string[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const wrong = read(line, records);
    if (wrong !== undefined) problems.push(`line ${at + 1}: ${wrong}`);
    if (problems.length >= MOST_PROBLEMS) break;
  }
  if (problems.length > 0)
    throw new RequestError(
      `${source} is not a file of recorded requests.\n${problems.map((problem) => `  - ${problem}`).join('\n')}\nThe format is described in docs/lp/replay.md.`,
      { code: 'bad_request' },
    );
  return records.sort((a, b) => a.atMs - b.atMs);
}

function read(line: string, into: RfqRecord[]): string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return 'not JSON';
  }
  const parsed = zRfqRecord.safeParse(json);
  if (!parsed.success)
    return parsed.error.issues
      .map(({ path, message }) => `${path.join('.') || 'record'}: ${message}`)
      .join('; ');
  const { outcome, quoted, acceptedAtMs, atMs } = parsed.data;
  if ((outcome === 'accepted' || outcome === 'lost' || outcome === 'expired') && quoted === null)
    return `quoted: is required when the outcome is ${outcome}`;
  if (acceptedAtMs !== null && (outcome !== 'accepted' || acceptedAtMs < atMs))
    return 'acceptedAtMs: only for accepted requests, and not before atMs';
  into.push(parsed.data);
  return undefined;
}
