/** Finds the packet that a transaction of the source chain sent for a transfer. */

import { addressToBytes32, type Hex } from '../../../domain/hex.ts';
import type { BridgeMove } from '../../../ports/bridge.ts';
import type { Receipt } from '../../../ports/chain.ts';
import { eventsOf } from '../../evm/chain/event-logs.ts';
import type { Ends } from '../message-bridge.ts';
import { lzEndpointAbi, oftAbi } from './contracts.ts';
import { decodePacket, type OftPacket, transferMessage } from './packet.ts';
import { type OftOptions, type OftPlace, messageUnit } from './place.ts';

interface SentPacket {
  packet: OftPacket;
  /** The bytes of the packet. */
  encoded: Hex;
  /** Base units of the source token that the packet is worth. */
  received: bigint;
  receipt: Receipt;
}

/** `unknown`: no node shows the transaction. undefined: it sent nothing for this move. */
export async function findSent(
  { sharedDecimals }: Pick<OftOptions, 'sharedDecimals'>,
  { account, amount }: BridgeMove,
  { source, destination }: Ends<OftPlace>,
  txHash: Hex,
): Promise<SentPacket | 'unknown' | undefined> {
  const [receipt, withPackets] = await Promise.all([
    source.chain.receipt(txHash, source.oft),
    source.chain.receipt(txHash, source.endpoint),
  ]);
  if (!receipt || !withPackets) return 'unknown';
  if (receipt.status !== 'success') return undefined;
  const sends = eventsOf(receipt.logs ?? [], oftAbi, 'OFTSent').filter(
    ({ fromAddress, dstEid, amountSentLD }) =>
      fromAddress.toLowerCase() === account && dstEid === destination.eid && amountSentLD === amount,
  );
  for (const { guid, amountReceivedLD } of sends) {
    const message = transferMessage(account, amountReceivedLD / messageUnit(source, sharedDecimals));
    for (const { encodedPayload } of eventsOf(withPackets.logs ?? [], lzEndpointAbi, 'PacketSent')) {
      const packet = decodePacket(encodedPayload);
      if (
        packet?.guid === guid &&
        packet.message === message &&
        packet.receiver === addressToBytes32(destination.oft)
      )
        return { packet, encoded: encodedPayload, received: amountReceivedLD, receipt };
    }
  }
  return undefined;
}
