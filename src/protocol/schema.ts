/** Schemas as the API documents need them, and their type, so that rooms above do not import zod. */

import * as z from 'zod';

export type Schema<T = unknown> = z.ZodType<T>;

export const zNothing: Schema = z.strictObject({});

/** An enum with a description that says what each value means. */
export const zExplained = <const T extends string>(what: string, meanings: Readonly<Record<T, string>>) =>
  z.enum(Object.keys(meanings) as T[]).describe(explained(what, meanings));

export const explained = (what: string, meanings: Readonly<Record<string, string>>): string =>
  [`${what}\n`, ...Object.entries(meanings).map(([value, meaning]) => `- \`${value}\`: ${meaning}`)].join(
    '\n',
  );
