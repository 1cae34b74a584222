/** Opens a venue's database for one command. */

import { userInfo } from 'node:os';
import type * as z from 'zod';
import { createAdminStore } from '../../../adapters/postgres/venue/admin-store.ts';
import { systemClock } from '../../../adapters/system/clock.ts';
import { systemRandom } from '../../../adapters/system/random.ts';
import type { Log } from '../../../ports/log.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { type Admin, createAdmin } from '../../../venue/admin/admin.ts';
import type { SecretContext } from '../../wiring/keys.ts';
import { withChain } from '../../wiring/networks.ts';
import type { VenueConfig } from '../../venue/config.ts';
import { withVenueDatabase } from './venue-database.ts';
import { badRequest } from '../../wiring/bad-request.ts';

export interface AdminOptions {
  config: string;
  json?: boolean;
}

interface AdminDoor {
  admin: Admin;
  records: Pick<VenueStore, 'travelRulesIn' | 'retryTravelRule'>;
  who: string;
}

export const withAdmin = (file: string, work: (door: AdminDoor) => Promise<void>): Promise<void> =>
  withVenueDatabase(file, ({ db, venue, config, log, secrets }) =>
    work({
      admin: createAdmin({
        store: createAdminStore(db),
        venue,
        clock: systemClock,
        random: systemRandom,
        feeCaps: () => readFeeCaps(config, log, secrets),
      }),
      records: venue,
      who: `cli:${userInfo().username}`,
    }),
  );

function readFeeCaps(
  { chains }: VenueConfig,
  log: Log,
  secrets: SecretContext,
): Promise<{ slug: string; maxFeeBps: number }[]> {
  return Promise.all(
    chains.map((section) =>
      withChain(section, { log, secrets }, async (chain) => ({
        slug: section.slug,
        maxFeeBps: await chain.maxFeeBps(),
      })),
    ),
  );
}

export function readInput<S extends z.ZodType>(
  schema: S,
  typed: object,
  options: Readonly<Record<string, string>>,
): z.output<S> {
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined));
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const lines = read.error.issues.map(
    ({ path, message }) =>
      `${options[path.join('.')] ?? options[String(path[0])] ?? (path.join('.') || 'input')}: ${message}`,
  );
  throw badRequest(lines.join('\n'));
}
