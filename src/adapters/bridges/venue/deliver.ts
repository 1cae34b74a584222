/**
 * Fills orders of a bridge venue, each output once: the chain is asked first, and each fill has a key under
 * which the transactor sends one transaction, across crashes. One worker holds the operator's signer; others
 * hand their fills to it.
 */

import { decodeContext } from '../../../domain/context.ts';
import { InvariantError, UpstreamError } from '../../../domain/errors.ts';
import type { Address, Bytes32 } from '../../../domain/hex.ts';
import { type MandateOutput, outputHash, type StandardOrder } from '../../../domain/order.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Log } from '../../../ports/log.ts';
import type { RouteDelivery } from '../../../ports/route-venue.ts';
import type { OrderStore } from '../../../ports/stores/store.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import { fillCall } from '../../../settlement/call.ts';

interface DeliveryDeps {
  chains: ReadonlyMap<number, ChainPort>;
  /** The operator's transactors, by chain. */
  transactors: ReadonlyMap<number, Transactor>;
  bus: Bus;
  orders: Pick<OrderStore, 'order'>;
  log: Log;
  /** Called once for each fill that this process sends. */
  onFill(order: StandardOrder, output: MandateOutput): void;
}

interface FloatDelivery {
  deliver(delivery: RouteDelivery): Promise<void>;
  /** Takes over fills of workers that do not hold the signer. Returns a function that ends it. */
  start(): Promise<() => Promise<void>>;
}

/** Limits the attempts, because every reverted one costs gas. */
const MOST_TRIES = 5;

interface Handed {
  orderId: Bytes32;
  index: number;
}

export function createFloatDelivery(
  { chains, transactors, bus, orders, log, onFill }: DeliveryDeps,
  { venueId, account }: { venueId: string; account: Address },
): FloatDelivery {
  const topic = `float-fills-${venueId}`;
  const filling = new Map<string, Promise<void>>();

  /** Calls for the same output share one look at the chain and one transaction. */
  function fill(...call: Parameters<typeof fillNow>): Promise<void> {
    const [{ orderId }, index] = call;
    const name = `${orderId} ${index}`;
    const running = filling.get(name) ?? fillNow(...call).finally(() => filling.delete(name));
    filling.set(name, running);
    return running;
  }

  async function fillNow(
    { orderId, order }: Pick<RouteDelivery, 'orderId' | 'order'>,
    index: number,
    output: MandateOutput,
    transactor: Transactor,
  ): Promise<void> {
    const chain = chains.get(Number(output.chainId));
    if (!chain || (await chain.fillRecord(orderId, outputHash(output)))) return;
    const { escrow } = chain.chain;
    for (let attempt = 1; attempt <= MOST_TRIES; attempt += 1) {
      const key = `${orderId}-bridge-fill-${index}${attempt === 1 ? '' : `-${attempt}`}`;
      const before = await transactor.status(key);
      if (before?.state === 'mined' && before.receipt.status === 'reverted') continue;
      if (before && before.state !== 'void') return;
      const data = fillCall(orderId, output, order.fillDeadline, account);
      await transactor.submit({ key, to: escrow, data, notAfter: order.fillDeadline });
      if (before === undefined) onFill(order, output);
      return;
    }
    throw new UpstreamError(
      `${MOST_TRIES} fills of an order reverted although their simulations passed. Nothing was paid.`,
      { code: 'fill_reverted', facts: { orderId } },
    );
  }

  async function takeOver(text: string): Promise<void> {
    const { orderId, index } = JSON.parse(text) as Handed;
    const record = await orders.order(orderId);
    const output = record?.order.outputs[index];
    const transactor = transactors.get(Number(output?.chainId));
    if (!record || !output || !transactor?.holds() || record.route?.venueId !== venueId) return;
    await fill(record, index, output, transactor);
  }

  return {
    async deliver({ orderId, order, outputs }) {
      for (const index of outputs) {
        const output = order.outputs[index];
        if (!output || decodeContext(output.context)?.exclusiveFor !== account)
          throw new InvariantError('A bridge venue was asked to deliver an order of another account.', {
            facts: { orderId, index },
          });
        const transactor = transactors.get(Number(output.chainId));
        if (!transactor)
          throw new UpstreamError('This process sends nothing on the chain of the fill.', {
            code: 'signer_not_held',
            facts: { orderId },
          });
        if (transactor.holds()) await fill({ orderId, order }, index, output, transactor);
        // Lost messages do no harm: the order is read again until the fill is seen.
        else await bus.publish(topic, JSON.stringify({ orderId, index } satisfies Handed));
      }
    },
    start: () =>
      bus.subscribe(topic, (text) => {
        takeOver(text).catch((error: unknown) =>
          log.warn({ venue: venueId, error }, 'a fill of another worker could not be sent; it asks again'),
        );
      }),
  };
}

/** Computes what the venue is credited for an order, base units of the input. */
export function creditOf({ inputs, outputs }: StandardOrder): bigint {
  const amount = inputs[0]?.[1] ?? 0n;
  const context = decodeContext(outputs[0]?.context ?? '0x');
  if (!context) return 0n;
  return amount - (amount * BigInt(context.feeBps)) / 10_000n - context.relayFee;
}
