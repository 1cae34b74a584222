/**
 * A bridge for tests with real balances: it prices from its own ledger balance at the pinned block of the
 * destination and delivers from it through the escrow's fill.
 */

import type { ChainPort } from '../../src/ports/chain.ts';
import type { RouteAsk, RouteVenue } from '../../src/ports/route-venue.ts';
import { outputHash } from '../../src/domain/order.ts';
import { fillCall } from '../../src/settlement/call.ts';
import type { TestAccount, TestChain } from './devnet.ts';

export interface BridgeSpec {
  account: TestAccount;
  chains: readonly TestChain[];
  id?: string;
  /** Of the amount handed over. */
  feeBps?: bigint;
  validSeconds?: number;
  limits?: Partial<RouteVenue['limits']>;
}

/** Carries a token of one chain to the token of the same symbol and decimals on another. */
export function createTestBridge({
  account,
  chains,
  id = 'test-bridge',
  feeBps = 10n,
  validSeconds = 40,
  limits = {},
}: BridgeSpec): RouteVenue {
  const ports = new Map<number, ChainPort>(chains.map(({ port }) => [port.chain.id, port]));
  const byId = new Map(chains.map((chain) => [chain.chain.id, chain]));
  const symbolOf = ({ chainId, token }: { chainId: number; token: string }) =>
    byId.get(chainId)?.chain.tokens.find(({ address }) => address === token)?.symbol;

  return {
    id,
    name: 'Test bridge',
    kind: 'bridge',
    limits: { timeoutMs: 5_000, maxInFlight: 8, maxSlackBps: 0, ...limits },
    serves: ({ input, output }) =>
      input.chainId !== output.chainId &&
      symbolOf(input) !== undefined &&
      symbolOf(input) === symbolOf(output),
    async quote(ask: RouteAsk) {
      const port = ports.get(ask.dest.id);
      if (!port) return { declined: 'pair' };
      const held = await port.ledgerBalance(account.address, ask.outputToken.address, ask.at.dest.number);
      const outputAmount =
        ask.side === 'exactOutput'
          ? ask.amount
          : (ask.fees.handedOver(ask.amount, 0n) * (10_000n - feeBps)) / 10_000n;
      const inputAmount =
        ask.side === 'exactInput'
          ? ask.amount
          : ask.fees.inputFor((outputAmount * 10_000n + 9_999n - feeBps) / (10_000n - feeBps), 0n);
      if (outputAmount === 0n) return { declined: 'size_below_min' };
      if (outputAmount > held)
        return {
          declined: 'no_inventory',
          maxAmount: ask.side === 'exactOutput' ? held : ask.fees.inputFor(held, 0n),
        };
      const validUntil = Math.min(
        ask.validity.to,
        Math.max(ask.validity.from, ask.at.origin.timestamp + validSeconds),
      );
      return {
        inputAmount,
        outputAmount,
        minimumOutput: outputAmount,
        validUntil,
        eta: 4,
        via: [],
        execution: { kind: 'solver', account: account.address },
      };
    },
    async deliver({ orderId, order, outputs }) {
      for (const index of outputs) {
        const output = order.outputs[index];
        const chain = byId.get(Number(output?.chainId));
        if (!output || !chain || (await chain.port.fillRecord(orderId, outputHash(output)))) continue;
        await chain.send(
          account.address,
          chain.chain.escrow,
          fillCall(orderId, output, order.fillDeadline, account.address),
        );
      }
    },
  };
}
