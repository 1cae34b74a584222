/**
 * Web3Signer in its eth1 mode, over HTTPS with a client certificate. `POST /api/v1/eth1/sign` hashes what it
 * gets with keccak-256 and adds no prefix, for every kind of key behind it, so it gets the whole message.
 */

import { type Address, type Hex, hexToBytes, bytesToHex } from '../../domain/hex.ts';
import { publicKeyAddress } from '../secp256k1/signer.ts';
import { type KeyService, KeyServiceFailure } from './key-service.ts';
import { createServiceHttp } from './key-service-http.ts';

interface Web3SignerOptions {
  url: string;
  /** The address of the key to sign with; the service may have many. */
  address: Address;
  /** PEM. `ca`: who signed the service's certificate, where no public authority did. */
  tls: { ca?: string; cert?: string; key?: string };
}

export function createWeb3Signer({ url, address, tls }: Web3SignerOptions): KeyService {
  const http = createServiceHttp({ connect: tls });
  const base = `${url.replace(/\/+$/, '')}/api/v1/eth1`;
  let identifier: Hex | undefined;

  async function publicKey(signal: AbortSignal): Promise<Uint8Array> {
    const keys = readKeys(await http.request({ method: 'GET', url: `${base}/publicKeys`, signal }));
    const ours = keys.find((key) => publicKeyAddress(key) === address);
    if (ours === undefined)
      throw new KeyServiceFailure('no_key', `none of its ${keys.length} keys is that of ${address}`);
    identifier = bytesToHex(ours);
    return ours;
  }

  return {
    name: 'web3signer',
    publicKey,
    async sign({ message }, signal) {
      const key = identifier ?? bytesToHex(await publicKey(signal));
      const text = await http.request({
        method: 'POST',
        url: `${base}/sign/${key}`,
        headers: { accept: 'text/plain' },
        body: { data: bytesToHex(message) },
        signal,
      });
      const signature = text.trim();
      if (!/^0x[0-9a-fA-F]{130}$/.test(signature))
        throw new KeyServiceFailure('malformed', 'the signature is not 65 bytes in hex');
      return hexToBytes(signature as Hex).subarray(0, 64);
    },
    close: () => http.close(),
  };
}

/** Reads each x ‖ y, as hex. */
function readKeys(text: string): Uint8Array[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new KeyServiceFailure('malformed', 'the list of keys is not JSON', { cause });
  }
  if (!Array.isArray(json)) throw new KeyServiceFailure('malformed', 'the keys are not a list');
  return json
    .map((key) =>
      typeof key === 'string' ? `0x${key.replace(/^0x/i, '').replace(/^04(?=.{128}$)/, '')}` : '',
    )
    .filter((key): key is Hex => /^0x[0-9a-fA-F]{128}$/.test(key))
    .map((key) => hexToBytes(key));
}
