/** How well fills can be proven at the moment: whether enough attesters would answer, and how long proofs have taken of late. What could not be proven in time is neither promised nor filled. */

import type { Chain } from '../domain/chain.ts';
import { addressToBytes32 } from '../domain/hex.ts';
import type { Attestations, OracleRef, Voices } from '../ports/attestations.ts';
import type { Clock } from '../ports/clock.ts';

export interface Proving extends Attestations {
  /** Seconds that have to be left before `expires` for a fill to be sent, and in a proof window for a quote to be given. */
  neededSeconds(): number;
  /** Why nothing is promised that is to be claimed on this chain; undefined when all is well. Cheap. */
  doubt(originChainId: number): string | undefined;
  /** Asks right now whether enough attesters answer, unless that was heard a moment ago. */
  sure(originChainId: number): Promise<boolean>;
  /** Call a few times a second. */
  look(): void;
}

export interface ProvingDeps {
  proofs: Attestations;
  /** Absent: nobody says who is there; then only the time that proofs take is known. */
  voices?: Voices | undefined;
  chains: ReadonlyMap<number, Chain>;
  clock: Clock;
}

const LOOK_MS = 2_000;
/** A proof that nobody has asked for since is somebody else's business by now. */
const GIVEN_UP_MS = 60_000;
/** Proofs that tell how long one takes: so many, and none older. */
const REMEMBERED = 200;
const FORGET_MS = 600_000;

/** `claimSeconds`: the least that has to be left. Half of it is for the claim, however long the signatures take. */
export function createProving({ proofs, voices, chains, clock }: ProvingDeps, { claimSeconds }: { claimSeconds: number }): Proving {
  const waiting = new Map<string, { sinceMs: number; askedMs: number }>();
  let took: { seconds: number; atMs: number }[] = [];
  let needed = claimSeconds;
  let lookedMs: number | undefined;

  const oracleOf = ({ id, oracle }: Chain): OracleRef => ({ chainId: id, oracle });
  const probing = new Map<number, Promise<void>>();

  /** Of many orders that want to know in one moment, one asks. */
  function probe(origin: Chain): Promise<void> {
    const remote = [...chains.values()].find(({ id }) => id !== origin.id);
    if (remote === undefined || voices === undefined) return Promise.resolve();
    const asked = probing.get(origin.id) ?? voices.look(oracleOf(origin), { remoteChainId: BigInt(remote.id), application: addressToBytes32(remote.escrow) }).finally(() => probing.delete(origin.id));
    probing.set(origin.id, asked);
    return asked;
  }

  function measure(): void {
    const nowMs = clock.monotonicMs();
    took = took.filter(({ atMs }) => nowMs - atMs < FORGET_MS).slice(-REMEMBERED);
    for (const [key, { askedMs }] of waiting) if (nowMs - askedMs > GIVEN_UP_MS) waiting.delete(key);
    const seconds = [...took.map((each) => each.seconds), ...[...waiting.values()].map(({ sinceMs }) => (nowMs - sinceMs) / 1000)].sort((a, b) => a - b);
    const late = seconds[Math.ceil(seconds.length * 0.99) - 1] ?? 0;
    needed = Math.max(claimSeconds, Math.ceil(late) + Math.ceil(claimSeconds / 2));
  }

  return {
    async signatures(attestation, oracle, orderId) {
      const key = `${oracle.chainId}:${attestation.payloadHash}`;
      const askedMs = clock.monotonicMs();
      const sinceMs = waiting.get(key)?.sinceMs ?? askedMs;
      waiting.set(key, { sinceMs, askedMs });
      const found = await proofs.signatures(attestation, oracle, orderId);
      if (found !== undefined && waiting.delete(key)) took.push({ seconds: (clock.monotonicMs() - sinceMs) / 1000, atMs: clock.monotonicMs() });
      measure();
      return found;
    },
    neededSeconds: () => needed,
    doubt(originChainId) {
      const origin = chains.get(originChainId);
      if (origin === undefined) return undefined;
      const heard = voices?.heard(oracleOf(origin));
      if (heard !== undefined && heard.speaking < heard.needed) return `${origin.slug}: ${heard.speaking} of ${heard.needed} attesters answer`;
      if (needed > claimSeconds && needed > origin.proofWindowSeconds) return `${origin.slug}: proofs take too long (${needed} s with the claim, of ${origin.proofWindowSeconds})`;
      return undefined;
    },
    async sure(originChainId) {
      const origin = chains.get(originChainId);
      if (origin === undefined || voices === undefined) return true;
      const enough = (withinMs: number) => {
        const heard = voices.heard(oracleOf(origin), withinMs);
        return heard === undefined || heard.speaking >= heard.needed;
      };
      if (enough(LOOK_MS)) return true;
      await probe(origin);
      // The slowest may have taken its time.
      return enough(2 * LOOK_MS);
    },
    look() {
      measure();
      const nowMs = clock.monotonicMs();
      if (voices === undefined || (lookedMs !== undefined && nowMs - lookedMs < LOOK_MS)) return;
      lookedMs = nowMs;
      for (const origin of chains.values()) void probe(origin);
    },
  };
}
