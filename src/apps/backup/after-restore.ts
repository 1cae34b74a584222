/** Changes restored rows for the time that has passed since the backup. */

import type { Queryable } from '../../adapters/postgres/pool.ts';

/** Larger than any number of events between backup and restore. */
const CURSOR_GAP = 1_000_000_000;

/**
 * Clients hold event cursors from after the backup, so new events must get larger ones; otherwise a resuming
 * client would wait for cursors it has already passed. The last event moves up and is sent once more. Leases
 * from before the backup are void.
 */
export async function markVenueRestored(session: Queryable): Promise<void> {
  await session.query(
    'update order_event set place = place + $1 where place = (select max(place) from order_event)',
    [CURSOR_GAP],
  );
  await session.query(
    `update trade_order set owner = null, lease_until = '-infinity', fence = fence + 1 where not final`,
  );
  await session.query(
    `update tx_signer set owner = 'restored', lease_until = '-infinity', fence = fence + 1`,
  );
}

/**
 * Signatures made after the backup may still be valid. Treats the LP as crashed now: nothing is signed until
 * they have expired.
 */
export async function markLpRestored(
  session: Queryable,
  { chainIds, signedUpTo }: { chainIds: readonly number[]; signedUpTo: number },
): Promise<void> {
  await session.query('update lp_owner set clean = null, epoch = epoch + 1');
  for (const chainId of chainIds) {
    await session.query(
      'insert into lp_lease (chain_id, signed_up_to, clean) values ($1, $2, false) on conflict (chain_id) do update set signed_up_to = greatest(lp_lease.signed_up_to, excluded.signed_up_to), clean = false',
      [chainId, signedUpTo],
    );
  }
  await session.query(
    `update tx_signer set owner = 'restored', lease_until = '-infinity', fence = fence + 1`,
  );
}
