/** HTTP route of an attester. */

import { RequestError } from '../../domain/errors.ts';
import type { Attester } from '../../ports/attestations.ts';
import type { OpsRoute } from '../http/ops.ts';
import { ATTEST_KEYS, ATTESTATION_LISTS_PATH, ATTESTATIONS_PATH, zAttestList, zAttestQuery } from './wire.ts';

export function attestationRoutes(attester: Attester): OpsRoute[] {
  return [
    {
      method: 'GET',
      path: ATTESTATIONS_PATH,
      query: ATTEST_KEYS,
      async handle({ query }) {
        const parsed = zAttestQuery.safeParse(Object.fromEntries(query));
        if (!parsed.success) {
          const issue = parsed.error.issues[0];
          throw new RequestError(
            `The query is incomplete: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
            { code: 'bad_request' },
          );
        }
        return { status: 200, body: await attester.attest(parsed.data) };
      },
    },
    {
      method: 'POST',
      path: ATTESTATION_LISTS_PATH,
      async handle({ body }) {
        const parsed = zAttestList.safeParse(parsedJson(body));
        if (!parsed.success) {
          const issue = parsed.error.issues[0];
          throw new RequestError(
            `The list is not complete: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
            { code: 'bad_request' },
          );
        }
        return { status: 200, body: await attester.attestList(parsed.data) };
      },
    },
  ];
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
