/** Brings proofs of our fills to their origin chains: several by one list where possible, else each alone. */

import type { LRUCache } from 'lru-cache';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { submitAndFinaliseCall, submitAttestationsCall } from '../../settlement/call.ts';
import {
  attestationOf,
  type AwardRunnerDeps,
  finalisationOf,
  recordStepSpan,
  type StepDeps,
  submitStep,
  TAKEN_NOTE,
} from './award-steps.ts';
import type { OpenAward } from './awards.ts';
import { stepKey } from './step-key.ts';

/** An award whose fill can be proven together with others. */
export interface Provable {
  award: OpenAward;
  origin: ChainPort;
}

/** Orders whose proof was sent in a list. One that fails there is proven alone afterwards. */
export type ListedOrders = LRUCache<Bytes32, true>;

/** Fills in one proof: about 36,000 gas each, and any node estimates that. */
const MOST_TOGETHER = 20;

/** Proves these fills in as few lists as possible; those of a list that cannot be sent, each alone. */
export async function proveTogether(
  deps: StepDeps,
  account: Address,
  listed: ListedOrders,
  due: readonly Provable[],
): Promise<void> {
  await Promise.all(
    listsOf(due).map(async (list) => {
      const sent =
        list.length > 1 &&
        (await proveList(deps, account, listed, list).catch((error: unknown) =>
          warnUnproven(deps, list, 'together; each is proven alone', error),
        ));
      if (!sent)
        await Promise.all(
          list.map((each) =>
            proveAlone(deps, account, each.award, each.origin).catch((error: unknown) =>
              warnUnproven(deps, [each], 'now; the next head tries again', error),
            ),
          ),
        );
    }),
  );
}

/** Fills of one chain, for orders of one origin and oracle: one list proves them, and they end together. */
function listsOf(due: readonly Provable[]): Provable[][] {
  const groups = new Map<string, Provable[]>();
  for (const each of due) {
    const { order, slice } = each.award;
    const key = `${slice.originChainId} ${order.inputOracle} ${slice.output.chainId} ${slice.output.settler}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MOST_TOGETHER) }, (_, n) =>
      group.slice(n * MOST_TOGETHER, (n + 1) * MOST_TOGETHER),
    ),
  );
}

function warnUnproven(
  { log }: AwardRunnerDeps,
  fills: readonly Provable[],
  how: string,
  error: unknown,
): false {
  const orderIds = fills.map(({ award }) => award.orderId);
  log.warn({ orderIds, error }, `fills could not be proven ${how}`);
  return false;
}

/** false: not all of them can be proven by one list now. */
async function proveList(
  deps: AwardRunnerDeps,
  account: Address,
  listed: ListedOrders,
  list: readonly Provable[],
): Promise<boolean> {
  const [first] = list;
  const fills = list.flatMap(({ award }) => {
    const attestation = award.fill && attestationOf(award, account, award.fill.timestamp);
    return attestation ? [{ ...attestation, orderId: award.orderId }] : [];
  });
  if (first === undefined || fills.length < list.length) return false;
  const { origin, award } = first;
  const { remoteChainId, application } = fills[0] as (typeof fills)[number];
  const startMs = deps.clock.nowMs();
  const signatures = await deps.proving?.listSignatures?.(
    {
      remoteChainId,
      application,
      fills: fills.map(({ payloadHash, orderId }) => ({ payloadHash, orderId })),
    },
    { chainId: origin.chain.id, oracle: award.order.inputOracle },
  );
  if (signatures === undefined) return false;
  for (const { orderId } of fills) listed.set(orderId, true);
  const payloadHashes = fills.map(({ payloadHash }) => payloadHash);
  const key = stepKey(
    fills.map(({ orderId }) => orderId),
    'prove',
  );
  await submitStep(deps, origin, key, {
    to: award.order.inputOracle,
    data: submitAndFinaliseCall(
      { remoteChainId, application, payloadHashes },
      signatures,
      origin.chain.escrow,
      list.map((each) => finalisationOf(each.award, account)),
    ),
  });
  for (const { orderId } of fills) {
    recordStepSpan(deps, 'LP sends proof', orderId, startMs, origin.chain.id);
    deps.awards.update(orderId, { note: 'proof sent' });
  }
  return true;
}

export async function proveAlone(
  deps: StepDeps,
  account: Address,
  award: OpenAward,
  origin: ChainPort,
): Promise<void> {
  const { awards, proving } = deps;
  const { orderId, order } = award;
  const attestation = attestationOf(award, account, award.fill?.timestamp ?? 0);
  if (attestation === undefined || award.fill === null || proving === undefined)
    return awards.update(orderId, { note: 'filled, waiting for the proof' });
  const signatures = await proving.signatures(
    attestation,
    { chainId: origin.chain.id, oracle: order.inputOracle },
    orderId,
  );
  if (signatures === undefined) return awards.update(orderId, { note: 'filled, waiting for attesters' });
  const startMs = deps.clock.nowMs();
  // The proof of a single delivery is all that the order needs. Others wait for those of other LPs.
  const alone = order.outputs.length === 1;
  const data = alone
    ? submitAndFinaliseCall(
        { ...attestation, payloadHashes: [attestation.payloadHash] },
        signatures,
        origin.chain.escrow,
        [finalisationOf(award, account)],
      )
    : submitAttestationsCall(attestation.remoteChainId, attestation.application, [
        { payloadHash: attestation.payloadHash, signatures },
      ]);
  const sent = await deps.taken.unlessTaken(orderId, origin, () =>
    submitStep(deps, origin, stepKey([orderId], alone ? 'prove-finalise' : 'prove'), {
      to: order.inputOracle,
      data,
    }),
  );
  if (!sent) return awards.update(orderId, { note: TAKEN_NOTE });
  recordStepSpan(deps, 'LP sends proof', orderId, startMs, origin.chain.id);
  awards.update(orderId, { note: 'proof sent' });
}
