/** Keeps each version of the pricing parameters that was in force, with who changed them and how. */

import { isDeepStrictEqual } from 'node:util';
import { RequestError } from '../../../domain/errors.ts';
import { changesBetween } from '../../../lp/config/reload.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { PricingVersion, PricingVersions } from '../../../ports/stores/pricing-versions.ts';

export interface VersionView extends Pick<PricingVersion, 'n' | 'atMs' | 'who' | 'note'> {
  /** The changes from the version before it. */
  changes: { path: string; from: string; to: string }[];
  /** True for the parameters in force. */
  current: boolean;
}

export interface PricingHistory {
  /**
   * Adds a version where the parameters are not those of the newest one. A failed write is logged: the next
   * start or reload adds what is missing.
   */
  note(who: string, note: string | null, parameters: PricingVersion['parameters']): Promise<void>;
  /** Lists the versions, the newest first. */
  list(): Promise<VersionView[]>;
  /** Throws `RequestError`. */
  parametersOf(n: number): Promise<PricingVersion['parameters']>;
}

const MOST_SHOWN = 50;

export function createPricingHistory({
  store,
  clock,
  log,
}: {
  store: PricingVersions;
  clock: Clock;
  log: Log;
}): PricingHistory {
  let written: Promise<void> = Promise.resolve();

  async function write(version: Omit<PricingVersion, 'n'>): Promise<void> {
    const [newest] = await store.newest(1);
    if (!isDeepStrictEqual(newest?.parameters, version.parameters)) await store.append(version);
  }

  return {
    note(who, note, parameters) {
      const version = { atMs: clock.nowMs(), who, note, parameters };
      return (written = written.then(() =>
        write(version).catch((error: unknown) =>
          log.error({ err: error, who }, 'a version of the pricing parameters could not be stored'),
        ),
      ));
    },
    async list() {
      await written;
      const versions = await store.newest(MOST_SHOWN + 1);
      return versions
        .slice(0, MOST_SHOWN)
        .map(({ parameters, ...version }, index) => ({
          ...version,
          current: index === 0,
          changes: changesBetween(versions[index + 1]?.parameters ?? parameters, parameters).map(
            ({ path, from, to }) => ({ path: path.join('.'), from: textOf(from), to: textOf(to) }),
          ),
        }));
    },
    async parametersOf(n) {
      const version = await store.find(n);
      if (version !== undefined) return version.parameters;
      throw new RequestError(`There is no version ${n} of the pricing parameters.`, {
        code: 'unknown_version',
      });
    },
  };
}

const textOf = (value: unknown): string => (value === undefined ? '-' : JSON.stringify(value));
