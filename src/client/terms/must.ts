/** Requires what a candidate must hold. */

import { type DistrustCode, DistrustError } from '../errors.ts';

/** Throws `DistrustError` with this code and message unless it holds. */
export const must: (holds: boolean, code: DistrustCode, message: string) => asserts holds = (
  holds,
  code,
  message,
) => {
  if (!holds) throw new DistrustError(code, message);
};
