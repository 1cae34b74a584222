/** Answers about state that decides over money: large amounts need several endpoints that agree. */

import type { Chain } from '../../../domain/chain.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { ChainViews, DecidingViews, EscrowStatus } from '../../../ports/chain.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Health } from '../rpc/health.ts';
import { type Agreed, createQuorum } from '../rpc/quorum.ts';
import type { ChainRpc } from '../rpc/rpc.ts';
import type { RpcBlock } from './block.ts';
import { quantity } from './find-block.ts';
import { createViewCaller } from './multicall.ts';
import { createViews } from './views.ts';

export interface QuorumOptions {
  /** Several endpoints must agree from this many whole USD on, or when the value is unknown. */
  aboveUsd: number;
  /** How many endpoints must agree; all of them where there are fewer. */
  agree: number;
}

export const QUORUM: QuorumOptions = { aboveUsd: 10_000, agree: 2 };

interface Witness extends ChainViews {
  blockHash(number: bigint): Promise<Hex | undefined>;
}

interface DecidingDeps {
  chain: Chain;
  rpc: ChainRpc;
  /** The views of any endpoint. */
  anyone: Witness;
  health: Health;
  log: Log;
  metrics: Metrics;
}

/** Chooses the views by the value in USD; undefined: it is unknown. */
type Deciding = (valueUsd: number | undefined) => DecidingViews;

export function createDeciding(
  { chain, rpc, anyone, health, log, metrics }: DecidingDeps,
  { aboveUsd, agree }: QuorumOptions,
): Deciding {
  const alone = decidingBy((_, read) => read(anyone));
  if (rpc.endpoints === 1) return () => alone;
  const together = decidingBy(
    createQuorum(
      {
        chain: chain.slug,
        witnesses: Array.from({ length: rpc.endpoints }, (_, index) => witness(rpc, chain, index)),
        hashOf: ({ blockHash }, number) => blockHash(number),
        ...{ health, log, metrics },
      },
      Math.min(agree, rpc.endpoints),
    ),
  );
  return (valueUsd) => (valueUsd !== undefined && valueUsd < aboveUsd ? alone : together);
}

function decidingBy(agreed: Agreed<Witness>): DecidingViews {
  return {
    orderStatus: (orderId, at) => agreed<EscrowStatus>(at, (each) => each.orderStatus(orderId, at)),
    fillRecord: (orderId, outputHash, at) => agreed(at, (each) => each.fillRecord(orderId, outputHash, at)),
    isProven: (oracle, remoteChainId, remoteOracle, application, payloadHash, at) =>
      agreed(at, (each) => each.isProven(oracle, remoteChainId, remoteOracle, application, payloadHash, at)),
    blockHash: (number, at) => agreed(at, (each) => each.blockHash(number)),
  };
}

/** Builds the views of one endpoint of the quorum. */
function witness(rpc: ChainRpc, chain: Chain, index: number): Witness {
  const only = rpc.only(index);
  return {
    ...createViews(chain, only, createViewCaller(only)),
    blockHash: async (number) =>
      (await only.request<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), false]))?.hash,
  };
}
