/** The error that tells what is wrong with a secret file, a keystore or its password. */

import { RequestError } from '../../domain/errors.ts';

export class KeystoreError extends RequestError {
  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super(message, { code: 'keystore', ...(cause === undefined ? {} : { cause }) });
  }
}
