/**
 * What the rows of a backup must be told when they come back: time has passed, and what was done in it is not
 * among them.
 */

import type { Queryable } from '../../adapters/postgres/pool.ts';

/** Beyond any place that was given after the backup. */
const PLACES_APART = 1_000_000_000;

/**
 * Places of events that were given after the backup are in the hands of clients: what is placed from now on
 * must come after them, or a client that resumes would wait for places that it has passed. The last event is
 * moved there, and told once more. And nobody who held a lease then holds it now.
 */
export async function venueComesBack(session: Queryable): Promise<void> {
  await session.query(
    'update order_event set place = place + $1 where place = (select max(place) from order_event)',
    [PLACES_APART],
  );
  await session.query(
    `update trade_order set owner = null, lease_until = '-infinity', fence = fence + 1 where not final`,
  );
  await session.query(
    `update tx_signer set owner = 'restored', lease_until = '-infinity', fence = fence + 1`,
  );
}

/**
 * Signatures that were made after the backup may be alive: as after a crash, but up to now instead of up to
 * then. Holds of a clean stop are older than they look.
 */
export async function lpComesBack(
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
