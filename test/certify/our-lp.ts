/** `firmquote lp` as a process, set up for the chains of a certification. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import type { CertifyDevnet, SolverKeys } from '../../src/apps/certify/devnet.ts';
import { createPart, type Part } from '../faults/support/process.ts';
import { PROGRAM } from '../support/build.ts';
import { startServer } from '../support/postgres.ts';
import { UNLIMITED } from '../support/unlimited.ts';

const FIELDS = [
  'id',
  'slug',
  'sandbox',
  'escrow',
  'oracle',
  'permit2',
  'depth',
  'blockTimeMs',
  'landingMarginSeconds',
  'proofWindowSeconds',
  'tokens',
] as const;

export interface OurLp {
  /** Connects to this venue. */
  start(url: string): Promise<void>;
  stop(): Promise<void>;
}

export async function prepareOurLp(
  { world }: CertifyDevnet,
  { owner, operator }: SolverKeys,
  { folder, key, solverId }: { folder: string; key: string; solverId: string },
): Promise<OurLp> {
  const dataDir = join(folder, 'lp');
  await mkdir(dataDir);
  const postgres = await startServer();
  const [url, ops, admin] = [await postgres.database('lp'), await freePort(), await freePort()];
  let part: Part | undefined;
  return {
    async start(venueUrl) {
      const file = join(dataDir, 'lp.json');
      await writeFile(
        file,
        JSON.stringify({
          app: 'lp',
          ops: { port: ops },
          admin: { port: admin, tokenFile: null },
          database: { url, maxConnections: 5 },
          keys: { operator: { env: 'OPERATOR', development: true } },
          venues: [{ name: 'certify', url: venueUrl, apiKey: { env: 'VENUE_KEY' } }],
          networks: world.chains.map(({ chain, rpcUrl }) => ({
            ...Object.fromEntries(FIELDS.map((field) => [field, chain[field]])),
            rpcUrls: [rpcUrl],
            maxClockSkewMs: 3_600_000,
          })),
          lp: {
            solver: { id: solverId, name: 'Ours' },
            chains: world.chains.map(({ chain }) => ({
              chainId: chain.id,
              account: owner.address,
              minGas: '0.01',
              maxHeadAgeMs: 60_000,
              graceSeconds: 2,
            })),
            prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
            assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
            pairs: [
              { base: 'WETH', quote: 'USDC' },
              { base: 'USDC', quote: 'USDC' },
            ],
            quoting: { validitySeconds: 60, maxValiditySeconds: 600, pointsSeconds: [], claimSeconds: 8 },
            ...UNLIMITED,
          },
        }),
      );
      part = createPart({
        name: 'our LP',
        opsPort: ops,
        words: ['lp'],
        config: async () => file,
        env: { OPERATOR: operator.privateKey, VENUE_KEY: key },
        program: PROGRAM,
      });
      await part.start();
    },
    async stop() {
      await part?.kill();
      await postgres.stop();
    },
  };
}
