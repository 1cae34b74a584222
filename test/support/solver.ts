/** A scripted solver: speaks the link protocol over a real socket, signs for real, and answers each request as its script says. */

import { WebSocket } from 'ws';
import type { Chain } from '../../src/domain/chain.ts';
import { commitmentDigest } from '../../src/domain/commitment.ts';
import { encodeContext } from '../../src/domain/context.ts';
import { addressToBytes32, type Address, type Bytes32, type Hex } from '../../src/domain/hex.ts';
import { parseAssetId } from '../../src/domain/asset.ts';
import { orderId, type StandardOrder } from '../../src/domain/order.ts';
import { orderTimes } from '../../src/domain/time.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { type FromSolver, type FromVenue, LINK_PATH, LINK_PROTOCOL_VERSION, type LinkQuote, type Message, readFromVenue, recipientFor, type Rfq, type Slice } from '../../src/protocol/link.ts';
import { linkProofDigest } from '../../src/protocol/link-proof.ts';
import { orderFromMessage, orderToMessage } from '../../src/protocol/wire.ts';
import type { TestAccount } from './devnet.ts';

export interface SolverSpec {
  id: string;
  apiKey: string;
  lp: Address;
  operator: TestAccount;
  chains: readonly Chain[];
  corridors: string[];
  /** What to answer a request with; nothing: silence. */
  answer: (rfq: Rfq, make: Maker) => FromSolver | FromSolver[] | undefined;
  /** What to answer a slice with; the default signs it. */
  slice?: (slice: Slice, make: Maker) => FromSolver | undefined;
  status?: 'active' | 'standby';
  /** Chain time: a chain that mines on demand runs ahead of the wall. */
  now?: () => number;
}

export interface Maker {
  /** A whole, honest, signed quote. `change` spoils it after building and before signing. */
  quote(rfq: Rfq, amounts: { input?: bigint; output?: bigint }, options?: { validSeconds?: number; now?: number; change?: (order: StandardOrder) => StandardOrder; signer?: TestAccount; eta?: number }): LinkQuote;
  decline(rfq: Pick<Rfq, 'rfqId'>, reason: Message<'decline', FromSolver>['reason'], maxAmount?: bigint): FromSolver;
  commit(slice: Slice, signer?: TestAccount): FromSolver;
}

export interface ScriptedSolver {
  received: FromVenue[];
  /** Everything it said. */
  said: FromSolver[];
  /** The next message of a type, whether it has come already or not. */
  next<T extends FromVenue['type']>(type: T, which?: (message: Message<T, FromVenue>) => boolean): Promise<Message<T, FromVenue>>;
  say(message: FromSolver | string): void;
  closed: Promise<{ code: number; reason: string }>;
  stop(): Promise<void>;
}

/** The key is in this process, so the promise never is one. */
const sign = (who: TestAccount, digest: Hex): Hex => who.signer.sign(digest) as Hex;

export async function startSolver(url: string, spec: SolverSpec): Promise<ScriptedSolver> {
  const socket = new WebSocket(url.replace('http', 'ws') + LINK_PATH, { headers: { 'X-API-Key': spec.apiKey } });
  const received: FromVenue[] = [];
  const waiting: { type: string; which: (message: never) => boolean; resolve: (message: never) => void }[] = [];
  const byId = new Map(spec.chains.map((chain) => [chain.id, chain]));
  const said: FromSolver[] = [];
  const say = (message: FromSolver | string) => {
    if (typeof message !== 'string') said.push(message);
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  };
  const maker = createMaker(spec, byId);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })));

  socket.on('message', (data: Buffer) => {
    const read = readFromVenue(data.toString());
    if (!read.ok) throw new Error(`the venue broke the protocol: ${read.detail}`);
    const { message } = read;
    received.push(message);
    for (const [index, entry] of [...waiting.entries()].reverse()) {
      if (entry.type !== message.type || !entry.which(message as never)) continue;
      waiting.splice(index, 1);
      entry.resolve(message as never);
    }
    if (message.type === 'ping') say({ type: 'pong' });
    if (message.type === 'challenge') {
      const accounts = spec.chains.map(({ id, escrow }) => ({
        chainId: id,
        account: spec.lp,
        operator: spec.operator.address,
        signature: sign(spec.operator, linkProofDigest({ chainId: id, escrow }, { nonce: message.nonce, venueId: message.venueId, solverId: spec.id, account: spec.lp })),
      }));
      say({ type: 'hello', solverId: spec.id, kind: 'lp', name: spec.id, accounts, corridors: spec.corridors, maxInFlight: 1_000, protocolVersion: LINK_PROTOCOL_VERSION });
    }
    if (message.type === 'welcome') say({ type: 'status', status: spec.status ?? 'active', note: null });
    if (message.type === 'rfq') for (const answer of [spec.answer(message, maker) ?? []].flat()) say(answer);
    if (message.type === 'slice') {
      const answer = spec.slice ? spec.slice(message, maker) : maker.commit(message);
      if (answer) say(answer);
    }
  });

  const solver: ScriptedSolver = {
    received,
    said,
    say,
    closed,
    next(type, which = () => true) {
      const known = received.find((message) => message.type === type && which(message as never));
      if (known) return Promise.resolve(known as never);
      return new Promise((resolve) => waiting.push({ type, which, resolve: resolve as never }));
    },
    async stop() {
      socket.terminate();
      await closed;
    },
  };
  await Promise.race([
    solver.next('welcome'),
    solver.next('refused').then(({ code }) => Promise.reject(new Error(`refused: ${code}`))),
    closed.then(({ code, reason }) => Promise.reject(new Error(`closed ${code} ${reason}`))),
    new Promise((_, reject) => socket.once('error', reject)),
  ]);
  return solver;
}

function createMaker({ lp, operator, now: chainNow = () => 0 }: SolverSpec, chains: ReadonlyMap<number, Chain>): Maker {
  const domainOf = (chainId: number) => ({ chainId, escrow: (chains.get(chainId) as Chain).escrow });
  return {
    quote(rfq, { input = BigInt(rfq.amount), output = BigInt(rfq.amount) }, { validSeconds = 60, now = Math.max(Math.floor(Date.now() / 1000), chainNow()), change = (order: StandardOrder) => order, signer = operator, eta = 2 } = {}) {
      const { skeleton } = rfq;
      const times = orderTimes(Math.max(now + validSeconds, rfq.minValidUntil ?? 0), skeleton);
      const [inputAsset, outputAsset] = [parseAssetId(rfq.input), parseAssetId(rfq.output)];
      if (!inputAsset || !outputAsset) throw new Error('bad assets');
      const order = change({
        user: rfq.taker,
        nonce: BigInt(skeleton.nonce),
        originChainId: BigInt(skeleton.originChainId),
        expires: times.expires,
        fillDeadline: times.fillDeadline,
        inputOracle: skeleton.inputOracle,
        inputs: [[BigInt(inputAsset.token), input]],
        outputs: [
          {
            oracle: addressToBytes32(skeleton.outputOracle),
            settler: addressToBytes32(skeleton.settler),
            chainId: BigInt(outputAsset.chainId),
            token: addressToBytes32(outputAsset.token),
            amount: output,
            ...recipientFor(rfq),
            context: encodeContext({ exclusiveFor: lp, startTime: times.fillDeadline + 1, portionBps: 10_000, feeBps: rfq.platformFeeBps, relayFee: BigInt(rfq.relayFee) }),
          },
        ],
      });
      const quoteId = systemRandom.bytes32();
      const domain = domainOf(skeleton.originChainId);
      const digest = commitmentDigest(domain, { orderId: orderId(domain, order), quoteId, lp, deadline: order.fillDeadline });
      return {
        type: 'quote',
        rfqId: rfq.rfqId,
        quoteId,
        order: orderToMessage(order) as LinkQuote['order'],
        validUntil: times.validUntil,
        eta,
        lpSpreadBps: 8,
        amountBeforeFees: (output + 1n).toString(),
        commitment: { lp, deadline: order.fillDeadline, signature: sign(signer, digest) },
      };
    },
    decline: (rfq, reason, maxAmount) => ({ type: 'decline', rfqId: rfq.rfqId, reason, maxAmount: maxAmount?.toString() ?? null }),
    commit(slice, signer = operator) {
      const order = orderFromMessage(slice.order);
      const domain = domainOf(Number(order.originChainId));
      const digest: Bytes32 = commitmentDigest(domain, { orderId: orderId(domain, order), quoteId: slice.quoteId, lp, deadline: order.fillDeadline });
      return { type: 'commit', rfqId: slice.rfqId, quoteId: slice.quoteId, commitment: { lp, deadline: order.fillDeadline, signature: sign(signer, digest) }, lpSpreadBps: 9 };
    },
  };
}
