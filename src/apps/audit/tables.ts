/** Compares the venue's tables, and transaction slots with nonces. */

import { bytesToHex } from '../../domain/hex.ts';
import type { Cut, PinnedChain } from './cut.ts';
import type { FindingsCollector } from './difference.ts';

const RECEIPTS = 200;

export async function auditVenueTables({ session }: Cut, findings: FindingsCollector): Promise<void> {
  const orphans = await session.query<{
    workspace_id: string;
    mode: string;
    namespace: string;
    key: string;
    order_id: Buffer;
  }>(
    'select workspace_id, mode, namespace, key, order_id from idempotency i where not exists (select from trade_order o where o.order_id = i.order_id)',
  );
  for (const { workspace_id, mode, namespace, key, order_id } of orphans)
    findings.differ(
      'idempotency',
      `${workspace_id} ${mode} ${namespace} ${key}`,
      'an order',
      `${bytesToHex(order_id)} is not recorded`,
    );
  const [keys] = await session.query<{ n: number }>('select count(*) as n from idempotency');
  findings.count('idempotency keys', keys?.n ?? 0);

  const strays = await session.query<{ id: string; solver_id: string }>(
    `select id, solver_id from api_key k where kind = 'solver' and revoked_at_ms is null and not exists (select from solver s where s.id = k.solver_id)`,
  );
  for (const { id, solver_id } of strays)
    findings.differ('solver_account', `key ${id}`, 'a solver on the roster', solver_id);

  // Rows that are not counted and not waiting to be counted.
  const books = await session.query<{
    id: number;
    workspace_id: string;
    mode: string;
    counted: number;
    n: number;
  }>(
    'select b.id, b.workspace_id, b.mode, b.counted, (select count(*) from trade t where t.book = b.id and not exists (select from trade_fresh f where f.book = t.book and f.order_id = t.order_id)) as n from trade_book b',
  );
  for (const { workspace_id, mode, counted, n } of books)
    findings.amount('trade_count', `${workspace_id} ${mode}`, BigInt(n), BigInt(counted));
  const cells = await session.query<{ book: number; cell: number; rows: number; n: number }>(
    `select coalesce(r.book, c.book) as book, coalesce(r.cell, c.cell) as cell, coalesce(r.n, 0) as rows, coalesce(c.n, 0) as n
     from (select book, cell, count(*) as n from trade t where not exists (select from trade_fresh f where f.book = t.book and f.order_id = t.order_id) group by 1, 2) r
     full join (select book, cell, sum(n)::bigint as n from trade_count where sort = 0 and cell >= 0 group by 1, 2) c on c.book = r.book and c.cell = r.cell
     where coalesce(r.n, 0) <> coalesce(c.n, 0)`,
  );
  for (const { book: id, cell, rows, n } of cells)
    findings.amount('trade_count', `book ${id} cell ${cell}`, BigInt(rows), BigInt(n));
  findings.count('books of history', books.length);
}

export async function auditSlots(cut: Cut, findings: FindingsCollector): Promise<void> {
  const signers = await cut.session.query<{ chain_id: number; signer: Buffer; next_nonce: number }>(
    'select chain_id, signer, next_nonce from tx_signer order by chain_id, signer',
  );
  for (const { chain_id, signer, next_nonce } of signers) {
    const owned = [chain_id, signer];
    const address = bytesToHex(signer) as `0x${string}`;
    const chain = cut.chain(chain_id);
    const subject = `${chain?.port.chain.slug ?? chain_id} ${address}`;
    const gaps = await cut.session.query<{ nonce: number; next: number }>(
      'select nonce, next from (select nonce, lead(nonce) over (order by nonce) as next from tx_slot where chain_id = $1 and signer = $2) s where next > nonce + 1 order by nonce',
      owned,
    );
    for (const { nonce, next } of gaps)
      findings.differ('nonce_gap', subject, `a slot for nonce ${nonce + 1}`, `none before nonce ${next}`);
    const [last] = await cut.session.query<{ nonce: number | null; n: number }>(
      'select max(nonce) as nonce, count(*) as n from tx_slot where chain_id = $1 and signer = $2',
      owned,
    );
    findings.count('slots', last?.n ?? 0);
    if (last?.nonce !== null && last?.nonce !== undefined && next_nonce !== last.nonce + 1)
      findings.differ('next_nonce', subject, String(last.nonce + 1), String(next_nonce));
    if (chain) await auditMined(cut, findings, chain, { subject, signer, address });
  }
}

async function auditMined(
  { session }: Cut,
  findings: FindingsCollector,
  { port }: PinnedChain,
  { subject, signer, address }: { subject: string; signer: Buffer; address: `0x${string}` },
): Promise<void> {
  const owned = [port.chain.id, signer];
  const used = await findings.ask(`nonce of ${subject}`, () => port.transactionCount(address, 'latest'));
  if (used === undefined) return;
  const wrong = await session.query<{ nonce: number; state: string }>(
    `select nonce, state from tx_slot where chain_id = $1 and signer = $2 and ((state = 'open' and nonce < $3) or (state <> 'open' and nonce >= $3)) order by nonce`,
    [...owned, used],
  );
  for (const { nonce, state } of wrong)
    findings.differ(
      'slot_state',
      `${subject} nonce ${nonce}`,
      state === 'open' ? `over: the chain is at nonce ${used}` : `open: the chain is at nonce ${used}`,
      state,
    );
  const mined = await session.query<{
    nonce: number;
    mined_hash: Buffer;
    mined_block_hash: Buffer;
    ours: boolean;
  }>(
    `select nonce, mined_hash, mined_block_hash, exists (select from tx_attempt a where a.slot_id = s.id and a.hash = s.mined_hash) as ours
     from tx_slot s where chain_id = $1 and signer = $2 and state = 'mined' and mined_hash is not null order by nonce desc limit ${RECEIPTS}`,
    owned,
  );
  await Promise.all(
    mined.map(async ({ nonce, mined_hash, mined_block_hash, ours }) => {
      const hash = bytesToHex(mined_hash);
      const receipt = await findings.ask(`receipt of ${hash}`, () =>
        port.receipt(hash).then((found) => found ?? null),
      );
      const expected = `${hash} in block ${bytesToHex(mined_block_hash)}`;
      const found =
        receipt === null
          ? 'no such transaction'
          : receipt && `${receipt.txHash} in block ${receipt.blockHash}`;
      if (found !== undefined && found !== expected)
        findings.differ('slot_state', `${subject} nonce ${nonce}`, found, expected);
      else if (!ours)
        findings.differ('slot_state', `${subject} nonce ${nonce}`, 'one of its own attempts', hash);
    }),
  );
}
