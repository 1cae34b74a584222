/** Finds why a chain is not quoted: it is late or unhealthy, or its operator lacks gas. */

import { formatTokens, parseUnits } from '../../domain/amount.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { LpConfig } from '../config/config.ts';
import type { ChainState } from '../routes/chain-state.ts';
import type { StandbyReason } from './standby-reason.ts';

/** Three missing blocks, at least this long, because a node may report late. */
const LATE_BLOCKS = 3;
const MIN_MAX_HEAD_AGE_MS = 5_000;

/**
 * Returns why nothing is quoted on this chain. `readUpTo`: the time of its last block that the ledger has
 * read.
 */
export function chainReason(
  chainId: number,
  state: ChainState | undefined,
  nowMs: number,
  readUpTo: UnixSeconds,
): StandbyReason | undefined {
  const head = state?.port.head();
  if (state === undefined || head === undefined)
    return { kind: 'lag', note: `chain ${chainId} has not been seen yet` };
  const healthIssue = state.port.healthIssue();
  if (healthIssue !== undefined) return healthIssue;
  const { slug, blockTimeMs } = state.port.chain;
  const maxHeadAgeMs = state.config.maxHeadAgeMs ?? Math.max(LATE_BLOCKS * blockTimeMs, MIN_MAX_HEAD_AGE_MS);
  const ageMs = Math.max(nowMs - state.port.headSeenAtMs(), nowMs - head.timestamp * 1000);
  if (ageMs > maxHeadAgeMs)
    return { kind: 'lag', note: `${slug}: newest block is ${Math.round(ageMs / 1000)} s old` };
  if ((head.timestamp - readUpTo) * 1000 > maxHeadAgeMs)
    return { kind: 'lag', note: `${slug}: its events are not read up to date` };
  return undefined;
}

/** Trades that the operator's balance must pay for, unless the configuration names an amount. */
const TRADES_IN_RESERVE = 5n;

/** The least balance of the operator, in wei; undefined until the price of gas is known. */
export function leastGas(
  { config, weiPerGas, extraFees }: ChainState,
  { fill, prove, claim }: LpConfig['quoting']['gasUnits'],
): bigint | undefined {
  if (config.minGas !== null) return parseUnits(config.minGas, 18);
  if (weiPerGas === undefined || extraFees === undefined) return undefined;
  const trade = weiPerGas * BigInt(fill + prove + claim) + extraFees.fill + extraFees.prove + extraFees.claim;
  return TRADES_IN_RESERVE * trade;
}

export const gasText = ({ port }: ChainState, wei: bigint): string =>
  formatTokens(wei, { decimals: 18, symbol: port.chain.native.symbol });
