/**
 * Plays a venue controlled by a test: a real WebSocket server with the link's handshake, which records every
 * answer.
 */

import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Chain, TokenInfo } from '../../src/domain/chain.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { Address, Bytes32 } from '../../src/domain/hex.ts';
import { SAME_CHAIN_PROOF_SECONDS } from '../../src/domain/time.ts';
import {
  LINK_PATH,
  LINK_PROTOCOL_VERSION,
  type FromSolver,
  type FromVenue,
  type Hello,
  type LinkMessage,
  readFromSolver,
  type Rfq,
} from '../../src/protocol/link/link.ts';

type Answer = Extract<FromSolver, { rfqId: string }>;

export interface ScriptedVenue {
  url: string;
  /** The newest hello, once there is one. */
  hello(): Promise<Hello>;
  /** Every status message so far, newest last. */
  statuses: LinkMessage<'status', FromSolver>[];
  /** Frames that were no valid message of a solver. */
  broken: string[];
  /** Waits until the newest status satisfies. */
  until(what: (status: LinkMessage<'status', FromSolver>) => boolean): Promise<void>;
  fills: LinkMessage<'fill', FromSolver>[];
  /** Indicative ladders so far, newest last. */
  levels: LinkMessage<'levels', FromSolver>[];
  /**
   * Sends a request and waits for its first answer; to the replica of this name, where several are connected.
   */
  ask(rfq: Rfq, replica?: string): Promise<Answer>;
  /** Returns a replica's last status; undefined while it is not connected or has sent none. */
  said(replica: string): LinkMessage<'status', FromSolver> | undefined;
  /** Sends a request and waits for all answers to it. */
  askAll(rfq: Rfq): Promise<Answer[]>;
  /** Sends any message; an answer resolves the wait on its rfqId. */
  send(message: FromVenue, replica?: string): void;
  answerTo(rfqId: string): Promise<Answer>;
  /** The awards with which a `resync` is answered. */
  awards: LinkMessage<'resync', FromVenue>['awards'];
  /** The bond that the next welcome demands. */
  minBond: LinkMessage<'welcome', FromVenue>['minBond'];
  resyncs: number;
  keys: (string | undefined)[];
  drop(): void;
  stop(): Promise<void>;
}

export const random32 = (): Bytes32 => `0x${randomBytes(32).toString('hex')}`;

export async function startScriptedVenue(chains: readonly Chain[]): Promise<ScriptedVenue> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    path: LINK_PATH,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const waiting = new Map<string, (answer: Answer) => void>();
  const early = new Map<string, Answer[]>();
  /** Connected replicas of the LP, each with its last status. */
  const sockets = new Map<WebSocket, LinkMessage<'status', FromSolver> | undefined>();
  const names = new Map<WebSocket, string | undefined>();
  /** The session that offered a ladder: only that session is asked for its slice. */
  const offered = new Map<string, WebSocket>();
  let turn = 0;
  let hello: Hello | undefined;

  /** Picks as a venue does: the active ones in turn. */
  function picked(): WebSocket {
    const active = [...sockets].filter(([, status]) => status?.status === 'active').map(([client]) => client);
    const from = active.length > 0 ? active : [...sockets.keys()];
    const client = from[(turn += 1) % Math.max(1, from.length)];
    if (client === undefined) throw new Error('no LP is connected');
    return client;
  }

  const venue: ScriptedVenue = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statuses: [],
    broken: [],
    fills: [],
    levels: [],
    awards: [],
    resyncs: 0,
    minBond: undefined,
    keys: [],
    async hello() {
      while (hello === undefined) await pause(5);
      return hello;
    },
    async until(what) {
      for (;;) {
        const last = venue.statuses.at(-1);
        if (last !== undefined && what(last)) return;
        await pause(10);
      }
    },
    said: (replica) => [...sockets].find(([client]) => names.get(client) === replica)?.[1],
    ask(rfq, replica) {
      venue.send(rfq, replica);
      return venue.answerTo(rfq.rfqId);
    },
    async askAll(rfq) {
      const answers = [await venue.ask(rfq)];
      for (let last = answers[0]; last?.type === 'quote' && last.more === true; last = answers.at(-1))
        answers.push(await venue.answerTo(rfq.rfqId));
      return answers;
    },
    answerTo(rfqId) {
      const answer = early.get(rfqId)?.shift();
      if (answer !== undefined) return Promise.resolve(answer);
      return new Promise((resolve) => waiting.set(rfqId, resolve));
    },
    send(message, replica) {
      const text = JSON.stringify(message);
      if (replica !== undefined) {
        const client = [...sockets.keys()].find((each) => names.get(each) === replica);
        if (client === undefined) throw new Error(`no replica ${replica} is connected`);
        client.send(text);
      } else if (message.type === 'slice') (offered.get(message.rfqId) ?? picked()).send(text);
      else if (message.type === 'rfq' || message.type === 'award') picked().send(text);
      else for (const client of sockets.keys()) client.send(text);
    },
    drop: () => sockets.forEach((_, client) => client.terminate()),
    async stop() {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  server.on('connection', (client, request) => {
    sockets.set(client, undefined);
    client.on('close', () => sockets.delete(client));
    hello = undefined;
    venue.keys.push(request.headers['x-api-key'] as string | undefined);
    const say = (message: FromVenue) => client.send(JSON.stringify(message));
    say({
      type: 'challenge',
      nonce: random32(),
      venueId: 'scripted',
      protocolVersion: LINK_PROTOCOL_VERSION,
      chains: chains.map(({ id, slug, escrow, oracle }) => ({ chainId: id, slug, escrow, oracle })),
    });
    client.on('message', (data: Buffer) => {
      const read = readFromSolver(data.toString());
      if (!read.ok) return void venue.broken.push(read.detail);
      const { message } = read;
      if (message.type === 'hello') {
        hello = message;
        names.set(client, message.replica);
        const { minBond } = venue;
        say({ type: 'welcome', sessionId: 's1', heartbeatSeconds: 5, ...(minBond && { minBond }) });
      } else if (message.type === 'ping') say({ type: 'pong' });
      else if (message.type === 'status') {
        sockets.set(client, message);
        // One of them that prices is enough for the LP to be active.
        venue.statuses.push([...sockets.values()].find((status) => status?.status === 'active') ?? message);
      } else if (message.type === 'fill') venue.fills.push(message);
      else if (message.type === 'levels') venue.levels.push(message);
      else if (message.type === 'resync') {
        venue.resyncs += 1;
        say({ type: 'resync', awards: venue.awards });
      } else if ('rfqId' in message) {
        if (message.type === 'partial') offered.set(message.rfqId, client);
        const resolve = waiting.get(message.rfqId);
        waiting.delete(message.rfqId);
        if (resolve) resolve(message);
        else early.set(message.rfqId, [...(early.get(message.rfqId) ?? []), message]);
      }
    });
  });
  return venue;
}

/**
 * Makes a request over one or two chains, such as `request({ from: chain, to: chain, give: usdc, take: weth,
 * amount: 2500_000000n })`.
 */
export function request({
  from,
  to,
  give,
  take,
  amount,
  taker,
  ...rest
}: { from: Chain; to: Chain; give: TokenInfo; take: TokenInfo; amount: bigint; taker: Address } & Partial<
  Omit<Rfq, 'amount' | 'taker'>
>): Rfq {
  const same = from.id === to.id;
  return {
    type: 'rfq',
    rfqId: random32().slice(2, 34),
    deadlineMs: 2_000,
    input: assetId({ chainId: from.id, token: give.address }),
    output: assetId({ chainId: to.id, token: take.address }),
    side: 'exactInput',
    amount: amount.toString(),
    taker,
    receiver: taker,
    minValidUntil: null,
    platformFeeBps: 2,
    relayFee: '0',
    executionMode: 'apiSubmit',
    maxSplitParts: 1,
    skeleton: {
      nonce: BigInt(random32()).toString(),
      originChainId: from.id,
      inputOracle: same ? from.escrow : from.oracle,
      outputOracle: same ? to.escrow : to.oracle,
      settler: to.escrow,
      landingMarginSeconds: from.landingMarginSeconds,
      proofWindowSeconds: same ? SAME_CHAIN_PROOF_SECONDS : from.proofWindowSeconds,
    },
    ...rest,
  };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
