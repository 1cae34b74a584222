/**
 * A venue that is killed with 1,000 open orders and started again: how long until it is ready and until the
 * last order has settled, and whether each was sent once. No block is mined while the orders are accepted, so
 * that their transactions are sent and unmined at the kill.
 *
 * npm run bench -- restart [--orders=1000]
 */

import { cpus } from 'node:os';
import { table } from './load.ts';
import { startOrderLoad } from './order-load.ts';
import { startSite } from './site.ts';

const ORDERS = Number(process.argv.find((word) => word.startsWith('--orders='))?.slice(9) ?? 1_000);
const RATE = 100;
const MOST_TRIES = 20;
const GATE_SECONDS = 15;

const site = await startSite({ batch: true });
try {
  const { chain, db, relayer } = site;
  const venue = await site.process('all');
  await venue.part.start({}, 'ready');
  const load = await startOrderLoad(await site.orderTarget([venue.url]));
  await load.prepare(ORDERS);
  await chain.anvil.rpc('evm_setIntervalMining', [0]);
  const count = async (where: string) =>
    (await db.query<{ n: number }>(`select count(*)::int as n from ${where}`))[0]?.n ?? 0;
  let accepted = 0;
  // What a busy machine refuses is offered again.
  for (let tries = 0; accepted < ORDERS && tries < MOST_TRIES; tries++) {
    if (tries > 0) await load.prepare(ORDERS - accepted);
    accepted += (await load.run(RATE, (ORDERS - accepted) / RATE)).statuses[200] ?? 0;
  }
  const sentMs = performance.now();
  while ((await count('tx_key')) < accepted && performance.now() - sentMs < 20_000)
    await new Promise((done) => setTimeout(done, 100));
  const open = await count('trade_order where not final');
  await venue.part.kill();
  const out = await count("tx_slot where state = 'open'");
  load.stop();

  await chain.anvil.rpc('evm_setIntervalMining', [1]);
  const diedMs = performance.now();
  await venue.part.start({}, 'ready');
  const readySeconds = round((performance.now() - diedMs) / 1_000);
  while ((await count('trade_order where not final')) > 0 && performance.now() - diedMs < 120_000)
    await new Promise((done) => setTimeout(done, 200));
  const allSeconds = round((performance.now() - diedMs) / 1_000);
  const settled = await count("trade_order where status = 'settled'");
  // A settlement that lands twice reverts for want of a free nonce, so what counts is nonces used against
  // transactions that were needed.
  const [{ n: twice } = { n: 0 }] = await db.query<{ n: number }>(
    "select count(*)::int as n from (select k.key from tx_key k join tx_slot s on s.id = k.slot_id where s.state = 'mined' group by k.key having count(*) > 1) again",
  );
  const again = await count("tx_key where key like '%-settle-%'");
  const nonces = await chain.port.transactionCount(relayer, 'latest');
  const slots = await count('tx_slot');
  console.log(
    table(
      [
        '',
        'open when it died',
        'transactions out',
        'seconds to ready',
        'seconds to the last settled',
        'settled',
        'sent again',
        'nonces used / slots',
      ],
      [
        [
          `${ORDERS} orders`,
          open,
          out,
          readySeconds,
          allSeconds,
          settled,
          twice + again,
          `${nonces} / ${slots}`,
        ],
        ['gate', '', '', `< ${GATE_SECONDS}`, '', accepted, 0, 'equal'],
      ],
    ),
  );
  console.log(
    JSON.stringify({
      bench: 'restart',
      orders: ORDERS,
      accepted,
      open,
      out,
      readySeconds,
      allSeconds,
      settled,
      sentAgain: twice + again,
      nonces,
      slots,
      machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
    }),
  );
} finally {
  await site.stop();
}
process.exit(0);

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
