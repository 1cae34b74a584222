/**
 * Plays Circle's attestation service: its paths, its answers, and its failures. It reads burns from the
 * chains, gives nonces, and signs as the attesters of the transmitters.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeEventLog, encodeEventTopics } from 'viem';
import { messageTransmitterAbi } from '../../src/adapters/bridges/cctp/contracts.ts';
import {
  type BurnMessage,
  decodeBurnMessage,
  encodeBurnMessage,
} from '../../src/adapters/bridges/cctp/message.ts';
import { createSigner } from '../../src/adapters/secp256k1/signer.ts';
import { type Address, type Bytes32, type Hex, hexToBytes } from '../../src/domain/hex.ts';
import { keccakHex } from '../../src/domain/keccak.ts';

interface CircleChain {
  domain: number;
  rpcUrl: string;
  transmitter: Address;
  /** Blocks on top of a burn until it is attested. `fast` null: only final burns are. */
  blocks: { fast: number | null; standard: number };
}

interface CircleOptions {
  /** 0: any free one. */
  port: number;
  chains: readonly CircleChain[];
  attesters: readonly Hex[];
  /** How many attesters sign. */
  threshold: number;
  /** Basis points. */
  feeBps: { fast: number; standard: number };
  /** Blocks of the destination until a fast attestation expires. */
  expiryBlocks: number;
}

/** Sets what a request meets, until it is set again. */
interface CircleFaults {
  /** Every answer has this status. 429 goes with `retryAfter`. */
  status?: 404 | 429 | 500 | 503;
  /** Seconds. */
  retryAfter?: number;
  /** Breaks the connection in place of an answer. */
  reset?: boolean;
  delayMs?: number;
  /** The answer is not JSON. */
  garbage?: boolean;
  /** True: nothing is attested. */
  pending?: boolean;
  /** Changes what is signed. */
  change?: (message: BurnMessage) => BurnMessage;
  /** True: a key that is no attester's signs. */
  forge?: boolean;
}

export interface Circle {
  url: string;
  setFaults(next: CircleFaults): void;
  setFees(next: CircleOptions['feeBps']): void;
  /** Whole USDC that fast transfers may carry. */
  setAllowance(next: number): void;
  close(): Promise<void>;
}

const FINAL = 2_000n;
const FORGERS: readonly Hex[] = [`0x${'f1'.repeat(32)}`, `0x${'f2'.repeat(32)}`, `0x${'f3'.repeat(32)}`];

interface RpcReceipt {
  status: Hex;
  blockNumber: Hex;
  logs: { address: Address; topics: Hex[]; data: Hex; logIndex: Hex }[];
}

interface Answer {
  status: number;
  body: unknown;
}

export async function startCircle(options: CircleOptions): Promise<Circle> {
  const { port, chains, attesters, threshold, feeBps, expiryBlocks } = options;
  const byDomain = new Map(chains.map((chain) => [chain.domain, chain]));
  /** The messages that were signed, each once; a fast attestation keeps the block in which it expires. */
  const attested = new Map<Bytes32, BurnMessage>();
  let faults: CircleFaults = {};
  let feesBps = feeBps;
  let allowance = 100_000_000;

  async function attest(message: BurnMessage): Promise<{ message: Hex; attestation: Hex }> {
    const bytes = encodeBurnMessage(message);
    const signers = (faults.forge ? FORGERS : attesters)
      .slice(0, threshold)
      .map((key) => createSigner(key))
      .toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
    const signatures = await Promise.all(signers.map((signer) => signer.sign(hexToBytes(bytes))));
    return { message: bytes, attestation: `0x${signatures.map((one) => one.slice(2)).join('')}` };
  }

  async function messagesOf(chain: CircleChain, txHash: Hex): Promise<Answer> {
    const receipt = await rpc<RpcReceipt | null>(chain, 'eth_getTransactionReceipt', [txHash]);
    const sent = receipt?.status === '0x1' ? burnsOf(receipt, chain, txHash) : [];
    if (!receipt || sent.length === 0)
      return { status: 404, body: { code: 404, message: 'Message hash not found' } };
    const depth = Number(await headOf(chain)) - Number(receipt.blockNumber);
    const messages = await Promise.all(sent.map((message) => shown(chain, message, depth)));
    return { status: 200, body: { messages } };
  }

  async function shown(chain: CircleChain, message: BurnMessage, depth: number) {
    const { standard, fast } = chain.blocks;
    const wantsFast = message.minFinality < FINAL;
    const fastFee = feeOf(message.amount, feesBps.fast);
    const pays = message.maxFee >= fastFee;
    const isDue =
      wantsFast && fast === null ? false : depth >= (wantsFast && pays && fast !== null ? fast : standard);
    const facts = { eventNonce: message.nonce, cctpVersion: 2 };
    if (faults.pending || (!isDue && !attested.has(message.nonce)))
      return {
        ...facts,
        message: null,
        attestation: 'PENDING',
        decodedMessage: null,
        status: 'pending_confirmations',
        delayReason: wantsFast && !pays ? 'insufficient_fee' : null,
      };
    let signed = attested.get(message.nonce);
    if (signed === undefined) {
      const isFast = wantsFast && pays;
      const destination = byDomain.get(Number(message.destinationDomain));
      signed = {
        ...message,
        finality: isFast ? 1_000n : FINAL,
        fee: isFast ? fastFee : feeOf(message.amount, feesBps.standard),
        expirationBlock: isFast && destination ? (await headOf(destination)) + BigInt(expiryBlocks) : 0n,
      };
      attested.set(message.nonce, signed);
    }
    return {
      ...facts,
      ...(await attest(faults.change?.(signed) ?? signed)),
      status: 'complete',
      delayReason: null,
    };
  }

  function attestAgain(nonce: Bytes32): Answer {
    const message = attested.get(nonce);
    if (!message) return { status: 404, body: { code: 404, message: 'Message not found' } };
    if (message.finality >= FINAL)
      return {
        status: 400,
        body: { message: 'Cannot re-attest requested message.', error: 'Message is already finalized.' },
      };
    attested.set(nonce, { ...message, finality: FINAL, expirationBlock: 0n });
    return { status: 200, body: { message: 'Re-attestation successfully requested for nonce.', nonce } };
  }

  async function answer({ method, url = '/' }: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(url, 'http://circle');
    const [, , what, ...rest] = pathname.split('/');
    if (method === 'GET' && what === 'burn' && rest[1] === 'fees') {
      const source = byDomain.get(Number(rest[2]));
      if (!source || !byDomain.has(Number(rest[3]))) return { status: 404, body: { code: 404 } };
      const tiers =
        source.blocks.fast === null ? [] : [{ finalityThreshold: 1_000, minimumFee: feesBps.fast }];
      return { status: 200, body: [...tiers, { finalityThreshold: 2_000, minimumFee: feesBps.standard }] };
    }
    if (method === 'GET' && what === 'fastBurn' && rest[1] === 'allowance')
      return { status: 200, body: { allowance, lastUpdated: new Date().toISOString() } };
    if (method === 'GET' && what === 'messages') {
      const chain = byDomain.get(Number(rest[0]));
      if (chain) return messagesOf(chain, searchParams.get('transactionHash') as Hex);
    }
    if (method === 'POST' && what === 'reattest') return attestAgain(rest[0] as Bytes32);
    return { status: 404, body: { code: 404, message: 'Not found' } };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (faults.delayMs) await new Promise((done) => setTimeout(done, faults.delayMs));
    if (faults.reset) return void request.socket.resetAndDestroy();
    if (faults.status !== undefined) {
      const headers = faults.retryAfter === undefined ? {} : { 'retry-after': String(faults.retryAfter) };
      return void response.writeHead(faults.status, headers).end('{"message":"played failure"}');
    }
    const { status, body } = await answer(request);
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(faults.garbage ? '<html>Bad gateway</html>' : JSON.stringify(body));
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.writeHead(500).end('{"message":"internal error"}'));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFaults: (next) => void (faults = next),
    setFees: (next) => void (feesBps = next),
    setAllowance: (next) => void (allowance = next),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const feeOf = (amount: bigint, bps: number): bigint =>
  (amount * BigInt(Math.round(bps * 1_000)) + 9_999_999n) / 10_000_000n;

function burnsOf({ logs }: RpcReceipt, { domain, transmitter }: CircleChain, txHash: Hex): BurnMessage[] {
  const [topic] = encodeEventTopics({ abi: messageTransmitterAbi, eventName: 'MessageSent' });
  return logs
    .filter(({ address, topics }) => address.toLowerCase() === transmitter && topics[0] === topic)
    .flatMap(({ topics, data, logIndex }) => {
      const { args } = decodeEventLog({
        abi: messageTransmitterAbi,
        eventName: 'MessageSent',
        topics: topics as [Hex, ...Hex[]],
        data,
      });
      const message = decodeBurnMessage(args.message);
      const place = `${txHash}${domain.toString(16).padStart(8, '0')}${logIndex.slice(2).padStart(8, '0')}`;
      return message ? [{ ...message, nonce: keccakHex(place as Hex) }] : [];
    });
}

async function headOf(chain: CircleChain): Promise<bigint> {
  return BigInt(await rpc<Hex>(chain, 'eth_blockNumber', []));
}

async function rpc<T>({ rpcUrl }: CircleChain, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return ((await response.json()) as { result: T }).result;
}
