/**
 * A candidate of a wrong shape was changed after it was quoted: an integrity failure, except an added field
 * or a candidate of the other namespace.
 */

import type { Detail } from '../../protocol/errors.ts';
import type { Namespace } from './caller.ts';

const FOREIGN: Record<Namespace, string> = { rfq: 'composite', router: 'splitFill' };

export function explainCandidate(namespace: Namespace, details: Detail[], sent: unknown): Detail[] {
  const candidate =
    typeof sent === 'object' && sent !== null
      ? (sent as { quoteResponse?: unknown }).quoteResponse
      : undefined;
  const foreign =
    typeof candidate === 'object' && candidate !== null && Object.hasOwn(candidate, FOREIGN[namespace]);
  if (foreign && details.some(({ loc }) => loc[1] === 'quoteResponse')) {
    return [
      {
        loc: ['body', 'quoteResponse'],
        msg: 'This candidate was quoted in the other namespace; submit it there.',
        type: 'namespace_mismatch',
      },
    ];
  }
  return details.map((detail) =>
    detail.loc[1] === 'quoteResponse' && detail.loc.length > 2 && detail.type !== 'extra_forbidden'
      ? {
          ...detail,
          msg: `${detail.msg}: the candidate is not as it was received`,
          type: 'integrity_mismatch',
        }
      : detail,
  );
}
