/**
 * The test's own books: every taker's expected balance after all orders ended, and what the escrows must owe.
 */

import { getAddress, parseAbiItem, parseEventLogs } from 'viem';
import type { OrderStatusResponse } from '../../src/protocol/api/status.ts';
import type { QuoteCandidate } from '../../src/protocol/api/candidate.ts';
import type { Manifest } from '../../src/apps/demo/manifest.ts';
import { viewChain } from '../../src/apps/demo/world.ts';
import { escrowAbi } from '../../src/settlement/abi/escrow.ts';

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

/** Wallet balances by `<asset> <owner>`. */
export type Holdings = Map<string, bigint>;

export async function readHoldings(manifest: Manifest, owners: readonly string[]): Promise<Holdings> {
  const holdings: Holdings = new Map();
  for (const { slug, tokens } of manifest.chains) {
    const view = viewChain(manifest, slug);
    for (const { symbol } of tokens) {
      for (const owner of owners)
        holdings.set(`${view.asset(symbol)} ${owner.toLowerCase()}`, await view.balance(owner, symbol));
    }
  }
  return holdings;
}

/** A settled order moves exactly the shown amounts; any other moves nothing. */
export function book(
  holdings: Holdings,
  taker: string,
  candidate: QuoteCandidate,
  status: OrderStatusResponse,
): void {
  if (status.status !== 'settled') return;
  const move = (asset: string, by: bigint) => {
    const key = `${asset} ${taker.toLowerCase()}`;
    holdings.set(key, (holdings.get(key) ?? 0n) + by);
  };
  for (const { asset, amount } of candidate.preview.inputs) move(asset, -BigInt(amount));
  for (const { asset, amount } of candidate.preview.outputs) move(asset, BigInt(amount));
}

export function differences(expected: Holdings, found: Holdings): string[] {
  return [...expected]
    .filter(([key, amount]) => found.get(key) !== amount)
    .map(([key, amount]) => `${key}: expected ${amount}, found ${found.get(key) ?? 'nothing'}`);
}

/**
 * For each token, the accounts involved hold the whole supply, and the escrow holds what its ledger owes to
 * all of them. With no open order, no token is without an owner.
 */
export async function unaccounted(manifest: Manifest): Promise<string[]> {
  const problems: string[] = [];
  for (const { slug, escrow, tokens } of manifest.chains) {
    const view = viewChain(manifest, slug);
    const inEscrow = parseEventLogs({
      abi: escrowAbi,
      logs: await view.client.getLogs({ address: escrow, fromBlock: 0n }),
      eventName: ['Deposited', 'Credited', 'Finalised'],
    });
    const feeRecipient = await view.client.readContract({
      address: escrow,
      abi: escrowAbi,
      functionName: 'feeRecipient',
    });
    const accounts = new Set<string>([feeRecipient]);
    for (const { eventName, args } of inEscrow)
      accounts.add(eventName === 'Finalised' ? getAddress(`0x${args.destination.slice(26)}`) : args.account);
    for (const { symbol, address } of tokens) {
      const transfers = await view.client.getLogs({ address, event: TRANSFER, fromBlock: 0n });
      const holders = new Set(
        transfers.flatMap(({ args }) => [args.from, args.to]).filter((one) => one !== undefined),
      );
      const sum = async (who: Iterable<string>, read: (owner: string) => Promise<bigint>) =>
        (await Promise.all([...who].map(read))).reduce((total, amount) => total + amount, 0n);
      const [held, supply, owed, kept] = await Promise.all([
        sum(holders, (owner) => view.balance(owner, symbol)),
        view.supply(symbol),
        sum(
          accounts,
          async (account) => (await view.ledger(account, symbol)) + (await view.fees(account, symbol)),
        ),
        view.balance(escrow, symbol),
      ]);
      if (held !== supply) problems.push(`${symbol} on ${slug}: ${held} held of ${supply}`);
      if (owed !== kept) problems.push(`${symbol} on ${slug}: the escrow holds ${kept} and owes ${owed}`);
    }
  }
  return problems;
}

/** Every LP's own books against the chains and its ledger. Nothing is in flight, so all three must agree. */
export async function booksAstray({ solvers }: Manifest): Promise<string[]> {
  const problems = await Promise.all(
    solvers.map(async ({ id, adminUrl }) => {
      const answer = await fetch(`${adminUrl}/books`, { signal: AbortSignal.timeout(5_000) }).catch(
        () => undefined,
      );
      if (answer?.status !== 200) return [`the books of ${id} cannot be asked`];
      const { reconciled } = (await answer.json()) as {
        reconciled: {
          chain: string;
          token: string;
          journal: string;
          chainSays: string;
          ledger: string | null;
        }[];
      };
      if (reconciled.length === 0) return [`the books of ${id} are not open`];
      return reconciled
        .filter(
          ({ journal, chainSays, ledger }) =>
            journal !== chainSays || (ledger !== null && ledger !== journal),
        )
        .map((each) => `the books of ${id}: ${JSON.stringify(each)}`);
    }),
  );
  return problems.flat();
}
