/** Collects m-of-n signatures of an oracle's committee; each member counts once. */

import { attestationDigest, attestationListDigest } from '../../domain/attestation.ts';
import { type Address, addressToBytes32, type Bytes32, type Hex } from '../../domain/hex.ts';
import { UpstreamError } from '../../domain/errors.ts';
import {
  ATTEST_ANSWERS,
  type AttestAnswer,
  type Attestations,
  type AttestRequest,
  type OracleRef,
  type AttesterPresence,
} from '../../ports/attestations.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter, Metrics } from '../../ports/metrics.ts';
import type { Recovery } from '../../ports/signer.ts';
import { createOutbound, type Outbound } from '../outbound/request.ts';
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

interface ClientDeps extends Omit<AttestationClientDeps, 'metrics'> {
  outbound: Outbound;
  answers: Counter;
  proofs: Counter;
  urls: readonly string[];
  timeoutMs: number;
}

interface ClientState {
  /** Keyed by chain and oracle. */
  committees: Map<string, Committee>;
  /** When each attester of an oracle last answered, and its signer; keyed by oracle and attester. */
  lastAnswers: Map<string, { atMs: number; signer: Address | undefined }>;
  bornMs: number;
}

/** What every attester is asked in the same words. */
interface Question {
  path: string;
  /** JSON; absent: GET. */
  body?: string;
}

export function createAttestationClient(
  { metrics, ...capabilities }: AttestationClientDeps,
  { urls, timeoutMs = 2_000 }: AttestationClientOptions,
): Attestations & AttesterPresence {
  const { chains, clock } = capabilities;
  const deps: ClientDeps = {
    ...{ ...capabilities, urls, timeoutMs },
    // The configuration names the attesters, and they may be in a private network.
    outbound: createOutbound({ allowPrivate: true }),
    answers: metrics.counter(
      'firmquote_attestations_answers_total',
      'Answers of attesters, by attester (its place in the configuration) and kind',
      { attester: [...urls.keys()].map(String), kind: [...ATTEST_ANSWERS, 'invalid', 'unreachable'] },
    ),
    proofs: metrics.counter(
      'firmquote_attestations_proofs_total',
      'Requests for the signatures of a fill, by the origin whose oracle takes them, and whether enough signed',
      { chain: [...chains.values()].map(({ chain }) => chain.slug), outcome: ['complete', 'incomplete'] },
    ),
  };
  const state: ClientState = { committees: new Map(), lastAnswers: new Map(), bornMs: clock.monotonicMs() };
  showPresence(deps, state, metrics);
  return {
    signatures: (attestation, oracle, orderId) =>
      collect(
        deps,
        state,
        oracle,
        question({ ...attestation, ...oracle, ...(orderId && { orderId }) }),
        attestationDigest(oracle, attestation),
      ),
    listSignatures: (list, oracle) =>
      collect(
        deps,
        state,
        oracle,
        { path: ATTESTATION_LISTS_PATH, body: toListBody({ ...list, ...oracle }) },
        attestationListDigest(oracle, {
          ...list,
          payloadHashes: list.fills.map(({ payloadHash }) => payloadHash),
        }),
      ),
    probe: (oracle) => probe(deps, state, oracle),
    presence: (oracle, withinMs) => presence(deps, state, oracle, withinMs),
  };
}

const question = (request: AttestRequest): Question => ({
  path: `${ATTESTATIONS_PATH}?${toQuery(request).toString()}`,
});

function showPresence(deps: ClientDeps, state: ClientState, metrics: Metrics): void {
  const { chains, urls } = deps;
  const show = (name: string, help: string, of: (found: Presence) => number) =>
    metrics.gauge(name, help, ['chain'], (gauge) => {
      for (const { chain } of chains.values()) {
        const oracle = { chainId: chain.id, oracle: chain.oracle };
        const found = urls.length === 0 ? undefined : presence(deps, state, oracle);
        if (found !== undefined) gauge.set(of(found), { chain: chain.slug });
      }
    });
  show(
    'firmquote_attestations_signers_present',
    'Committee members of an oracle that answer this process',
    ({ present }) => present,
  );
  show(
    'firmquote_attestations_signers_needed',
    'Committee members that a proof for an oracle needs',
    ({ needed }) => needed,
  );
}

/** Asks all attesters at once, until enough members of the committee have signed. */
async function collect(
  deps: ClientDeps,
  state: ClientState,
  oracle: OracleRef,
  asked: Question,
  digest: Hex,
): Promise<Hex[] | undefined> {
  const { urls, chains, proofs } = deps;
  const committee = await committeeOf(deps, state, oracle);
  if (!committee) return undefined;
  const bySigner = new Map<Address, Hex>();
  const enough = () => bySigner.size >= committee.threshold;
  await new Promise<void>((resolve) => {
    let open = urls.length;
    if (open === 0) resolve();
    urls.forEach((url, index) => {
      void signatureOf(deps, url, index, asked, digest).then((answer) => {
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

const oracleKey = ({ chainId, oracle }: OracleRef): string => `${chainId}:${oracle}`;

async function committeeOf(
  { chains, clock }: ClientDeps,
  { committees }: ClientState,
  oracle: OracleRef,
): Promise<Committee | undefined> {
  const known = committees.get(oracleKey(oracle));
  if (known && clock.monotonicMs() - known.readMs < known.keptMs) return known;
  const read = await chains.get(oracle.chainId)?.committee(oracle.oracle);
  if (!read) return undefined;
  const committee = {
    threshold: read.threshold,
    signers: new Set(read.signers),
    readMs: clock.monotonicMs(),
    keptMs: COMMITTEE_MS,
  };
  committees.set(oracleKey(oracle), committee);
  return committee;
}

async function signatureOf(
  deps: ClientDeps,
  url: string,
  index: number,
  asked: Question,
  digest: Hex,
): Promise<{ signer: Address; signature: Hex } | undefined> {
  const count = (kind: string) => deps.answers.add({ attester: String(index), kind });
  try {
    const answer = await ask(deps, url, asked);
    if (answer.kind !== 'signed') return void count(answer.kind);
    // The signer that the answer names is not trusted.
    const signer = deps.recovery.recover(digest, answer.signature);
    if (!signer) return void count('invalid');
    count('signed');
    return { signer, signature: answer.signature };
  } catch (error) {
    count('unreachable');
    deps.log.debug({ attester: index, reason: (error as Error).name }, 'an attester did not answer');
    return undefined;
  }
}

async function ask(
  { outbound, timeoutMs }: ClientDeps,
  url: string,
  { path, body }: Question,
): Promise<AttestAnswer> {
  const answer = await outbound.request({
    url: url.replace(/\/$/, '') + path,
    ...(body === undefined
      ? { method: 'GET' }
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
  });
  if (answer.status !== 200)
    throw new UpstreamError('The attester refused the request.', {
      code: 'attester_refused',
      facts: { status: answer.status },
    });
  return zAttestAnswer.parse(JSON.parse(answer.body));
}

/** Returns true when the signer is in the committee. If it is not, the committee is soon read again. */
function counts(committee: Committee, signer: Address | undefined): boolean {
  const member = isMember(committee, signer);
  if (!member) committee.keptMs = DOUBTED_MS;
  return member;
}

/** An attester of an older version does not name its signer: it counts as a member. */
const isMember = ({ signers }: Committee, signer: Address | undefined): boolean =>
  signer === undefined || signers.has(signer);

async function probe(deps: ClientDeps, state: ClientState, oracle: OracleRef): Promise<void> {
  const { chains, clock, urls } = deps;
  const committee = await committeeOf(deps, state, oracle).catch(() => undefined);
  const other = [...chains.values()].find(({ chain }) => chain.id !== oracle.chainId)?.chain;
  if (!committee || !other) return;
  const remote = { remoteChainId: BigInt(other.id), application: addressToBytes32(other.escrow) };
  const asked = question({ ...remote, ...oracle, payloadHash: NO_FILL });
  await Promise.all(
    urls.map(async (url, index) => {
      const answer = await ask(deps, url, asked).catch(() => undefined);
      if (answer?.kind !== 'unknown') return;
      if (counts(committee, answer.signer))
        state.lastAnswers.set(attesterKey(oracle, index), {
          atMs: clock.monotonicMs(),
          signer: answer.signer,
        });
    }),
  );
}

const attesterKey = (oracle: OracleRef, index: number): string => `${oracleKey(oracle)}:${index}`;

/** Two URLs of one attester count once. */
function presence(
  { clock, urls }: ClientDeps,
  { committees, lastAnswers, bornMs }: ClientState,
  oracle: OracleRef,
  withinMs = AWAY_MS,
): Presence | undefined {
  const committee = committees.get(oracleKey(oracle));
  if (!committee) return undefined;
  const nowMs = clock.monotonicMs();
  const present = new Set<Address | number>();
  for (const index of urls.keys()) {
    const last = lastAnswers.get(attesterKey(oracle, index));
    if (nowMs - (last?.atMs ?? bornMs) <= withinMs) present.add(last?.signer ?? index);
  }
  return { present: present.size, needed: committee.threshold };
}
