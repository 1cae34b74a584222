/** Collects m-of-n signatures of an oracle's committee; each member counts once. */

import { attestationDigest, attestationListDigest } from '../../domain/attestation.ts';
import { type Address, addressToBytes32, type Bytes32, type Hex } from '../../domain/hex.ts';
import { UpstreamError } from '../../domain/errors.ts';
import {
  ATTEST_ANSWERS,
  type AttestAnswer,
  type Attestations,
  type AttestListRequest,
  type AttestRequest,
  type OracleRef,
  type AttesterPresence,
} from '../../ports/attestations.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Recovery } from '../../ports/signer.ts';
import { ATTESTATION_LISTS_PATH, ATTESTATIONS_PATH, toListBody, toQuery, zAttestAnswer } from './wire.ts';

interface AttestationClientDeps {
  chains: ReadonlyMap<number, ChainPort>;
  recovery: Recovery;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

interface AttestationClientOptions {
  urls: readonly string[];
  timeoutMs?: number;
}

/** A committee that was read so long ago is read again. It changes rarely. */
const COMMITTEE_MS = 60_000;
/** The same once a signer has answered that is not in it: it may have joined since. */
const DOUBTED_MS = 2_000;
const MAX_ANSWER_BYTES = 4_096;
const AWAY_MS = 10_000;
const NO_FILL: Bytes32 = `0x${'00'.repeat(32)}`;

type Presence = { present: number; needed: number };

interface Committee {
  threshold: number;
  signers: ReadonlySet<Address>;
  readMs: number;
  keptMs: number;
}

export function createAttestationClient(
  { chains, recovery, clock, log, metrics }: AttestationClientDeps,
  { urls, timeoutMs = 2_000 }: AttestationClientOptions,
): Attestations & AttesterPresence {
  const committees = new Map<string, Committee>();
  const answers = metrics.counter(
    'firmquote_attestations_answers_total',
    'Answers of attesters, by attester (its place in the configuration) and kind',
    { attester: [...urls.keys()].map(String), kind: [...ATTEST_ANSWERS, 'invalid', 'unreachable'] },
  );
  const slugs = [...chains.values()].map(({ chain }) => chain.slug);
  const proofs = metrics.counter(
    'firmquote_attestations_proofs_total',
    'Requests for the signatures of a fill, by the origin whose oracle takes them, and whether enough signed',
    { chain: slugs, outcome: ['complete', 'incomplete'] },
  );
  const presenceGauge = (name: string, help: string, of: (found: Presence) => number) =>
    metrics.gauge(name, help, ['chain'], (gauge) => {
      for (const { chain } of chains.values()) {
        const found = urls.length === 0 ? undefined : presence({ chainId: chain.id, oracle: chain.oracle });
        if (found !== undefined) gauge.set(of(found), { chain: chain.slug });
      }
    });
  presenceGauge(
    'firmquote_attestations_signers_present',
    'Committee members of an oracle that answer this process',
    ({ present }) => present,
  );
  presenceGauge(
    'firmquote_attestations_signers_needed',
    'Committee members that a proof for an oracle needs',
    ({ needed }) => needed,
  );

  async function committeeOf({ chainId, oracle }: OracleRef): Promise<Committee | undefined> {
    const key = `${chainId}:${oracle}`;
    const known = committees.get(key);
    if (known && clock.monotonicMs() - known.readMs < known.keptMs) return known;
    const read = await chains.get(chainId)?.committee(oracle);
    if (!read) return undefined;
    const committee = {
      threshold: read.threshold,
      signers: new Set(read.signers),
      readMs: clock.monotonicMs(),
      keptMs: COMMITTEE_MS,
    };
    committees.set(key, committee);
    return committee;
  }

  /** Holds when each attester of an oracle last answered, and its signer; keyed by oracle and attester. */
  const lastAnswers = new Map<string, { atMs: number; signer: Address | undefined }>();
  const bornMs = clock.monotonicMs();
  const keyOf = ({ chainId, oracle }: OracleRef, index: number) => `${chainId}:${oracle}:${index}`;

  /** Returns true when the signer is in the committee. If it is not, the committee is soon read again. */
  function counts(committee: Committee, signer: Address | undefined): boolean {
    const member = isMember(committee, signer);
    if (!member) committee.keptMs = DOUBTED_MS;
    return member;
  }

  type Question = (url: string) => Promise<AttestAnswer>;

  async function fetched(url: string, path: string, init: RequestInit = {}): Promise<AttestAnswer> {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url.replace(/\/$/, '') + path, { ...init, signal, redirect: 'error' });
    return zAttestAnswer.parse(JSON.parse(await readLimited(response)));
  }

  const question = (request: AttestRequest): Question => {
    const path = `${ATTESTATIONS_PATH}?${toQuery(request).toString()}`;
    return (url) => fetched(url, path);
  };

  const listQuestion = (request: AttestListRequest): Question => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: toListBody(request) };
    return (url) => fetched(url, ATTESTATION_LISTS_PATH, init);
  };

  async function ask(
    url: string,
    index: number,
    put: Question,
    digest: Hex,
  ): Promise<{ signer: Address; signature: Hex } | undefined> {
    const count = (kind: string) => answers.add({ attester: String(index), kind });
    try {
      const answer = await put(url);
      if (answer.kind !== 'signed') return void count(answer.kind);
      // The signer that the answer names is not trusted.
      const signer = recovery.recover(digest, answer.signature);
      if (!signer) return void count('invalid');
      count('signed');
      return { signer, signature: answer.signature };
    } catch (error) {
      count('unreachable');
      log.debug({ attester: index, reason: (error as Error).name }, 'an attester did not answer');
      return undefined;
    }
  }

  /** Two URLs of one attester count once. */
  function presence(oracle: OracleRef, withinMs = AWAY_MS): Presence | undefined {
    const committee = committees.get(`${oracle.chainId}:${oracle.oracle}`);
    if (!committee) return undefined;
    const nowMs = clock.monotonicMs();
    const present = new Set<Address | number>();
    for (const index of urls.keys()) {
      const last = lastAnswers.get(keyOf(oracle, index));
      if (nowMs - (last?.atMs ?? bornMs) <= withinMs) present.add(last?.signer ?? index);
    }
    return { present: present.size, needed: committee.threshold };
  }

  async function collect(oracle: OracleRef, put: Question, digest: Hex): Promise<Hex[] | undefined> {
    const committee = await committeeOf(oracle);
    if (!committee) return undefined;
    const bySigner = new Map<Address, Hex>();
    const enough = () => bySigner.size >= committee.threshold;
    await new Promise<void>((resolve) => {
      let open = urls.length;
      if (open === 0) resolve();
      urls.forEach((url, index) => {
        void ask(url, index, put, digest).then((answer) => {
          if (answer && counts(committee, answer.signer)) bySigner.set(answer.signer, answer.signature);
          open -= 1;
          if (enough() || open === 0) resolve();
        });
      });
    });
    const chain = chains.get(oracle.chainId)?.chain.slug ?? '';
    proofs.add({ chain, outcome: enough() ? 'complete' : 'incomplete' });
    if (!enough()) return undefined;
    return [...bySigner]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, committee.threshold)
      .map(([, signature]) => signature);
  }

  return {
    signatures: (attestation, oracle, orderId) =>
      collect(
        oracle,
        question({ ...attestation, ...oracle, ...(orderId && { orderId }) }),
        attestationDigest(oracle, attestation),
      ),
    listSignatures: (list, oracle) =>
      collect(
        oracle,
        listQuestion({ ...list, ...oracle }),
        attestationListDigest(oracle, {
          ...list,
          payloadHashes: list.fills.map(({ payloadHash }) => payloadHash),
        }),
      ),
    async probe(oracle) {
      const committee = await committeeOf(oracle).catch(() => undefined);
      const other = [...chains.values()].find(({ chain }) => chain.id !== oracle.chainId)?.chain;
      if (!committee || !other) return;
      const remote = { remoteChainId: BigInt(other.id), application: addressToBytes32(other.escrow) };
      await Promise.all(
        urls.map(async (url, index) => {
          const ask = question({ ...remote, ...oracle, payloadHash: NO_FILL });
          const answer = await ask(url).catch(() => undefined);
          if (answer?.kind !== 'unknown') return;
          if (counts(committee, answer.signer))
            lastAnswers.set(keyOf(oracle, index), { atMs: clock.monotonicMs(), signer: answer.signer });
        }),
      );
    },
    presence,
  };
}

/** An attester of an older version does not name its signer: it counts as a member. */
export const isMember = ({ signers }: Committee, signer: Address | undefined): boolean =>
  signer === undefined || signers.has(signer);

async function readLimited(response: Response): Promise<string> {
  if (!response.ok || !response.body)
    throw new UpstreamError('The attester refused the request.', {
      code: 'attester_refused',
      facts: { status: response.status },
    });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES)
      throw new UpstreamError('The answer of the attester is too long.', { code: 'attester_refused' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
