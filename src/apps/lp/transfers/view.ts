/** A transfer as the operator reads it, with names for its chains and whole tokens. */

import { formatUnits } from '../../../domain/amount.ts';
import type { BridgeMove } from '../../../ports/bridge.ts';
import type { StoredTransfer } from '../../../ports/stores/transfers.ts';
import { foldTransfer, placeOfTransfer, type TransferStage } from '../../../settlement/transfer.ts';
import type { LpAppConfig } from '../config.ts';
import type { Moves } from './moves.ts';

/** Amounts are whole tokens. */
export interface TransferView extends Pick<
  StoredTransfer,
  'id' | 'bridge' | 'reason' | 'createdAtMs' | 'facts' | 'estimate'
> {
  stage: TransferStage;
  isOver: boolean;
  asset: string;
  from: string;
  to: string;
  planned: string;
  /** The amount as it counts at its present place. */
  amount: string;
  /** Names the place where the money is. */
  where: string;
  waits: Wait | null;
}

interface Wait {
  detail: string;
  sinceMs: number;
}

export interface TransferHistory {
  mode: LpAppConfig['transfers']['mode'];
  /** The transfers, newest first. */
  transfers: TransferView[];
}

export const WHERE: Record<TransferStage, string> = {
  planned: 'the money is in the ledger of the source, kept back from quotes',
  requested: 'the money is in the ledger of the source, requested for withdrawal and kept back from quotes',
  withdrawn: 'the money lies on the account of the source chain, where nothing quotes it',
  burned: 'the money is in the bridge',
  attested: 'the money is in the bridge, and can be delivered',
  minted: 'the money lies on the account of the destination chain, where nothing quotes it',
  refused:
    'the bridge refused, and the money lies on the account of the source chain, where nothing quotes it',
  deposited: 'the money is in the ledger of the destination',
  abandoned: 'the money is in the ledger of the source',
};

export function transferView(
  { id, bridge, move, reason, createdAtMs, estimate, facts }: StoredTransfer,
  { moves, waits }: { moves: Moves; waits: Wait | undefined },
): TransferView {
  const state = foldTransfer(move.amount, facts);
  const decimalsOf = (place: BridgeMove['from']) => moves.tokenAt(place)?.decimals ?? 0;
  return {
    ...{ id, bridge, reason, createdAtMs, stage: state.stage, isOver: state.isFinal, facts },
    asset: moves.tokenAt(move.from)?.symbol ?? move.from.token,
    from: moves.slugOf(move.from.chainId),
    to: moves.slugOf(move.to.chainId),
    planned: formatUnits(move.amount, decimalsOf(move.from)),
    amount: formatUnits(state.amount, decimalsOf(placeOfTransfer(move, state))),
    where: WHERE[state.stage],
    estimate,
    waits: waits ?? null,
  };
}
