/** Compares recorded orders with facts, trade history and chains. */

import { decodeContext } from '../../domain/context.ts';
import type { Evidence, Fact } from '../../domain/fact.ts';
import { addressToBytes32, type Bytes32, hexToBytes } from '../../domain/hex.ts';
import { keccak } from '../../domain/keccak.ts';
import { outputHash } from '../../domain/order.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import { foldFacts, type Progress } from '../../settlement/lifecycle.ts';
import { deliveryRows } from '../../adapters/postgres/venue/delivery-store.ts';
import type { Row } from '../../adapters/postgres/pool.ts';
import { bytes } from '../../adapters/postgres/rows.ts';
import { ORDER_COLUMNS, orderFromRow } from '../../adapters/postgres/venue/order-rows.ts';
import { CELL_STAGES, tradeColumns } from '../../adapters/postgres/trades/trade-rows.ts';
import type { Cut } from './cut.ts';
import type { FindingsCollector, Kind } from './difference.ts';

const PAGE = 500;

interface AuditRow extends Row {
  order_id: Buffer;
  status: string;
  final: boolean;
  last_seq: number;
  events: { seq: number; type: string }[] | null;
  trade: {
    cell: number;
    created_at_ms: number;
    amount: number;
    speed_ms: number;
    terms: unknown;
    state: unknown;
  } | null;
  deliveries: { output_index: number; remaining: string; requested: string; auto_withdraw: boolean }[] | null;
}

const COLUMNS = `${ORDER_COLUMNS}, o.status, o.final, o.last_seq,
  (select json_agg(json_build_object('seq', e.seq, 'type', e.type) order by e.seq) from order_event e where e.order_id = o.order_id) as events,
  (select json_build_object('cell', t.cell, 'created_at_ms', t.created_at_ms, 'amount', t.amount, 'speed_ms', t.speed_ms, 'terms', t.terms, 'state', t.state) from trade t where t.order_id = o.order_id) as trade,
  (select json_agg(json_build_object('output_index', d.output_index, 'remaining', d.remaining::text, 'requested', d.requested::text, 'auto_withdraw', d.auto_withdraw) order by d.output_index) from ledger_delivery d where d.order_id = o.order_id) as deliveries`;

export async function auditOrders(
  cut: Cut,
  findings: FindingsCollector,
  { sinceMs }: { sinceMs: number },
): Promise<void> {
  const solvers = new Set(
    (await cut.session.query<{ id: string }>('select id from solver')).map(({ id }) => id),
  );
  const blocks = new Map<string, Promise<string | undefined>>();
  for (let after = bytes('0x'); ;) {
    const rows = await cut.session.query<AuditRow>(
      `select ${COLUMNS} from trade_order o where o.order_id > $1 and (not o.final or o.updated_at_ms >= $2) order by o.order_id limit ${PAGE}`,
      [after, sinceMs],
    );
    await Promise.all(rows.map((row) => auditOrder(cut, findings, row, solvers, blocks)));
    if (rows.length < PAGE) return;
    after = (rows.at(-1) as AuditRow).order_id;
  }
}

async function auditOrder(
  cut: Cut,
  findings: FindingsCollector,
  row: AuditRow,
  solvers: ReadonlySet<string>,
  blocks: Map<string, Promise<string | undefined>>,
): Promise<void> {
  const record = orderFromRow(row);
  const facts = record.facts.map(({ fact }) => fact);
  findings.count('orders');
  const progress = foldFacts(record.order, facts);
  compareWithFacts(findings, row, record, progress);
  compareWithRoster(findings, record, solvers);
  await compareWithChain(cut, findings, record, facts);
  await compareWithBlocks(cut, findings, record, facts, blocks);
}

function compareWithFacts(
  findings: FindingsCollector,
  row: AuditRow,
  record: OrderRecord,
  progress: Progress,
): void {
  const { orderId: subject } = record;
  const seqs = record.facts.map(({ seq }) => seq);
  const differ = (kind: Kind, expected: string, found: string) =>
    void (expected !== found && findings.differ(kind, subject, expected, found));
  differ('fact_sequence', Array.from({ length: row.last_seq }, (_, at) => at + 1).join(' '), seqs.join(' '));
  differ(
    'order_row',
    `${progress.status}${progress.final ? ', final' : ''}`,
    `${row.status}${row.final ? ', final' : ''}`,
  );

  const wanted = ['order.created', ...(progress.status === 'pending' ? [] : [`order.${progress.status}`])];
  const events = (row.events ?? []).map(({ type }) => type);
  // Retention deletes all events of a finished order together.
  const gone = events.length === 0 && progress.final;
  for (const type of wanted)
    if (!gone && !events.includes(type)) findings.differ('fact_without_event', subject, type, 'no event');
  for (const [at, type] of events.entries())
    if (!wanted.includes(type) || events.indexOf(type) !== at)
      findings.differ('event_without_fact', subject, 'no event', type);
  findings.count('facts', seqs.length);
  findings.count('events', events.length);

  const { rank, terms, state, ...rest } = tradeColumns(record);
  const shown = row.trade && {
    ...rest,
    created_at_ms: row.trade.created_at_ms,
    amount: row.trade.amount,
    speed_ms: row.trade.speed_ms,
    rank: row.trade.cell % CELL_STAGES,
    terms: row.trade.terms,
    state: row.trade.state,
  };
  differ(
    'trade_row',
    canonical({ ...rest, rank, terms: JSON.parse(terms), state: JSON.parse(state) }),
    shown === null ? 'no row' : canonical(shown),
  );

  const owed = deliveryRows(
    [],
    record.facts.map(({ fact }) => fact),
  ).map(({ output_index, remaining, requested, auto_withdraw }) => ({
    output_index,
    remaining,
    requested,
    auto_withdraw,
  }));
  differ('delivery_row', canonical(owed), canonical(row.deliveries ?? []));
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

function compareWithRoster(
  findings: FindingsCollector,
  { orderId, solverIds, commitments, order, route }: OrderRecord,
  solvers: ReadonlySet<string>,
): void {
  if (route !== null) return;
  for (const id of solverIds)
    if (!solvers.has(id)) findings.differ('solver_account', orderId, 'a solver on the roster', id);
  for (const [index, output] of order.outputs.entries()) {
    const bound = decodeContext(output.context)?.exclusiveFor ?? 'no LP';
    const lp = commitments[index]?.lp ?? 'no LP';
    if (bound !== lp) findings.differ('solver_account', `${orderId} output ${index}`, bound, lp);
  }
}

async function compareWithChain(
  cut: Cut,
  findings: FindingsCollector,
  { orderId, order }: OrderRecord,
  facts: readonly Fact[],
): Promise<void> {
  const origin = cut.chain(Number(order.originChainId));
  if (!origin) return;
  const { opened, finalised, refunded, fills } = foldFacts(order, facts);
  const expected = finalised ? 'claimed' : refunded ? 'refunded' : opened ? 'deposited' : 'none';
  const found = await findings.ask(`status of ${orderId}`, () =>
    origin.port.orderStatus(orderId, origin.deep.number),
  );
  if (found !== undefined && found !== expected)
    findings.differ(
      'order_status',
      orderId,
      `${found} on chain ${order.originChainId}`,
      `${expected} in the database`,
    );
  await Promise.all(
    order.outputs.map(async (output, index) => {
      findings.count('outputs');
      const dest = cut.chain(Number(output.chainId));
      // A same-chain settlement leaves an event but no fill record.
      if (!dest || dest === origin) return;
      const fill = fills[index];
      const subject = `${orderId} output ${index}`;
      const record = await findings.ask(`fill of ${subject}`, () =>
        dest.port.fillRecord(orderId, outputHash(output), dest.deep.number).then((known) => known ?? null),
      );
      const wanted = fill ? recordOf(addressToBytes32(fill.solver), fill.timestamp) : null;
      // An output may be filled after the order ended, at the filler's own cost.
      const late = fill === undefined && (finalised ?? refunded ?? false) !== false;
      if (record === undefined || record === wanted || late) return;
      findings.differ(
        fill ? 'fact_without_log' : 'log_without_fact',
        subject,
        record ?? 'not filled',
        fill ? `filled by ${fill.solver} at ${fill.timestamp}` : 'no recorded fill',
      );
    }),
  );
}

/** The escrow's fill record: keccak256(abi.encodePacked(solver, uint32(timestamp))). */
const recordOf = (solver: Bytes32, timestamp: number): Bytes32 =>
  keccak(Buffer.concat([hexToBytes(solver), Buffer.from(timestamp.toString(16).padStart(8, '0'), 'hex')]));

async function compareWithBlocks(
  cut: Cut,
  findings: FindingsCollector,
  { orderId }: OrderRecord,
  facts: readonly Fact[],
  blocks: Map<string, Promise<string | undefined>>,
): Promise<void> {
  const evidence = new Map<string, Evidence>();
  for (const fact of facts)
    if ('evidence' in fact)
      evidence.set(`${fact.evidence.chainId} ${fact.evidence.blockHash}`, fact.evidence);
  for (const { chainId, blockNumber, blockHash, txHash } of evidence.values()) {
    const chain = cut.chain(chainId);
    if (!chain) continue;
    const key = `${chainId} ${blockNumber}`;
    const asked = blocks.get(key) ?? chain.port.block(blockNumber).then((block) => block?.hash);
    blocks.set(key, asked);
    const hash = await findings.ask(`block ${blockNumber} of ${chain.port.chain.slug}`, () => asked);
    if (hash !== undefined && hash !== blockHash)
      findings.differ(
        'fact_without_log',
        `${orderId} ${txHash}`,
        `in block ${blockNumber} ${blockHash}`,
        `block ${blockNumber} is ${hash}`,
      );
  }
}
