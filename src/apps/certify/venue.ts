/** Plays the venue of a certification: a real end of the link, which checks every frame of the solver. */

import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import { countPerSecond } from '../../risk/rate.ts';
import {
  type Award,
  type FromSolver,
  type FromVenue,
  type Hello,
  LINK_ANSWERS,
  LINK_FRAMES_PER_SECOND,
  LINK_MAX_PAYLOAD_BYTES,
  LINK_MISSED_HEARTBEATS,
  LINK_OTHER_FRAMES_PER_SECOND,
  LINK_PATH,
  LINK_PROTOCOL_VERSION,
  type LinkMessage,
  readFromSolver,
} from '../../protocol/link/link.ts';
import { linkProofDigest } from '../../protocol/link/link-proof.ts';
import type { RuleFindings } from './findings.ts';
import type { CertifyWorld } from './world.ts';

export type LinkAnswer = Extract<FromSolver, { rfqId: string }>;
type Challenge = LinkMessage<'challenge', FromVenue>;

/** Sets how the venue treats the next connections. */
interface Manner {
  /** The challenge names these contracts in place of those of the chains. */
  chains?: Challenge['chains'] | undefined;
  greet: 'welcome' | 'refuse';
  /** Says nothing more, not even a ping. */
  silent: boolean;
  /** The venue answers a `resync` with these awards. */
  awards: readonly Omit<Award, 'type'>[];
}

export interface CertifyVenue {
  url: string;
  manner: Manner;
  /** Returns the hello of the connection that was welcomed last; undefined while there is none. */
  hello(): Hello | undefined;
  accountOn(chainId: number): { account: Address; operator: Address } | undefined;
  isActive(): boolean;
  /** Every hello so far, also those that were not welcomed. */
  hellos: Hello[];
  /**
   * The times at which connections began, in milliseconds of the monotonic clock; `closed` has those of their
   * ends.
   */
  opened: number[];
  closed: number[];
  resyncs(): number;
  fills: LinkMessage<'fill', FromSolver>[];
  send(message: FromVenue): void;
  /** Sends any text, also what is no message. */
  sendText(text: string): void;
  onAnswer(listener: (answer: LinkAnswer, atMs: number) => void): void;
  /** Closes what is connected. */
  drop(): void;
  stop(): Promise<void>;
}

const HELLO_MS = 10_000;
const VENUE_ID = 'certify';
/** Larger than what is allowed, so that too large a frame is seen and named. */
const READ_BYTES = 16 * LINK_MAX_PAYLOAD_BYTES;

interface VenueDeps {
  world: CertifyWorld;
  key: string;
  solverId: string;
  findings: RuleFindings;
  heartbeatSeconds: number;
}

/** The connections and messages that the venue remembers of the solver. */
interface VenueState extends VenueDeps {
  manner: Manner;
  hellos: Hello[];
  opened: number[];
  closed: number[];
  fills: LinkMessage<'fill', FromSolver>[];
  listeners: ((answer: LinkAnswer, atMs: number) => void)[];
  /** The connection in force, and what the solver said on it. */
  current: WebSocket | undefined;
  hello: Hello | undefined;
  status: 'active' | 'standby' | undefined;
  resyncs: number;
}

/** One connection of the solver. */
interface Connection {
  socket: WebSocket;
  nonce: Bytes32;
  /** The manner of the venue when the connection began. */
  greet: Manner['greet'];
  chains: Challenge['chains'];
  /** Counts the frames of the current second, by type. */
  frames: Map<string, () => number>;
  greeted: boolean;
  unanswered: number;
}

const recovery = createRecovery();

export async function startCertifyVenue(
  deps: VenueDeps,
  { host, port }: { host: string; port: number },
): Promise<CertifyVenue> {
  const server = new WebSocketServer({
    host,
    port,
    path: LINK_PATH,
    perMessageDeflate: false,
    maxPayload: READ_BYTES,
  });
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const state: VenueState = {
    ...deps,
    manner: { greet: 'welcome', silent: false, awards: [] },
    ...{ hellos: [], opened: [], closed: [], fills: [], listeners: [] },
    ...{ current: undefined, hello: undefined, status: undefined, resyncs: 0 },
  };
  const { manner, hellos, opened, closed, fills, listeners } = state;
  server.on('connection', (socket, request) => connect(state, socket, request.headers['x-api-key']));
  const sendText = (text: string): void => {
    const { current } = state;
    if (!manner.silent && current?.readyState === current?.OPEN) current?.send(text);
  };
  return {
    url: `ws://${host}:${(server.address() as AddressInfo).port}`,
    ...{ manner, hellos, opened, closed, fills, sendText },
    hello: () => state.hello,
    accountOn: (chainId) => state.hello?.accounts.find((each) => each.chainId === chainId),
    isActive: () => state.hello !== undefined && state.status === 'active',
    resyncs: () => state.resyncs,
    send: (message) => sendText(JSON.stringify(message)),
    onAnswer: (listener) => void listeners.push(listener),
    drop: () => state.current?.close(1012, 'the venue is restarting'),
    async stop() {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A second connection replaces the first. */
function connect(state: VenueState, socket: WebSocket, theirs: string | string[] | undefined): void {
  const { findings, key, opened } = state;
  opened.push(performance.now());
  if (theirs === key) findings.pass('key', 'the solver sent its key');
  else
    findings.fail('key', theirs === undefined ? 'no X-API-Key header came' : 'another key came than --key');
  state.current?.close(1000, 'replaced');
  state.current = socket;
  state.hello = undefined;
  state.status = undefined;
  serve(state, socket);
}

function serve(state: VenueState, socket: WebSocket): void {
  const { findings, closed, manner, world } = state;
  const { greet, chains = trueChains(world) } = manner;
  const connection: Connection = {
    socket,
    nonce: systemRandom.bytes32(),
    ...{ greet, chains, frames: new Map(), greeted: false, unanswered: 0 },
  };
  const timers = startTimers(state, connection);
  socket.on('error', (error) => findings.fail('frames', `the connection broke: ${error.message}`));
  socket.on('close', () => {
    closed.push(performance.now());
    for (const timer of timers) clearInterval(timer);
    if (state.current !== socket) return;
    state.current = undefined;
    state.hello = undefined;
    state.status = undefined;
  });
  socket.on('message', (data: Buffer, isBinary) => receive(state, connection, data, isBinary));
  say(state, connection, {
    type: 'challenge',
    nonce: connection.nonce,
    venueId: VENUE_ID,
    protocolVersion: LINK_PROTOCOL_VERSION,
    chains: [...chains],
  });
}

function say({ manner }: VenueState, { socket }: Connection, message: FromVenue): void {
  if (!manner.silent && socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
}

function startTimers(state: VenueState, connection: Connection): NodeJS.Timeout[] {
  const { findings, manner, heartbeatSeconds } = state;
  const { socket, greet } = connection;
  return [
    setTimeout(() => {
      if (connection.greeted) return;
      findings.fail('hello', 'no hello came within ten seconds');
      socket.close(1008, 'handshake_timeout');
    }, HELLO_MS),
    setInterval(() => {
      if (!connection.greeted || manner.silent || greet === 'refuse') return;
      if (connection.unanswered >= LINK_MISSED_HEARTBEATS)
        findings.fail('heartbeat', `${LINK_MISSED_HEARTBEATS} pings in a row were not answered`);
      connection.unanswered += 1;
      say(state, connection, { type: 'ping' });
    }, heartbeatSeconds * 1_000),
  ];
}

function receive(state: VenueState, connection: Connection, data: Buffer, isBinary: boolean): void {
  const { findings } = state;
  const atMs = performance.now();
  if (isBinary) return findings.fail('frames', 'a binary frame came');
  if (data.length > LINK_MAX_PAYLOAD_BYTES)
    return findings.fail('frame-size', `a frame of ${data.length} bytes came`);
  const message = readFrame(state, data.toString());
  if (message === undefined) return;
  count(state, connection, message.type);
  if (message.type === 'pong') {
    connection.unanswered = 0;
    findings.pass('heartbeat', 'every ping was answered');
  } else if (message.type === 'ping') say(state, connection, { type: 'pong' });
  else if (message.type === 'hello') {
    if (connection.greeted) return findings.fail('hello', 'a second hello came on one connection');
    connection.greeted = true;
    greetSolver(state, connection, message);
  } else if (!connection.greeted) findings.fail('hello', `a ${message.type} came before the hello`);
  else take(state, connection, message, atMs);
}

function greetSolver(state: VenueState, connection: Connection, message: Hello): void {
  const { hellos, manner, heartbeatSeconds } = state;
  const { socket, nonce, greet, chains } = connection;
  hellos.push(message);
  // What it proves for contracts that are not those of the chains is judged elsewhere.
  if (chains === manner.chains) return socket.close(1012, 'the venue is restarting');
  checkHello(state, message, nonce);
  if (greet === 'refuse') {
    say(state, connection, { type: 'refused', code: 'try_later', message: 'Try again shortly.' });
    return socket.close(1008, 'try_later');
  }
  state.hello = message;
  say(state, connection, { type: 'welcome', sessionId: nonce.slice(2, 34), heartbeatSeconds });
}

/** undefined for a frame that no venue would take. */
function readFrame({ findings }: VenueState, text: string): FromSolver | undefined {
  const read = readFromSolver(text);
  if (read.ok) return read.message;
  const isJson = read.kind === 'unknown_type' || read.broken !== undefined;
  findings.fail(isJson ? 'fields' : 'frames', `a frame came that is invalid: ${read.detail}`);
  return undefined;
}

function count({ findings }: VenueState, { frames }: Connection, type: string): void {
  const counter = frames.get(type) ?? countPerSecond(() => performance.now());
  frames.set(type, counter);
  const came = counter();
  if (LINK_ANSWERS.has(type) || came <= (LINK_FRAMES_PER_SECOND[type] ?? LINK_OTHER_FRAMES_PER_SECOND))
    return;
  findings.fail('rate', `more than ${came - 1} frames of type ${type} came in a second`);
}

function checkHello({ world, solverId, findings }: VenueState, message: Hello, nonce: Bytes32): void {
  const { accounts, protocolVersion } = message;
  if (message.solverId !== solverId)
    findings.fail('hello', `the solver calls itself ${message.solverId}; the key is for ${solverId}`);
  else if (protocolVersion !== LINK_PROTOCOL_VERSION)
    findings.fail('hello', `the hello names protocol version ${protocolVersion}`);
  else if (new Set(accounts.map(({ chainId }) => chainId)).size < accounts.length)
    findings.fail('hello', 'the hello names a chain twice');
  else findings.pass('hello', `${accounts.length} chains, ${message.corridors.length} corridors`);
  for (const { chainId, account, operator, signature } of accounts) {
    const found = world.chains.find(({ chain }) => chain.id === chainId);
    if (found === undefined) {
      findings.fail('hello', `the hello names chain ${chainId}, which is not in the challenge`);
      continue;
    }
    const { escrow } = found.chain;
    const digest = linkProofDigest({ chainId, escrow }, { nonce, venueId: VENUE_ID, solverId, account });
    if (recovery.recover(digest, signature) === operator)
      findings.pass('proof', 'each proof is signed by the operator that it names');
    else findings.fail('proof', `the proof for chain ${chainId} is not signed by ${operator}`);
    found.views.isOperator(account, operator).then(
      (may) =>
        may
          ? findings.pass('operator', 'each operator may sign for its account')
          : findings.fail('operator', `chain ${chainId}: ${operator} may not sign for ${account}`),
      (error: unknown) => findings.skip('operator', `chain ${chainId} does not answer: ${String(error)}`),
    );
  }
}

function take(state: VenueState, connection: Connection, message: FromSolver, atMs: number): void {
  const { findings } = state;
  switch (message.type) {
    case 'status':
      state.status = message.status;
      if (state.status === 'active') findings.pass('status', 'the solver said active');
      return;
    case 'levels':
      return checkLevels(state, message);
    case 'fill':
      return void state.fills.push(message);
    case 'resync':
      state.resyncs += 1;
      return say(state, connection, { type: 'resync', awards: [...state.manner.awards] });
    default:
      if ('rfqId' in message) for (const listener of state.listeners) listener(message, atMs);
  }
}

function checkLevels({ findings }: VenueState, { levels }: LinkMessage<'levels', FromSolver>): void {
  const isRising = levels.every(([size], at) => at === 0 || BigInt(size) > BigInt(levels[at - 1]?.[0] ?? 0));
  if (isRising) findings.pass('levels', 'sizes rise');
  else findings.fail('levels', 'the sizes of a ladder do not rise');
}

export const trueChains = ({ chains }: CertifyWorld): Challenge['chains'] =>
  chains.map(({ chain: { id, slug, escrow, oracle } }) => ({ chainId: id, slug, escrow, oracle }));
