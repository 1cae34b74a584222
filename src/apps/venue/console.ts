/** Serves what the workspace console needs before anybody gives it a key: the chains of the venue. */

import { join } from 'node:path';
import type { ConsolePages } from '../../adapters/http/server.ts';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import type { Chain } from '../../domain/chain.ts';
import type { VenueConfig } from './config.ts';

export interface ConsoleChain extends Pick<
  Chain,
  'id' | 'slug' | 'sandbox' | 'escrow' | 'oracle' | 'permit2'
> {
  quoteBond: string | null;
  tokens: { address: string; symbol: string; decimals: number }[];
  explorer: string | null;
  rpcUrl: string | null;
}

/** The answer of /console/setup.json. */
export interface ConsoleSetup {
  venueId: string;
  chains: ConsoleChain[];
}

export function consolePages(
  { http, venueId, chains: sections }: Pick<VenueConfig, 'http' | 'venueId' | 'chains'>,
  chains: readonly { chain: Chain }[],
): ConsolePages | undefined {
  if (http.console === null) return undefined;
  const { rpcUrls } = http.console;
  const setup: ConsoleSetup = {
    venueId,
    chains: chains.map(({ chain: { id, slug, sandbox, escrow, oracle, permit2, quoteBond, tokens } }) => ({
      ...{ id, slug, sandbox, escrow, oracle, permit2, quoteBond: quoteBond ?? null },
      tokens: tokens.map(({ address, symbol, decimals }) => ({ address, symbol, decimals })),
      explorer: sections.find((section) => section.id === id)?.explorer ?? null,
      rpcUrl: rpcUrls[String(id)] ?? null,
    })),
  };
  return {
    folder: join(PACKAGE_FOLDER, 'dist', 'console'),
    page: 'workspace.html',
    wasm: true,
    connect: [...new Set(Object.values(rpcUrls).map((url) => new URL(url).origin))],
    setup,
  };
}
