/**
 * Plays a scripted solver: it speaks the link protocol over a real socket, signs with a real key, and answers
 * each request as its script says.
 */

import { WebSocket } from 'ws';
import type { Chain } from '../../src/domain/chain.ts';
import { commitmentDigest } from '../../src/domain/commitment.ts';
import { encodeContext } from '../../src/domain/context.ts';
import { addressToBytes32, type Address, type Bytes32, type Hex } from '../../src/domain/hex.ts';
import { parseAssetId } from '../../src/domain/asset.ts';
import { orderId, type StandardOrder, orderToMessage } from '../../src/domain/order.ts';
import { orderTimes } from '../../src/domain/time.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import {
  type FromSolver,
  type FromVenue,
  LINK_PATH,
  LINK_PROTOCOL_VERSION,
  type LinkQuote,
  type LinkMessage,
  readFromVenue,
  recipientFor,
  type Rfq,
  type SliceRequest,
} from '../../src/protocol/link/link.ts';
import { linkProofDigest } from '../../src/protocol/link/link-proof.ts';
import { orderFromMessage } from '../../src/protocol/wire.ts';
import type { TestAccount } from './devnet.ts';
import { replicasAt } from './replicas.ts';

export interface SolverSpec {
  id: string;
  apiKey: string;
  lp: Address;
  operator: TestAccount;
  chains: readonly Chain[];
  corridors: string[];
  /** Returns the answer to a request; nothing: silence. */
  answer: (rfq: Rfq, make: Maker) => FromSolver | FromSolver[] | undefined;
  /** Returns the answer to a slice; the default signs it. */
  slice?: (slice: SliceRequest, make: Maker) => FromSolver | undefined;
  status?: 'active' | 'standby';
  /** True: it only watches and proves nothing. */
  shadow?: boolean;
  /** Chain time: a chain that mines on demand runs ahead of the wall. */
  now?: () => number;
  /** The local address of its links. */
  from?: string;
}

export interface Maker {
  /** A complete, valid, signed quote. `change` alters it after building and before signing. */
  quote(
    rfq: Rfq,
    amounts: { input?: bigint; output?: bigint },
    options?: {
      validSeconds?: number;
      now?: number;
      change?: (order: StandardOrder) => StandardOrder;
      signer?: TestAccount;
      eta?: number;
    },
  ): LinkQuote;
  decline(
    rfq: Pick<Rfq, 'rfqId'>,
    reason: LinkMessage<'decline', FromSolver>['reason'],
    maxAmount?: bigint,
  ): FromSolver;
  commit(slice: SliceRequest, signer?: TestAccount): FromSolver;
}

export interface ScriptedSolver {
  received: FromVenue[];
  /** Every message that the solver sent. */
  said: FromSolver[];
  /** The next message of a type, whether it has come already or not. */
  next<T extends FromVenue['type']>(
    type: T,
    which?: (message: LinkMessage<T, FromVenue>) => boolean,
  ): Promise<LinkMessage<T, FromVenue>>;
  say(message: FromSolver | string): void;
  closed: Promise<{ code: number; reason: string }>;
  stop(): Promise<void>;
}

const sign = (who: TestAccount, digest: Hex): Hex => who.sign(digest);

/**
 * Opens a link to each replica behind the address, or to each address; the same message from several counts
 * once.
 */
export async function startSolver(
  url: string | readonly string[],
  spec: SolverSpec,
): Promise<ScriptedSolver> {
  const received: FromVenue[] = [];
  const said: FromSolver[] = [];
  const waiting: { type: string; which: (message: never) => boolean; resolve: (message: never) => void }[] =
    [];
  const maker = createMaker(spec, new Map(spec.chains.map((chain) => [chain.id, chain])));
  const heard = new Map<string, number>();
  /** Answers go to the link that the request came from. */
  const askedBy = new Map<string, Line>();
  const lines = await Promise.all(
    (typeof url === 'string' ? replicasAt(url) : url).map((replica) => openLine(replica, spec, hear, said)),
  );

  function hear(line: Line, text: string): void {
    const read = readFromVenue(text);
    if (!read.ok) throw new Error(`the venue broke the protocol: ${read.detail}`);
    const { message } = read;
    if (message.type === 'rfq' || message.type === 'slice') askedBy.set(message.rfqId, line);
    const times = (line.heard.get(text) ?? 0) + 1;
    line.heard.set(text, times);
    // An order event comes over every link and counts once.
    if (times > (heard.get(text) ?? 0)) {
      heard.set(text, times);
      received.push(message);
      for (const [index, entry] of [...waiting.entries()].reverse()) {
        if (entry.type !== message.type || !entry.which(message as never)) continue;
        waiting.splice(index, 1);
        entry.resolve(message as never);
      }
    }
    if (message.type === 'rfq') for (const answer of [spec.answer(message, maker) ?? []].flat()) say(answer);
    if (message.type === 'slice') {
      const answer = spec.slice ? spec.slice(message, maker) : maker.commit(message);
      if (answer) say(answer);
    }
  }

  function say(message: FromSolver | string): void {
    if (typeof message !== 'string') said.push(message);
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    const to = typeof message !== 'string' && 'rfqId' in message ? askedBy.get(message.rfqId) : undefined;
    for (const line of to ? [to] : lines) line.send(text);
  }

  return {
    received,
    said,
    say,
    closed: Promise.all(lines.map(({ closed }) => closed)).then(
      ([first]) => first as Awaited<ScriptedSolver['closed']>,
    ),
    next(type, which = () => true) {
      const known = received.find((message) => message.type === type && which(message as never));
      if (known) return Promise.resolve(known as never);
      return new Promise((resolve) => waiting.push({ type, which, resolve: resolve as never }));
    },
    async stop() {
      await Promise.all(lines.map((line) => line.stop()));
    },
  };
}

interface Line {
  /** Counts how often this link brought each text. */
  heard: Map<string, number>;
  send(text: string): void;
  closed: Promise<{ code: number; reason: string }>;
  stop(): Promise<void>;
}

/** Resolves when this replica has said welcome. */
async function openLine(
  url: string,
  spec: SolverSpec,
  hear: (line: Line, text: string) => void,
  said: FromSolver[],
): Promise<Line> {
  const socket = new WebSocket(url.replace('http', 'ws') + LINK_PATH, {
    headers: { 'X-API-Key': spec.apiKey },
    ...(spec.from !== undefined && { localAddress: spec.from }),
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  const say = (message: FromSolver) => {
    said.push(message);
    socket.send(JSON.stringify(message));
  };
  const line: Line = {
    heard: new Map(),
    send: (text) => socket.send(text),
    closed,
    async stop() {
      socket.terminate();
      await closed;
    },
  };
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    void closed.then(({ code, reason }) => reject(new Error(`closed ${code} ${reason}`)));
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      const read = readFromVenue(text);
      if (!read.ok) throw new Error(`the venue broke the protocol: ${read.detail}`);
      const { message } = read;
      if (message.type === 'ping') say({ type: 'pong' });
      if (message.type === 'refused') reject(new Error(`refused: ${message.code}`));
      if (message.type === 'challenge') {
        const accounts = (spec.shadow === true ? [] : spec.chains).map(({ id, escrow }) => ({
          chainId: id,
          account: spec.lp,
          operator: spec.operator.address,
          signature: sign(
            spec.operator,
            linkProofDigest(
              { chainId: id, escrow },
              { nonce: message.nonce, venueId: message.venueId, solverId: spec.id, account: spec.lp },
            ),
          ),
        }));
        say({
          type: 'hello',
          solverId: spec.id,
          kind: 'lp',
          name: spec.id,
          ...(spec.shadow === true && { shadow: true as const }),
          accounts,
          corridors: spec.corridors,
          maxInFlight: 1_000,
          protocolVersion: LINK_PROTOCOL_VERSION,
        });
      }
      if (message.type === 'welcome') {
        say({ type: 'status', status: spec.status ?? 'active', note: null });
        resolve();
      }
      hear(line, text);
    });
  });
  return line;
}

/** Makes and signs what a solver says. */
export function createMaker(
  { lp, operator, now: chainNow = () => 0 }: Pick<SolverSpec, 'lp' | 'operator' | 'now'>,
  chains: ReadonlyMap<number, Chain>,
): Maker {
  const domainOf = (chainId: number) => ({ chainId, escrow: (chains.get(chainId) as Chain).escrow });
  return {
    quote(
      rfq,
      { input = BigInt(rfq.amount), output = BigInt(rfq.amount) },
      {
        validSeconds = 60,
        now = Math.max(Math.floor(Date.now() / 1000), chainNow()),
        change = (order: StandardOrder) => order,
        signer = operator,
        eta = 2,
      } = {},
    ) {
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
            context: encodeContext({
              exclusiveFor: lp,
              startTime: times.fillDeadline + 1,
              portionBps: 10_000,
              feeBps: rfq.platformFeeBps,
              relayFee: BigInt(rfq.relayFee),
            }),
          },
        ],
      });
      const quoteId = systemRandom.bytes32();
      const domain = domainOf(skeleton.originChainId);
      const digest = commitmentDigest(domain, {
        orderId: orderId(domain, order),
        quoteId,
        lp,
        deadline: order.fillDeadline,
      });
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
    decline: (rfq, reason, maxAmount) => ({
      type: 'decline',
      rfqId: rfq.rfqId,
      reason,
      maxAmount: maxAmount?.toString() ?? null,
    }),
    commit(slice, signer = operator) {
      const order = orderFromMessage(slice.order);
      const domain = domainOf(Number(order.originChainId));
      const digest: Bytes32 = commitmentDigest(domain, {
        orderId: orderId(domain, order),
        quoteId: slice.quoteId,
        lp,
        deadline: order.fillDeadline,
      });
      return {
        type: 'commit',
        rfqId: slice.rfqId,
        quoteId: slice.quoteId,
        commitment: { lp, deadline: order.fillDeadline, signature: sign(signer, digest) },
        lpSpreadBps: 9,
      };
    },
  };
}
