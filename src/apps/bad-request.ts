/** The error of a command or request that its caller has to change. */

import { RequestError } from '../domain/errors.ts';

export const badRequest = (message: string, cause?: unknown): RequestError =>
  new RequestError(message, { code: 'bad_request', cause });
