/**
 * LP processes on their own chain, asked by a scripted venue, and a taker that executes every signed quote
 * together, on chain.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { LP_SCHEMA, LP_TABLES } from '../../../src/apps/lp/schema.ts';
import type { LinkQuote } from '../../../src/protocol/link/link.ts';
import { settleCall } from '../../../src/settlement/call.ts';
import { account, startDevnet, type TestChain } from '../../support/devnet.ts';
import { eventually, type Trade, tradeOf } from '../../support/lp-trades.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../../support/scripted-venue.ts';
import { startServer } from '../../support/postgres.ts';
import { UNLIMITED } from '../../support/unlimited.ts';
import { createPart, type Part } from './process.ts';

export interface LpProcesses {
  chain: TestChain;
  /** The chain that `chain`'s USDC can be bridged to, if there is one. */
  there: TestChain | undefined;
  venue: ScriptedVenue;
  /** By the name of the replica. */
  part(replica: string): Part;
  /** Resolves when this replica reports that it quotes. */
  pricing(replica: string): Promise<void>;
  /** Asks once for this many USDC. Returns a trade ready to execute, or the reason of the decline. */
  ask(usdc: number, replica: string): Promise<Trade | { declined: string; note: string | undefined }>;
  /** A quote that bridges this many USDC, ready to execute. */
  bridge(usdc: number, replica: string): Promise<Trade>;
  /** Whether this replica leads. */
  leads(replica: string): Promise<boolean>;
  /** What the admin API of this replica answers. */
  admin(
    replica: string,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>>;
  /** Asks until all inventory is held. */
  exhaust(replicas: readonly string[], sizes: () => number): Promise<Trade[]>;
  /** A trade from a quote that arrived otherwise. */
  trade(message: LinkQuote): Promise<Trade>;
  /** Executes all of them together, and expects each to be paid. */
  takeAll(trades: readonly Trade[]): Promise<void>;
  /** Deposits this much WETH. */
  deposit(weth: bigint): Promise<void>;
  operator: { address: string };
  revoke(): Promise<void>;
  stop(): Promise<void>;
}

const USDC = 1_000_000n;
const WETH = 10n ** 18n;
/** An LP of one: no replica. */
export const ALONE = '';

export interface LpProcessesOptions {
  chainId: number;
  /** A second chain to deliver on. */
  toChainId?: number;
  replicas: readonly string[];
  redisUrl?: string;
  /** The first of the accounts that only these tests use. */
  accounts: number;
  /** As in `createPart`. */
  program?: string;
}

export async function startLpProcesses({
  chainId,
  toChainId,
  replicas,
  redisUrl,
  accounts,
  program,
}: LpProcessesOptions): Promise<LpProcesses> {
  const [owner, operator, taker, keeper] = [
    account(accounts),
    account(accounts + 1),
    account(accounts + 2),
    account(accounts + 3),
  ];
  const folder = await mkdtemp(join(tmpdir(), 'firmquote-lps-'));
  const [devnet, postgres] = await Promise.all([
    startDevnet([chainId, ...(toChainId === undefined ? [] : [toChainId])], {
      blockTimeSeconds: 1,
      depth: 1,
      landingMarginSeconds: 8,
      proofWindowSeconds: 40,
    }),
    startServer(),
  ]);
  const [chain, there] = devnet.chains as [TestChain, TestChain | undefined];
  await chain.fundAll(
    [owner, operator, taker, keeper].map(({ address }) => ({ address, wholeTokens: 50_000_000n })),
  );
  await Promise.all([
    chain.deposit(owner.address, chain.weth.address, 20n * WETH),
    chain.deposit(taker.address, chain.usdc.address, 10_000_000n * USDC),
    chain.setOperator(owner.address, operator.address),
  ]);
  if (there) {
    await there.fundAll([owner, operator].map(({ address }) => ({ address, wholeTokens: 50_000n })));
    await Promise.all([
      there.deposit(owner.address, there.usdc.address, 50_000n * USDC),
      there.setOperator(owner.address, operator.address),
    ]);
    await there.anvil.mine(3);
  }
  await chain.anvil.mine(3);
  const venue = await startScriptedVenue(devnet.chains.map((each) => each.chain));
  const networks = devnet.chains.map(
    ({
      chain: {
        id,
        slug,
        sandbox,
        escrow,
        oracle,
        permit2,
        depth,
        blockTimeMs,
        landingMarginSeconds,
        proofWindowSeconds,
        tokens,
      },
      anvil,
    }) => ({
      id,
      slug,
      sandbox,
      escrow,
      oracle,
      permit2,
      depth,
      blockTimeMs,
      landingMarginSeconds,
      proofWindowSeconds,
      tokens,
      rpcUrls: [anvil.url],
      timeoutMs: 3_000,
      maxClockSkewMs: 3_600_000,
    }),
  );
  const url = await postgres.database('lp', { schema: LP_SCHEMA, migrations: LP_TABLES });
  const parts = new Map<string, Part>();
  const admins = new Map<string, string>();
  for (const name of replicas) {
    const [ops, admin] = [await freePort(), await freePort()];
    const config = {
      app: 'lp',
      ops: { port: ops },
      admin: { port: admin, tokenFile: null },
      database: { url, maxConnections: 5 },
      ...(redisUrl !== undefined && { replicas: { redisUrl, name, timeoutMs: 2_000, leadSeconds: 2 } }),
      keys: { operator: { env: 'OPERATOR', development: true } },
      venues: [{ name: 'scripted', url: venue.url, apiKey: { env: 'VENUE_KEY' } }],
      networks,
      lp: {
        solver: { id: 'lp', name: 'lp' },
        chains: networks.map(({ id }) => ({
          chainId: id,
          account: owner.address,
          minGas: '0.01',
          maxHeadAgeMs: 60_000,
          graceSeconds: 2,
        })),
        prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
        assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
        pairs: [{ base: 'WETH', quote: 'USDC' }, ...(there ? [{ base: 'USDC', quote: 'USDC' }] : [])],
        quoting: {
          validitySeconds: 240,
          maxValiditySeconds: 600,
          pointsSeconds: [],
          claimSeconds: 8,
          fillMarginSeconds: 2,
        },
        lease: { aheadSeconds: 4 },
        ...UNLIMITED,
      },
    };
    const file = join(folder, `lp-${name}.json`);
    await writeFile(file, JSON.stringify(config));
    parts.set(
      name,
      createPart({
        name: `lp ${name}`,
        opsPort: ops,
        words: ['lp'],
        config: async () => file,
        env: { OPERATOR: operator.privateKey, VENUE_KEY: `fq_test_${'5'.repeat(48)}` },
        ...(program !== undefined && { program }),
      }),
    );
    admins.set(name, `http://127.0.0.1:${admin}`);
  }

  const nameOf = (replica: string) => (replica === ALONE ? undefined : replica);
  const self: LpProcesses = {
    chain,
    there,
    venue,
    operator,
    part(replica) {
      const part = parts.get(replica);
      if (part === undefined) throw new Error(`There is no replica "${replica}".`);
      return part;
    },
    pricing: (replica) =>
      eventually(() => {
        const part = self.part(replica);
        if (!part.running()) throw new Error(`${part.name} ended:\n${part.output().slice(-3_000)}`);
        const said = replica === ALONE ? venue.statuses.at(-1) : venue.said(replica);
        // One that has just started is active while its note still names what stops trades across chains.
        return said?.status === 'active' && (said.note ?? '') === '';
      }),
    async ask(usdc, replica) {
      const answer = await venue.ask(
        request({
          from: chain.chain,
          to: chain.chain,
          give: chain.usdc,
          take: chain.weth,
          amount: BigInt(usdc) * USDC,
          taker: taker.address,
        }),
        nameOf(replica),
      );
      if (answer.type === 'quote') return self.trade(answer);
      return {
        declined: answer.type === 'decline' ? answer.reason : answer.type,
        note: answer.type === 'decline' ? answer.code : undefined,
      };
    },
    async bridge(usdc, replica) {
      if (!there) throw new Error('There is one chain.');
      const answer = await venue.ask(
        request({
          from: chain.chain,
          to: there.chain,
          give: chain.usdc,
          take: there.usdc,
          amount: BigInt(usdc) * USDC,
          taker: taker.address,
        }),
        nameOf(replica),
      );
      if (answer.type !== 'quote')
        throw new Error(
          `no quote: ${JSON.stringify(answer)}; it says ${JSON.stringify(venue.said(replica))}`,
        );
      return self.trade(answer);
    },
    async admin(replica, method, path, body) {
      const answer = await fetch(`${admins.get(replica) ?? ''}${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      });
      return (await answer.json()) as Record<string, unknown>;
    },
    leads: async (replica) =>
      ((await self.admin(replica, 'GET', '/status')) as { replica: { leads: boolean } | null }).replica
        ?.leads === true,
    async exhaust(from, sizes) {
      const trades: Trade[] = [];
      const done = new Set<string>();
      for (let turn = 0; done.size < from.length; turn++) {
        const replica = from[turn % from.length] as string;
        const answer = await self.ask(sizes(), replica);
        if ('id' in answer) trades.push(answer);
        else {
          expect(answer.declined).toBe('no_inventory');
          done.add(replica);
        }
      }
      return trades;
    },
    trade: (message) => tradeOf(devnet, taker, message),
    async takeAll(trades) {
      await Promise.all(
        trades.map(({ message, order, funding }) =>
          chain.send(
            keeper.address,
            chain.chain.escrow,
            settleCall(order, funding, message.quoteId, [message.commitment]),
          ),
        ),
      );
      for (const { id: order } of trades) expect(await chain.port.orderStatus(order)).toBe('claimed');
    },
    async deposit(weth) {
      await chain.deposit(owner.address, chain.weth.address, weth * WETH);
    },
    revoke: () => chain.setOperator(owner.address, operator.address, false),
    async stop() {
      await Promise.all([...parts.values()].map((part) => part.kill()));
      await venue.stop();
      await devnet.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return self;
}
