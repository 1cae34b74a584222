/** Compares an escrow's events with its contract and the database. */

import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { bytes, toHex } from '../../adapters/postgres/rows.ts';
import { factFromJson } from '../../adapters/postgres/venue/order-rows.ts';
import { decodeContext, type OutputContext } from '../../domain/context.ts';
import type { FactOf } from '../../domain/fact.ts';
import type { Chain } from '../../domain/chain.ts';
import { type Address, addressToBytes32, type Bytes32, bytes32ToAddress } from '../../domain/hex.ts';
import type { EscrowEvent } from '../../ports/chain.ts';
import { escrowAbi } from '../../settlement/abi/escrow.ts';
import type { Cut, PinnedChain } from './cut.ts';
import { type FindingsCollector, unitOf } from './difference.ts';

const PAGE = 1_000;
const BPS = 10_000n;

type OpenEvent = Extract<EscrowEvent, { kind: 'open' }>;
type FilledEvent = Extract<EscrowEvent, { kind: 'filled' }>;

interface EscrowEvents {
  opened: Map<Bytes32, OpenEvent>;
  over: Map<Bytes32, EscrowEvent & { kind: 'finalised' | 'refunded' }>;
  filled: Map<Bytes32, FilledEvent[]>;
  ledger: Extract<EscrowEvent, { kind: 'ledger' }>[];
}

interface EscrowOptions {
  startBlock: number;
  /** Other venues use this escrow too: unknown orders are not reported. */
  others: boolean;
}

export async function auditEscrow(
  cut: Cut,
  findings: FindingsCollector,
  chain: PinnedChain,
  options: EscrowOptions,
): Promise<void> {
  const { port, deep } = chain;
  const events = await findings.ask(`events of the escrow on ${port.chain.slug}`, () =>
    port.events(BigInt(options.startBlock), deep.number),
  );
  if (events === undefined) return;
  findings.count('escrow events', events.length);
  const grouped = groupEvents(events);
  await auditOrdersOf(cut, findings, chain, grouped, options);
  await findings.ask(`balances of the escrow on ${port.chain.slug}`, () =>
    auditMoney(findings, chain, grouped),
  );
}

function groupEvents(events: readonly EscrowEvent[]): EscrowEvents {
  const grouped: EscrowEvents = { opened: new Map(), over: new Map(), filled: new Map(), ledger: [] };
  for (const event of events) {
    if (event.kind === 'open') grouped.opened.set(event.orderId, event);
    if (event.kind === 'finalised' || event.kind === 'refunded') grouped.over.set(event.orderId, event);
    if (event.kind === 'filled')
      grouped.filled.set(event.orderId, [...(grouped.filled.get(event.orderId) ?? []), event]);
    if (event.kind === 'ledger') grouped.ledger.push(event);
  }
  return grouped;
}

interface KnownOrder {
  order_id: Buffer;
  facts: { fact: Parameters<typeof factFromJson>[0] }[];
  [column: string]: unknown;
}

async function auditOrdersOf(
  { session }: Cut,
  findings: FindingsCollector,
  { port }: PinnedChain,
  { opened, over, filled }: EscrowEvents,
  { others }: EscrowOptions,
): Promise<void> {
  const ids = [...new Set([...opened.keys(), ...filled.keys()])];
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const rows = await session.query<KnownOrder>(
      `select o.order_id, (select json_agg(json_build_object('fact', f.fact)) from order_fact f where f.order_id = o.order_id and f.fact ->> 'kind' in ('opened', 'filled', 'finalised', 'refunded')) as facts from trade_order o where o.order_id = any($1::bytea[])`,
      [page.map(bytes)],
    );
    const known = new Map(
      rows.map((row) => [toHex(row.order_id), (row.facts ?? []).map(({ fact }) => factFromJson(fact))]),
    );
    for (const orderId of page) {
      const facts = known.get(orderId);
      const [open, end] = [opened.get(orderId), over.get(orderId)];
      if (facts === undefined) {
        // An order that was only filled here is reported by the audit of its origin chain.
        if (!others && open)
          findings.differ(
            'unknown_order',
            `${port.chain.slug} ${orderId}`,
            'a recorded order',
            `${end?.kind ?? `escrowed until ${open.order.expires}`}, opened in ${open.txHash}`,
          );
        continue;
      }
      const steps = [
        open && (['opened', open.txHash] as const),
        end && ([end.kind, end.txHash] as const),
      ].filter((step) => step !== undefined);
      for (const fact of facts) {
        if (!('evidence' in fact) || fact.evidence.chainId !== port.chain.id) continue;
        const { kind, evidence } = fact;
        if (kind === 'filled') againstFill(findings, port.chain, orderId, fact, filled.get(orderId) ?? []);
        // An event missing in the database is reported through the order status.
        else if (!steps.some(([what, txHash]) => what === kind && txHash === evidence.txHash))
          findings.differ(
            'fact_without_log',
            `${orderId} ${kind}`,
            steps.find(([what]) => what === kind)?.[1] ?? 'no such event',
            evidence.txHash,
          );
      }
    }
  }
}

function againstFill(
  findings: FindingsCollector,
  chain: Chain,
  orderId: Bytes32,
  { outputIndex, amount, solver, evidence }: FactOf<'filled'>,
  events: readonly FilledEvent[],
): void {
  const subject = `${orderId} output ${outputIndex}`;
  const event = events.find(
    (each) => each.txHash === evidence.txHash && each.solver === addressToBytes32(solver),
  );
  if (event)
    findings.amount(
      'output_amount',
      subject,
      event.amount,
      amount,
      unitOf(chain, bytes32ToAddress(event.output.token)),
    );
  else
    findings.differ(
      'fact_without_log',
      subject,
      events[0]?.txHash ?? 'no such event',
      `filled by ${solver} in ${evidence.txHash}`,
    );
}

async function auditMoney(
  findings: FindingsCollector,
  { port, deep }: PinnedChain,
  { opened, over, ledger }: EscrowEvents,
): Promise<void> {
  const at = deep.number;
  const feeRecipient = await feeRecipientOf(port, at);
  const slug = port.chain.slug;
  /** Accounts that can have a balance: named by events, LPs of settled orders, and the fee recipient. */
  const holders = new Map<string, { account: Address; token: Address }>();
  const holds = (account: Address, token: Address): void =>
    void holders.set(`${account} ${token}`, { account, token });
  const deposits = new Map<Address, bigint>(port.chain.tokens.map(({ address }) => [address, 0n]));
  const fees = new Map<Address, bigint>();
  const add = (sums: Map<Address, bigint>, token: Address, amount: bigint): void =>
    void sums.set(token, (sums.get(token) ?? 0n) + amount);
  let feesKnown = true;

  for (const { account, token, amount } of ledger) {
    holds(account, token);
    add(deposits, token, 0n);
    if (account === feeRecipient) add(fees, token, amount);
  }
  for (const [orderId, { order }] of opened) {
    const end = over.get(orderId);
    const contexts = order.outputs.map(({ context }) => decodeContext(context));
    // The recipient's balance then moves by more than fees.
    if (order.user === feeRecipient || contexts.some((context) => context?.exclusiveFor === feeRecipient))
      feesKnown = false;
    for (const [index, [word, amount]] of order.inputs.entries()) {
      const token: Address = `0x${word.toString(16).padStart(40, '0')}`;
      add(deposits, token, end === undefined ? amount : 0n);
      if (end?.kind !== 'finalised' || contexts.includes(undefined)) continue;
      for (const context of contexts) holds((context as OutputContext).exclusiveFor, token);
      holds(feeRecipient, token);
      add(fees, token, feesDown(amount, index === 0, contexts as OutputContext[]));
    }
  }
  const owned = new Map<Address, bigint>();
  const uncollected = new Map<Address, bigint>();
  await Promise.all(
    [...holders.values()].map(async ({ account, token }) => {
      const [balance, kept] = await Promise.all([
        port.ledgerBalance(account, token, at),
        port.ledgerFees(account, token, at),
      ]);
      add(owned, token, balance + kept);
      add(uncollected, token, kept);
    }),
  );
  await Promise.all(
    [...deposits].map(async ([token, deposited]) => {
      const unit = unitOf(port.chain, token);
      const subject = `${slug} ${unit.symbol}`;
      findings.amount(
        'escrow_balance',
        subject,
        deposited + (owned.get(token) ?? 0n),
        await port.tokenBalance(port.chain.escrow, token, at),
        unit,
      );
      if (feesKnown)
        findings.amount(
          'fee_sum',
          subject,
          fees.get(token) ?? 0n,
          (await port.ledgerBalance(feeRecipient, token, at)) + (uncollected.get(token) ?? 0n),
          unit,
        );
      findings.count('tokens in escrow');
    }),
  );
  if (!feesKnown)
    findings.unasked.push({
      what: `fees on ${slug}`,
      why: 'the fee recipient trades itself, so its balance is more than fees',
    });
}

/** Slices and fees round down, the last slice takes the rest, relay fees come from the first input. */
function feesDown(amount: bigint, first: boolean, contexts: readonly OutputContext[]): bigint {
  let left = amount;
  return contexts.reduce((sum, { portionBps, feeBps, relayFee }, index) => {
    const slice = index === contexts.length - 1 ? left : (amount * BigInt(portionBps)) / BPS;
    left -= slice;
    return sum + (slice * BigInt(feeBps)) / BPS + (first ? relayFee : 0n);
  }, 0n);
}

async function feeRecipientOf(port: PinnedChain['port'], at: bigint): Promise<Address> {
  const answer = await port.read(
    port.chain.escrow,
    encodeFunctionData({ abi: escrowAbi, functionName: 'feeRecipient' }),
    at,
  );
  if (answer === undefined)
    throw new RangeError('The escrow has no fee recipient. Check the configured contract address.');
  return decodeFunctionResult({
    abi: escrowAbi,
    functionName: 'feeRecipient',
    data: answer,
  }).toLowerCase() as Address;
}
