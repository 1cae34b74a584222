/** Screeners and the travel-rule courier. */

import { createOutbound, type Outbound } from '../../adapters/outbound/request.ts';
import { createDenyList } from '../../adapters/screening/deny-list.ts';
import { createProvider } from '../../adapters/screening/provider.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { createFileTransmitter } from '../../adapters/travel-rule/file.ts';
import { createHttpTransmitter } from '../../adapters/travel-rule/http.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Screener } from '../../ports/screening.ts';
import type { Transmitter } from '../../ports/stores/travel-rule.ts';
import { expand, type SecretContext } from '../wiring/keys.ts';
import type { Life } from '../wiring/process.ts';
import type { VenueConfig } from './config.ts';

interface RecordTools {
  life: Life;
  log: Log;
  metrics: Metrics;
  secrets: SecretContext;
}

export function openOutbound(
  { outbound }: Pick<VenueConfig, 'outbound'>,
  { life }: Pick<RecordTools, 'life'>,
): Outbound {
  const opened = createOutbound(outbound);
  life.onStop('outbound requests', () => opened.close());
  return opened;
}

/** The deny list comes first, because it answers from memory. SIGHUP reads it again. */
export async function openScreeners(
  { screening: { denyListFile, provider } }: Pick<VenueConfig, 'screening'>,
  outbound: Outbound,
  { life, log, metrics, secrets }: RecordTools,
): Promise<Screener[]> {
  const screeners: Screener[] = [];
  if (denyListFile !== null) {
    const list = createDenyList({ clock: systemClock, log, metrics }, { path: denyListFile });
    await list.start();
    const reload = () => void list.reload();
    process.on('SIGHUP', reload);
    life.onStop('deny list', () => {
      process.off('SIGHUP', reload);
      list.stop();
    });
    log.info(
      { path: denyListFile, version: list.version() },
      'takers and receivers are screened by a deny list',
    );
    screeners.push(list);
  }
  if (provider.url !== null) {
    const { url, headers, deniedPath, deniedEquals, ...rest } = provider;
    const options = {
      ...rest,
      url: expand(url, secrets),
      headers: expandAll(headers, secrets),
      denied: {
        path: deniedPath,
        when: deniedEquals === null ? ('nonEmpty' as const) : { equals: deniedEquals },
      },
    };
    screeners.push(createProvider({ outbound, clock: systemClock, log, metrics }, options));
    log.info(
      { provider: provider.name, onFailure: provider.onFailure },
      'takers and receivers are screened by a service',
    );
  }
  return screeners;
}

export function openTransmitter(
  { travelRule: { file, url, headers, timeoutMs } }: Pick<VenueConfig, 'travelRule'>,
  outbound: Outbound,
  secrets: SecretContext,
): Transmitter | undefined {
  if (url !== null)
    return createHttpTransmitter(
      { outbound },
      { url: expand(url, secrets), headers: expandAll(headers, secrets), timeoutMs },
    );
  return file === null ? undefined : createFileTransmitter({ path: file });
}

const expandAll = (headers: Record<string, string>, secrets: SecretContext): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, expand(value, secrets)]));
