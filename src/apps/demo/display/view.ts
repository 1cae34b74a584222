/** The demo's display: a refreshing page on a terminal, else plain lines. */

import { formatUnits } from '../../../domain/amount.ts';
import type { Manifest } from '../manifest.ts';
import { rosterOf, viewChain, type DemoWorld } from '../world.ts';

interface View {
  line(text: string): void;
  stop(): void;
}

const REFRESH_MS = 1_000;
const RECENT = 14;

export function header(manifest: Manifest, manifestPath: string): string[] {
  const { venue, chains, solvers } = manifest;
  return [
    `venue     ${venue.url}   API docs ${venue.url}/docs   events ${venue.wsUrl}`,
    `metrics   ${venue.metricsUrl}   ${solvers.map(({ metricsUrl }) => metricsUrl).join('   ')}`,
    `console   ${solvers.map(({ consoleUrl }) => consoleUrl).join('   ')}   token: venue.keys.admin in ${manifestPath}`,
    `          ${venue.consoleUrl}   keys: venue.keys.workspaceAdmin and venue.keys.service`,
    ...chains.map(({ slug, id, rpcUrl, escrow }) => `chain     ${slug} (${id})  ${rpcUrl}  escrow ${escrow}`),
    `to join   ${manifestPath} has keys, funded takers, tokens and addresses`,
  ];
}

export function plainView(): View {
  return {
    line: (text) => console.log(`${new Date().toISOString().slice(11, 19)}  ${text}`),
    stop: () => {},
  };
}

export function terminalView(world: DemoWorld, head: readonly string[]): View {
  const recent: string[] = [];
  let tables: string[] = ['(loading …)'];
  let stopped = false;

  async function refresh(): Promise<void> {
    const roster = await rosterOf(world.manifest).catch(() => undefined);
    const rows: string[] = [];
    for (const { id, account } of world.lps) {
      const entry = roster?.find((solver) => solver.id === id);
      const holdings = await Promise.all(world.manifest.chains.map((chain) => balances(chain.slug, account)));
      rows.push(
        `${id.padEnd(8)}${(entry?.status ?? 'unknown').padEnd(9)}${holdings.map((text) => text.padEnd(48)).join('')}${entry?.eligibilityNote ?? ''}`,
      );
    }
    tables = [
      `${'LP'.padEnd(8)}${'status'.padEnd(9)}${world.manifest.chains.map(({ slug }) => `inventory on ${slug}`.padEnd(48)).join('')}note`,
      ...rows,
    ];
  }

  async function balances(slug: string, account: string): Promise<string> {
    const view = viewChain(world.manifest, slug);
    const parts = await Promise.all(
      view.chain.tokens.map(
        async ({ symbol, decimals }) =>
          `${short(formatUnits(await view.ledger(account, symbol), decimals))} ${symbol}`,
      ),
    );
    return parts.join('  ');
  }

  function paint(): void {
    const width = process.stdout.columns || 160;
    const height = process.stdout.rows || 40;
    const top = [
      'firmquote demo: press Ctrl-C to stop it and remove its files',
      '',
      ...head,
      '',
      ...tables,
      '',
      'latest',
    ];
    const lines = [...top, ...recent.slice(-Math.max(3, Math.min(RECENT, height - top.length - 1)))];
    process.stdout.write(`\x1b[H${lines.map((line) => `${line.slice(0, width)}\x1b[K`).join('\n')}\n\x1b[J`);
  }

  const loop = async () => {
    while (!stopped) {
      await refresh().catch(() => {});
      if (!stopped) paint();
      await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
    }
  };
  process.stdout.write('\x1b[2J');
  void loop();
  return {
    line(text) {
      recent.push(`${new Date().toISOString().slice(11, 19)}  ${text}`);
      if (recent.length > 100) recent.shift();
      paint();
    },
    stop() {
      stopped = true;
      process.stdout.write('\n');
    },
  };
}

function short(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  return fraction === '' ? whole : `${whole}.${fraction.slice(0, 2)}`;
}
