/**
 * Web3Signer's eth1 mode as it is on the wire: HTTPS that demands a client certificate, plain text answers,
 * and a signature over the keccak-256 of the data.
 */

import { keccak256 } from 'ethers';
import {
  KEY_NUMBER,
  type Fault,
  playedKey,
  playService,
  type PlayedService,
  type WireAnswer,
} from './played.ts';
import { AUTHORITY, SERVER } from './certificates.ts';

const OTHER = `0x${'42'.repeat(64)}`;
const PATH = '/api/v1/eth1';

/** Answers of the service; 429 comes from a proxy before it, because it limits nothing itself. */
const FAILURES: Partial<Record<Fault, WireAnswer>> = {
  throttled: { status: 429, body: '<html><head><title>429 Too Many Requests</title></head></html>' },
  down: { status: 500, body: 'Internal Server Error' },
  denied: { status: 403, body: 'Forbidden' },
  no_key: { status: 404, body: 'Resource not found' },
  malformed: { status: 200, body: '0xb3baa751d0a9132cfe93e4e3d5ff9075' },
};

export function playWeb3Signer(account = KEY_NUMBER): Promise<PlayedService> {
  const key = playedKey(account);
  const identifier = `0x${Buffer.from(key.publicKey.subarray(1)).toString('hex')}`;
  return playService(
    {
      isSign: ({ method, path }) => method === 'POST' && path.startsWith(`${PATH}/sign/`),
      other: ({ path }) =>
        path === `${PATH}/publicKeys`
          ? {
              status: 200,
              body: JSON.stringify([OTHER, identifier]),
              headers: { 'content-type': 'application/json' },
            }
          : { status: 404, body: 'Resource not found' },
      sign({ path, body }, fault) {
        const failure = FAILURES[fault];
        if (failure !== undefined) return failure;
        if (path !== `${PATH}/sign/${identifier}`) return { status: 404, body: 'Resource not found' };
        const { data } = JSON.parse(body) as { data?: unknown };
        if (typeof data !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(data))
          return { status: 400, body: 'Bad Request' };
        const digest = Buffer.from(keccak256(data).slice(2), 'hex');
        const signature = key.sign(digest, fault);
        const v = key.recoveryId(digest, signature).toString(16);
        return {
          status: 200,
          body: `0x${Buffer.from(signature.toBytes('compact')).toString('hex')}${v}`,
          headers: { 'content-type': 'text/plain; charset=utf-8' },
        };
      },
    },
    { ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true },
  );
}
