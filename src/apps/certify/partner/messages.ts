/**
 * Sends requests that no partner may answer with a 200: unsigned, old, repeated, or addressed to another
 * partner.
 */

import { generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { PARTNER_TOLERANCE_SECONDS } from '../../../protocol/partner/messages.ts';
import type { RuleFindings } from '../findings.ts';
import { newId, type PartnerAsking, type Reply, seconds } from './asking.ts';
import type { PartnerRule } from './rules.ts';

export async function checkMessages(
  asking: PartnerAsking,
  findings: RuleFindings<PartnerRule>,
  { partner, key }: { partner: string; key: KeyObject },
): Promise<void> {
  const terms = { type: 'terms', partner };
  const judge = (rule: PartnerRule, what: string, wanted: string, reply: Reply | undefined) => {
    if (reply?.code === wanted) findings.pass(rule, `${what}: ${wanted}`);
    else findings.fail(rule, `${what} got ${said(reply)}, and not ${wanted}`);
  };
  judge(
    'signature',
    'a request without a signature',
    'bad_signature',
    await asking.send('terms', terms, { key: null }),
  );
  const stranger = generateKeyPairSync('ed25519').privateKey;
  judge(
    'signature',
    'a request signed by a stranger',
    'bad_signature',
    await asking.send('terms', terms, { key: stranger }),
  );
  for (const away of [-PARTNER_TOLERANCE_SECONDS - 60, PARTNER_TOLERANCE_SECONDS + 60])
    judge(
      'time',
      `a request that is ${away} seconds away`,
      'bad_signature',
      await asking.send('terms', terms, { timestamp: seconds() + away }),
    );
  const id = newId();
  await asking.send('terms', terms, { id });
  judge(
    'replay',
    'a request that was sent twice',
    'replayed',
    await asking.send('terms', terms, { id, key }),
  );
  judge(
    'path',
    'the body of status on the path of terms',
    'bad_request',
    await asking.send('terms', { ...terms, type: 'status' }),
  );
  judge(
    'audience',
    'a request to another partner',
    'bad_request',
    await asking.send('terms', { ...terms, partner: `${partner}-not` }),
  );
}

export const said = (reply: Reply | undefined): string =>
  reply === undefined ? 'no answer' : `the status ${reply.status}${reply.code ? ` ${reply.code}` : ''}`;
