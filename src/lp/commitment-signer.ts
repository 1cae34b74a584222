/**
 * Signs commitments with the operator's key: each by itself, or many with one signature where a key service
 * signs.
 */

import {
  commitmentDigest,
  commitmentMessage,
  type QuoteCommitment,
  quoteTree,
  treeMessage,
} from '../domain/commitment.ts';
import { UpstreamError } from '../domain/errors.ts';
import type { EscrowDomain } from '../domain/escrow-domain.ts';
import type { Bytes32, Hex } from '../domain/hex.ts';
import type { Clock } from '../ports/clock.ts';
import type { Signer } from '../ports/signer.ts';

export interface CommitmentSigner {
  /** Rejects with `UpstreamError` when a key service does not sign within `withinMs`. */
  signCommitment(domain: EscrowDomain, commitment: QuoteCommitment, withinMs: number): Promise<Hex>;
}

/** Signs each commitment by itself. */
export const createCommitmentSigner = (signer: Signer): CommitmentSigner => ({
  signCommitment: async (domain, commitment, withinMs) =>
    signer.sign(commitmentMessage(domain, commitment), { withinMs }),
});

const withProof = (signature: Hex, proof: readonly Bytes32[]): Hex =>
  `${signature}${proof.map((node) => node.slice(2)).join('')}`;

/** A proof then has at most eight hashes, which cost the sender of the settlement about 7,000 gas. */
const MOST_IN_TREE = 256;

interface Waiting {
  domain: EscrowDomain;
  commitment: QuoteCommitment;
  untilMs: number;
  resolve(signature: Hex): void;
  reject(error: unknown): void;
}

/**
 * While the key service has a free place, a commitment is signed by itself, at once. While every place is
 * taken, commitments wait. The next free place then signs all that wait for the same escrow, by one signature
 * over the root of their tree. So trees are as small as the load allows, and no quote waits for later quotes.
 *
 * @param places how many signatures the key service makes at a time
 * @param signed called for each signature with how many commitments it is for
 */
export function createTreeSigner(
  { signer, clock, signed }: { signer: Signer; clock: Clock; signed: (commitments: number) => void },
  places: number,
): CommitmentSigner {
  let taken = 0;
  let waiting: Waiting[] = [];

  function next(): void {
    const nowMs = clock.monotonicMs();
    while (taken < places) {
      waiting = waiting.filter(({ untilMs }) => untilMs > nowMs);
      const [first] = waiting;
      if (first === undefined) return;
      const isTogether = ({ domain }: Waiting): boolean =>
        domain.chainId === first.domain.chainId && domain.escrow === first.domain.escrow;
      const together = waiting.filter(isTogether).slice(0, MOST_IN_TREE);
      const chosen = new Set(together);
      waiting = waiting.filter((each) => !chosen.has(each));
      taken += 1;
      void signTogether(first.domain, together).finally(() => {
        taken -= 1;
        next();
      });
    }
  }

  /** Never rejects. */
  async function signTogether(domain: EscrowDomain, together: readonly Waiting[]): Promise<void> {
    const withinMs = Math.max(...together.map(({ untilMs }) => untilMs)) - clock.monotonicMs();
    try {
      const [only] = together;
      if (only !== undefined && together.length === 1)
        only.resolve(await signer.sign(commitmentMessage(domain, only.commitment), { withinMs }));
      else {
        const { root, proofs } = quoteTree(
          together.map(({ commitment }) => commitmentDigest(domain, commitment)),
        );
        const signature = await signer.sign(treeMessage(domain, root), { withinMs });
        for (const [index, { resolve }] of together.entries())
          resolve(withProof(signature, proofs[index] as Bytes32[]));
      }
      signed(together.length);
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }

  return {
    signCommitment: (domain, commitment, withinMs) =>
      new Promise<Hex>((resolve, reject) => {
        const untilMs = clock.monotonicMs() + withinMs;
        // The signature may still come later, for other commitments of the tree that have more time.
        const cancel = clock.after(withinMs, () =>
          reject(new UpstreamError(`no signature in ${Math.round(withinMs)} ms`, { code: 'signer_late' })),
        );
        const ended =
          <T>(settle: (value: T) => void) =>
          (value: T): void => {
            cancel();
            settle(value);
          };
        waiting.push({ domain, commitment, untilMs, resolve: ended(resolve), reject: ended(reject) });
        next();
      }),
  };
}
