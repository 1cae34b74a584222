/** Follows a burn until its mint, and delivers what Circle has attested. */

import { encodeFunctionData } from 'viem';
import { InvariantError } from '../../../domain/errors.ts';
import type { Bytes32, Hex } from '../../../domain/hex.ts';
import type { SentTransfer, TransferProgress } from '../../../ports/bridge.ts';
import type { Clock } from '../../../ports/clock.ts';
import { argsOf, topicOf } from '../../evm/chain/event-logs.ts';
import { readContract } from '../../evm/chain/read-contract.ts';
import { type Ends, stuck, waiting } from '../message-bridge.ts';
import type { AttestationService, AttestedMessage } from './attestation-service.ts';
import { earliestArrival, missingBurn } from './burn.ts';
import { messageTransmitterAbi } from './contracts.ts';
import { type BurnMessage, decodeBurnMessage, differences, spliceBody } from './message.ts';
import type { CctpPlace } from './place.ts';

export interface CctpDeps {
  attestations: AttestationService;
  clock: Clock;
}

export interface CctpState {
  /** When Circle was last asked to attest a message again, by its nonce; monotonic ms. */
  askedAgainMs: Map<Bytes32, number>;
}

/** The nonce of a message that expired is asked for again so often. */
const ATTEST_AGAIN_MS = 60_000;

export async function followCctp(
  deps: CctpDeps,
  state: CctpState,
  transfer: SentTransfer,
  ends: Ends<CctpPlace>,
): Promise<TransferProgress> {
  const burned = decodeBurnMessage(transfer.message);
  if (!burned) throw new InvariantError('The stored message of the transfer is no burn message.');
  const messages = await deps.attestations.messages(ends.source.domain, transfer.txHash);
  const shown = (messages ?? []).flatMap((each) => {
    const attested = each.message && decodeBurnMessage(each.message);
    return attested ? [{ ...each, attested, wrong: differences(burned, attested) }] : [];
  });
  const ours = shown.find(({ wrong }) => wrong.length === 0);
  if (ours?.attestation && ours.message) {
    const { nonce, expirationBlock } = ours.attested;
    if (await isUsed(ends.destination, nonce)) return arrival(transfer, burned, nonce, ends);
    const head = ends.destination.chain.head()?.number ?? 0n;
    if (expirationBlock !== 0n && expirationBlock <= head + 1n) return attestAgain(deps, state, nonce);
    const progress = await deliverable(transfer, ends.destination, [ours.message, ours.attestation]);
    return progress === 'expired' ? attestAgain(deps, state, nonce) : progress;
  }
  if (ours === undefined && messages?.length && messages.every(isComplete)) {
    const nearest = shown.toSorted((a, b) => a.wrong.length - b.wrong.length)[0];
    return stuck(
      `Circle attested another message than the one that was burned: it differs in ${nearest?.wrong.join(', ') ?? 'its form'}. ` +
        'Nothing was submitted. Do not deliver it by hand; report the transaction to Circle.',
    );
  }
  return (await missingBurn(transfer, ends.source)) ?? waiting(waitingFor(messages));
}

const isUsed = async ({ chain, transmitter }: CctpPlace, nonce: Bytes32): Promise<boolean> =>
  (await readContract(chain.read, {
    abi: messageTransmitterAbi,
    address: transmitter,
    functionName: 'usedNonces',
    args: [nonce],
  })) !== 0n;

async function arrival(
  transfer: SentTransfer,
  burned: BurnMessage,
  nonce: Bytes32,
  { source, destination: { chain, transmitter } }: Ends<CctpPlace>,
): Promise<TransferProgress> {
  const log = await chain.newestLog(
    transmitter,
    [topicOf(messageTransmitterAbi, 'MessageReceived'), null, nonce],
    await earliestArrival(transfer, source),
  );
  // The view reads the latest block of a node; events are read up to the head that is followed.
  if (!log) return waiting(`It was delivered; ${chain.chain.slug} does not show the event yet.`);
  const { messageBody, sourceDomain, sender } = argsOf(log, messageTransmitterAbi, 'MessageReceived');
  const received = spliceBody(burned, messageBody);
  if (
    !received ||
    BigInt(sourceDomain) !== burned.sourceDomain ||
    sender !== burned.sender ||
    differences(burned, { ...received, nonce, finality: burned.minFinality }).length > 0
  )
    return stuck(
      `Circle gave the nonce ${nonce}, under which another message was received. Report the transaction to Circle.`,
    );
  return {
    state: 'arrived',
    received: received.amount - received.fee,
    txHash: log.txHash,
    blockNumber: log.blockNumber,
  };
}

async function attestAgain(
  { attestations, clock }: CctpDeps,
  { askedAgainMs }: CctpState,
  nonce: Bytes32,
): Promise<TransferProgress> {
  const nowMs = clock.monotonicMs();
  const askedMs = askedAgainMs.get(nonce);
  let words = 'asked a moment ago';
  if (askedMs === undefined || nowMs - askedMs >= ATTEST_AGAIN_MS) {
    for (const [old, atMs] of askedAgainMs) if (nowMs - atMs >= ATTEST_AGAIN_MS) askedAgainMs.delete(old);
    askedAgainMs.set(nonce, nowMs);
    words = await attestations.attestAgain(nonce);
  }
  return waiting(
    `The attestation expired before it was delivered. Circle is asked for a new one (${words}).`,
  );
}

/** `expired`: the transmitter refuses the attestation for its age. */
async function deliverable(
  { move }: SentTransfer,
  { chain, transmitter }: CctpPlace,
  attested: [message: Hex, attestation: Hex],
): Promise<TransferProgress | 'expired'> {
  const call = {
    to: transmitter,
    data: encodeFunctionData({ abi: messageTransmitterAbi, functionName: 'receiveMessage', args: attested }),
    value: 0n,
  };
  const trial = await chain.simulate({ from: move.account, ...call });
  if (trial.ok) return { state: 'deliverable', call };
  if (/nonce already used/i.test(trial.reason)) return waiting('It has just been delivered.');
  if (/expired/i.test(trial.reason)) return 'expired';
  if (/paused/i.test(trial.reason)) return waiting(`Circle has paused CCTP on ${chain.chain.slug}.`);
  return stuck(
    `The message transmitter on ${chain.chain.slug} refuses what Circle attested: ${trial.reason}. ` +
      'Nothing was submitted. Report the transaction to Circle.',
  );
}

const isComplete = ({ status, attestation }: AttestedMessage): boolean =>
  status === 'complete' && attestation !== undefined;

function waitingFor(messages: readonly AttestedMessage[] | undefined): string {
  if (!messages?.length) return 'Circle has not seen the burn yet.';
  const delays = messages.flatMap(({ delay }) => delay ?? []);
  return `Circle waits for the burn to be final${delays.length > 0 ? ` (${delays.join(', ')})` : ''}.`;
}
