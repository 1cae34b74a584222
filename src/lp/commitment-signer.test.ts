/** Which commitments are signed together, and that every signature is one of its commitment. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRecovery } from '../adapters/secp256k1/recovery.ts';
import { createSigner } from '../adapters/secp256k1/signer.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { commitmentDigest, MOST_TREE_STEPS, quoteTree, signedPart } from '../domain/commitment.ts';
import { UpstreamError } from '../domain/errors.ts';
import type { Bytes32, Hex } from '../domain/hex.ts';
import { keccakText } from '../domain/keccak.ts';
import { account } from '../../test/support/devnet.ts';
import { createTreeSigner } from './commitment-signer.ts';

const KEY = account(77);
const recovery = createRecovery();
const HERE = { chainId: 1, escrow: account(1).address };
const THERE = { chainId: 2, escrow: account(1).address };
const LONG_MS = 60_000;

const commitment = (index: number) => ({
  orderId: keccakText(`order ${index}`),
  quoteId: keccakText(`quote ${index}`),
  lp: account(2).address,
  deadline: 1_900_000_000 + index,
});

const signerOf = (domain: typeof HERE, index: number, signature: Hex) => {
  const part = signedPart(domain, commitment(index), signature);
  return recovery.recover(part.digest, part.signature);
};

/** Signs when it is told to. */
function slowKey(places: number) {
  const key = createSigner(KEY.privateKey);
  const held: { release(): void; refuse(error: Error): void }[] = [];
  const counts: number[] = [];
  const signer = createTreeSigner(
    {
      clock: systemClock,
      signed: (count) => counts.push(count),
      signer: {
        address: KEY.address,
        async sign(message) {
          await new Promise<void>((resolve, reject) => held.push({ release: resolve, refuse: reject }));
          return key.sign(message);
        },
      },
    },
    places,
  );
  return { signer, held, counts };
}

const settle = () => new Promise((done) => setImmediate(done));

async function release(held: { release(): void }[]): Promise<void> {
  held.shift()?.release();
  await settle();
}

describe('a tree', () => {
  test('law: each leaf climbs to the root that was signed, and no other digest does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(), (count, pick) => {
        const digests = Array.from({ length: count }, (_, index) =>
          commitmentDigest(HERE, commitment(index)),
        );
        const { root, proofs } = quoteTree(digests);
        const index = pick % count;
        const proof = proofs[index] as Bytes32[];
        expect(proof.length).toBeLessThanOrEqual(Math.ceil(Math.log2(count)));
        const signature = `0x${'11'.repeat(65)}${proof.map((node) => node.slice(2)).join('')}` as Hex;
        const part = signedPart(HERE, commitment(index), signature);
        expect(part.signature).toBe(`0x${'11'.repeat(65)}`);
        if (count === 1) expect(root).toBe(digests[0]);
        // The roots of all leaves are one, and that of a stranger is another.
        const others = digests.map(
          (_, at) =>
            signedPart(
              HERE,
              commitment(at),
              `0x${'11'.repeat(65)}${(proofs[at] as Bytes32[]).map((node) => node.slice(2)).join('')}`,
            ).digest,
        );
        if (proofs.every(({ length }) => length > 0)) expect(new Set(others).size).toBe(1);
        expect(signedPart(HERE, commitment(1_000), signature).digest).not.toBe(part.digest);
        expect(signedPart(THERE, commitment(index), signature).digest).not.toBe(part.digest);
      }),
      { numRuns: 40 },
    );
  });

  test('more steps than anybody settles with are no signature', () => {
    const long = (steps: number): Hex => `0x${'11'.repeat(65 + 32 * steps)}`;
    expect(signedPart(HERE, commitment(1), long(MOST_TREE_STEPS)).signature).toHaveLength(132);
    const more = signedPart(HERE, commitment(1), long(MOST_TREE_STEPS + 1));
    expect(more).toEqual({
      digest: commitmentDigest(HERE, commitment(1)),
      signature: long(MOST_TREE_STEPS + 1),
    });
    expect(recovery.recover(more.digest, more.signature)).toBeUndefined();
  });
});

describe('a key service', () => {
  test('with a place free signs each commitment by itself', async () => {
    const { signer, held, counts } = slowKey(2);
    const both = [1, 2].map((index) => signer.signCommitment(HERE, commitment(index), LONG_MS));
    await release(held);
    await release(held);
    const signatures = await Promise.all(both);
    expect(signatures.map((signature) => signature.length)).toEqual([132, 132]);
    expect(signatures.map((signature, at) => signerOf(HERE, at + 1, signature))).toEqual([
      KEY.address,
      KEY.address,
    ]);
    expect(counts).toEqual([1, 1]);
  });

  test('law: what waits is signed together, by escrow, and every signature is of its commitment', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 300 }), async (homes) => {
        const { signer, held, counts } = slowKey(1);
        const domains = homes.map((home) => (home ? HERE : THERE));
        const all = Promise.all(
          domains.map((domain, at) => signer.signCommitment(domain, commitment(at), LONG_MS)),
        );
        while (held.length > 0) await release(held);
        for (const [at, signature] of (await all).entries())
          expect(signerOf(domains[at] as typeof HERE, at, signature)).toBe(KEY.address);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(homes.length);
        // The first went alone; then each escrow's at once, at most 256.
        expect(counts.length).toBeLessThanOrEqual(5);
      }),
      { numRuns: 15 },
    );
  });

  test('whoever has too little time is told so, and the others of the tree get their signatures', async () => {
    const { signer, held } = slowKey(1);
    const first = signer.signCommitment(HERE, commitment(0), LONG_MS);
    const hasty = signer.signCommitment(HERE, commitment(1), 5);
    const patient = signer.signCommitment(HERE, commitment(2), LONG_MS);
    await expect(hasty).rejects.toThrow(UpstreamError);
    await release(held);
    await release(held);
    expect(signerOf(HERE, 0, await first)).toBe(KEY.address);
    expect(signerOf(HERE, 2, await patient)).toBe(KEY.address);
  });

  test('that fails refuses its tree and nobody else, and gives its place back', async () => {
    const { signer, held } = slowKey(1);
    const first = signer.signCommitment(HERE, commitment(0), LONG_MS);
    const together = [1, 2].map((index) => signer.signCommitment(HERE, commitment(index), LONG_MS));
    const outcomes = Promise.allSettled(together);
    await release(held);
    held.shift()?.refuse(new UpstreamError('throttled', { code: 'signer_unavailable' }));
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await first;
    const later = signer.signCommitment(HERE, commitment(3), LONG_MS);
    await release(held);
    expect(signerOf(HERE, 3, await later)).toBe(KEY.address);
  });
});
