/**
 * Signs a fill after checking that it is final, in a canonical block, and confirmed by the escrow. `follow`
 * finds the fills. Stores nothing: everything can be read from the chain again.
 */

import {
  attestationListMessage,
  attestationMessage,
  fillPayloadHash,
  fillRecordOf,
} from '../domain/attestation.ts';
import { addressToBytes32, type Bytes32 } from '../domain/hex.ts';
import { outputHash } from '../domain/order.ts';
import {
  ATTEST_ANSWERS,
  type AttestAnswer,
  type Attester,
  type AttestRequest,
} from '../ports/attestations.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Signer } from '../ports/signer.ts';
import { createFillFollower, type Filled, type FillFollower } from './follow.ts';

interface AttesterDeps {
  /** Chains of the fills and of the oracles. */
  chains: ReadonlyMap<number, ChainPort>;
  signer: Signer;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

interface AttesterOptions {
  /** Older fills are ignored. */
  lookBackSeconds?: number;
  /** The attester is not ready after this long without a new block. */
  staleMs?: number;
}

export interface RunningAttester extends Attester {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Reasons; empty when ready. */
  ready(): readonly string[];
}

export function createAttester(
  { chains, signer, clock, log, metrics }: AttesterDeps,
  { lookBackSeconds = 86_400, staleMs = 60_000 }: AttesterOptions = {},
): RunningAttester {
  const followers = new Map<number, FillFollower>(
    [...chains].map(([id, chain]) => [id, createFillFollower(chain, { clock, log }, { lookBackSeconds })]),
  );
  const answers = metrics.counter('firmquote_attester_answers_total', 'Answers to requests for a signature', {
    kind: ATTEST_ANSWERS,
  });
  metrics.gauge(
    'firmquote_attester_watching',
    '1 while this attester sees new blocks of a chain, and so can sign its fills',
    ['chain'],
    (gauge) => {
      for (const [id, { chain }] of chains)
        gauge.set(issueOf(id) === undefined ? 1 : 0, { chain: chain.slug });
    },
  );

  /** Returns the reason why fills on this chain cannot be signed now. */
  function issueOf(id: number): string | undefined {
    const readAtMs = followers.get(id)?.readAtMs();
    const issue = chains.get(id)?.healthIssue();
    if (issue?.kind === 'reorg') return issue.note;
    const slug = chains.get(id)?.chain.slug;
    if (readAtMs === undefined) return `${slug} has not been seen yet`;
    if (chains.get(id)?.finalNumber(undefined) === undefined)
      return `${slug}: no node names the final block that fills wait for`;
    return clock.nowMs() - readAtMs > staleMs ? `${slug} shows no new blocks` : undefined;
  }

  /** Returns the reason not to sign the fill; undefined when every check passes. */
  async function objection(request: AttestRequest): Promise<AttestAnswer | undefined> {
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
      if (answer === undefined) return undefined;
      if (answer.kind !== 'unknown') best = answer;
    }
    return best.kind === 'unknown' ? { kind: 'unknown', signer: signer.address } : best;
  }

  /** undefined when every check passes. */
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
    // After a reorganisation of final blocks nothing on the chain is certain.
    if (!head || remote.healthIssue()?.kind === 'reorg') return { kind: 'unknown' };
    // Its signature releases the whole input, so a fill has to be as final as the largest order's.
    const deep = remote.finalNumber(undefined) ?? 0n;
    if (fill.blockNumber > deep) return { kind: 'not_final', blocksToGo: Number(fill.blockNumber - deep) };
    // The block must be canonical, final and hold the fill's time, and the contract must confirm the fill. An
    // order's value is unknown here, so this takes as many endpoints as the largest amount.
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

  const sign = async (message: Uint8Array): Promise<AttestAnswer> => ({
    kind: 'signed',
    signer: signer.address,
    signature: await signer.sign(message),
  });

  function counted(answer: AttestAnswer, payloadHash: Bytes32): AttestAnswer {
    answers.add({ kind: answer.kind });
    if (answer.kind === 'refused') log.warn({ reason: answer.reason, payloadHash }, 'refused to sign');
    return answer;
  }

  return {
    address: signer.address,
    async attest(request) {
      const answer = (await objection(request)) ?? (await sign(attestationMessage(request, request)));
      return counted(answer, request.payloadHash);
    },
    async attestList({ fills, ...request }) {
      const payloadHashes = fills.map(({ payloadHash }) => payloadHash);
      for (const fill of fills) {
        const answer = await objection({ ...request, ...fill });
        if (answer !== undefined) return counted(answer, fill.payloadHash);
      }
      return counted(
        await sign(attestationListMessage(request, { ...request, payloadHashes })),
        payloadHashes[0] as Bytes32,
      );
    },
    ready: () => [...[...chains.keys()].map(issueOf), signer.issue?.()].flatMap((issue) => issue ?? []),
    start: async () => void (await Promise.all([...followers.values()].map((follower) => follower.start()))),
    stop: async () => void (await Promise.all([...followers.values()].map((follower) => follower.stop()))),
  };
}

const refused = (reason: string): AttestAnswer => ({ kind: 'refused', reason });
