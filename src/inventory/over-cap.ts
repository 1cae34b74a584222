/**
 * Checks in this process whether a request would exceed a cap on live quotes. Replicas check the same claims
 * in Redis (`claimsOf`): the counters there sum over all replicas, and the check is atomic with the hold.
 */

import type { Decline } from '../domain/decline.ts';
import type { HoldRequest } from './event.ts';
import type { NonceGroup } from './hold.ts';
import {
  CAP_KINDS,
  capRefusal,
  claimed,
  type Limits,
  type Outstanding,
  type Scope,
  SCOPES,
} from './limits.ts';
import { countedAgainst } from './nonce-group.ts';

/**
 * The refusal of a request that would exceed a cap: of several, the one that leaves the least room.
 * `counters` are in the order of `SCOPES`. A nonce group counts once, with its largest hold, so a request
 * only adds what exceeds what its group counts already.
 */
export function overCap(
  request: HoldRequest,
  limits: Limits,
  counters: readonly Outstanding[],
  group: NonceGroup,
): Decline | undefined {
  let least: Decline | undefined;
  for (let at = 0; at < SCOPES.length; at++) {
    const scope = SCOPES[at] as Scope;
    const cap = limits[scope];
    if (cap === undefined) continue;
    const now = counters[at] as Outstanding;
    const own = countedAgainst(group, at, now);
    for (const what of CAP_KINDS) {
      const most = cap[what];
      if (most === undefined) continue;
      const counted = own === undefined ? 0n : what === 'count' ? 1n : own[what];
      const room = BigInt(most) - BigInt(now[what]) + counted;
      if (claimed(request, what) <= room) continue;
      const refusal = capRefusal(request, { scope, what, most }, room);
      if (least?.maxAmount === undefined || (refusal.maxAmount ?? 0n) < least.maxAmount) least = refusal;
    }
  }
  return least;
}
