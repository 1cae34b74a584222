/**
 * Joins several signers of a chain into one transactor. A key goes to a signer by hash of its order, or to
 * the next one while that signer cannot send. The database ensures that two signers never have slots of one
 * key.
 */

import type { Transactor } from '../../../ports/transactor.ts';

export interface SignerLane extends Transactor {
  knows(key: string): boolean;
}

export function createLanes(lanes: readonly [SignerLane, ...SignerLane[]]): Transactor {
  const [first] = lanes;
  if (lanes.length === 1) return first;

  function laneFor(key: string): SignerLane {
    const start = hash(ownerOf(key)) % lanes.length;
    const order = [...lanes.slice(start), ...lanes.slice(0, start)];
    return (
      order.find((lane) => lane.healthy()) ?? order.find((lane) => lane.holds()) ?? (order[0] as SignerLane)
    );
  }
  const keeperOf = (key: string): SignerLane | undefined => lanes.find((lane) => lane.knows(key));

  return {
    address: first.address,
    submit: (intent) => (keeperOf(intent.key) ?? laneFor(intent.key)).submit(intent),
    // Every signer looks up the slots of all.
    status: (key) => (keeperOf(key) ?? first).status(key),
    healthy: () => lanes.some((lane) => lane.healthy()),
    holds: () => lanes.some((lane) => lane.holds()),
    async start() {
      await Promise.all(lanes.map((lane) => lane.start()));
    },
    async stop() {
      await Promise.all(lanes.map((lane) => lane.stop()));
    },
  };
}

/** `<orderId>-settle-2` belongs to its order: all steps of an order use one signer. */
const ownerOf = (key: string): string => key.slice(0, key.includes('-') ? key.indexOf('-') : undefined);

function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return sum;
}
