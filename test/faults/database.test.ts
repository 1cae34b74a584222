/**
 * The database is unreachable, has no free connection, or has a full disk. What cannot be stored is not
 * promised and not sent, and no stored row is lost.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { chown, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createLpStore } from '../../src/adapters/postgres/lp/lp-store.ts';
import { connectDatabase } from '../../src/adapters/postgres/pool.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { unprivilegedUser } from '../../src/adapters/postgres/embedded/unprivileged.ts';
import { LP_TABLES } from '../../src/apps/lp/schema.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import type { TxStore } from '../../src/ports/stores/tx-store.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { createTestLp, lpConfig } from '../support/lp.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { request, startScriptedVenue } from '../support/scripted-venue.ts';
import { startSettling } from '../support/settling.ts';
import { silentLog } from '../support/silent.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, until } from '../support/venue.ts';
import { makeSmallDisk } from './support/disk.ts';
import { startTcpProxy } from './support/tcp-proxy.ts';
import { diceOf } from './seed.ts';

const ROOT = join(import.meta.dirname, '../..');

test('F13: no free connection, then no database: 503 with Retry-After, and the same Idempotency-Key makes one order afterwards', async () => {
  const dice = diceOf('F13');
  const v = await startTestVenue();
  const proxy = await startTcpProxy(v.databaseUrl);
  // Two connections and its own network; the other replica shares neither.
  const cramped = await v.replica({}, { url: proxy.url, maxConnections: 2 });
  try {
    const key = await v.key('service');
    const [usdc, weth] = [v.chain.usdc, v.chain.weth].map(({ address }) =>
      assetId({ chainId: v.chain.chain.id, token: address }),
    );
    await v.solver(1, (rfq, make) =>
      make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_500n }, { validSeconds: 600 }),
    );
    const prepare = async (taker: TestAccount): Promise<unknown> => {
      await v.chain.fund(taker.address, 10_000n);
      // A busy machine makes the venue shed load, which is not the subject, so the request is repeated.
      const candidate = await until(async () => {
        const asked = await v.call('POST', '/api/v1/rfq/quotes', {
          key,
          body: { taker: taker.address, input: { asset: usdc, amount: '1000000' }, output: { asset: weth } },
        });
        return (asked.json['quotes'] as unknown as Json[] | undefined)?.[0];
      });
      const plan = await until(async () => {
        const answer = await v.call('POST', '/api/v1/rfq/orders/preflight', {
          key,
          body: { quoteResponse: candidate, fundingLock: 'EIP-3009' },
        });
        return answer.status === 200 ? answer.json : undefined;
      });
      return signPlan(taker, candidate, plan);
    };
    const bodies: unknown[] = [];
    for (let n = 0; n < 4 + Math.floor(dice.next() * 2); n += 1)
      bodies.push(await prepare(account(23_000 + n)));
    const submit = (n: number) =>
      fetch(`${cramped.url}/api/v1/rfq/orders`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': `f13-${n}` },
        body: JSON.stringify(bodies[n]),
      });
    const last = bodies.length - 1;
    const refused = async (answer: Response) => {
      expect([answer.status, answer.headers.get('retry-after')], await answer.text()).toEqual([
        503,
        expect.stringMatching(/^[1-9]\d*$/),
      ]);
    };

    // A lock on the table blocks both connections, and all others wait for them.
    const holder = new pg.Client({ connectionString: v.databaseUrl });
    await holder.connect();
    await holder.query(`begin; lock table ${v.db.schema}.trade_order in access exclusive mode`);
    for (const answer of await Promise.all(bodies.slice(0, last).map((_, n) => submit(n))))
      await refused(answer);
    await holder.query('rollback');
    await holder.end();

    // The network drops every packet: no refusal and no answer.
    proxy.set({ kind: 'blackhole' });
    await refused(await submit(last));
    proxy.set({ kind: 'pass' });
    proxy.cut();

    for (const [n] of bodies.entries()) {
      const answer = await until(async () => {
        const again = await submit(n);
        return again.status === 200 ? again : void expect([503, 409]).toContain(again.status);
      });
      const { id } = (await answer.json()) as { id: string };
      expect(((await (await submit(n)).json()) as { id: string }).id).toBe(id);
    }
    expect(
      await v.db.query(
        'select count(*)::int as n, (select count(*)::int from idempotency) as keys from trade_order',
      ),
    ).toEqual([{ n: bodies.length, keys: bodies.length }]);
  } finally {
    await cramped.stop();
    await proxy.stop();
    await v.stop();
  }
});

test('F13: an LP that cannot store its lease stops signing', async () => {
  const ground = await startSettling([41_541, 41_542]);
  const proxy = await startTcpProxy(ground.db.url);
  const [owner, operator, taker] = [account(24_001), account(24_002), account(24_003)];
  for (const chain of ground.devnet.chains) {
    for (const { address } of [owner, operator, taker]) await chain.fund(address);
    for (const { address, decimals } of [chain.usdc, chain.weth])
      await chain.deposit(owner.address, address, 1_000n * 10n ** BigInt(decimals));
    await chain.setOperator(owner.address, operator.address);
  }
  await ground.mine(3);
  // Its clock advances, and with it the deadlines of what it would sign.
  for (const { anvil } of ground.devnet.chains) await anvil.rpc('evm_setIntervalMining', [1]);
  const direct = await ground.postgres.database('lp_f13', LP_TABLES);
  const far = connectDatabase({ url: proxy.url, schema: 'lp_f13', log: silentLog });
  const scripted = await startScriptedVenue(ground.devnet.chains.map(({ chain }) => chain));
  const config = lpConfig(ground.devnet, owner.address, {
    quoting: { validitySeconds: 5, pointsSeconds: [], claimSeconds: 10, maxLandingMarginSeconds: 60 },
    lease: { aheadSeconds: 4 },
  });
  const lp = await createTestLp({
    devnet: ground.devnet,
    postgres: ground.postgres,
    venueUrl: scripted.url,
    operator,
    schema: 'lp_f13',
    config,
    more: { store: createLpStore(far) },
  });
  const { here } = ground;
  const ask = () =>
    scripted.ask(
      request({
        from: here.chain,
        to: here.chain,
        give: here.usdc,
        take: here.weth,
        amount: 1_000_000n,
        taker: taker.address,
      }),
    );
  try {
    await lp.start();
    await scripted.until(({ status }) => status === 'active');
    await until(async () => (await ask()).type === 'quote');
    proxy.set({ kind: 'blackhole' });
    const deadlines: number[] = [];
    await until(async () => {
      const answer = await ask();
      if (answer.type === 'quote') deadlines.push(answer.commitment.deadline);
      return answer.type === 'decline';
    });
    const [lease] = await direct.query<{ signed_up_to: number }>(
      'select signed_up_to from lp_lease where chain_id = $1',
      [here.chain.id],
    );
    expect(Math.max(...deadlines, 0)).toBeLessThanOrEqual(lease?.signed_up_to ?? 0);
    expect(await ask()).toMatchObject({ type: 'decline' });
    proxy.set({ kind: 'pass' });
    proxy.cut();
    await until(async () => (await ask()).type === 'quote');
  } finally {
    await lp.stop();
    await scripted.stop();
    await far.close();
    await proxy.stop();
    await ground.stop();
  }
});

test('F14: the database disk is full: no transaction is sent without a record, reads continue, and with space every order ends', async () => {
  diceOf('F14');
  const disk = await makeSmallDisk(48);
  const postgres = await startOwnPostgres();
  try {
    const folder = join(disk.path, 'tables');
    await mkdir(folder, { mode: 0o700 });
    const user = await unprivilegedUser();
    if (user) await chown(folder, user.uid, user.gid);
    const admin = new pg.Client({ connectionString: postgres.url });
    await admin.connect();
    await admin.query(`create tablespace small location '${folder}'`);
    // The write-ahead log is on another disk: a server that cannot write it stops, which is F12.
    await admin.query('create database test tablespace small');
    await admin.end();
    const ground = await startSettling([41_551, 41_552], { postgres });
    try {
      const before = await ground.worker();
      const early = await ground.accept();
      await ground.reach('settled', [early]);
      await before.stop();
      const trades = [await ground.accept(), await ground.accept(), await ground.accept()];

      const real = createTxStore(ground.db);
      const held: { slotId: string }[] = [];
      let full = false;
      let failed = 0;
      const transactions: TxStore = {
        ...real,
        // The disk fills between storing the slot and storing its bytes.
        async addAttempts(holder, attempts) {
          if (!full && failed === 0) {
            full = true;
            held.push(...attempts);
            await disk.fill();
            await fillPages();
          }
          try {
            return await real.addAttempts(holder, attempts);
          } catch (error) {
            failed += 1;
            throw error;
          }
        },
      };
      const unwritten: string[] = [];
      const sent: string[] = [];
      const watched = (port: ChainPort): ChainPort => ({
        ...port,
        async sendRaw(raw) {
          sent.push(raw);
          const known = await ground.db.query('select 1 from tx_attempt where raw = $1', [
            Buffer.from(raw.slice(2), 'hex'),
          ]);
          if (known.length === 0) unwritten.push(raw);
          return port.sendRaw(raw);
        },
      });
      /** Existing pages still accept rows, so attempts that no code reads fill them too. */
      async function fillPages(): Promise<void> {
        const [over] = await ground.db.query<{ id: number }>(
          `select min(id) as id from tx_slot where state = 'mined'`,
        );
        for (const size of [3_000, 300, 1]) {
          for (;;) {
            const done = await ground.db
              .query(
                `insert into tx_attempt select $1, coalesce(max(n), 0) + 100, '\\x00', decode(repeat('ab', $2), 'hex'), 1, 1, 1, true, 1 from tx_attempt where slot_id = $1`,
                [over?.id, size],
              )
              .then(
                () => true,
                () => false,
              );
            if (!done) break;
          }
        }
      }
      const worker = await ground.worker({
        relayer: before.relayer,
        transactions,
        chains: new Map(ground.devnet.chains.map(({ chain, port }) => [chain.id, watched(port)])),
      });
      await until(() => failed >= 2);
      expect(sent).toEqual([]);
      // Reads work, and a submission is either refused or stored.
      expect(await ground.stageOf(early)).toBe('settled');
      expect((await ground.store.eventsAfter(0, 10)).length).toBeGreaterThanOrEqual(0);
      for (const taker of [await ground.taker(), await ground.taker()]) {
        await ground.accept({ taker }).then(
          (trade) => trades.push(trade),
          (error: unknown) => expect(error).toMatchObject({ code: 'database_unavailable', retry: 'later' }),
        );
      }

      await disk.free();
      await ground.db.query(`delete from tx_attempt where hash = '\\x00'`);
      full = false;
      await ground.reach('settled', trades);
      await worker.stop();
      expect(unwritten).toEqual([]);
      const events = await ground.here.port.events(0n, ground.here.port.head()?.number ?? 0n);
      for (const { orderId } of [early, ...trades])
        expect(events.filter((event) => event.kind === 'open' && event.orderId === orderId)).toHaveLength(1);
      expect(held.length).toBeGreaterThan(0);
    } finally {
      await ground.stop();
    }
  } finally {
    await postgres.stop();
    await disk.remove();
  }
});

test('F14: the log disk is full: the process continues, and logs again once there is space', async () => {
  const disk = await makeSmallDisk(1);
  try {
    const path = join(disk.path, 'app.log');
    const out = await open(path, 'a');
    const loader = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href;
    const program = `
      const { createLog } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'src/adapters/pino/log.ts')).href)});
      const log = createLog({ app: 'test' });
      log.info({}, 'first');
      for await (const word of process.stdin) {
        log.info({ word: word.toString().trim(), much: word.toString().startsWith('full') ? 'x '.repeat(20_000) : '' }, 'heard');
        process.stderr.write('done ' + word);
      }
      log.info({}, 'last');`;
    const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '-e', program], {
      stdio: ['pipe', out.fd, 'pipe'],
    }) as ChildProcessByStdio<Writable, null, Readable>;
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const tell = async (word: string) => {
      child.stdin.write(`${word}\n`);
      await until(() => said.includes(`done ${word}`) || child.exitCode !== null);
      expect(child.exitCode, said).toBeNull();
    };
    await tell('room');
    await disk.fill();
    for (const word of ['full-1', 'full-2', 'full-3']) await tell(word);
    await disk.free();
    await tell('again');
    child.stdin.end();
    expect(await ended, said).toBe(0);
    const text = await readFile(path, 'utf8');
    expect(text).toContain('"word":"room"');
    expect(text).toContain('"word":"again"');
    await out.close();
  } finally {
    await disk.remove();
  }
});
