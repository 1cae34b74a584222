/** Prints the steps of `firmquote take`: lines for people, or with --json one JSON object a line. */

export interface Report {
  /** `facts` are the JSON object's; `lines` are for people. */
  say(step: string, facts: object, ...lines: readonly string[]): void;
  /** Prints on standard error for people; with --json on standard output like every step. */
  complain(step: string, facts: object, ...lines: readonly string[]): void;
}

/** The exit code of the command by how the trade ended. */
export const EXIT_CODES = {
  settled: 0,
  error: 1,
  no_quotes: 2,
  refused: 3,
  declined: 4,
  wallet: 5,
  failed: 6,
  refunded: 7,
  faded: 8,
  unknown: 9,
  stopped: 10,
  interrupted: 130,
} as const;
export type Outcome = keyof typeof EXIT_CODES;

export function createReport(json: boolean): Report {
  const print =
    (write: (line: string) => void) =>
    (step: string, facts: object, ...lines: readonly string[]): void => {
      if (json) console.log(JSON.stringify({ step, ...facts }, asText));
      else for (const line of lines) write(line);
    };
  return { say: print((line) => console.log(line)), complain: print((line) => console.error(line)) };
}

/** Amounts are base units as decimal text, as in the API. */
const asText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
