/**
 * What the router relies on in every route venue, as one suite that any adapter runs: prices from a pinned
 * state, floors that the escrow enforces, delivery through the escrow, and the taker's money on its way back
 * whenever that fails.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attestationDigest, fillAttestation } from '../../src/domain/attestation.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import { isDecline } from '../../src/domain/decline.ts';
import { type Address, addressToBytes32, type Hex } from '../../src/domain/hex.ts';
import { orderId as orderIdOf, outputHash, type StandardOrder } from '../../src/domain/order.ts';
import {
  ROUTE_KINDS,
  ROUTE_VENUE_ID,
  type RouteAsk,
  type RouteQuote,
  type RouteVenue,
} from '../../src/ports/route-venue.ts';
import {
  finaliseCall,
  openForCall,
  refundCall,
  settleThroughCall,
  submitAttestationsCall,
} from '../../src/settlement/call.ts';
import { objectionTo } from '../../src/venue/router/check-quote.ts';
import { routeFees } from '../../src/venue/router/route-fees.ts';
import { routeOrder } from '../../src/venue/router/route-order.ts';
import { account, ATTESTERS, type TestAccount, type TestChain } from '../support/devnet.ts';
import { fund, random32 } from '../support/trade.ts';
import { until } from '../support/venue.ts';

/** An adapter and the ground it stands on. */
export interface RouteVenueWorld {
  venue: RouteVenue;
  /**
   * A pair that it serves. An input without EIP-3009 is funded through Permit2. Origin and destination may be
   * one chain.
   */
  origin: TestChain;
  dest: TestChain;
  inputToken: TokenInfo;
  outputToken: TokenInfo;
  /** Gives a taker of the input, where that is no token of the devnet. */
  endow?(taker: Address): Promise<void>;
  /** Exact input that it can carry, and one that nobody could. */
  amountIn: bigint;
  tooMuch: bigint;
  /** The most of the input that it may leave unspent, which goes back to the taker. */
  change?: bigint;
  /** Exact output that it can carry. */
  amountOut: bigint;
  /**
   * Changes the venue's state so that it cannot deliver any more what it quoted before, nor would quote it
   * again. Undone by `restore`.
   */
  worsen(): Promise<void>;
  restore(): Promise<void>;
  stop(): Promise<void>;
}

const PLATFORM_FEE_BPS = 7;
const relayFee = (gas: bigint): bigint => 1_000n + gas / 1_000n;

/** Every test leaves the world as it found it, but for what a trade moves. */
export function routeVenueConformance(name: string, start: () => Promise<RouteVenueWorld>): void {
  describe(`a route venue: ${name}`, () => {
    let world: RouteVenueWorld;
    let takers = 7_000;
    const relayer = account(6_999);

    beforeAll(async () => {
      world = await start();
      for (const chain of new Set([world.origin, world.dest])) await chain.fund(relayer.address, 0n);
    });
    afterAll(() => world.stop());

    const pair = () => ({
      input: { chainId: world.origin.chain.id, token: world.inputToken.address },
      output: { chainId: world.dest.chain.id, token: world.outputToken.address },
    });

    async function newTaker(): Promise<TestAccount> {
      const taker = account(takers++);
      await world.origin.fund(taker.address, 100_000n);
      await world.endow?.(taker.address);
      if (world.inputToken.eip3009 === null)
        await world.origin.approve(taker.address, world.inputToken.address, world.origin.chain.permit2);
      return taker;
    }

    async function newestBlocks(): Promise<RouteAsk['at']> {
      const newest = async ({ anvil }: TestChain) => {
        const block = await anvil.rpc<{ number: string; hash: Hex; timestamp: string }>(
          'eth_getBlockByNumber',
          ['latest', false],
        );
        return { number: BigInt(block.number), hash: block.hash, timestamp: Number(block.timestamp) };
      };
      const origin = await newest(world.origin);
      return { origin, dest: world.dest === world.origin ? origin : await newest(world.dest) };
    }

    async function ask(taker: TestAccount, change: Partial<RouteAsk> = {}): Promise<RouteAsk> {
      const at = change.at ?? (await newestBlocks());
      return {
        origin: world.origin.chain,
        dest: world.dest.chain,
        inputToken: world.inputToken,
        outputToken: world.outputToken,
        side: 'exactInput',
        amount: world.amountIn,
        taker: taker.address,
        receiver: taker.address,
        at,
        validity: { from: at.origin.timestamp + 1, to: at.origin.timestamp + 600 },
        fees: routeFees(PLATFORM_FEE_BPS, relayFee),
        signal: new AbortController().signal,
        ...change,
      };
    }

    async function quoted(request: RouteAsk): Promise<RouteQuote> {
      const answer = await world.venue.quote(request);
      if (isDecline(answer)) throw new Error(`declined: ${answer.declined} ${answer.detail ?? ''}`);
      expect(objectionTo(answer, request, world.venue.limits)).toBeUndefined();
      return answer;
    }

    /** The order of a quote that the venue keeps for the taker. */
    async function keptOrder(request: RouteAsk, quote: RouteQuote): Promise<StandardOrder> {
      const order = orderOf(request, quote);
      expect((await world.venue.promise?.({ ask: request, quote, nonce: order.nonce })) ?? true).toBe(true);
      return order;
    }

    function orderOf(request: RouteAsk, quote: RouteQuote): StandardOrder {
      const gas = quote.execution.kind === 'through' ? quote.execution.gas : 0n;
      return routeOrder({
        ...request,
        settlement: 'wallet',
        nonce: BigInt(random32()),
        platformFeeBps: PLATFORM_FEE_BPS,
        relayFee: relayFee(gas),
        landingMarginSeconds: request.origin.landingMarginSeconds,
        quote,
      });
    }

    const idOf = (order: StandardOrder) =>
      orderIdOf({ chainId: world.origin.chain.id, escrow: world.origin.chain.escrow }, order);
    const held = (owner: Address, chain: TestChain, token: TokenInfo) =>
      chain.port.tokenBalance(owner, token.address);

    /** Past this second on a chain that mines on demand. */
    async function passed(chain: TestChain, second: number): Promise<void> {
      await chain.anvil.rpc('evm_setNextBlockTimestamp', [second + 1]);
      await chain.anvil.rpc('evm_mine', []);
    }

    /** Until the chain shows the fill, as a worker asks for it. */
    async function delivered(order: StandardOrder): Promise<void> {
      const orderId = idOf(order);
      const output = order.outputs[0] as StandardOrder['outputs'][number];
      await until(async () => {
        await world.venue.deliver?.({ orderId, order, outputs: [0] });
        return world.dest.port.fillRecord(orderId, outputHash(output));
      });
    }

    const funded = (order: StandardOrder, taker: TestAccount): Hex =>
      fund(world.origin, taker, order, world.inputToken.eip3009 === null ? 'permit2Lock' : 'eip3009').funding;

    async function openOrder(order: StandardOrder, taker: TestAccount): Promise<void> {
      const funding = funded(order, taker);
      await world.origin.send(relayer.address, world.origin.chain.escrow, openForCall(order, funding));
    }

    test('describes itself', () => {
      const { id, name: title, kind, limits } = world.venue;
      expect(id).toMatch(ROUTE_VENUE_ID);
      expect(title.length).toBeGreaterThan(0);
      expect(ROUTE_KINDS).toContain(kind);
      expect(
        Number.isInteger(limits.timeoutMs) &&
          limits.timeoutMs > 0 &&
          Number.isInteger(limits.maxInFlight) &&
          limits.maxInFlight > 0,
      ).toBe(true);
      expect(limits.maxSlackBps >= 0 && limits.maxSlackBps < 10_000).toBe(true);
    });

    test('answers from memory which pairs it serves', () => {
      const { input, output } = pair();
      expect(world.venue.serves(pair())).toBe(true);
      expect(world.venue.serves({ input: { chainId: 999_999, token: input.token }, output })).toBe(false);
      expect(
        world.venue.serves({
          input,
          output: { chainId: output.chainId, token: '0x00000000000000000000000000000000000000aa' },
        }),
      ).toBe(false);
      expect(world.venue.serves({ input, output: input })).toBe(false);
    });

    test('quotes exact input, with the fees taken into account', async () => {
      const taker = await newTaker();
      const request = await ask(taker);
      const quote = await quoted(request);
      expect(quote.execution.kind === 'solver' ? typeof world.venue.deliver : 'function').toBe('function');
      const dearer = await quoted({
        ...request,
        fees: routeFees(100, (gas) => relayFee(gas) + world.amountIn / 100n),
      });
      expect(dearer.outputAmount).toBeLessThan(quote.outputAmount);
    });

    test('says what each leg charges, which is less than it moves', async () => {
      const taker = await newTaker();
      const request = await ask(taker);
      const exact = await ask(taker, { side: 'exactOutput', amount: world.amountOut });
      for (const quote of [await quoted(request), await quoted(exact)]) {
        expect(
          objectionTo(quote, quote.inputAmount === request.amount ? request : exact, world.venue.limits),
        ).toBe(undefined);
        const [inputs, outputs] = [
          [quote.inputAmount, ...quote.via.map(({ amount }) => amount)],
          [...quote.via.map(({ amount }) => amount), quote.outputAmount],
        ];
        quote.fees.forEach((fee, leg) => {
          const most = (fee?.in === 'output' ? outputs : inputs)[leg] as bigint;
          if (fee) expect(fee.amount < most, `${fee.amount} of ${most}`).toBe(true);
        });
      }
    });

    test('quotes exact output to the unit', async () => {
      const taker = await newTaker();
      const quote = await quoted(await ask(taker, { side: 'exactOutput', amount: world.amountOut }));
      expect([quote.outputAmount, quote.minimumOutput]).toEqual([world.amountOut, world.amountOut]);
    });

    test('keeps a price for the requested validity', async () => {
      const taker = await newTaker();
      const at = await newestBlocks();
      const from = at.origin.timestamp + 200;
      const quote = await quoted(await ask(taker, { at, validity: { from, to: from + 5 } }));
      expect(quote.validUntil).toBeGreaterThanOrEqual(from);
      expect(quote.validUntil).toBeLessThanOrEqual(from + 5);
    });

    test('prices at the pinned block, whatever happened since', async () => {
      const taker = await newTaker();
      const request = await ask(taker);
      const before = await quoted(request);
      await world.worsen();
      try {
        expect(await quoted(request)).toEqual(before);
        const now = await world.venue.quote(await ask(taker));
        expect(isDecline(now) || now.outputAmount < before.minimumOutput).toBe(true);
      } finally {
        await world.restore();
      }
    });

    test('declines amounts that are too large or too small', async () => {
      const taker = await newTaker();
      const [most, least] = await Promise.all([
        world.venue.quote(await ask(taker, { amount: world.tooMuch })),
        world.venue.quote(await ask(taker, { amount: 1n })),
      ]);
      expect([isDecline(most), isDecline(least)]).toEqual([true, true]);
    });

    test('stops when the caller aborts', async () => {
      const taker = await newTaker();
      const waiting = new AbortController();
      const answer = world.venue.quote(await ask(taker, { signal: waiting.signal })).then(
        () => 'settled',
        () => 'settled',
      );
      waiting.abort();
      expect(await answer).toBe('settled');
    });

    test('delivers at least its floor for no more than its input', async () => {
      const taker = await newTaker();
      const request = await ask(taker);
      const quote = await quoted(request);
      const order = await keptOrder(request, quote);
      const { origin, dest, inputToken, outputToken, venue } = world;
      const [paidBefore, gotBefore] = [
        await held(taker.address, origin, inputToken),
        await held(taker.address, dest, outputToken),
      ];
      if (quote.execution.kind === 'through') {
        const funding = funded(order, taker);
        await origin.send(
          relayer.address,
          origin.chain.escrow,
          settleThroughCall(order, funding, quote.execution.filler, quote.execution.data),
        );
        // Nothing sticks to the filler.
        expect([
          await held(quote.execution.filler, origin, inputToken),
          await held(quote.execution.filler, dest, outputToken),
        ]).toEqual([0n, 0n]);
      } else {
        const { account: solver } = quote.execution;
        const orderId = idOf(order);
        await openOrder(order, taker);
        const credit = await origin.port.ledgerBalance(solver, inputToken.address);
        await delivered(order);
        // A worker that crashed asks again; nobody is paid twice.
        const once = await held(taker.address, dest, outputToken);
        await venue.deliver?.({ orderId, order, outputs: [0] });
        expect(await held(taker.address, dest, outputToken)).toBe(once);
        await proveAndFinalise(order, solver);
        expect(await origin.port.ledgerBalance(solver, inputToken.address)).toBe(
          credit + request.fees.handedOver(quote.inputAmount, 0n),
        );
      }
      const got = (await held(taker.address, dest, outputToken)) - gotBefore;
      expect(got).toBeGreaterThanOrEqual(quote.minimumOutput);
      const unspent = quote.inputAmount - (paidBefore - (await held(taker.address, origin, inputToken)));
      expect(unspent >= 0n && unspent <= (world.change ?? 0n), `${unspent} unspent`).toBe(true);
      expect(await origin.port.orderStatus(idOf(order))).toBe('claimed');
    });

    test('delivers an exact output to the unit or better', async () => {
      const taker = await newTaker();
      const request = await ask(taker, { side: 'exactOutput', amount: world.amountOut });
      const quote = await quoted(request);
      const order = await keptOrder(request, quote);
      const before = await held(taker.address, world.dest, world.outputToken);
      if (quote.execution.kind === 'through') {
        const funding = funded(order, taker);
        await world.origin.send(
          relayer.address,
          world.origin.chain.escrow,
          settleThroughCall(order, funding, quote.execution.filler, quote.execution.data),
        );
      } else {
        await openOrder(order, taker);
        await delivered(order);
      }
      expect((await held(taker.address, world.dest, world.outputToken)) - before).toBeGreaterThanOrEqual(
        world.amountOut,
      );
    });

    test('costs the taker nothing when it cannot keep its floor', async () => {
      const taker = await newTaker();
      const at = await newestBlocks();
      const request = await ask(taker, {
        at,
        validity: { from: at.origin.timestamp + 1, to: at.origin.timestamp + 60 },
      });
      const quote = await quoted(request);
      const order = await keptOrder(request, quote);
      const { origin, dest, inputToken, outputToken, venue } = world;
      const [paid, got] = [
        await held(taker.address, origin, inputToken),
        await held(taker.address, dest, outputToken),
      ];
      await world.worsen();
      try {
        if (quote.execution.kind === 'through') {
          const funding = funded(order, taker);
          const data = settleThroughCall(order, funding, quote.execution.filler, quote.execution.data);
          expect(
            (await origin.port.simulate({ from: relayer.address, to: origin.chain.escrow, data })).ok,
          ).toBe(false);
          expect(await origin.port.orderStatus(idOf(order))).toBe('none');
        } else {
          await openOrder(order, taker);
          await venue.deliver?.({ orderId: idOf(order), order, outputs: [0] }).catch(() => {});
          expect(
            await dest.port.fillRecord(
              idOf(order),
              outputHash(order.outputs[0] as StandardOrder['outputs'][number]),
            ),
          ).toBeUndefined();
          await passed(origin, order.expires);
          await origin.send(relayer.address, origin.chain.escrow, refundCall(order));
        }
        expect([
          await held(taker.address, origin, inputToken),
          await held(taker.address, dest, outputToken),
        ]).toEqual([paid, got]);
      } finally {
        await world.restore();
      }
    });

    /** What attesters and any keeper do. */
    async function proveAndFinalise(order: StandardOrder, solver: Address): Promise<void> {
      const { origin, dest } = world;
      const output = order.outputs[0] as StandardOrder['outputs'][number];
      const orderId = idOf(order);
      const filled = await until(
        async () =>
          (await dest.port.orderEvents(orderId, 0)).flatMap((event) =>
            event.kind === 'filled' ? [event] : [],
          )[0],
      );
      if (origin !== dest) {
        const attestation = fillAttestation({
          solver: addressToBytes32(solver),
          orderId,
          timestamp: filled.timestamp,
          output,
        });
        const digest = attestationDigest(
          { chainId: origin.chain.id, oracle: origin.chain.oracle },
          attestation,
        );
        const signers = ATTESTERS.slice(0, 2).sort((x, y) => (x.address < y.address ? -1 : 1));
        const signatures = signers.map(({ sign }) => sign(digest));
        await origin.send(
          relayer.address,
          origin.chain.oracle,
          submitAttestationsCall(attestation.remoteChainId, attestation.application, [
            { payloadHash: attestation.payloadHash, signatures },
          ]),
        );
      }
      await origin.send(
        relayer.address,
        origin.chain.escrow,
        finaliseCall(order, [{ timestamp: filled.timestamp, solver }]),
      );
    }
  });
}
