/**
 * A bench's LP as its file would have it, and what reading that file again takes: written, read, checked,
 * compared, made, written down.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLpAudit } from '../src/adapters/postgres/lp/audit-log.ts';
import type { Database } from '../src/adapters/postgres/pool.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { loadConfig } from '../src/apps/config/load.ts';
import { zLpAppConfig } from '../src/apps/lp/config.ts';
import { openOperatorLog } from '../src/apps/lp/operator-log.ts';
import { createReloader, type ReloaderDeps } from '../src/apps/lp/reload.ts';
import type { Log } from '../src/ports/log.ts';
import type { BenchLp } from './quotes-lp.ts';

const FEED = 'constant';

/** What an operator would have to write for such an LP. */
function fileOf({ chain, rpcUrl, venueUrl, feed, config }: BenchLp): object {
  const {
    id,
    slug,
    escrow,
    oracle,
    permit2,
    tokens,
    depth,
    blockTimeMs,
    landingMarginSeconds,
    proofWindowSeconds,
  } = chain;
  return {
    app: 'lp',
    keys: { operator: { env: 'OPERATOR_KEY', development: true } },
    venues: [{ name: 'bench', url: venueUrl, apiKey: { env: 'VENUE_KEY' } }],
    networks: [
      {
        id,
        slug,
        escrow,
        oracle,
        permit2,
        depth,
        blockTimeMs,
        landingMarginSeconds,
        proofWindowSeconds,
        tokens,
        rpcUrls: [rpcUrl],
      },
    ],
    feeds: { [FEED]: { kind: 'constant', prices: feed } },
    lp: config,
  };
}

export interface LpFile {
  /** One pair's least spread changes, to and fro. Throws when that was not applied. */
  reload(): Promise<void>;
  remove(): void;
}

/** Around a node that runs on `options.config`. */
export async function openLpFile(
  { db, log, ...deps }: Pick<ReloaderDeps, 'node' | 'metrics'> & { db: Database; log: Log },
  options: BenchLp,
): Promise<LpFile> {
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-bench-'));
  const file = join(folder, 'lp.json');
  writeFileSync(file, JSON.stringify(fileOf(options)));
  const read = () => loadConfig(zLpAppConfig, file, {});
  const { config: running } = await read();
  const [first, ...others] = running.lp.pairs;
  const texts = [1, 0].map((more) => {
    const pairs = [{ ...first, params: { ...first?.params, minSpreadBps: 2 + more } }, ...others];
    return JSON.stringify(fileOf({ ...options, config: { ...options.config, pairs } }));
  });
  const operatorLog = await openOperatorLog({ audit: createLpAudit(db), clock: systemClock, log });
  const reloader = createReloader({ ...deps, log: operatorLog, file, read }, running);
  let reloads = 0;
  return {
    async reload() {
      await writeFile(file, texts[reloads++ % 2] as string);
      const { applied, reasons, changes } = await reloader.reload('bench');
      if (!applied || changes.length > 1)
        throw new Error(`The reload was to change one pair: ${reasons.join(' ')} ${JSON.stringify(changes)}`);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
