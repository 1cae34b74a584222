/**
 * Compares an LP's accounting ledger, awards and reservations with each other and the escrow. Shares no code
 * with the parts that maintain them.
 */

import { bytesToHex, type Address, type Bytes32 } from '../../domain/hex.ts';
import { outputHash } from '../../domain/order.ts';
import { orderFromMessage } from '../../protocol/wire.ts';
import type { OrderMessage } from '../../domain/order.ts';
import { ownSlice } from '../../lp/routes/order.ts';
import type { LedgerSnapshot } from '../../inventory/snapshot.ts';
import type { Cut } from './cut.ts';
import type { FindingsCollector } from './difference.ts';

const PAGE = 500;

export interface LpView {
  account: Address;
  committed?: readonly { chainId: number; token: Address; committed: bigint }[];
}

export async function auditLp(
  cut: Cut,
  findings: FindingsCollector,
  view: LpView,
  { sinceMs }: { sinceMs: number },
): Promise<void> {
  await auditBooks(cut, findings, view.account);
  await auditAwards(cut, findings, view.account, sinceMs);
  await auditReservations(cut, findings, view);
}

async function auditBooks(
  { session, chain, unit }: Cut,
  findings: FindingsCollector,
  account: Address,
): Promise<void> {
  const unbalanced = await session.query<{ id: string; chain_id: number; token: string; sum: string }>(
    'select e.id, p.chain_id, p.token, sum(p.amount) as sum from lp_posting p join lp_entry e on e.n = p.entry group by e.id, p.chain_id, p.token having sum(p.amount) <> 0',
  );
  for (const { id, chain_id, token, sum } of unbalanced)
    findings.amount('lp_entry', `${id} ${chain_id} ${token}`, 0n, BigInt(sum), unit(chain_id, token));
  const astray = await session.query<{
    account: string;
    chain_id: number;
    token: string;
    postings: string;
    balance: string;
  }>(
    `with sums as (select account, chain_id, token, sum(amount) as amount from lp_posting group by 1, 2, 3)
     select account, chain_id, token, coalesce(sums.amount, 0) as postings, coalesce(b.amount, 0) as balance from sums full join lp_balance b using (account, chain_id, token) where coalesce(sums.amount, 0) <> coalesce(b.amount, 0)`,
  );
  for (const { account: name, chain_id, token, postings, balance } of astray)
    findings.amount(
      'lp_balance',
      `${name} ${chain_id} ${token}`,
      BigInt(postings),
      BigInt(balance),
      unit(chain_id, token),
    );

  // Balances and cursor are written in one transaction.
  const cursors = await session.query<{ chain_id: number; block: number; hash: Buffer }>(
    'select chain_id, block, hash from lp_journal_cursor',
  );
  for (const { chain_id, block, hash } of cursors) {
    const port = chain(chain_id)?.port;
    if (!port) continue;
    const seen = await findings.ask(`block ${block} of ${port.chain.slug}`, () =>
      port.block(BigInt(block)).then((found) => found ?? null),
    );
    if (seen === undefined) continue;
    if (seen?.hash !== bytesToHex(hash)) {
      findings.differ(
        'lp_journal',
        port.chain.slug,
        `block ${block} ${bytesToHex(hash)}`,
        seen?.hash ?? 'no such block',
      );
      continue;
    }
    const [balances, operators] = await Promise.all([
      session.query<{ token: string; amount: string }>(
        `select token, sum(amount) as amount from lp_posting where account = 'assets:inventory' and chain_id = $1 group by token`,
        [chain_id],
      ),
      session.query<{ operator: string; amount: string }>(
        `select split_part(account, ':', 3) as operator, sum(amount) as amount from lp_posting where account like 'assets:gas:%' and token = 'native' and chain_id = $1 group by account`,
        [chain_id],
      ),
    ]);
    await Promise.all([
      ...operators.map(async ({ operator, amount }) => {
        const found = await findings.ask(`native currency of ${operator} on ${port.chain.slug}`, () =>
          port.nativeBalance(operator as Address, BigInt(block)),
        );
        if (found !== undefined)
          findings.amount(
            'lp_native',
            `${port.chain.slug} ${operator}`,
            found,
            BigInt(amount),
            unit(chain_id, 'native'),
          );
        findings.count('native balances of operators');
      }),
      ...balances.map(async ({ token, amount }) => {
        const found = await findings.ask(`balance of ${token} on ${port.chain.slug}`, () =>
          port.ledgerBalance(account, token as Address, BigInt(block)),
        );
        if (found !== undefined)
          findings.amount(
            'lp_journal',
            `${port.chain.slug} ${token}`,
            found,
            BigInt(amount),
            unit(chain_id, token),
          );
        findings.count('balances of the LP');
      }),
    ]);
  }
}

interface AwardRow {
  order_id: Buffer;
  message: OrderMessage;
  stage: 'committed' | 'filled' | 'finalised' | 'failed';
  platform: string | null;
  relay: string | null;
  [column: string]: unknown;
}

async function auditAwards(
  cut: Cut,
  findings: FindingsCollector,
  account: Address,
  sinceMs: number,
): Promise<void> {
  const chains = new Map(cut.chains.map(({ port }) => [port.chain.id, port.chain]));
  for (let after = Buffer.alloc(0); ;) {
    const rows = await cut.session.query<AwardRow>(
      `select a.order_id, a.message, a.stage,
         (select sum(p.amount) from lp_entry e join lp_posting p on p.entry = e.n where e.order_id = a.order_id and p.account = 'expense:platform-fee') as platform,
         (select sum(p.amount) from lp_entry e join lp_posting p on p.entry = e.n where e.order_id = a.order_id and p.account = 'expense:relay-fee') as relay
       from lp_award a where a.order_id > $1 and (a.stage in ('committed', 'filled') or a.updated_at_ms >= $2) order by a.order_id limit ${PAGE}`,
      [after, sinceMs],
    );
    await Promise.all(
      rows.map(async ({ order_id, message, stage, platform, relay }) => {
        const orderId: Bytes32 = bytesToHex(order_id);
        const order = orderFromMessage(message);
        const slice = ownSlice(order, account, chains);
        const [origin, dest] = [
          cut.chain(Number(order.originChainId)),
          slice && cut.chain(slice.destChainId),
        ];
        findings.count('awards');
        if (!origin || !dest || !slice) return;
        const status = await findings.ask(`status of ${orderId}`, () =>
          origin.port.orderStatus(orderId, origin.deep.number),
        );
        if (status === undefined) return;
        const crossed =
          slice.originChainId !== slice.destChainId &&
          (await findings.ask(`fill of ${orderId}`, () =>
            dest.port.fillRecord(orderId, outputHash(slice.output), dest.deep.number),
          )) !== undefined;
        const expected =
          status === 'claimed'
            ? 'finalised'
            : status === 'refunded'
              ? 'failed'
              : crossed
                ? 'filled'
                : stage === 'failed'
                  ? 'failed'
                  : 'committed';
        if (stage !== expected) findings.differ('lp_award', orderId, expected, stage);
        // Fees are booked when the input has been received.
        if (platform !== null)
          findings.amount(
            'lp_fees',
            `${orderId} platform fee`,
            platform === '0' ? 0n : slice.portion - slice.earns.amount - slice.context.relayFee,
            BigInt(platform),
            cut.unit(slice.originChainId, slice.earns.token),
          );
        if (relay !== null)
          findings.amount(
            'lp_fees',
            `${orderId} relay fee`,
            relay === '0' ? 0n : slice.context.relayFee,
            BigInt(relay),
            cut.unit(slice.originChainId, slice.earns.token),
          );
      }),
    );
    if (rows.length < PAGE) return;
    after = (rows.at(-1) as AwardRow).order_id as Buffer<ArrayBuffer>;
  }
}

/**
 * Compares the open awards with the reservations of a clean stop, or with those the running LP reports.
 * After a crash neither exists: the next start derives them from the awards.
 */
async function auditReservations(
  { session, chains, unit }: Cut,
  findings: FindingsCollector,
  { account, committed }: LpView,
): Promise<void> {
  const described = new Map(chains.map(({ port }) => [port.chain.id, port.chain]));
  const open = await session.query<{ order_id: Buffer; message: OrderMessage; stage: string }>(
    `select order_id, message, stage from lp_award where stage in ('committed', 'filled')`,
  );
  const slices = open.flatMap(({ order_id, message, stage }) => {
    const slice = ownSlice(orderFromMessage(message), account, described);
    return slice ? [{ orderId: bytesToHex(order_id) as string, stage, pays: slice.pays }] : [];
  });
  const [owner] = await session.query<{ clean: { ledger: LedgerSnapshot } | null }>(
    'select clean from lp_owner',
  );
  if (owner?.clean) {
    const held = new Map(
      owner.clean.ledger.promises
        .filter(
          ({ is, finalised }) =>
            (is.includes('accepted') || is.includes('restored')) &&
            !is.some((flag) => flag === 'failed' || flag === 'released' || flag === 'lapsed') &&
            finalised.length === 0,
        )
        .map((promise) => [promise.quoteId, promise]),
    );
    for (const { orderId, pays } of slices) {
      const promise = held.get(orderId);
      held.delete(orderId);
      if (promise === undefined)
        findings.amount('lp_reservation', orderId, pays.amount, 0n, unit(pays.chainId, pays.token));
      else
        findings.amount(
          'lp_reservation',
          orderId,
          pays.amount,
          BigInt(promise.amount),
          unit(pays.chainId, pays.token),
        );
    }
    for (const [orderId, { amount, chainId, token }] of held)
      findings.amount('lp_reservation', orderId, 0n, BigInt(amount), unit(chainId, token));
    findings.count('reservations', slices.length);
  } else if (committed) {
    for (const { chainId, token, committed: found } of committed) {
      const expected = slices.reduce(
        (sum, { stage, pays }) =>
          sum +
          (stage === 'committed' && pays.chainId === chainId && pays.token === token ? pays.amount : 0n),
        0n,
      );
      findings.amount(
        'lp_reservation',
        `${described.get(chainId)?.slug ?? chainId} ${token}`,
        expected,
        found,
        unit(chainId, token),
      );
    }
    findings.count('reservations', slices.length);
  }
}
