/** Bridge venues from the configuration: floats of the venue's operator, with a key of their own. */

import * as z from 'zod';
import { createFloatDelivery, creditOf } from '../../adapters/bridges/venue/deliver.ts';
import { createFloatWatch } from '../../adapters/bridges/venue/watch.ts';
import { bridgeRefill, fixedRefill, type RefillCosts } from '../../adapters/bridges/venue/refill.ts';
import { createBridgeVenue, type FloatAsset } from '../../adapters/bridges/venue/venue.ts';
import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { AmountError, parseUnits } from '../../domain/amount.ts';
import { tokenOf } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import type { Bridge } from '../../ports/bridge.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Reference } from '../../ports/reference.ts';
import { ROUTE_VENUE_ID, type RouteVenue } from '../../ports/route-venue.ts';
import type { FloatStore } from '../../ports/stores/floats.ts';
import type { OrderStore } from '../../ports/stores/store.ts';
import type { TransferStore } from '../../ports/stores/transfers.ts';
import type { TxStore } from '../../ports/stores/tx-store.ts';
import type { Signer } from '../../ports/signer.ts';
import type { Transactor } from '../../ports/transactor.ts';
import { zAddress } from '../../protocol/wire.ts';
import { createPrices } from '../../venue/market/prices.ts';
import { badConfig } from '../wiring/bad-request.ts';
import { openBridges } from '../wiring/bridges.ts';
import { zBridgeTransports } from '../config/bridges.ts';
import { type ChainSection, type KeySource, zKeySource } from '../config/parts.ts';
import type { SecretContext } from '../wiring/keys.ts';
import { createTransactors } from '../wiring/networks.ts';
import type { Life } from '../wiring/process.ts';
import { addressOfKey, openSigner } from '../wiring/signers.ts';
import { createFloatMoves } from './float-moves/moves.ts';
import { tellOpenTransfers } from './float-moves/switched-off.ts';

const zWhole = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,18})?$/, 'must be whole tokens as text, such as "12.5"');
const LONGEST_REFILL_SECONDS = 30 * 86_400;
const zBps = z.number().min(0).max(1_000);

const zBridge = z
  .strictObject({
    /** Public, and stored in every order delivered by it: never reuse an id. */
    id: z.string().regex(ROUTE_VENUE_ID, 'must be lower-case words joined by hyphens'),
    name: z.string().min(1).max(80),
    /** Holds the float in the escrow's ledger on each chain. Use it for nothing else. */
    account: zAddress,
    /** Signs and pays for fills: an operator of the account, or the account itself. Of this bridge alone. */
    operator: zKeySource,
    /** A token and the chains between which it is carried. Amounts are whole tokens. */
    assets: z
      .array(
        z.strictObject({
          on: z
            .array(
              z.strictObject({
                chainId: z.int().min(1),
                token: zAddress,
                /** The amount that is never promised. */
                keep: zWhole.default('0'),
                /**
                 * The float is low when less than this can be promised: `firmquote_bridge_float_low`. null:
                 * never.
                 */
                low: zWhole.nullable().default(null),
                /** The amount of one refill that starts here: its cost is spread over it. */
                lot: zWhole.default('10000'),
                /** The least that is paid out here for one order. */
                least: zWhole.default('1'),
                most: zWhole.nullable().default(null),
              }),
            )
            .min(2),
        }),
      )
      .min(1),
    /** Sets what it costs to bring money back to where it was paid out, and how long that takes. */
    refill: z.union([
      z.strictObject({ costBps: zBps, seconds: z.int().min(0).max(LONGEST_REFILL_SECONDS) }),
      /** These bridges estimate it. */
      z.strictObject({
        by: zBridgeTransports.refine(
          ({ cctp, oft }) => cctp !== null || oft.length > 0,
          'must name a bridge: cctp or oft',
        ),
      }),
    ]),
    /** Money is moved to where the float is low, over the bridges of `refill.by`. null: people move it. */
    moves: z
      .strictObject({
        /** The mover of the account, an `LpAccount`. It serves this bridge alone. */
        mover: zKeySource,
        /** The most of each asset in 24 hours. */
        mostPerDay: zWhole,
        everyMs: z.int().min(200).default(30_000),
        /** How long a bridge may refuse what was withdrawn for it before the money goes back. */
        patienceSeconds: z.int().min(1).default(3_600),
      })
      .nullable()
      .default(null),
    capitalBpsPerDay: zBps.default(1),
    marginBps: zBps.default(1),
    validSeconds: z.int().min(1).max(600).default(30),
    /** The longest validity: a taker that demands a longer one gets no quote. */
    maxValidSeconds: z.int().min(1).max(3_600).default(300),
    timeoutMs: z.int().min(50).default(800),
    maxInFlight: z.int().min(1).default(200),
  })
  .superRefine(({ assets, moves, refill }, context) => {
    const wrong = (message: string) => context.addIssue({ code: 'custom', path: ['moves'], message });
    if (moves !== null && !('by' in refill))
      wrong('needs the bridges that carry the money: write them into refill.by, or set moves to null');
    if (moves !== null && !assets.some(({ on }) => on.some(({ low }) => low !== null)))
      wrong('moves nothing, because no place has a low: set low where the float must not run dry');
    const seen = new Set<string>();
    assets.forEach(({ on }, asset) =>
      on.forEach(({ chainId, token }, place) => {
        const issue = (message: string) =>
          context.addIssue({ code: 'custom', path: ['assets', asset, 'on', place], message });
        if (on.findIndex((other) => other.chainId === chainId) !== place)
          issue('must be on a chain that the asset does not have yet');
        if (seen.has(`${chainId} ${token}`)) issue('must be a token that no other asset has');
        seen.add(`${chainId} ${token}`);
      }),
    );
  });

export const zBridges = z
  .array(zBridge)
  .refine(
    (bridges) => new Set(bridges.map(({ id }) => id)).size === bridges.length,
    'must have ids that differ',
  )
  .refine(
    (bridges) => new Set(bridges.map(({ account }) => account)).size === bridges.length,
    'must have accounts that differ: two floats of one account would promise the same money',
  )
  .default([]);

type BridgeConfig = z.infer<typeof zBridge>;
type SenderSections = readonly (Parameters<typeof createTransactors>[0][number] & ChainSection)[];

interface BridgeGround {
  chains: readonly EvmChain[];
  floats: FloatStore;
  orders: Pick<OrderStore, 'order'>;
  transfers: TransferStore;
  transactions: TxStore;
  bus: Bus;
  reference: Reference;
  /** The venue's relayers, which no bridge may use. */
  relayers: readonly Address[];
  /** True when this process fills orders. */
  works: boolean;
  life: Life;
  log: Log;
  metrics: Metrics;
  secrets: SecretContext;
}

export interface OpenedBridge {
  venue: RouteVenue;
  /** Begins to fill, in a process that works. */
  start(): Promise<void>;
}

/** Throws `RequestError` when a bridge does not fit the chains, or shares its key. */
export async function openBridgeVenues(
  { bridges, chains: sections }: { bridges: readonly BridgeConfig[]; chains: SenderSections },
  ground: BridgeGround,
): Promise<OpenedBridge[]> {
  const opened: OpenedBridge[] = [];
  const taken = new Map(ground.relayers.map((address) => [address, 'the relayer of the venue']));
  for (const bridge of bridges) {
    const { log, secrets, works } = ground;
    const openKey = async (key: KeySource, role: 'operator' | 'mover') => {
      const signer = works ? await openSigner(key, ground) : undefined;
      const address = signer?.address ?? (await addressOfKey(key, { log, secrets }));
      const other = taken.get(address);
      if (other !== undefined)
        throw badConfig(
          `The ${role} of the bridge "${bridge.id}" is ${address}, the account of ${other}. Two senders would use the same nonces: give the ${role} a key of its own.`,
        );
      taken.set(address, `the ${role} of the bridge "${bridge.id}"`);
      const lane = role === 'operator' ? bridge.id : `${bridge.id}-mover`;
      return { address, senders: signer && sendersOf(signer, lane, sections, ground) };
    };
    const operator = await openKey(bridge.operator, 'operator');
    const mover = bridge.moves === null ? undefined : await openKey(bridge.moves.mover, 'mover');
    opened.push(openBridge(bridge, { operator, mover }, sections, ground));
  }
  return opened;
}

interface OpenedKey {
  address: Address;
  /** undefined in a process that does not send. */
  senders: ReadonlyMap<number, Transactor> | undefined;
}

const sendersOf = (
  signer: Signer,
  lane: string,
  sections: SenderSections,
  { chains, transactions, log, metrics }: BridgeGround,
): ReadonlyMap<number, Transactor> =>
  createTransactors(sections, chains, {
    ...{ signers: [signer], store: transactions, log, metrics },
    laneOf: () => lane,
  });

function openBridge(
  bridge: BridgeConfig,
  keys: { operator: OpenedKey; mover: OpenedKey | undefined },
  sections: SenderSections,
  ground: BridgeGround,
): OpenedBridge {
  const { chains, floats, orders, bus, reference, life, log, metrics } = ground;
  const { address: operator, senders = new Map<number, Transactor>() } = keys.operator;
  const { id, account, timeoutMs, maxInFlight } = bridge;
  const byId = new Map(chains.map((chain) => [chain.chain.id, chain]));
  const assets = floatAssets(bridge, byId);
  const { bridges, costs } = refillOf(bridge, sections, ground);
  const watch = createFloatWatch(
    { chains: byId, floats, clock: systemClock, log, metrics },
    { id, account, operator, assets },
  );
  const delivery = createFloatDelivery(
    {
      chains: byId,
      transactors: senders,
      bus,
      orders,
      log,
      onFill: (order, output) => watch.filled(creditOf(order), order, output),
    },
    { venueId: id, account },
  );
  const venue = createBridgeVenue(
    { chains: byId, floats, prices: createPrices(reference), refill: costs, deliver: delivery.deliver },
    { ...bridge, operator, assets, limits: { timeoutMs, maxInFlight } },
  );
  return {
    venue,
    async start() {
      const stopHearing = await delivery.start();
      life.onStop(`bridge ${id}`, async () => {
        await stopHearing();
        await Promise.all([...senders.values()].map((sender) => sender.stop()));
      });
      await Promise.all([...senders.values()].map((sender) => sender.start()));
      life.onStop(`float of ${id}`, watch.start());
      await startMoves();
    },
  };

  async function startMoves(): Promise<void> {
    const { moves, refill } = bridge;
    const child = log.child({ bridge: id });
    const transactors = keys.mover?.senders;
    if (moves === null || !('by' in refill) || !keys.mover || !transactors)
      return tellOpenTransfers({ store: ground.transfers, log: child, metrics }, { id, account });
    const { amountUsd } = createPrices(reference);
    const mover = createFloatMoves(
      {
        ...{ chains: byId, floats, store: ground.transfers, bridges, transactors },
        ...{ clock: systemClock, log: child, metrics },
        worthUsd: (token, amount) => amountUsd(token, amount) ?? undefined,
      },
      {
        ...{ id, account, operator, mover: keys.mover.address, assets, by: refill.by, sections },
        ...{ mostPerDay: parseUnits(moves.mostPerDay, 18), everyMs: moves.everyMs },
        patienceMs: moves.patienceSeconds * 1_000,
      },
    );
    life.onStop(`moves of ${id}`, await mover.start());
  }
}

function refillOf(
  { refill, account }: BridgeConfig,
  sections: SenderSections,
  { chains, reference, life }: BridgeGround,
): { bridges: readonly Bridge[]; costs: RefillCosts } {
  if (!('by' in refill)) return { bridges: [], costs: fixedRefill(refill) };
  const { bridges, close } = openBridges(refill.by, { sections, chains, clock: systemClock });
  life.onStop('bridges of a refill', async () => close());
  const { tokenForNativeUp } = createPrices(reference);
  return { bridges, costs: bridgeRefill({ bridges, account, tokenForNativeUp, clock: systemClock }) };
}

/** Returns the assets with amounts in base units. Throws `RequestError` when a token is not of its chain. */
export function floatAssets(
  { id, assets }: Pick<BridgeConfig, 'id' | 'assets'>,
  chains: ReadonlyMap<number, EvmChain>,
): FloatAsset[] {
  return assets.map(({ on }) => ({
    on: on.map(({ chainId, token, keep, low, lot, least, most }) => {
      const chain = chains.get(chainId)?.chain;
      const info = chain && tokenOf(chain, token);
      if (!info)
        throw badConfig(
          `The bridge "${id}" carries ${token} on chain ${chainId}, which is not among the tokens of the chains. Add the token to the chain or remove it from the bridge.`,
        );
      const units = (whole: string): bigint => {
        try {
          return parseUnits(whole, info.decimals);
        } catch (error) {
          if (!(error instanceof AmountError)) throw error;
          throw badConfig(
            `The bridge "${id}": ${whole} has more decimals than ${info.symbol} on chain ${chainId}.`,
          );
        }
      };
      if (units(lot) === 0n)
        throw badConfig(
          `The bridge "${id}": lot must be above 0, because the cost of a refill is spread over it.`,
        );
      return {
        chainId,
        token,
        keep: units(keep),
        low: low === null ? null : units(low),
        lot: units(lot),
        least: units(least),
        most: most === null ? null : units(most),
      };
    }),
  }));
}
