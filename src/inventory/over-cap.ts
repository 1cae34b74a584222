/** Checks whether a request would exceed a cap on live quotes. */

import type { Control, Decline } from '../domain/decline.ts';
import type { HoldRequest } from './event.ts';
import type { NonceGroup } from './hold.ts';
import { CAP_CONTROLS, type Limits, type Outstanding, type Scope, SCOPES, within } from './limits.ts';
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
  const gapLoss = request.gapLoss ?? 0n;
  const tighter = (maxAmount: bigint, control: Control, detail: string) => {
    if (least?.maxAmount === undefined || maxAmount < least.maxAmount)
      least = { declined: 'limit', control, detail, maxAmount };
  };
  for (let at = 0; at < SCOPES.length; at++) {
    const scope = SCOPES[at] as Scope;
    const cap = limits[scope];
    if (cap === undefined) continue;
    const now = counters[at] as Outstanding;
    const own = countedAgainst(group, at, now);
    if (cap.count !== undefined && now.count + (own === undefined ? 1 : 0) > cap.count)
      tighter(0n, CAP_CONTROLS[scope], `${scope}: ${cap.count} live quotes`);
    if (cap.notional !== undefined) {
      const headroom = cap.notional - now.notional + (own?.notional ?? 0n);
      if (request.notional > headroom)
        tighter(
          within(request.amount, headroom, request.notional),
          CAP_CONTROLS[scope],
          `${scope}: notional`,
        );
    }
    if (cap.gapLoss !== undefined) {
      const headroom = cap.gapLoss - now.gapLoss + (own?.gapLoss ?? 0n);
      if (gapLoss > headroom)
        tighter(within(request.amount, headroom, gapLoss), 'gap_loss', `${scope}: loss by a jump`);
    }
  }
  return least;
}
