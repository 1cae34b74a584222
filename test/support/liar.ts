/**
 * Puts a dishonest front before a venue: requests pass to the real venue, and answers come back changed as
 * the test says.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { commitmentDigest } from '../../src/domain/commitment.ts';
import { decodeContext } from '../../src/domain/context.ts';
import { orderEnvelope, orderId, type OrderMessage, type StandardOrder } from '../../src/domain/order.ts';
import type { QuoteCandidate } from '../../src/protocol/api/candidate.ts';
import { decodeCommitments, encodeCommitments, formatSeal, parseSeal } from '../../src/protocol/seal-wire.ts';
import { orderFromMessage } from '../../src/protocol/wire.ts';
import type { TestAccount } from './devnet.ts';
import type { Json } from './venue.ts';

/** Changes an answer in place, or returns another. `undefined`: the answer as it was changed. */
type Lie = (answer: Json, path: string) => unknown;

export interface Liar {
  url: string;
  /** Changes answers from now on; without `lie`, answers are true. */
  tell(lie?: Lie): void;
  /** Requests that reached it: method, path and idempotency key. */
  heard: { method: string; path: string; key: string | undefined; body: string }[];
  /** Closes this many connections after the venue has answered: the answer is lost, its effect stays. */
  cut(times: number): void;
  stop(): Promise<void>;
}

export async function startLiar(venueUrl: string): Promise<Liar> {
  let lie: Lie | undefined;
  let cuts = 0;
  const heard: Liar['heard'] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const path = request.url ?? '/';
      const {
        host: _,
        connection: __,
        'content-length': ___,
        ...headers
      } = request.headers as Record<string, string>;
      heard.push({ method: request.method ?? '', path, key: headers['idempotency-key'], body });
      const answer = await fetch(venueUrl + path, {
        method: request.method ?? 'GET',
        headers,
        ...(body === '' ? {} : { body }),
      });
      let text = await answer.text();
      if (cuts > 0) {
        cuts--;
        request.socket.destroy();
        return;
      }
      if (lie && answer.ok) {
        const json = JSON.parse(text) as Json;
        text = JSON.stringify(lie(json, path) ?? json);
      }
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'application/json',
        ...(answer.headers.get('retry-after')
          ? { 'retry-after': answer.headers.get('retry-after') as string }
          : {}),
      });
      response.end(text);
    })().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    tell: (next) => void (lie = next),
    cut: (times) => void (cuts = times),
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/**
 * Forges the candidate over another order. With `signer` the LPs have signed it, so that a venue and its LPs
 * lie together; without, their signatures are of the order that was quoted.
 */
export function forge(
  candidate: QuoteCandidate,
  change: (order: StandardOrder) => StandardOrder,
  signer?: TestAccount,
): QuoteCandidate {
  const envelope = candidate.order?.payload as unknown as {
    domain: { chainId: number; verifyingContract: `0x${string}` };
    message: OrderMessage;
  };
  const domain = { chainId: envelope.domain.chainId, escrow: envelope.domain.verifyingContract };
  const order = change(orderFromMessage(envelope.message));
  const seal = parseSeal(candidate.integrityChecksum);
  if (!seal) throw new Error('no seal');
  const id = orderId(domain, order);
  const quoteId = candidate.quoteId as `0x${string}`;
  const commitments = (decodeCommitments(seal.commitments) ?? []).map((commitment, index) => {
    const lp = decodeContext(order.outputs[index]?.context ?? '0x')?.exclusiveFor ?? commitment.lp;
    return signer
      ? {
          lp,
          deadline: order.fillDeadline,
          signature: signer.sign(
            commitmentDigest(domain, { orderId: id, quoteId, lp, deadline: order.fillDeadline }),
          ),
        }
      : commitment;
  });
  return {
    ...candidate,
    order: { type: 'escrow-v0', payload: orderEnvelope(domain, order) as unknown as Record<string, unknown> },
    integrityChecksum: formatSeal({ ...seal, commitments: encodeCommitments(commitments) }),
  };
}
