/** Checks that a Prometheus has the alert rules of this version. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loginHeader } from '../../adapters/outbound/login.ts';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import { attempt, failure, ok, type Finding, warning } from './finding.ts';

const CHECK = 'alerts';
const URL_TODO =
  'Check --prometheus: the address of its web page, with user and password if it asks for them';
const RULES = join(PACKAGE_FOLDER, 'ops', 'rules.yml');

interface Loaded {
  name: string;
  type: string;
  health: string;
  lastError?: string;
}

export function checkAlerts(prometheus: string | undefined): Promise<Finding[]> {
  if (prometheus === undefined)
    return Promise.resolve([
      warning(
        CHECK,
        'Prometheus',
        'nobody was asked',
        'Give --prometheus URL to check that the alerts are loaded',
      ),
    ]);
  return attempt(
    CHECK,
    'Prometheus',
    async () => {
      if (!existsSync(RULES))
        return warning(
          CHECK,
          'Prometheus',
          `${RULES} does not exist`,
          'Compare with the rules of the release',
        );
      const rules = readFileSync(RULES, 'utf8').matchAll(/^\s+- alert: (\S+)$/gm);
      const wanted = [...rules].map(([, name]) => name ?? '');
      const { host, response } = await askRules(prometheus);
      if (response?.status !== 200)
        return failure(
          CHECK,
          'Prometheus',
          `${host} ${response === undefined ? 'does not answer' : `answers ${response.status}`}`,
          URL_TODO,
        );
      const { data } = (await response.json()) as { data: { groups: { rules: Loaded[] }[] } };
      const loaded = data.groups.flatMap(({ rules }) => rules);
      const missing = wanted.filter((name) => !loaded.some((rule) => rule.name === name));
      const broken = loaded.filter(({ name, health }) => wanted.includes(name) && health === 'err');
      if (missing.length > 0)
        return failure(
          CHECK,
          'Prometheus',
          `${missing.length} of ${wanted.length} rules are not loaded: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ' …' : ''}`,
          'Name ops/rules.yml in rule_files, and reload Prometheus',
        );
      if (broken.length > 0)
        return failure(
          CHECK,
          'Prometheus',
          `cannot evaluate ${broken.map(({ name, lastError }) => `${name} (${lastError ?? 'unknown'})`).join(', ')}`,
          'Load ops/rules.yml of the version that runs',
        );
      return ok(CHECK, 'Prometheus', `${wanted.length} rules loaded`);
    },
    URL_TODO,
  );
}

/** Sends a login that the URL holds as a header: errors of fetch quote the URL. undefined: no answer. */
async function askRules(prometheus: string): Promise<{ host: string; response: Response | undefined }> {
  const url = new URL('/api/v1/rules?type=alert', prometheus);
  const headers = loginHeader(url);
  [url.username, url.password] = ['', ''];
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  return { host: url.host, response };
}
