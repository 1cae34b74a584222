/** Decides when a partner is open, by the openings in its terms. */

import type { Closed } from '../../domain/decline.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { PartnerWindow } from '../../protocol/partner/messages.ts';

/**
 * The opening of now in which something is still valid at `firmFrom`, or when the next one begins. null: the
 * partner is always open.
 */
export function hoursAt(
  hours: readonly PartnerWindow[] | null,
  now: UnixSeconds,
  firmFrom: UnixSeconds,
): PartnerWindow | Closed | null {
  if (hours === null) return null;
  const open = hours.find(({ from, cutOff }) => from <= now && firmFrom <= cutOff);
  if (open) return open;
  const opensAt = hours.map(({ from }) => from).filter((from) => from > now);
  return { declined: 'closed', opensAt: opensAt.length === 0 ? null : Math.min(...opensAt) };
}
