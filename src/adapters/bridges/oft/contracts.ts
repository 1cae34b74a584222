/** The calls, views, events and errors of OFTs and of LayerZero's endpoints that the bridge uses. */

import { parseAbi } from 'viem';

export const oftAbi = parseAbi([
  'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }',
  'struct OFTLimit { uint256 minAmountLD; uint256 maxAmountLD; }',
  'struct OFTFeeDetail { int256 feeAmountLD; string description; }',
  'struct OFTReceipt { uint256 amountSentLD; uint256 amountReceivedLD; }',
  'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
  // Of the token itself.
  'function decimals() view returns (uint8)',
  'function token() view returns (address)',
  'function endpoint() view returns (address)',
  'function sharedDecimals() view returns (uint8)',
  'function peers(uint32 eid) view returns (bytes32)',
  'function quoteOFT(SendParam sendParam) view returns (OFTLimit, OFTFeeDetail[], OFTReceipt)',
  'function quoteSend(SendParam sendParam, bool payInLzToken) view returns (MessagingFee)',
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD, uint256 amountReceivedLD)',
  'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD)',
]);
export const lzEndpointAbi = parseAbi([
  'struct Origin { uint32 srcEid; bytes32 sender; uint64 nonce; }',
  'function eid() view returns (uint32)',
  'function lazyInboundNonce(address receiver, uint32 srcEid, bytes32 sender) view returns (uint64)',
  'function inboundPayloadHash(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce) view returns (bytes32)',
  'function lzReceive(Origin origin, address receiver, bytes32 guid, bytes message, bytes extraData) payable',
  'event PacketSent(bytes encodedPayload, bytes options, address sendLibrary)',
  'error LZ_InvalidNonce(uint64 nonce)',
  'error LZ_PayloadHashNotFound(bytes32 expected, bytes32 actual)',
]);
/**
 * The function of an `LpAccount` that its mover calls. The recipient is the account itself on the other
 * chain.
 */
export const oftSenderAbi = parseAbi([
  'function sendByOft(address oft, uint32 eid, uint256 amount, uint256 leastReceived) payable',
]);
