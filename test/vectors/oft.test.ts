/** Our reading of LayerZero V2 against LayerZero's own packages: calls, events, errors and packets. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Abi, type AbiParameter, toEventSelector, toFunctionSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { lzEndpointAbi, oftAbi } from '../../src/adapters/bridges/oft/contracts.ts';
import { decodePacket, guidOf, payloadHash, transferMessage } from '../../src/adapters/bridges/oft/packet.ts';
import { addressToBytes32, type Hex } from '../../src/domain/hex.ts';
import { devLzEndpointAbi } from '../support/abi/dev-lz-endpoint.ts';
import { layerZeroArtifact } from '../support/oft.ts';

const folderOf = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
const abiOf = (name: string, path: string) =>
  (JSON.parse(readFileSync(join(folderOf(name), 'artifacts', path), 'utf8')) as { abi: Abi }).abi;

const oft = abiOf('@layerzerolabs/oft-evm', 'OFT.sol/OFT.json');
const endpoint = [
  ...layerZeroArtifact('EndpointV2.sol/EndpointV2.json').abi,
  ...layerZeroArtifact('libs/Errors.sol/Errors.json').abi,
];

type Parameter = { type: string; indexed?: boolean | undefined; components?: readonly AbiParameter[] };

const typeOf = ({ type, indexed, components }: Parameter): string =>
  (components ? `(${components.map(typeOf).join()})${type.slice(5)}` : type) + (indexed ? ' indexed' : '');

/** What decides how bytes are read: names of parameters do not. */
const shapesOf = (abi: Abi): string[] =>
  abi.flatMap((item) => {
    if (item.type !== 'function' && item.type !== 'event' && item.type !== 'error') return [];
    const outputs = item.type === 'function' ? item.outputs.map(typeOf).join() : '';
    const inputs: readonly Parameter[] = item.inputs;
    return [`${item.type} ${item.name}(${inputs.map(typeOf).join()}) ${outputs}`];
  });

describe('our ABI', () => {
  test.each([
    ['of OFTs', oftAbi as Abi, oft],
    ['of endpoints', lzEndpointAbi as Abi, endpoint],
  ])("%s is part of LayerZero's", (_, ours, theirs) => {
    const known = new Set(shapesOf(theirs));
    expect(shapesOf(ours).filter((shape) => !known.has(shape))).toEqual([]);
    expect(shapesOf(ours).length).toBeGreaterThan(5);
  });

  test("the devnets' endpoint has the shapes of LayerZero's, but for what plays its failures", () => {
    const known = new Set(shapesOf(endpoint));
    expect(shapesOf(devLzEndpointAbi as Abi).filter((shape) => !known.has(shape))).toEqual([
      'function fee() uint256',
      'function isClosed() bool',
      'function setClosed(bool) ',
      'function setFee(uint256) ',
      'error NotRefunded() ',
    ]);
  });

  test('has the selectors and topics that explorers show', () => {
    const selectors: Record<string, Hex> = {};
    for (const item of [...oftAbi, ...lzEndpointAbi])
      if (item.type === 'function') selectors[item.name] = toFunctionSelector(item);
      else if (item.type === 'event') selectors[item.name] = toEventSelector(item);
    expect(selectors).toMatchObject({
      quoteOFT: '0x0d35b415',
      quoteSend: '0x3b6f743b',
      lzReceive: '0x0c0c389e',
      OFTSent: '0x85496b760a4b7f8d66384b9df21b381f5d1b1e79f229a47aaf4c232edc2fe59a',
      OFTReceived: '0xefed6d3500546b29533b128a29e3a94d70788727f0507505ac12eaf2e578fd9c',
      PacketSent: '0x1ab700d4ced0c005b164c0f789fd09fcbb0156d4c2041b8a3bfbcd961cd1567f',
    });
  });
});

describe('a packet', () => {
  const OFT: Hex = '0xf8879d49b97f2d80a29b01e3fc489a27073e8597';
  const ACCOUNT: Hex = '0xcade35d74783afe057243ca48aafb24b18bfca22';
  const GUID: Hex = '0x83437eb9f5b4f7a5a56af5b6b95662836018a73d6b6c8f0439f0acd4dc25f965';
  // Emitted by EndpointV2 of the package, for an OFT of the package.
  const packet: Hex = `0x01000000000000000100007595000000000000000000000000f8879d49b97f2d80a29b01e3fc489a27073e85970000759f000000000000000000000000f8879d49b97f2d80a29b01e3fc489a27073e8597${GUID.slice(2)}000000000000000000000000cade35d74783afe057243ca48aafb24b18bfca2200000000499602d2`;

  test('is read as LayerZero wrote it', () => {
    const decoded = decodePacket(packet);
    expect(decoded).toEqual({
      nonce: 1n,
      srcEid: 30_101,
      sender: addressToBytes32(OFT),
      dstEid: 30_111,
      receiver: addressToBytes32(OFT),
      guid: GUID,
      message: transferMessage(ACCOUNT, 1_234_567_890n),
    });
    expect(decoded && guidOf(decoded)).toBe(GUID);
    expect(decoded && payloadHash(decoded)).toBe(
      '0x8ce5c275edb3981fd5ad6081c42eed767d470936637e9755df3598a0b370ce7e',
    );
  });

  test.each([
    ['of another version', `0x02${packet.slice(4)}`],
    ['with a guid of another path', packet.replace('83437e', '83437f')],
    ['that is cut off', packet.slice(0, 200)],
    ['of no whole bytes', `${packet}f`],
    ['that is no hex', `${packet.slice(0, -2)}zz`],
  ])('%s is none', (_, bytes) => {
    expect(decodePacket(bytes as Hex)).toBeUndefined();
  });
});
