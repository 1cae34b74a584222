/**
 * Holds what the LP last read of one chain: its port, configuration, gas prices and the operator's balance.
 */

import type { Block, ChainPort } from '../../ports/chain.ts';
import type { LpChainConfig } from '../config/config.ts';

/** Wei that a rollup charges for one transaction of each kind beyond its gas; 0n on other chains. */
export interface ExtraFees {
  fill: bigint;
  prove: bigint;
  claim: bigint;
}

export interface ChainState {
  readonly port: ChainPort;
  config: LpChainConfig;
  /** Wei per unit of gas for a transaction mined soon; undefined until read. */
  weiPerGas: bigint | undefined;
  extraFees: ExtraFees | undefined;
  /** The operator's native balance in wei; undefined until read. */
  native: bigint | undefined;
}

/** The price symbol of what gas is paid in. */
export const gasPriceOf = ({ port, config }: Pick<ChainState, 'port' | 'config'>): string =>
  config.gasPrice ?? port.chain.native.symbol;

export const createChainState = ({ port, config }: Pick<ChainState, 'port' | 'config'>): ChainState => ({
  port,
  config,
  weiPerGas: undefined,
  extraFees: undefined,
  native: undefined,
});

export interface ChainSight {
  head: Block | undefined;
  headSeenAtMs: number;
  weiPerGas: bigint | undefined;
}
