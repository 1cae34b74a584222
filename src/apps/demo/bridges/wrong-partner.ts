/**
 * Plays a route partner whose program is wrong: its terms and signatures hold, and its quotes are of other
 * amounts than it was asked for.
 */

import { createServer } from 'node:http';
import { partnerHeaders, partnerSigningKey } from '../../../protocol/partner/signature.ts';
import type { PartnerQuoted, PartnerQuoteRequest, PartnerTerms } from '../../../protocol/partner/messages.ts';

export interface WrongPartner {
  /** Quotes that it gave. */
  quotes(): number;
  stop(): Promise<void>;
}

export interface WrongPartnerOptions {
  port: number;
  terms: PartnerTerms;
  /** The partner's private key in PEM. The venue knows its public key. */
  privateKey: string;
}

export async function startWrongPartner({
  port,
  terms,
  privateKey,
}: WrongPartnerOptions): Promise<WrongPartner> {
  const key = partnerSigningKey(privateKey);
  let quotes = 0;
  /** Quotes wrongly: a whole token where the protocol counts its smallest units. */
  function quoted({ amount, validTo }: PartnerQuoteRequest): PartnerQuoted {
    quotes += 1;
    const whole = BigInt(amount) / 1_000_000n;
    return {
      quoteId: `wrong-${quotes}`,
      amountIn: whole.toString(),
      amountOut: amount,
      fee: '0',
      validUntil: validTo,
      eta: 10,
    };
  }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const asked = JSON.parse(Buffer.concat(parts).toString('utf8')) as PartnerQuoteRequest;
    const body = JSON.stringify(request.url?.endsWith('/terms') ? terms : quoted(asked));
    const id = String(request.headers['webhook-id']);
    const timestamp = Math.floor(Date.now() / 1000);
    response.writeHead(200, {
      'content-type': 'application/json',
      ...partnerHeaders({ id, timestamp, body }, [key]),
    });
    response.end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    quotes: () => quotes,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
