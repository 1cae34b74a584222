/** An LP's account that is an `LpAccount`: the same on every chain, set up, and with no change that waits. */

import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { formatTokens } from '../../domain/amount.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import { describeAccountCall } from '../../settlement/lp-account.ts';
import type { BridgeChain } from '../wiring/bridges.ts';
import type { BridgeTransports } from '../config/bridges.ts';
import { dateOf } from '../lp/account/change.ts';
import { routesFrom } from '../lp/account/routes.ts';
import {
  type LpAccountState,
  readLpAccount,
  readMoverLimit,
  readRoute,
  readWaitingChanges,
} from '../lp/account/state.ts';
import { hasBuild } from './build.ts';
import { attempt, failure, ok, type Finding, warning } from './finding.ts';

const CHECK = 'account';
const CHAIN_TODO = 'Repair the endpoints of the chain first';
const UNKNOWN_CHANGE =
  'If you did not schedule it, the key of the owner is stolen: firmquote lp account close --yes on every chain';

interface AccountToCheck {
  account: Address;
  operator: Address | undefined;
  /** The configured mover; undefined: there is none, or it cannot be opened. */
  mover: Address | undefined;
  /** True when the LP moves inventory, by itself or by hand. */
  transfers: boolean;
  bridges: BridgeTransports;
  sections: readonly BridgeChain[];
  codeOn(chainId: number): Promise<Hex>;
}

/** No rows for a plain account that nobody moves. */
export async function checkLpAccount(
  chains: readonly EvmChain[],
  wanted: AccountToCheck,
): Promise<Finding[]> {
  const accounts = await Promise.all(
    chains.map(async (chain) => {
      const slug = chain.chain.slug;
      let state: LpAccountState | undefined;
      const failed = await attempt(
        CHECK,
        slug,
        async () => {
          state = await readLpAccount(chain, wanted.account);
          return [];
        },
        CHAIN_TODO,
      );
      return { chain, slug, state, failed };
    }),
  );
  if (accounts.every(({ state, failed }) => state === undefined && failed.length === 0))
    return wanted.transfers
      ? [
          failure(
            CHECK,
            'all chains',
            `transfers are on, and ${wanted.account} is a plain account, or not deployed: it has no mover`,
            'Move to an LpAccount (docs/lp/account.md), or set transfers.mode to "off"',
          ),
        ]
      : [];
  const rows = await Promise.all(
    accounts.map(async ({ chain, slug, state, failed }) => {
      if (failed.length > 0) return failed;
      if (state === undefined)
        return [
          failure(
            CHECK,
            slug,
            `${wanted.account} is an LpAccount on another chain, and not here`,
            `What a bridge sends here cannot be used until it is. Deploy it: firmquote lp account deploy --chain ${slug}`,
          ),
        ];
      return attempt(CHECK, slug, () => checkOne(chain, state, wanted), CHAIN_TODO);
    }),
  );
  return rows.flat();
}

async function checkOne(
  chain: EvmChain,
  state: LpAccountState,
  { account, operator, mover: configured, transfers, bridges, sections, codeOn }: AccountToCheck,
): Promise<Finding[]> {
  const { slug, id, escrow, quoteBond, tokens } = chain.chain;
  const now = chain.head()?.timestamp ?? 0;
  if (state.closed)
    return [
      failure(
        CHECK,
        slug,
        `the LpAccount ${account} is closed`,
        'It never trades again. Bring its money to the treasury (firmquote lp withdraw, firmquote lp account take), and use another account',
      ),
    ];
  if (state.escrow === null)
    return [
      failure(
        CHECK,
        slug,
        `the LpAccount ${account} is not set up`,
        'Its owner sets it up: firmquote lp account set --treasury ADDRESS',
      ),
    ];
  const rows: Finding[] = [];
  const warn = (found: string, todo: string) => rows.push(warning(CHECK, slug, found, todo));
  if (!hasBuild('LpAccount', await codeOn(id)))
    warn(
      `the code at ${account} is not that of LpAccount of this version`,
      'If another version of firmquote deployed it, compare its code with that version',
    );
  if (state.escrow !== escrow)
    rows.push(
      failure(
        CHECK,
        slug,
        `it belongs to the escrow ${state.escrow}, not to ${escrow}`,
        'This is for good. Correct networks, or use another account',
      ),
    );
  if (state.bond !== quoteBond)
    warn(
      `its bond contract is ${state.bond ?? 'none'}, not ${quoteBond ?? 'none'}`,
      'This is for good. Correct quoteBond in networks, or use another account',
    );
  if (state.treasury === null)
    warn('it has no treasury, so no money can leave it', 'firmquote lp account set --treasury ADDRESS');
  if (now < state.setupEndsAt)
    warn(
      `it is in its set-up until ${dateOf(state.setupEndsAt)}: nothing that its owner changes waits`,
      'firmquote lp account finish',
    );
  if (state.pendingOwner !== null)
    warn(`it is offered to another owner, ${state.pendingOwner}`, UNKNOWN_CHANGE);
  for (const [role, address] of [
    ['owner', state.owner],
    ['mover', state.mover],
  ] as const)
    if (operator !== undefined && address === operator)
      rows.push(
        failure(
          CHECK,
          slug,
          `the operator's key is also that of its ${role}`,
          'Whoever steals this key has the powers of both. Give each its own: firmquote keystore new FILE',
        ),
      );
  for (const { id: change, data, availableAt, lapsesAt } of await readWaitingChanges(chain, account, now))
    warn(
      `a change waits: ${describeAccountCall(data) ?? data}, from ${dateOf(availableAt)} until ${dateOf(lapsesAt)}`,
      `${UNKNOWN_CHANGE}. To call it off: firmquote lp account cancel ${change}`,
    );
  const { mover } = state;
  if (configured !== undefined && mover !== configured)
    rows.push(
      (transfers ? failure : warning)(
        CHECK,
        slug,
        `its mover is ${mover ?? 'nobody'}, and the key in keys.mover is ${configured}`,
        'firmquote lp account set --mover config, or correct keys.mover',
      ),
    );
  const routes = await Promise.all(
    routesFrom(id, bridges, sections).map(async (route) => ({
      ...route,
      now: await readRoute(chain, account, route),
    })),
  );
  for (const { name, via, feeBps, now: listed } of routes)
    if (mover !== null && (listed.via !== via || listed.feeBps < feeBps))
      warn(
        listed.via === via
          ? `the route ${name} allows a fee of ${listed.feeBps} bps, and the bridge is configured for ${feeBps}`
          : `the route ${name} is not listed, so its mover cannot use it`,
        'firmquote lp account set --routes',
      );
  const limits = await Promise.all(
    tokens.map(async (token) => ({ token, limit: await readMoverLimit(chain, account, token.address) })),
  );
  const moves = limits.flatMap(({ token, limit: { most, requested, sent } }) =>
    most === 0n
      ? []
      : [
          `${formatTokens(most, token)} a day (${formatTokens(requested, token)} requested and ${formatTokens(sent, token)} sent today)`,
        ],
  );
  if (transfers && moves.length === 0)
    warn(
      'transfers are on, and the mover may move nothing: no token has a limit',
      'firmquote lp account set --mover-limit TOKEN=AMOUNT',
    );
  const mobility =
    mover === null
      ? 'nobody moves its inventory'
      : `${mover} may move ${moves.join(', ') || 'nothing: no token has a limit'}`;
  return [ok(CHECK, slug, `LpAccount of ${state.owner}; ${mobility}`), ...rows];
}
