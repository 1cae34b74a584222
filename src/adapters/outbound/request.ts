/**
 * Outgoing HTTP: only listed hosts, no private addresses unless allowed, no redirects, limited time and
 * size.
 */

import { lookup as resolve } from 'node:dns';
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { RequestError, UpstreamError } from '../../domain/errors.ts';

interface OutboundOptions {
  /** undefined: any host. */
  allowHosts?: readonly string[] | undefined;
  /** Allows private addresses, for development and sidecars. */
  allowPrivate: boolean;
  /** Allows plain http. By default like `allowPrivate`. */
  allowHttp?: boolean;
  /** Section of the configuration, for messages. */
  section?: string;
  /** Keeps connections open for the next request. */
  keepAlive?: boolean;
}

interface OutboundRequest {
  url: string;
  method: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
  timeoutMs: number;
  maxBytes: number;
  /** What happens to an answer longer than `maxBytes`: `fail` rejects, `cut` leaves the rest unread. */
  longer?: 'fail' | 'cut';
}

export interface OutboundAnswer {
  status: number;
  body: string;
  /** Returns a header that comes once. */
  header(name: string): string | undefined;
}

export interface Outbound {
  check(url: string): void;
  /** Throws `UpstreamError`; errors never contain the URL, which may hold a key. */
  request(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): void;
}

/**
 * A connection that is idle for so long is closed, and sooner where the server says that it closes it sooner:
 * a request on a connection that the server closes meanwhile would fail.
 */
const IDLE_MS = 15_000;

export function createOutbound({
  allowHosts,
  allowPrivate,
  allowHttp = allowPrivate,
  section = 'outbound',
  keepAlive = true,
}: OutboundOptions): Outbound {
  const allowed = allowHosts && new Set(allowHosts.map((host) => host.toLowerCase()));
  const kept = { keepAlive, maxSockets: 32, timeout: IDLE_MS };
  const agents = { 'http:': new HttpAgent(kept), 'https:': new HttpsAgent(kept) };

  function check(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')))
      throw new OutboundRefused('the address must be an https:// URL');
    if (url.username !== '' || url.password !== '')
      throw new OutboundRefused('the address must not contain a user name or password; use headers');
    const host = hostOf(url);
    if (allowed && !allowed.has(host))
      throw new OutboundRefused(
        `the host "${host}" is not in the list of allowed hosts (${section}.allowHosts)`,
      );
    if (!allowPrivate && isIP(host) !== 0 && isPrivate(host))
      throw new OutboundRefused(
        `the host "${host}" is a private address, and ${section}.allowPrivate is false`,
      );
    return url;
  }

  /** Connects to the addresses that were checked, so that DNS rebinding has no effect. */
  const lookup: NonNullable<RequestOptions['lookup']> = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0);
      const usable = allowPrivate ? found : found.filter(({ address }) => !isPrivate(address));
      const [first] = usable;
      if (!first)
        return callback(
          Object.assign(new Error('resolves to private addresses only'), { code: 'EPRIVATE' }),
          '',
          0,
        );
      return options.all ? callback(null, usable) : callback(null, first.address, first.family);
    });
  };

  return {
    check: (url) => void check(url),
    request({ url: text, method, headers = {}, body, timeoutMs, maxBytes, longer = 'fail' }) {
      const url = check(text);
      return new Promise((done, fail) => {
        let sent: ClientRequest | undefined;
        const timer = setTimeout(() => giveUp(`no answer within ${timeoutMs} ms`), timeoutMs);
        const giveUp = (why: string) => {
          clearTimeout(timer);
          sent?.destroy();
          fail(
            new UpstreamError(`The service at ${hostOf(url)} did not answer: ${why}.`, {
              code: 'outbound_failed',
              facts: { host: hostOf(url) },
            }),
          );
        };
        const hear = (response: IncomingMessage) => {
          const parts: Buffer[] = [];
          let total = 0;
          const end = () => {
            clearTimeout(timer);
            done({
              status: response.statusCode ?? 0,
              body: Buffer.concat(parts).toString('utf8'),
              header: (name) => [response.headers[name]].flat()[0],
            });
          };
          response.on('data', (part: Buffer) => {
            total += part.length;
            if (total <= maxBytes) return void parts.push(part);
            if (longer === 'fail') return giveUp(`its answer is longer than ${maxBytes} bytes`);
            end();
            sent?.destroy();
          });
          response.on('error', () => {});
          response.on('close', () => (response.complete ? end() : giveUp('the connection broke')));
        };
        const secure = url.protocol === 'https:';
        sent = (secure ? httpsRequest : httpRequest)(
          url,
          {
            method,
            headers: {
              accept: 'application/json',
              ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
              ...headers,
            },
            agent: agents[secure ? 'https:' : 'http:'],
            lookup,
          },
          hear,
        );
        sent.on('error', (error: NodeJS.ErrnoException) =>
          giveUp(
            error.code === 'EPRIVATE'
              ? 'its name leads to a private address'
              : `no connection (${error.code ?? 'unknown'})`,
          ),
        );
        sent.end(body);
      });
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').toLowerCase();

const PRIVATE = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv4');
// Some embed an IPv4 address. BlockList handles IPv4-mapped ones (::ffff:a.b.c.d) itself.
for (const [net, bits] of [
  ['::', 128],
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
  ['64:ff9b::', 96],
  ['2002::', 16],
  ['2001::', 32],
  ['fec0::', 10],
  ['64:ff9b:1::', 48],
] as const)
  PRIVATE.addSubnet(net, bits, 'ipv6');

export const isPrivate = (address: string): boolean =>
  PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

export class OutboundRefused extends RequestError {
  constructor(why: string) {
    super(`Nothing was sent: ${why}.`, { code: 'outbound_refused' });
  }
}
