/**
 * Signs what it saw: a fill that stands at depth in a canonical block of the escrow it knows, whose payload
 * hash it derives itself from the log and whose record the escrow confirms. It keeps nothing that it could
 * not derive again.
 */

import { attestationDigest, fillPayloadHash, fillRecordOf } from '../domain/attestation.ts';
import { addressToBytes32, type Bytes32 } from '../domain/hex.ts';
import { outputHash } from '../domain/order.ts';
import type { AttestAnswer, Attester, AttestRequest } from '../ports/attestations.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Signer } from '../ports/signer.ts';
import { createFillFollower, type Filled, type FillFollower } from './follow.ts';

export interface AttesterDeps {
  /** The chains whose fills it watches and whose oracles it signs for. */
  chains: ReadonlyMap<number, ChainPort>;
  signer: Signer;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export interface AttesterOptions {
  /** Fills older than this are not looked for any more. */
  lookBackSeconds?: number;
  /** A chain that showed nothing new for this long makes us unready. */
  staleMs?: number;
}

export interface RunningAttester extends Attester {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Why it should not be asked now; empty when it may. */
  ready(): readonly string[];
}

export function createAttester(
  { chains, signer, clock, log, metrics }: AttesterDeps,
  { lookBackSeconds = 86_400, staleMs = 60_000 }: AttesterOptions = {},
): RunningAttester {
  const followers = new Map<number, FillFollower>(
    [...chains].map(([id, chain]) => [id, createFillFollower(chain, { clock, log }, { lookBackSeconds })]),
  );
  const answers = metrics.counter('firmquote_attester_answers_total', 'Answers to requests for a signature', [
    'kind',
  ]);

  async function decide(request: AttestRequest): Promise<AttestAnswer> {
    const remote = chains.get(Number(request.remoteChainId));
    const origin = chains.get(request.chainId);
    const follower = followers.get(Number(request.remoteChainId));
    if (!remote || !follower || BigInt(remote.chain.id) !== request.remoteChainId)
      return refused('this attester does not watch that chain');
    if (!origin || origin.chain.oracle !== request.oracle)
      return refused('this attester does not sign for that oracle');
    if (request.application !== addressToBytes32(remote.chain.escrow))
      return refused('fills count on the escrow of that chain alone');
    if (follower.fills(request.payloadHash).length === 0 && request.orderId)
      await follower.search(request.orderId);
    let best: AttestAnswer = { kind: 'unknown' };
    for (const fill of follower.fills(request.payloadHash)) {
      const answer = await check(fill, request.payloadHash, remote);
      if (answer === undefined) return sign(request);
      if (answer.kind !== 'unknown') best = answer;
    }
    return best.kind === 'unknown' ? { kind: 'unknown', signer: signer.address } : best;
  }

  /** undefined when everything holds. */
  async function check(
    fill: Filled,
    payloadHash: Bytes32,
    remote: ChainPort,
  ): Promise<AttestAnswer | undefined> {
    const { chain } = remote;
    const { output } = fill;
    if (fillPayloadHash(fill) !== payloadHash) return refused('the payload is not that of the fill');
    if (output.chainId !== BigInt(chain.id) || output.settler !== addressToBytes32(chain.escrow))
      return refused('the output names another chain or escrow');
    if (output.oracle !== addressToBytes32(chain.oracle)) return refused('the output names another oracle');
    const head = remote.head();
    // Where the chain took back what was final, nothing is sure any more.
    if (!head || remote.doubt()?.kind === 'reorg') return { kind: 'unknown' };
    const deep = head.number - BigInt(chain.depth);
    if (fill.blockNumber > deep) return { kind: 'not_final', blocksToGo: Number(fill.blockNumber - deep) };
    // At depth the block has to be canonical, hold the time that the fill claims, and the contract has to say
    // the same by itself. An
    // attester knows no prices: every signature wants as many endpoints as the largest amount.
    const sure = remote.deciding(undefined);
    const [block, hash, record] = await Promise.all([
      remote.block(fill.blockNumber),
      sure.blockHash(fill.blockNumber, deep),
      sure.fillRecord(fill.orderId, outputHash(output), deep),
    ]);
    if (hash !== fill.blockHash || block?.hash !== fill.blockHash) return { kind: 'unknown' };
    if (block.timestamp !== fill.timestamp) return refused('the fill does not carry the time of its block');
    if (record !== fillRecordOf(fill)) return { kind: 'unknown' };
    return undefined;
  }

  async function sign({
    chainId,
    oracle,
    remoteChainId,
    application,
    payloadHash,
  }: AttestRequest): Promise<AttestAnswer> {
    const signature = await signer.sign(
      attestationDigest({ chainId, oracle }, { remoteChainId, application, payloadHash }),
    );
    return { kind: 'signed', signer: signer.address, signature };
  }

  return {
    address: signer.address,
    async attest(request) {
      const answer = await decide(request);
      answers.add({ kind: answer.kind });
      if (answer.kind === 'refused')
        log.warn({ reason: answer.reason, payloadHash: request.payloadHash }, 'refused to sign');
      return answer;
    },
    ready: () =>
      [...followers].flatMap(([id, follower]) => {
        const looked = follower.lookedAtMs();
        const doubt = chains.get(id)?.doubt();
        if (doubt?.kind === 'reorg') return [doubt.note];
        const slug = chains.get(id)?.chain.slug;
        if (looked === undefined) return [`${slug} has not been seen yet`];
        return clock.nowMs() - looked > staleMs ? [`${slug} shows no new blocks`] : [];
      }),
    start: async () => void (await Promise.all([...followers.values()].map((follower) => follower.start()))),
    stop: async () => void (await Promise.all([...followers.values()].map((follower) => follower.stop()))),
  };
}

const refused = (reason: string): AttestAnswer => ({ kind: 'refused', reason });
