/** The calls, views and events of Circle's CCTP V2 contracts that the bridge uses. */

import { parseAbi } from 'viem';

export const tokenMessengerAbi = parseAbi([
  'function localMinter() view returns (address)',
  'function minFee() view returns (uint256)',
  'function localMessageTransmitter() view returns (address)',
  'function messageBodyVersion() view returns (uint32)',
  'function remoteTokenMessengers(uint32 domain) view returns (bytes32)',
]);
export const tokenMinterAbi = parseAbi([
  'function burnLimitsPerMessage(address token) view returns (uint256)',
]);
export const messageTransmitterAbi = parseAbi([
  'event MessageSent(bytes message)',
  'event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)',
  'function receiveMessage(bytes message, bytes attestation) returns (bool success)',
  'function usedNonces(bytes32 nonce) view returns (uint256)',
  'function localDomain() view returns (uint32)',
  'function version() view returns (uint32)',
]);
