/**
 * Checks bridge venues: what their floats hold, whether fills can be paid for, and whether a refill could
 * begin.
 */

import { FILL, freeOfFloat, readFloat, readGasCosts } from '../../adapters/bridges/venue/float.ts';
import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { formatTokens } from '../../domain/amount.ts';
import { tokenOf, type TokenInfo } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import type { FloatAsset } from '../../adapters/bridges/venue/venue.ts';
import type { ChainSection } from '../config/parts.ts';
import { floatAssets } from '../venue/bridges.ts';
import type { VenueConfig } from '../venue/config.ts';
import { whyNotMovable, whyNotSendable } from '../venue/float-moves/mover.ts';
import { checkBridges } from './bridges.ts';
import { attempt, failure, type Finding, ok, warning } from './finding.ts';
import { checkSenderKey, type GasOf } from './signers.ts';

type BridgeConfig = VenueConfig['bridges'][number];

interface Ground {
  chains: readonly EvmChain[];
  sections: readonly ChainSection[];
  tools: Parameters<typeof checkSenderKey>[2];
  feeCap(chainId: number): bigint;
}

/** Gas and bytes of a mover's dearest transaction: a bridge's message that is delivered. */
export const MOVER_CALL: GasOf = { gas: 250_000n, bytes: 1_200 };
const TODO = 'Correct the section of the bridge, or repair the endpoints of the chain';

export async function checkFloats(bridges: readonly BridgeConfig[], ground: Ground): Promise<Finding[]> {
  const rows = await Promise.all(
    bridges.map((bridge) => attempt('float', bridge.id, () => checkFloat(bridge, ground), TODO)),
  );
  return rows.flat();
}

async function checkFloat(bridge: BridgeConfig, ground: Ground): Promise<Finding[]> {
  const { id, moves, refill } = bridge;
  const chains = new Map(ground.chains.map((chain) => [chain.chain.id, chain]));
  const assets = floatAssets(bridge, chains);
  const used = ground.chains.filter(({ chain }) =>
    assets.some(({ on }) => on.some((place) => place.chainId === chain.id)),
  );
  const { feeCap, tools } = ground;
  const operator = await checkSenderKey(`operator of ${id}`, bridge.operator, tools, {
    ...{ chains: used, feeCap, of: { gas: FILL.gas, bytes: FILL.unsignedBytes } },
  });
  const mover =
    moves === null
      ? undefined
      : await checkSenderKey(`mover of ${id}`, moves.mover, tools, {
          ...{ chains: used, feeCap, of: MOVER_CALL },
        });
  const places = await Promise.all(
    assets.flatMap(({ on }) =>
      on.map((place) =>
        checkPlace(place, { bridge, operator: operator.address, mover: mover?.address, chains, ground }),
      ),
    ),
  );
  const transports = 'by' in refill ? await checkBridges(refill.by, ground.sections, used) : [];
  return [...operator.rows, ...(mover?.rows ?? []), ...places.flat(), ...transports];
}

interface PlaceContext {
  bridge: BridgeConfig;
  operator: Address | undefined;
  mover: Address | undefined;
  chains: ReadonlyMap<number, EvmChain>;
  ground: Ground;
}

async function checkPlace(place: FloatAsset['on'][number], context: PlaceContext): Promise<Finding[]> {
  const { bridge, operator, mover } = context;
  const chain = context.chains.get(place.chainId);
  const info = chain && tokenOf(chain.chain, place.token);
  // The section names only tokens of these chains.
  if (!chain || !info) return [];
  const subject = `${bridge.id} ${chain.chain.slug} ${info.symbol}`;
  const held = await attempt(
    'float',
    subject,
    () => checkHeld(place, chain, info, { bridge, operator }),
    TODO,
  );
  if (mover === undefined) return held;
  const moved = await attempt(
    'refill',
    subject,
    () => checkMover(place, chain, info, { ...context, mover }),
    TODO,
  );
  return [...held, ...moved];
}

async function checkHeld(
  { token, keep, low }: FloatAsset['on'][number],
  chain: EvmChain,
  info: TokenInfo,
  { bridge, operator }: Pick<PlaceContext, 'bridge' | 'operator'>,
): Promise<Finding> {
  const { id, account } = bridge;
  const subject = `${id} ${chain.chain.slug} ${info.symbol}`;
  const head = chain.head();
  if (!head) return failure('float', subject, 'the chain has no block yet', TODO);
  const { fill: fillWei } = await readGasCosts(chain, head);
  const float = await readFloat(
    chain,
    token,
    head,
    { account, operator: operator ?? account, keep, fillWei },
    [],
  );
  const free = freeOfFloat(float, { promised: 0n, open: 0n, moving: 0n });
  const found = `${formatTokens(free, info)} may be promised, live promises included`;
  if (operator !== undefined && float.issue !== undefined)
    return failure('float', subject, float.issue, 'The owner allows the operator, or somebody sends it gas');
  if (free === 0n)
    return warning('float', subject, found, 'Deposit for the account: nothing can be paid out here');
  return low !== null && free < low
    ? warning(
        'float',
        subject,
        `${found}, which is less than its low of ${formatTokens(low, info)}`,
        bridge.moves === null ? 'Bring money there' : 'Wait for its refill, or bring money there',
      )
    : ok('float', subject, found);
}

/** Checks that one lot could leave this place. */
async function checkMover(
  { lot }: FloatAsset['on'][number],
  chain: EvmChain,
  info: TokenInfo,
  { bridge, mover, ground }: PlaceContext & { mover: Address },
): Promise<Finding> {
  const { id, account, refill } = bridge;
  const subject = `${id} ${chain.chain.slug} ${info.symbol}`;
  const fixed = await whyNotMovable(chain, { account, mover });
  if (fixed !== undefined) return failure('refill', subject, fixed, 'See docs/venue/bridge-refill.md');
  const by = 'by' in refill ? refill.by : { cctp: null, oft: [] };
  const wanted = { token: info, amount: lot };
  const stays = await whyNotSendable(chain, { account }, wanted, { by, sections: ground.sections });
  return stays === undefined
    ? ok('refill', subject, `${mover} may send a lot of ${formatTokens(lot, info)} from here`)
    : warning('refill', subject, stays, 'Until then no refill leaves this chain');
}
