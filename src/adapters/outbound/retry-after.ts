/** The `Retry-After` header of an answer, as servers and the proxies before them write it. */

/**
 * Returns the ms from now, of seconds or of a date (RFC 9110, section 10.2.3); undefined for anything else
 * and for a time that is over. A date counts from the server's own `Date`, because the two clocks may differ.
 */
export function readRetryAfter(
  header: string | null | undefined,
  { nowMs, date }: { nowMs: number; date?: string | null | undefined },
): number | undefined {
  if (header === null || header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return positive(Number(text) * 1_000);
  const serverMs = Date.parse(date ?? '');
  return positive(Date.parse(text) - (Number.isFinite(serverMs) ? serverMs : nowMs));
}

const positive = (ms: number): number | undefined => (Number.isFinite(ms) && ms > 0 ? ms : undefined);
