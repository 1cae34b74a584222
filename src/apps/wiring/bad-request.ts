/** Errors that the caller has to mend: in a command or request, or in the configuration. */

import { RequestError } from '../../domain/errors.ts';

export const badRequest = (message: string, cause?: unknown): RequestError =>
  new RequestError(message, { code: 'bad_request', cause });

export const badConfig = (message: string, cause?: unknown): RequestError =>
  new RequestError(message, { code: 'bad_config', cause });
