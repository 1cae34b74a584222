/**
 * Maps an address to the client it stands for. Every limit by address counts by it, for requests and sockets
 * alike: otherwise another port, spelling or address of the same network would be a client of its own.
 */

import ipaddr from 'ipaddr.js';

/** Providers give a customer a network of this size or larger, so its addresses are one client. */
const IPV6_CLIENT_BITS = 64;

/** Reads an address of `X-Forwarded-For` or of a socket, without port, brackets and zone. */
export function bareAddress(text: string): string {
  const trimmed = text.trim();
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1];
  const withoutPort = bracketed ?? trimmed.replace(/^([^:]+):\d+$/, '$1');
  return withoutPort.replace(/%.*$/, '');
}

/** IPv4 as it is, also where it is written as IPv6; IPv6 as its /64; other text as it is. */
export function clientOf(address: string): string {
  const bare = bareAddress(address);
  if (!ipaddr.isValid(bare)) return bare;
  const parsed = ipaddr.process(bare);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_CLIENT_BITS}`);
  return `${network.toString()}/${IPV6_CLIENT_BITS}`;
}
