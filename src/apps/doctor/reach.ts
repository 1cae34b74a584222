/** Addresses that the process sends to: names resolve to public addresses, and the right server answers. */

import { lookup } from 'node:dns/promises';
import { VENUE_TITLE } from '../../adapters/http/openapi.ts';
import { createOutbound, isPrivate } from '../../adapters/outbound/request.ts';
import { failure, messageOf, ok, type Finding } from './finding.ts';

/** A service that is told about people: https, listed, and not in our own network. */
export async function checkWebhook(
  name: string,
  url: string,
  outbound: { allowHosts: readonly string[]; allowPrivate: boolean },
): Promise<Finding> {
  const opened = createOutbound(outbound);
  try {
    opened.check(url);
    const { hostname } = new URL(url);
    const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true });
    const inside = found.filter(({ address }) => isPrivate(address));
    if (!outbound.allowPrivate && inside.length > 0)
      return failure(
        'webhook',
        name,
        `${hostname} leads to a private address`,
        'Nothing is sent there. Correct the name, or set outbound.allowPrivate for a service of your own',
      );
    return ok('webhook', name, `${hostname} has ${found.length} address${found.length === 1 ? '' : 'es'}`);
  } catch (error) {
    const { code } = error as { code?: string };
    return failure(
      'webhook',
      name,
      code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? 'its name does not resolve' : messageOf(error),
      'Correct the URL, or list its host in outbound.allowHosts',
    );
  } finally {
    opened.close();
  }
}

/** The venue that an LP serves answers at its address. */
export async function checkVenue(name: string, url: string): Promise<Finding> {
  const address = new URL('/openapi.json', url.replace(/^ws/, 'http'));
  const todo = 'Check venues.url: the address of the API, as ws:// or wss://';
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(5_000) });
    if (response.status !== 200)
      return failure('venue', name, `${address.host} answers ${response.status}`, todo);
    const document = (await response.json().catch(() => null)) as { info?: { title?: unknown } } | null;
    return document?.info?.title === VENUE_TITLE
      ? ok('venue', name, `answers at ${address.host}`)
      : failure('venue', name, `the server at ${address.host} is not a venue`, todo);
  } catch {
    return failure('venue', name, `${address.host} does not answer`, todo);
  }
}
