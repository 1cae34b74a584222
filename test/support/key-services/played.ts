/** Shared by the simulated key services: an HTTP server, the key, and the faults of the next requests. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '../../../src/domain/hex.ts';
import { account } from '../devnet.ts';

/** The service's answer to one request to sign; "ok" is no fault. */
export type Fault =
  | 'ok'
  | 'throttled'
  | 'down'
  | 'denied'
  | 'no_key'
  | 'wrong_key'
  | 'malformed'
  /** No answer at all. */
  | 'hang'
  /** The connection ends without an answer. */
  | 'reset'
  | 'high_s'
  | 'low_s';

export interface WireAnswer {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

export interface PlayedService {
  url: string;
  /** True: every connection ends without an answer, whatever is asked. */
  gone: boolean;
  /** The fault of each request to sign for which `next` has none. */
  fault: Fault;
  /** The faults of the next requests to sign, first in, first out. */
  next: Fault[];
  /** The latency of every request to sign, beside what the machine takes. */
  latencyMs: number;
  /** Requests to sign so far. */
  signed: number;
  /** The most requests to sign that were in progress at the same time. */
  most: number;
  /** Requests whose client went away before the answer. */
  abandoned: number;
  close(): Promise<void>;
}

export interface PlayedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** The key in a service whose test names no other: that of `account(n)`. */
export const KEY_NUMBER = 77;
const OTHER_NUMBER = 78;
const ORDER = secp256k1.Point.Fn.ORDER;
type Signature = InstanceType<typeof secp256k1.Signature>;

export interface PlayedKey {
  /** 04 ‖ x ‖ y. */
  publicKey: Uint8Array;
  /** SPKI in DER, as all clouds give it: a fixed head of secp256k1, then the point. */
  spki: Buffer;
  sign(digest: Uint8Array, fault: Fault): Signature;
  /** v 27 or 28. */
  recoveryId(digest: Uint8Array, signature: Signature): 27 | 28;
}

export function playedKey(n: number): PlayedKey {
  const secret = (number: number) => hexToBytes(account(number).privateKey);
  const publicKey = secp256k1.getPublicKey(secret(n), false);
  return {
    publicKey,
    spki: Buffer.concat([Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex'), publicKey]),
    sign(digest, fault) {
      // A service signs with a random nonce, so s is high half of the time.
      const bytes = secp256k1.sign(digest, secret(fault === 'wrong_key' ? OTHER_NUMBER : n), {
        prehash: false,
        lowS: false,
        extraEntropy: true,
        format: 'compact',
      });
      const { r, s } = secp256k1.Signature.fromBytes(bytes, 'compact');
      const isHigh = s > ORDER / 2n;
      const flip = (fault === 'high_s' && !isHigh) || (fault === 'low_s' && isHigh);
      return new secp256k1.Signature(r, flip ? ORDER - s : s);
    },
    recoveryId(digest, signature) {
      const found = signature.addRecoveryBit(0).recoverPublicKey(digest).toBytes(false);
      return Buffer.from(found).equals(publicKey) ? 27 : 28;
    },
  };
}

export async function playService(
  play: {
    /** Anything that is not a request to sign. */
    other(request: PlayedRequest): WireAnswer;
    isSign(request: PlayedRequest): boolean;
    sign(request: PlayedRequest, fault: Fault): WireAnswer;
  },
  tls?: ServerOptions,
): Promise<PlayedService> {
  let inProgress = 0;
  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '/', headers } = incoming;
    const request = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
    const write = ({ status, body, headers: more = {} }: WireAnswer) =>
      response.writeHead(status, more).end(body);
    if (service.gone) {
      incoming.socket.destroy();
      return;
    }
    if (!play.isSign(request)) {
      write(play.other(request));
      return;
    }
    const fault = service.next.shift() ?? service.fault;
    service.signed += 1;
    service.most = Math.max(service.most, (inProgress += 1));
    response.once('close', () => {
      inProgress -= 1;
      if (!response.writableFinished) service.abandoned += 1;
    });
    if (fault === 'hang') return;
    if (fault === 'reset') {
      incoming.socket.destroy();
      return;
    }
    if (service.latencyMs > 0) await new Promise((done) => setTimeout(done, service.latencyMs));
    write(play.sign(request, fault));
  };
  const listener = (incoming: IncomingMessage, response: ServerResponse) =>
    void handle(incoming, response).catch(() => response.destroy());
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service: PlayedService = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gone: false,
    fault: 'ok',
    next: [],
    ...{ latencyMs: 0, signed: 0, most: 0, abandoned: 0 },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return service;
}
