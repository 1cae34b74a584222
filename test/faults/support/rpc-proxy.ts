/**
 * A faulty node: JSON-RPC over HTTP in front of a real one, single or in batches, with one fault per method
 * that tests switch while it runs.
 */

import { createServer, type Server, type Socket } from 'node:net';
import {
  Agent,
  createServer as createHttpServer,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';

type Params = readonly unknown[];

export type RpcFault =
  /** Asks the node, then answers something else. */
  | { do: 'lie'; answer: (honest: unknown, params: Params) => unknown }
  /**
   * Answers as a node whose newest block is this one: older heads, older state, no later logs, receipts or
   * blocks.
   */
  | { do: 'stale'; at: bigint }
  /** Answers null, whatever the node has. */
  | { do: 'null' }
  /** Leaves logs out of eth_getLogs and of receipts. */
  | { do: 'drop_logs' }
  /** Answers without asking the node, so a sent transaction never arrives. */
  | { do: 'drop'; answer: (params: Params) => unknown }
  /** Passes the request on and withholds the reply: no answer, or a closed connection. */
  | { do: 'swallow'; how: 'silence' | 'hang_up' }
  /** Passes the request on twice and answers with the node's second answer. */
  | { do: 'duplicate' }
  | { do: 'delay'; ms: number }
  | { do: 'reject'; code: number; message: string; data?: unknown };

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Instead of a JSON-RPC answer to the whole request. */
export interface HttpRefusal {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

/** A provider of nodes: what it refuses of each request, by rules of its own. Faults count beside it. */
export interface Provider {
  /** Whether what it refuses depends on the chain's newest block. */
  readonly needsHead: boolean;
  /** `key`: the path of the URL, as providers tell their customers apart. `head`: 0 unless needed. */
  refuse(
    calls: readonly Call[],
    request: { isBatch: boolean; key: string; head: bigint },
  ): HttpRefusal | undefined;
  /** The error in the answer to one call that was let in. */
  refuseCall(call: Call, head: bigint): RpcError | undefined;
  /** Blocks that the node behind this request lacks. */
  behind(): number;
}

export interface RpcProxy {
  url: string;
  /**
   * For one method, or for all of them ('*'); the newest matching rule applies. `when` looks at the
   * parameters. Returns a function that removes the rule.
   */
  fault(method: string, fault: RpcFault, when?: (params: Params) => boolean): () => void;
  /** Requests go through this provider from now on. */
  play(provider: Provider): void;
  /** Removes every fault; withheld replies stay lost. */
  heal(): void;
  /** Connections are refused until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Requests seen so far, of one method or of all; a batch counts each. */
  calls(method?: string): number;
  /** Requests to which a fault was applied. */
  faulted(method?: string): number;
  /** HTTP requests in flight now, and the most there ever were. */
  waiting(): { now: number; most: number };
  stop(): Promise<void>;
}

export interface Call {
  id: unknown;
  method: string;
  params?: Params;
}

interface Answer {
  jsonrpc: '2.0';
  id: unknown;
  result?: unknown;
  error?: RpcError;
}

interface Rule {
  method: string;
  fault: RpcFault;
  when: (params: Params) => boolean;
}

/** How a fault says that there will be no answer. */
class Swallowed extends Error {
  readonly how: 'silence' | 'hang_up';
  constructor(how: 'silence' | 'hang_up') {
    super(how);
    this.how = how;
  }
}

export async function startRpcProxy(target: string): Promise<RpcProxy> {
  let rules: Rule[] = [];
  const seen = new Map<string, number>();
  const hit = new Map<string, number>();
  const sockets = new Set<Socket>();
  const sleeping = new Set<() => void>();
  const agent = new Agent({ keepAlive: true });
  let waiting = 0;
  let most = 0;
  let provider: Provider | undefined;

  async function ask(method: string, params: Params): Promise<Omit<Answer, 'id'>> {
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as Answer;
  }

  async function headMinus(blocks: number): Promise<bigint> {
    const head = BigInt((await ask('eth_blockNumber', [])).result as string);
    return head > BigInt(blocks) ? head - BigInt(blocks) : 0n;
  }

  const ruleOf = ({ method, params = [] }: Call) =>
    rules.findLast(
      (candidate) => (candidate.method === '*' || candidate.method === method) && candidate.when(params),
    );

  /** `at`: the newest block of the node that answers, when it is behind. */
  async function answer(call: Call, at?: bigint): Promise<Answer> {
    const { id, method, params = [] } = call;
    const rule = ruleOf(call);
    if (!rule)
      return { ...(await (at === undefined ? ask(method, params) : asOf(at, method, params, ask))), id };
    count(hit, method);
    const { fault } = rule;
    const said = (result: unknown): Answer => ({ jsonrpc: '2.0', id, result });
    switch (fault.do) {
      case 'lie': {
        const honest = await ask(method, params);
        return honest.error ? { ...honest, id } : said(fault.answer(honest.result, params));
      }
      case 'stale':
        return { ...(await asOf(fault.at, method, params, ask)), id };
      case 'null':
        return said(null);
      case 'drop_logs': {
        const honest = await ask(method, params);
        return { ...honest, id, ...(honest.result !== undefined && { result: withoutLogs(honest.result) }) };
      }
      case 'drop':
        return said(fault.answer(params));
      case 'swallow':
        await ask(method, params);
        throw new Swallowed(fault.how);
      case 'duplicate':
        await ask(method, params);
        return { ...(await ask(method, params)), id };
      case 'delay':
        await sleep(fault.ms);
        return { ...(await ask(method, params)), id };
      case 'reject':
        return {
          jsonrpc: '2.0',
          id,
          error: {
            code: fault.code,
            message: fault.message,
            ...(fault.data !== undefined && { data: fault.data }),
          },
        };
    }
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done(): void {
        clearTimeout(timer);
        sleeping.delete(done);
        resolve();
      }
      sleeping.add(done);
    });
  }

  /** Requests without a fault pass unchanged, because a soak has hundreds a second. */
  function pass(body: Buffer, response: ServerResponse): Promise<void> {
    return new Promise((resolve, reject) => {
      const onward = httpRequest(
        target,
        {
          method: 'POST',
          agent,
          headers: { 'content-type': 'application/json', 'content-length': body.length },
        },
        (honest) => {
          response.setHeader('content-type', 'application/json');
          honest.on('error', reject).pipe(response);
        },
      );
      onward.on('error', reject).end(body);
      // Answered, or the client has left.
      response.once('close', () => {
        if (!response.writableFinished) onward.destroy();
        resolve();
      });
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    waiting += 1;
    most = Math.max(most, waiting);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const bytes = Buffer.concat(chunks);
      const body = JSON.parse(bytes.toString()) as Call | Call[];
      const calls = [body].flat();
      for (const { method } of calls) count(seen, method);
      const isBatch = Array.isArray(body);
      const head = provider?.needsHead ? await headMinus(0) : 0n;
      const refused = provider?.refuse(calls, { isBatch, key: request.url ?? '/', head });
      if (refused) {
        response.writeHead(refused.status, refused.headers).end(refused.body);
        return;
      }
      const errors = new Map(calls.map((call) => [call, provider?.refuseCall(call, head)]));
      const behind = provider?.behind() ?? 0;
      if (behind === 0 && !calls.some((call) => ruleOf(call) || errors.get(call)))
        return await pass(bytes, response);
      const at = behind > 0 ? await headMinus(behind) : undefined;
      const each = (call: Call): Promise<Answer> | Answer => {
        const error = errors.get(call);
        return error ? { jsonrpc: '2.0', id: call.id, error } : answer(call, at);
      };
      const reply = isBatch ? await Promise.all(calls.map(each)) : await each(body as Call);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
    } catch (error) {
      // Without an answer of the node there is none here.
      if (!(error instanceof Swallowed) || error.how === 'hang_up') response.destroy();
    } finally {
      waiting -= 1;
    }
  }

  const http = createHttpServer((request, response) => void serve(request, response));
  let door = await listen(0);
  const { port } = door.address() as { port: number };

  /** Its own listener, which can close and reopen the same port without ending the server behind. */
  function listen(at: number): Promise<Server> {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => {});
      http.emit('connection', socket);
    });
    return new Promise((resolve, reject) =>
      server.once('error', reject).listen(at, '127.0.0.1', () => resolve(server)),
    );
  }

  function shut(): Promise<void> {
    const closed = new Promise<void>((resolve) => door.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    return closed;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    fault(method, fault, when = () => true) {
      const rule = { method, fault, when };
      rules.push(rule);
      return () => {
        rules = rules.filter((other) => other !== rule);
      };
    },
    play: (played) => void (provider = played),
    heal() {
      rules = [];
      for (const wake of sleeping) wake();
    },
    down: shut,
    async up() {
      door = await listen(port);
    },
    calls: (method) => total(seen, method),
    faulted: (method) => total(hit, method),
    waiting: () => ({ now: waiting, most }),
    async stop() {
      for (const wake of sleeping) wake();
      agent.destroy();
      await shut();
    },
  };
}

/** What a node with newest block `at` would answer. */
async function asOf(
  at: bigint,
  method: string,
  params: Params,
  ask: (method: string, params: Params) => Promise<Omit<Answer, 'id'>>,
): Promise<Omit<Answer, 'id'>> {
  const head = `0x${at.toString(16)}`;
  const isLater = (tag: unknown): boolean =>
    typeof tag === 'string' && /^0x[0-9a-f]{1,16}$/i.test(tag) && BigInt(tag) > at;
  const pinned = (tag: unknown): unknown =>
    tag === undefined || tag === 'latest' || tag === 'pending' ? head : tag;
  const none: Omit<Answer, 'id'> = { jsonrpc: '2.0', result: null };
  const unknown: Omit<Answer, 'id'> = {
    jsonrpc: '2.0',
    error: { code: -32_000, message: 'header not found' },
  };
  switch (method) {
    case 'eth_blockNumber':
      return { jsonrpc: '2.0', result: head };
    case 'eth_getBlockByNumber':
      return isLater(params[0]) ? none : ask(method, [pinned(params[0]), params[1]]);
    case 'eth_call':
    case 'eth_estimateGas':
    case 'eth_getBalance':
    case 'eth_getCode':
    case 'eth_getTransactionCount':
      return isLater(params[1]) ? unknown : ask(method, [params[0], pinned(params[1]), ...params.slice(2)]);
    case 'eth_getLogs': {
      const filter = params[0] as { fromBlock?: unknown; toBlock?: unknown };
      if (isLater(filter.fromBlock)) return { jsonrpc: '2.0', result: [] };
      return ask(method, [
        {
          ...filter,
          fromBlock: pinned(filter.fromBlock),
          toBlock: isLater(filter.toBlock) ? head : pinned(filter.toBlock),
        },
      ]);
    }
    case 'eth_getTransactionReceipt': {
      const honest = await ask(method, params);
      return isLater((honest.result as { blockNumber?: unknown } | null)?.blockNumber) ? none : honest;
    }
    default:
      return ask(method, params);
  }
}

function withoutLogs(result: unknown): unknown {
  if (Array.isArray(result)) return [];
  return typeof result === 'object' && result !== null && 'logs' in result ? { ...result, logs: [] } : result;
}

function count(counts: Map<string, number>, method: string): void {
  counts.set(method, (counts.get(method) ?? 0) + 1);
}

function total(counts: ReadonlyMap<string, number>, method: string | undefined): number {
  return method === undefined
    ? [...counts.values()].reduce((sum, n) => sum + n, 0)
    : (counts.get(method) ?? 0);
}
