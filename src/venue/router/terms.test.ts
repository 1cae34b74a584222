/** Laws of the legs that a candidate shows: one leads to the next, and the ends are the preview's. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assetId } from '../../domain/asset.ts';
import { ETHER, type Chain, type TokenInfo } from '../../domain/chain.ts';
import { encodeContext } from '../../domain/context.ts';
import type { Address } from '../../domain/hex.ts';
import { ROUTE_KINDS, type VenueFee } from '../../ports/route-venue.ts';
import { directCandidate, followedBy, type RouteCandidate } from './gather.ts';
import type { RouteLeg, RouteOffer } from './source.ts';
import { routerTerms } from './terms.ts';
import type { PairRequest } from '../quoting/solver-request.ts';

const token = (n: number): TokenInfo => ({
  address: `0x${n.toString(16).padStart(40, '1')}`,
  symbol: `T${n}`,
  name: `T${n}`,
  decimals: 6,
  eip3009: null,
  priceSymbol: null,
});
const chain: Chain = {
  id: 1,
  slug: 'one',
  sandbox: true,
  escrow: `0x${'e'.repeat(40)}`,
  oracle: `0x${'0'.repeat(39)}1`,
  permit2: `0x${'0'.repeat(39)}2`,
  depth: 1,
  blockTimeMs: 1_000,
  native: ETHER,
  tokens: Array.from({ length: 6 }, (_, n) => token(n)),
  landingMarginSeconds: 10,
  proofWindowSeconds: 60,
};
const NOW = 1_800_000_000;
const taker: Address = `0x${'a'.repeat(40)}`;
const market = (n: number) => ({
  asset: { chainId: 1, token: (chain.tokens[n] as TokenInfo).address },
  chain,
  token: chain.tokens[n] as TokenInfo,
});

/** An order with as many hops as amounts after the first, over tokens from `start` on. */
function offerOf(amounts: readonly bigint[], start: number, how: How): RouteOffer {
  const [inputAmount, outputAmount] = [amounts[0] as bigint, amounts.at(-1) as bigint];
  const minimumOutput = outputAmount - (outputAmount * BigInt(how.slackBps)) / 10_000n;
  const solverId = `${how.kind}-1`;
  return {
    source: solverId,
    solverId,
    quoteId: `0x${'1'.repeat(64)}`,
    inputAmount,
    outputAmount,
    minimumOutput,
    takerGas: 0n,
    eta: 2,
    fillRateBps: 10_000,
    validUntil: NOW + 30,
    order: {
      user: taker,
      nonce: 1n,
      originChainId: 1n,
      expires: NOW + 300,
      fillDeadline: NOW + 40,
      inputOracle: chain.escrow,
      inputs: [[1n, inputAmount]],
      outputs: [
        {
          oracle: `0x${'0'.repeat(64)}`,
          settler: `0x${'0'.repeat(64)}`,
          chainId: 1n,
          token: `0x${'0'.repeat(64)}`,
          amount: minimumOutput,
          recipient: `0x${'0'.repeat(64)}`,
          callbackData: '0x',
          context: encodeContext({
            exclusiveFor: taker,
            startTime: NOW,
            portionBps: 10_000,
            feeBps: 0,
            relayFee: 0n,
          }),
        },
      ],
    },
    relayTerms: { executionMode: 'apiSubmit', relayFee: 0n, takerGasWei: 0n },
    commitments: [],
    settledBy:
      how.kind === 'rfq'
        ? null
        : {
            venue: { id: solverId, kind: how.kind },
            through: how.through ? { filler: taker, data: '0x', gas: '1' } : null,
          },
    lpSpreadBps: null,
    legs: amounts.slice(1).map((amount, index): RouteLeg => {
      const last = index === amounts.length - 2;
      return {
        kind: how.kind,
        solverId,
        venue: solverId,
        chainId: 1,
        input: { asset: market(start + index).asset, amount: amounts[index] as bigint },
        output: { asset: market(start + index + 1).asset, amount, minimum: last ? minimumOutput : null },
        fee: how.fee && { in: how.fee, amount: BigInt(index) },
        eta: 2,
        dependsOn: index === 0 ? [] : [index - 1],
      };
    }),
    thin: false,
    underWatch: false,
    promise: async () => true,
    isStillBacked: () => true,
    recordPromise: () => {},
  };
}

interface How {
  kind: RouteLeg['kind'];
  slackBps: number;
  through: boolean;
  fee: VenueFee['in'] | null;
}

const how: fc.Arbitrary<How> = fc.record({
  kind: fc.constantFrom('rfq' as const, ...ROUTE_KINDS),
  slackBps: fc.constantFrom(0, 50),
  through: fc.boolean(),
  fee: fc.constantFrom('input' as const, 'output' as const, null),
});
const hops = fc.array(fc.bigInt({ min: 1_000n, max: 10n ** 20n }), { minLength: 2, maxLength: 3 });

/** As the gatherer joins two orders: the second takes what the first delivers at least. */
function sequential(first: RouteOffer, second: RouteOffer): RouteCandidate {
  return {
    ...directCandidate(first),
    outputAmount: second.outputAmount,
    legs: followedBy(
      first.legs,
      second.legs.map((leg) => ({ ...leg, output: { ...leg.output, minimum: null } })),
    ),
    model: 'sequential',
  };
}

const shownFor = (candidate: RouteCandidate, hopsInAll: number) =>
  routerTerms(
    {
      input: market(0),
      output: market(hopsInAll),
      receiver: taker,
      workspace: { platformFeeBps: 0 },
      now: NOW,
    } as PairRequest,
    candidate,
    {
      prices: { priceUsd: () => null, nativeUsd: () => null, deltaFromMid: () => 0 } as never,
      options: { shortValiditySeconds: 5, farFromMidBps: 100 },
      native: () => ETHER,
    },
  );

test('law: legs of every kind lead from the input of the preview to its output', () => {
  fc.assert(
    fc.property(hops, how, fc.option(fc.tuple(hops, how)), (amounts, first, later) => {
      const offer = offerOf(amounts, 0, first);
      const count = amounts.length - 1;
      const next = later && offerOf([offer.minimumOutput, ...later[0].slice(1)], count, later[1]);
      const inAll = count + (next ? next.legs.length : 0);
      const { composite, preview, warnings } = shownFor(
        next ? sequential(offer, next) : directCandidate(offer),
        inAll,
      );
      const { legs } = composite;
      expect(legs).toHaveLength(inAll);
      expect(legs[0]?.input).toEqual({ asset: preview.inputs[0]?.asset, amount: preview.inputs[0]?.amount });
      expect(legs.at(-1)?.output).toEqual({
        asset: assetId(market(inAll).asset),
        amount: preview.outputs[0]?.amount,
        minimumAmount: preview.outputs[0]?.minimumAmount,
      });
      legs.forEach((leg, index) => {
        const before = legs[index - 1];
        expect(leg).toMatchObject({ index, dependsOn: before ? [index - 1] : [] });
        const { fee } = index < count || later === null ? first : later[1];
        const due = index < count ? index : index - count;
        expect(leg.fees).toEqual(
          fee && (due === 0 ? [] : [{ asset: leg[fee].asset, amount: due.toString() }]),
        );
        if (!before) return;
        expect(leg.input.asset).toBe(before.output.asset);
        // Between two orders the next one counts on what the escrow enforces, not on the estimate.
        expect(leg.input.amount).toBe(index === count ? before.output.minimumAmount : before.output.amount);
      });
      const codes = warnings.map(({ code }) => code);
      expect(codes.includes(1007)).toBe(next !== null);
      expect(codes.includes(1009)).toBe(first.kind !== 'rfq' && !first.through);
      expect(codes.includes(1010)).toBe(offer.minimumOutput < offer.outputAmount);
      // Firm: the escrow enforces the shown amount, and a roster solver or one transaction delivers it.
      expect(codes.length === 0).toBe(
        next === null && first.slackBps === 0 && (first.kind === 'rfq' || first.through),
      );
    }),
  );
});
