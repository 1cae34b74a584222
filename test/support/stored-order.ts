/** An order as the venue stores it, for tests of stores: valid in form, signed by nobody. */

import type { StandardOrder } from '../../src/domain/order.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import { random32 } from './trade.ts';

const T = 1_800_000_000;

export function storedOrder(
  chainId: number,
  { order, ...change }: Partial<Omit<NewOrder, 'order'>> & { order?: Partial<StandardOrder> } = {},
): NewOrder {
  return {
    orderId: random32(),
    quoteId: random32(),
    workspaceId: 'w1',
    keyId: 'k1',
    memberId: null,
    namespace: 'rfq',
    mode: 'test',
    executionMode: 'apiSubmit',
    originChainId: chainId,
    destChainIds: [chainId],
    order: {
      user: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      nonce: BigInt(random32()),
      originChainId: BigInt(chainId),
      expires: T + 3_600,
      fillDeadline: T,
      inputOracle: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
      inputs: [[5n, 7n]],
      outputs: [
        {
          oracle: random32(),
          settler: random32(),
          chainId: BigInt(chainId),
          token: random32(),
          amount: 2n ** 200n,
          recipient: random32(),
          callbackData: '0x',
          context: '0xe2',
        },
      ],
      ...order,
    },
    validUntil: T,
    commitments: [],
    route: null,
    parentOrderId: null,
    solverIds: ['lp-a'],
    signature: '0xabcd',
    signScheme: 'EIP712',
    funding: '0x13',
    candidate: '{}',
    referenceId: null,
    amountUsd: null,
    screening: null,
    travelRule: null,
    createdAtMs: Date.now(),
    ...change,
  };
}
