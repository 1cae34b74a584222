/**
 * What a chain shows, at one pinned block, of every order and every token: the reference for all other
 * records.
 */

import { createPublicClient, type Hex, http, parseAbiItem, parseEventLogs } from 'viem';
import type { Chain } from '../../../src/domain/chain.ts';
import type { Address, Bytes32 } from '../../../src/domain/hex.ts';
import { type MandateOutput, outputHash } from '../../../src/domain/order.ts';
import type { EscrowStatus } from '../../../src/ports/chain.ts';
import { devTokenAbi } from '../../../src/adapters/evm/deploy/abi/dev-token.ts';
import { escrowAbi } from '../../../src/settlement/abi/escrow.ts';

interface Seen {
  block: bigint;
  txHash: Hex;
}

interface FillSeen extends Seen {
  orderId: Bytes32;
  outputHash: Bytes32;
  solver: Address;
  timestamp: number;
}

/** Everything at `head`, amounts in base units. */
export interface ChainTruth {
  chain: Chain;
  head: { number: bigint; timestamp: number };
  opened: ReadonlyMap<string, Seen>;
  fills: readonly FillSeen[];
  refunded: ReadonlyMap<string, Seen>;
  /** Transactions that changed the escrow or its oracle. */
  effects: ReadonlySet<Hex>;
  /** Time of a block; undefined beyond the head. */
  timeOf(block: bigint): Promise<number | undefined>;
  status(orderId: Bytes32): Promise<EscrowStatus>;
  /** Minted into this wallet. */
  minted(token: Address, owner: Address): bigint;
  /** Deposited and withdrawn by the test. */
  deposited(token: Address, account: Address): bigint;
  wallet(token: Address, owner: Address): Promise<bigint>;
  ledger(token: Address, account: Address): Promise<bigint>;
  deferred(token: Address, account: Address): Promise<bigint>;
  supply(token: Address): Promise<bigint>;
  /** Every account that ever had a balance of it. */
  holders(token: Address): readonly Address[];
  /** Every account that can have a balance in the ledger. */
  accounts: readonly Address[];
  feeRecipient: Address;
  /** Who got how much of a token from the escrow in a transaction. */
  paidOut(txHash: Hex): readonly { token: Address; to: Address; amount: bigint }[];
  /** Credited in a ledger in a transaction. */
  credited(txHash: Hex): readonly { token: Address; to: Address; amount: bigint }[];
}

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const STATUSES: readonly EscrowStatus[] = ['none', 'deposited', 'claimed', 'refunded'];
const NOBODY = `0x${'0'.repeat(40)}`;

const lower = (address: string) => address.toLowerCase() as Address;
const wordAddress = (word: string) => `0x${word.slice(26)}`.toLowerCase() as Address;

export async function readTruth(chain: Chain, rpcUrl: string): Promise<ChainTruth> {
  const client = createPublicClient({ transport: http(rpcUrl, { retryCount: 5 }) });
  const head = await client.getBlock({ blockTag: 'latest' });
  const toBlock = head.number;
  const range = { fromBlock: 0n, toBlock } as const;
  const at = { blockNumber: toBlock } as const;
  const [escrowLogs, feeRecipient, transfers] = await Promise.all([
    client.getLogs({ address: [chain.escrow, chain.oracle], ...range }),
    client.readContract({ address: chain.escrow, abi: escrowAbi, functionName: 'feeRecipient', ...at }),
    Promise.all(chain.tokens.map(({ address }) => client.getLogs({ address, event: TRANSFER, ...range }))),
  ]);
  const effects = new Set(escrowLogs.map(({ transactionHash }) => transactionHash));
  const events = parseEventLogs({
    abi: escrowAbi,
    logs: escrowLogs.filter(({ address }) => lower(address) === lower(chain.escrow)),
    strict: true,
  });

  const [opened, refunded] = [new Map<string, Seen>(), new Map<string, Seen>()];
  const fills: FillSeen[] = [];
  const deposits = new Map<string, bigint>();
  const accounts = new Set<Address>([lower(feeRecipient)]);
  const credits = new Map<string, { token: Address; to: Address; amount: bigint }[]>();
  const add = (map: Map<string, bigint>, key: string, amount: bigint) =>
    map.set(key, (map.get(key) ?? 0n) + amount);
  const push = <T>(map: Map<string, T[]>, key: string, item: T) =>
    map.set(key, [...(map.get(key) ?? []), item]);

  for (const event of events) {
    const seen: Seen = { block: event.blockNumber, txHash: event.transactionHash };
    switch (event.eventName) {
      case 'Open':
        opened.set(event.args.orderId, seen);
        break;
      case 'OutputFilled':
        fills.push({
          ...seen,
          orderId: event.args.orderId,
          outputHash: outputHash(event.args.output as MandateOutput),
          solver: wordAddress(event.args.solver),
          timestamp: Number(event.args.timestamp),
        });
        break;
      case 'Refunded':
        refunded.set(event.args.orderId, seen);
        break;
      case 'Finalised':
        accounts.add(wordAddress(event.args.destination));
        break;
      case 'Deposited':
        accounts.add(lower(event.args.account));
        add(deposits, `${lower(event.args.token)} ${lower(event.args.account)}`, event.args.amount);
        break;
      case 'Withdrawn':
        add(deposits, `${lower(event.args.token)} ${lower(event.args.account)}`, -event.args.amount);
        break;
      case 'Credited':
        accounts.add(lower(event.args.account));
        push(credits, event.transactionHash, {
          token: lower(event.args.token),
          to: lower(event.args.account),
          amount: event.args.amount,
        });
        break;
      default:
    }
  }

  const mints = new Map<string, bigint>();
  const holders = new Map<string, Set<Address>>();
  const payments = new Map<string, { token: Address; to: Address; amount: bigint }[]>();
  for (const [index, { address }] of chain.tokens.entries()) {
    const token = lower(address);
    const owners = new Set<Address>();
    for (const { args, transactionHash } of transfers[index] ?? []) {
      const [from, to, amount] = [lower(args.from ?? NOBODY), lower(args.to ?? NOBODY), args.value ?? 0n];
      for (const owner of [from, to]) if (owner !== NOBODY) owners.add(owner);
      if (from === NOBODY) add(mints, `${token} ${to}`, amount);
      if (from === lower(chain.escrow)) push(payments, transactionHash, { token, to, amount });
    }
    holders.set(token, owners);
  }

  const times = new Map<bigint, Promise<number | undefined>>();
  const inEscrow =
    (functionName: 'balanceOf' | 'deferredOf' | 'feesOf') => (token: Address, account: Address) =>
      client.readContract({
        address: chain.escrow,
        abi: escrowAbi,
        functionName,
        args: [account, token],
        ...at,
      });
  return {
    chain,
    head: { number: toBlock, timestamp: Number(head.timestamp) },
    opened,
    fills,
    refunded,
    effects,
    timeOf(block) {
      if (block > toBlock) return Promise.resolve(undefined);
      const known =
        times.get(block) ??
        client.getBlock({ blockNumber: block }).then(({ timestamp }) => Number(timestamp));
      times.set(block, known);
      return known;
    },
    status: async (orderId) =>
      STATUSES[
        await client.readContract({
          address: chain.escrow,
          abi: escrowAbi,
          functionName: 'orderStatus',
          args: [orderId],
          ...at,
        })
      ] ?? 'none',
    minted: (token, owner) => mints.get(`${lower(token)} ${lower(owner)}`) ?? 0n,
    deposited: (token, account) => deposits.get(`${lower(token)} ${lower(account)}`) ?? 0n,
    wallet: (token, owner) =>
      client.readContract({
        address: token,
        abi: devTokenAbi,
        functionName: 'balanceOf',
        args: [owner],
        ...at,
      }),
    // Of the fee recipient with what it may collect from beside the balances of others.
    async ledger(token, owner) {
      const beside = lower(owner) === lower(feeRecipient) ? [...accounts] : [];
      const amounts = await Promise.all([
        inEscrow('balanceOf')(token, owner),
        ...beside.map((account) => inEscrow('feesOf')(token, account)),
      ]);
      return amounts.reduce((sum, amount) => sum + amount, 0n);
    },
    deferred: inEscrow('deferredOf'),
    supply: (token) =>
      client.readContract({ address: token, abi: devTokenAbi, functionName: 'totalSupply', ...at }),
    holders: (token) => [...(holders.get(lower(token)) ?? [])],
    accounts: [...accounts],
    feeRecipient: lower(feeRecipient),
    paidOut: (txHash) => payments.get(txHash) ?? [],
    credited: (txHash) => credits.get(txHash) ?? [],
  };
}
