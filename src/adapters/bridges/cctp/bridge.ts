/**
 * Circle's CCTP V2 as a bridge for native USDC: burned on the source, attested by Circle, minted on the
 * destination. A fast transfer is attested before the burn is final, for a fee; a standard one after that.
 */

import type { Bridge } from '../../../ports/bridge.ts';
import { moverCall } from '../../../settlement/lp-account.ts';
import { createPlaces, orUnavailable } from '../message-bridge.ts';
import { findBurn } from './burn.ts';
import { estimateCctp, FINALITY } from './estimate.ts';
import { followCctp, type CctpDeps, type CctpState } from './follow.ts';
import type { CctpOptions } from './place.ts';

const ID = 'cctp';

export function createCctpBridge(deps: CctpDeps, options: CctpOptions): Bridge {
  const state: CctpState = { askedAgainMs: new Map() };
  const { serves, endsOf } = createPlaces(options.places, 'CCTP');
  return {
    id: ID,
    name: 'Circle CCTP',
    serves,
    estimate: async (move) => orUnavailable(estimateCctp(deps.attestations, options, move, endsOf(move))),
    send(move, { leastReceived, mode }) {
      const { destination } = endsOf(move);
      return {
        to: move.account,
        data: moverCall.sendByCctp({
          token: move.from.token,
          domain: destination.domain,
          amount: move.amount,
          maxFee: move.amount - leastReceived,
          minFinality: mode === 'fast' ? FINALITY.fast : FINALITY.standard,
        }),
        value: 0n,
      };
    },
    async sent(move, _, txHash) {
      const found = await findBurn(move, endsOf(move), txHash);
      return (
        found && {
          bridge: ID,
          move,
          leastReceived: found.burn.amount - found.burn.maxFee,
          txHash,
          // Circle finds a transfer by its transaction: the nonce comes later.
          reference: txHash,
          message: found.message,
        }
      );
    },
    follow: async (transfer) => followCctp(deps, state, transfer, endsOf(transfer.move)),
  };
}
