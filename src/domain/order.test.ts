import { toAddress } from './address.ts';
import { readFileSync } from 'node:fs';
import { TypedDataEncoder } from 'ethers';
import fc from 'fast-check';
import { encodeAbiParameters, encodePacked, hashTypedData, keccak256 } from 'viem';
import { describe, expect, test } from 'vitest';
import { arbAddress, arbBytes32, arbOrder } from '../../test/support/arbitrary-order.ts';
import {
  FILL_APPROVAL_TYPEHASH,
  fillApprovalDigest,
  RELEASE_TYPEHASH,
  releaseDigest,
} from '../../test/support/escrow.ts';
import { createRecovery } from '../adapters/secp256k1/recovery.ts';
import { orderFromMessage, zOrderMessage } from '../protocol/wire.ts';
import { ATTESTATION_TYPEHASH, attestationListDigest } from './attestation.ts';
import {
  commitmentDigest,
  type QuoteCommitment,
  QUOTE_COMMITMENT_TYPEHASH,
  QUOTE_TREE_TYPEHASH,
} from './commitment.ts';
import { decodeContext, encodeContext } from './context.ts';
import type { EscrowDomain } from './escrow-domain.ts';
import { bytesToHex, type Hex } from './hex.ts';
import { keccakText } from './keccak.ts';
import {
  MANDATE_OUTPUT_TYPEHASH,
  orderDigest,
  orderEnvelope,
  orderId,
  orderStructHash,
  outputHash,
  type StandardOrder,
  STANDARD_ORDER_TYPEHASH,
} from './order.ts';

const vectors = JSON.parse(readFileSync(new URL('../../test/vectors/orders.json', import.meta.url), 'utf8'));
const goldenDomain: EscrowDomain = {
  chainId: vectors.domain.chainId,
  escrow: toAddress(vectors.domain.verifyingContract),
};
const recovery = createRecovery();

interface GoldenOrder {
  name: string;
  order: unknown;
  orderId: string;
  structHash: string;
  digest: Hex;
  takerSignature: Hex;
  outputHashes: string[];
  commitment: QuoteCommitment & { digest: Hex; signature: Hex };
}

test('the digest of a list of attestations is that of viem', () => {
  fc.assert(
    fc.property(
      fc.array(arbBytes32, { minLength: 1, maxLength: 5 }),
      arbBytes32,
      arbAddress,
      (payloadHashes, application, oracle) => {
        const message = { remoteChainId: 7n, application, payloadHashes };
        expect(attestationListDigest({ chainId: 5, oracle }, message)).toBe(
          hashTypedData({
            domain: { name: 'AttestationOracle', version: '1', chainId: 5, verifyingContract: oracle },
            types: {
              AttestationList: [
                { name: 'remoteChainId', type: 'uint256' },
                { name: 'application', type: 'bytes32' },
                { name: 'payloadHashes', type: 'bytes32[]' },
              ],
            },
            primaryType: 'AttestationList',
            message,
          }),
        );
      },
    ),
  );
});

describe('golden values', () => {
  test('type hashes', () => {
    expect(vectors.typehashes).toMatchObject({
      MandateOutput: MANDATE_OUTPUT_TYPEHASH,
      StandardOrder: STANDARD_ORDER_TYPEHASH,
      QuoteCommitment: QUOTE_COMMITMENT_TYPEHASH,
      QuoteTree: QUOTE_TREE_TYPEHASH,
      FillApproval: FILL_APPROVAL_TYPEHASH,
      Release: RELEASE_TYPEHASH,
      Attestation: ATTESTATION_TYPEHASH,
      ReceiveWithAuthorization: keccakText(
        'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
      ),
    });
  });

  test.each<GoldenOrder>(vectors.orders)('$name', (row) => {
    // The file holds token rows and integers as the wire does, so it also holds the wire to account.
    const order = orderFromMessage(zOrderMessage.parse(row.order));
    expect(orderId(goldenDomain, order)).toBe(row.orderId);
    expect(orderStructHash(order)).toBe(row.structHash);
    expect(orderDigest(goldenDomain, order)).toBe(row.digest);
    expect(order.outputs.map(outputHash)).toEqual(row.outputHashes);
    expect(recovery.recover(row.digest, row.takerSignature)).toBe(vectors.taker.toLowerCase());
    const commitment = { ...row.commitment, lp: toAddress(row.commitment.lp) };
    expect(commitmentDigest(goldenDomain, commitment)).toBe(commitment.digest);
    expect(recovery.recover(commitment.digest, commitment.signature)).toBe(vectors.lp.toLowerCase());
    for (const output of order.outputs) {
      const context = decodeContext(output.context);
      if (context) expect(encodeContext(context)).toBe(output.context);
    }
  });
});

describe('laws, against two independent libraries', () => {
  const arbDomain = fc.record({ chainId: fc.integer({ min: 1, max: 2 ** 48 }), escrow: arbAddress });

  test('law: digest and orderId equal viem over 2,000 random orders', () => {
    fc.assert(
      fc.property(arbDomain, arbOrder, (domain, order) => {
        expect(orderDigest(domain, order)).toBe(viemDigest(domain, order));
        expect(orderId(domain, order)).toBe(viemOrderId(domain, order));
        expect(order.outputs.map(outputHash)).toEqual(
          order.outputs.map((output) => keccak256(encodeAbiParameters([outputAbi], [{ ...output }]))),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('law: digest equals ethers 6 over 1,000 random orders', () => {
    fc.assert(
      fc.property(arbDomain, arbOrder, (domain, order) => {
        const { EIP712Domain: _, ...types } = orderEnvelope(domain, order).types;
        const { domain: envelopeDomain, message } = orderEnvelope(domain, order);
        expect(orderDigest(domain, order)).toBe(TypedDataEncoder.hash(envelopeDomain, types, message));
      }),
      { numRuns: 1_000 },
    );
  });

  test('law: an orderId does not depend on orders hashed before', () => {
    const part = fc.record({
      user: arbAddress,
      nonce: fc.bigInt(0n, 2n ** 256n - 1n),
      expires: fc.nat(),
      fillDeadline: fc.nat(),
    });
    const outputPart = fc.oneof(
      fc.record({ amount: fc.bigInt(0n, 2n ** 256n - 1n), recipient: arbBytes32 }),
      fc.record({ token: arbBytes32 }),
      fc.record({ settler: arbBytes32 }),
      fc.record({ oracle: arbBytes32 }),
      fc.record({ chainId: fc.nat().map(BigInt) }),
      fc.record({ context: fc.uint8Array({ maxLength: 70 }).map(bytesToHex) }),
      fc.record({ callbackData: fc.uint8Array({ maxLength: 40 }).map(bytesToHex) }),
    );
    const step = fc.record({
      part,
      outputPart,
      chainId: fc.integer({ min: 1, max: 3 }),
      escrow: fc.constantFrom(...[1, 2].map((n) => toAddress(`0x${String(n).repeat(40)}`))),
      twice: fc.boolean(),
    });
    fc.assert(
      fc.property(arbOrder, fc.array(step, { minLength: 1, maxLength: 12 }), (first, steps) => {
        let order = first;
        for (const { part: news, outputPart: more, chainId, escrow, twice } of steps) {
          const [head, ...rest] = order.outputs;
          order = {
            ...order,
            ...news,
            outputs:
              head === undefined ? [] : twice ? [{ ...head, ...more }, ...rest] : [{ ...head, ...more }],
          };
          // A failed encoding must not affect the next one.
          expect(() => orderId({ chainId, escrow }, { ...order, nonce: 2n ** 256n })).toThrow('does not fit');
          expect(orderId({ chainId, escrow }, order)).toBe(viemOrderId({ chainId, escrow }, order));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('law: an order round-trips through its wire form', () => {
    fc.assert(
      fc.property(arbDomain, arbOrder, (domain, order) => {
        const sent = JSON.parse(JSON.stringify(orderEnvelope(domain, order).message));
        expect(orderFromMessage(zOrderMessage.parse(sent))).toEqual(order);
      }),
      { numRuns: 300 },
    );
  });

  test('law: commitment, approval and release digests equal viem', () => {
    fc.assert(
      fc.property(
        arbDomain,
        arbBytes32,
        arbBytes32,
        arbAddress,
        fc.nat(2 ** 32 - 1),
        (domain, id, other, lp, deadline) => {
          const hash = (primaryType: string, fields: [string, string][], message: Record<string, unknown>) =>
            hashTypedData({
              domain: {
                name: 'EscrowV0',
                version: '1',
                chainId: domain.chainId,
                verifyingContract: domain.escrow,
              },
              types: { [primaryType]: fields.map(([type, name]) => ({ type, name })) },
              primaryType,
              message,
            });
          expect(commitmentDigest(domain, { orderId: id, quoteId: other, lp, deadline })).toBe(
            hash(
              'QuoteCommitment',
              [
                ['bytes32', 'orderId'],
                ['bytes32', 'quoteId'],
                ['address', 'lp'],
                ['uint32', 'deadline'],
              ],
              { orderId: id, quoteId: other, lp, deadline },
            ),
          );
          expect(fillApprovalDigest(domain, { orderId: id, outputHash: other, deadline })).toBe(
            hash(
              'FillApproval',
              [
                ['bytes32', 'orderId'],
                ['bytes32', 'outputHash'],
                ['uint32', 'deadline'],
              ],
              { orderId: id, outputHash: other, deadline },
            ),
          );
          expect(releaseDigest(domain, id)).toBe(hash('Release', [['bytes32', 'orderId']], { orderId: id }));
        },
      ),
      { numRuns: 300 },
    );
  });
});

const outputAbi = {
  type: 'tuple',
  components: (
    [
      'bytes32 oracle',
      'bytes32 settler',
      'uint256 chainId',
      'bytes32 token',
      'uint256 amount',
      'bytes32 recipient',
      'bytes callbackData',
      'bytes context',
    ] as const
  ).map((text) => {
    const [type, name] = text.split(' ') as [string, string];
    return { type, name };
  }),
};

function viemDigest(domain: EscrowDomain, order: StandardOrder): string {
  const { EIP712Domain: _, ...types } = orderEnvelope(domain, order).types;
  return hashTypedData({
    domain: { name: 'EscrowV0', version: '1', chainId: domain.chainId, verifyingContract: domain.escrow },
    types,
    primaryType: 'StandardOrder',
    message: { ...order, inputs: order.inputs.map((row) => [...row]) },
  } as Parameters<typeof hashTypedData>[0]);
}

function viemOrderId(domain: EscrowDomain, order: StandardOrder): string {
  const inputs = encodePacked(['uint256[]'], [order.inputs.flat()]);
  return keccak256(
    encodePacked(
      ['uint256', 'address', 'address', 'uint256', 'uint32', 'uint32', 'address', 'bytes32', 'bytes'],
      [
        BigInt(domain.chainId),
        domain.escrow,
        order.user,
        order.nonce,
        order.expires,
        order.fillDeadline,
        order.inputOracle,
        keccak256(inputs),
        encodeAbiParameters(
          [{ ...outputAbi, type: 'tuple[]' }],
          [order.outputs.map((output) => ({ ...output }))],
        ),
      ],
    ),
  );
}
