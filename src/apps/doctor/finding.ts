/** Defines the lines of the doctor's report: what was checked, what was found, and what to do about it. */

export type FindingVerdict = 'ok' | 'warning' | 'failure';

export interface Finding {
  /** The kind of check, such as `endpoint` or `database`. */
  check: string;
  /** The thing checked, such as `base #0`. Never a URL: it may hold a key. */
  subject: string;
  verdict: FindingVerdict;
  found: string;
  /** null when there is nothing to do. */
  todo: string | null;
}

export const ok = (check: string, subject: string, found: string): Finding => ({
  check,
  subject,
  verdict: 'ok',
  found,
  todo: null,
});

export const warning = (check: string, subject: string, found: string, todo: string): Finding => ({
  check,
  subject,
  verdict: 'warning',
  found,
  todo,
});

export const failure = (check: string, subject: string, found: string, todo: string): Finding => ({
  ...warning(check, subject, found, todo),
  verdict: 'failure',
});

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the rows of a check; one failure when it cannot be made. */
export async function attempt(
  check: string,
  subject: string,
  run: () => Promise<Finding | readonly Finding[]>,
  todo: string,
): Promise<Finding[]> {
  try {
    return [await run()].flat();
  } catch (error) {
    return [failure(check, subject, messageOf(error), todo)];
  }
}
