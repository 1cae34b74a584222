/**
 * An OFT of LayerZero V2 as a bridge, such as USDT0: burned or locked on the source, verified by the OFT's
 * verifiers, minted or unlocked on the destination. LayerZero's executor delivers, as a rule; what it leaves
 * behind, anyone delivers.
 */

import { encodeFunctionData } from 'viem';
import { divUp } from '../../../domain/amount.ts';
import type { Bridge } from '../../../ports/bridge.ts';
import { createPlaces, orUnavailable, transactionUnknown } from '../message-bridge.ts';
import { oftSenderAbi } from './contracts.ts';
import { estimateOft } from './estimate.ts';
import { followOft } from './follow.ts';
import { type OftOptions, toDestination, messageUnit } from './place.ts';
import { findSent } from './sent.ts';

export function createOftBridge(options: OftOptions): Bridge {
  const { asset, places, sharedDecimals } = options;
  const id = `oft-${asset.toLowerCase()}`;
  const { serves, endsOf } = createPlaces(places, `The OFT ${asset}`);
  return {
    id,
    name: `LayerZero OFT ${asset}`,
    serves,
    estimate: async (move) => orUnavailable(estimateOft(options, move, endsOf(move))),
    send(move, { leastReceived, nativeFee }) {
      const { source, destination } = endsOf(move);
      const least =
        divUp(leastReceived, messageUnit(destination, sharedDecimals)) * messageUnit(source, sharedDecimals);
      return {
        to: move.account,
        data: encodeFunctionData({
          abi: oftSenderAbi,
          functionName: 'sendByOft',
          args: [source.oft, destination.eid, move.amount, least],
        }),
        value: nativeFee,
      };
    },
    async sent(move, _, txHash) {
      const ends = endsOf(move);
      const found = await findSent(options, move, ends, txHash);
      if (found === 'unknown') throw transactionUnknown(ends.source.chain, txHash);
      return (
        found && {
          bridge: id,
          move,
          leastReceived: toDestination(found.received, ends, sharedDecimals),
          txHash,
          reference: found.packet.guid,
          message: found.encoded,
        }
      );
    },
    follow: async (transfer) => followOft(options, transfer, endsOf(transfer.move)),
  };
}
