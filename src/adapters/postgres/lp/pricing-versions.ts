/** Versions of the pricing parameters in PostgreSQL: a trigger makes their table append-only. */

import type { PricingVersion, PricingVersions } from '../../../ports/stores/pricing-versions.ts';
import type { Database } from '../pool.ts';
import { put, select } from '../rows.ts';

const COLUMNS = 'n, at_ms, who, note, parameters';

export function createPricingVersions(db: Database): PricingVersions {
  return {
    append: (version) =>
      put(db, 'lp_pricing_version', { ...version, parameters: JSON.stringify(version.parameters) }),
    newest: (limit) =>
      select<PricingVersion>(db, `select ${COLUMNS} from lp_pricing_version order by n desc limit $1`, [
        limit,
      ]),
    async find(n) {
      const text = `select ${COLUMNS} from lp_pricing_version where n = $1`;
      return (await select<PricingVersion>(db, text, [n]))[0];
    },
  };
}
