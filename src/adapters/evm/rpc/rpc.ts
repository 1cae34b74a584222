/** JSON-RPC with fallback to the next endpoint. Errors never contain the URL, which may hold a key. */

import { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { Clock } from '../../../ports/clock.ts';
import { type RpcBlock, toBlock } from '../chain/block.ts';
import type { Health } from './health.ts';
import { createHttpTransport, TOO_LARGE } from './http-transport.ts';
import { type Meaning, meaningOf } from './refusals.ts';
import { createWsTransport } from './ws-transport.ts';

export interface RpcOptions {
  timeoutMs?: number;
  tryMs?: number;
}

interface RpcWatch {
  clock: Clock;
  health: Health;
}

export interface ChainRpc {
  readonly endpoints: number;
  /**
   * Throws `RpcRefusal` when a node refuses, `UpstreamError` when none answers. A refusal that is not final
   * (`refusals.ts`) goes to the next endpoint, and then a few times to all of them.
   */
  request<T>(method: string, params: readonly unknown[]): Promise<T>;
  requestEach<T>(method: string, params: readonly unknown[]): Promise<T | RpcRefusal | UpstreamError>[];
  only(index: number): Pick<ChainRpc, 'request'>;
  subscribeHeads(onHead: () => void): Promise<(() => void) | undefined>;
  close(): void;
}

interface Refused {
  method: string;
  params: readonly unknown[];
  rpcCode: number;
  message: string;
  data: unknown;
  retryAfterMs?: number | undefined;
}

const LATER: ReadonlySet<Meaning> = new Set(['not_now', 'behind', 'unknown']);

export class RpcRefusal extends UpstreamError {
  readonly meaning: Meaning;
  /** True when the same request may succeed later at the same endpoint. */
  readonly mayPass: boolean;
  readonly data: unknown;
  /** The node's own words, without URLs. */
  readonly words: string;
  /** The wait that `Retry-After` asks for. */
  readonly retryAfterMs: number | undefined;
  constructor(refused: Refused) {
    const { method, params, rpcCode, message, data, retryAfterMs } = refused;
    super(`The node refused ${method}: ${message}`, { code: 'rpc_refused', facts: { method, rpcCode } });
    this.meaning = meaningOf(refused);
    // One block cannot be too many: an endpoint that says so has a trouble of its own, such as a timeout.
    this.mayPass = LATER.has(this.meaning) || (this.meaning === 'smaller' && !spansBlocks(params));
    this.data = data;
    this.words = message;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Pauses before the same request is made again after every endpoint refused it for now. */
const PAUSES_MS = [100, 300, 900];

interface Transport {
  request(args: { method: string; params: readonly unknown[] }): Promise<unknown>;
  subscribe?(onHead: () => void): Promise<() => void>;
  close(): void;
}

export function createRpc(
  urls: readonly string[],
  { timeoutMs = 8_000, tryMs = 2_000 }: RpcOptions = {},
  watch?: RpcWatch,
): ChainRpc {
  const transports = urls.map((url): Transport =>
    url.startsWith('ws') ? createWsTransport(url, { timeoutMs }) : createHttpTransport(url, { timeoutMs }),
  );
  const all = urls.map((_, index) => index);

  async function ask<T>(
    index: number,
    method: string,
    params: readonly unknown[],
    limitMs: number,
  ): Promise<T> {
    const transport = transports[index] as Transport;
    const startedMs = watch?.clock.monotonicMs() ?? 0;
    try {
      const answer = (await within(transport.request({ method, params }), limitMs, method)) as T;
      const latest =
        method === 'eth_getBlockByNumber' && params[0] === 'latest' ? toBlock(answer as RpcBlock) : undefined;
      watch?.health.answered(index, watch.clock.monotonicMs() - startedMs);
      if (latest) watch?.health.saw(index, latest.number);
      return answer;
    } catch (error) {
      const failure = translate(error, method, params);
      // A refusal is a valid answer, unless the node is overloaded.
      if (!(failure instanceof RpcRefusal) || failure.meaning === 'not_now')
        watch?.health.failed(index, startedMs);
      throw failure;
    }
  }

  /** The transport has its own, longer limit. */
  function within<T>(answer: Promise<T>, limitMs: number, method: string): Promise<T> {
    if (!watch || limitMs >= timeoutMs) return answer;
    return new Promise((resolve, reject) => {
      const cancel = watch.clock.after(limitMs, () =>
        reject(
          new UpstreamError(`No answer to ${method} from the chain's node in time.`, {
            code: 'rpc_slow',
            facts: { method },
          }),
        ),
      );
      answer.then(resolve, reject).finally(cancel);
    });
  }

  /** The first answer, or the last failure. Throws a refusal that every endpoint would repeat. */
  async function askInOrder<T>(
    method: string,
    params: readonly unknown[],
  ): Promise<{ answer: T } | { failure: unknown }> {
    const order = watch?.health.order() ?? all;
    let failure: unknown;
    for (const [n, index] of order.entries()) {
      try {
        return { answer: await ask<T>(index, method, params, n === order.length - 1 ? timeoutMs : tryMs) };
      } catch (error) {
        // Of several endpoints, one that can answer later counts more than one that is behind.
        if (!(failure instanceof RpcRefusal) || pauseAfter(failure, 0) === undefined) failure = error;
        if (error instanceof RpcRefusal && !isItsOwn(error)) throw error;
      }
    }
    return { failure };
  }

  return {
    endpoints: transports.length,
    async request<T>(method: string, params: readonly unknown[]) {
      let waitedMs = 0;
      for (let round = 0; ; round += 1) {
        const last = await askInOrder<T>(method, params);
        if ('answer' in last) return last.answer;
        const { failure } = last;
        const pauseMs = failure instanceof RpcRefusal ? pauseAfter(failure, round) : undefined;
        if (pauseMs === undefined || waitedMs + pauseMs > timeoutMs) throw failure;
        waitedMs += pauseMs;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
    requestEach: <T>(method: string, params: readonly unknown[]) =>
      all.map((index) => ask<T>(index, method, params, timeoutMs).catch((error: UpstreamError) => error)),
    only: (index) => ({
      request: (method, params) => ask(index, method, params, transports.length === 1 ? timeoutMs : tryMs),
    }),
    async subscribeHeads(onHead) {
      // Without a subscription polling continues.
      return transports
        .find(({ subscribe }) => subscribe)
        ?.subscribe?.(onHead)
        .catch(() => undefined);
    },
    close() {
      for (const { close } of transports) close();
    },
  };
}

function translate(error: unknown, method: string, params: readonly unknown[]): UpstreamError {
  if (error instanceof UpstreamError) return error;
  for (
    let at = error as
      | {
          code?: unknown;
          data?: unknown;
          message?: string;
          details?: string;
          retryAfterMs?: number;
          cause?: unknown;
        }
      | undefined;
    at;
    at = at.cause as never
  ) {
    if (typeof at.code === 'number')
      return new RpcRefusal({
        method,
        params,
        rpcCode: at.code,
        message: withoutUrls(at.details ?? at.message ?? ''),
        data: at.data,
        retryAfterMs: at.retryAfterMs,
      });
    if (at.code === TOO_LARGE)
      return new UpstreamError(`The chain's node answered ${method} with more than can be read.`, {
        code: 'rpc_too_large',
        facts: { method },
      });
  }
  return new UpstreamError(`No answer to ${method} from the chain's node. It will be asked again.`, {
    code: 'rpc_unavailable',
    facts: { method },
  });
}

/** Returns true when another endpoint may answer. */
const isItsOwn = ({ mayPass, meaning }: RpcRefusal): boolean => mayPass || meaning === 'elsewhere';

/** undefined when asking again is useless. */
function pauseAfter({ mayPass, retryAfterMs }: RpcRefusal, round: number): number | undefined {
  const pauseMs = PAUSES_MS[round];
  if (pauseMs === undefined || !mayPass) return undefined;
  return Math.max(pauseMs, retryAfterMs ?? 0);
}

/**
 * Returns true when the parameters of `eth_getLogs` ask for more than one block, so that fewer can be asked
 * for.
 */
export function spansBlocks([filter]: readonly unknown[]): boolean {
  const { fromBlock, toBlock } = filter as { fromBlock: Hex; toBlock: Hex };
  return fromBlock !== toBlock;
}

const withoutUrls = (text: string): string =>
  text.replace(/\b(?:https?|wss?):\/\/\S+/gi, '<rpc>').slice(0, 300);
