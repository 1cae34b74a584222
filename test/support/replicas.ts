/**
 * Reads how many replicas of the venue the flow tests run on (`FIRMQUOTE_TEST_REPLICAS`), and a load balancer
 * for several: one address whose connections go to each in turn.
 */

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export const REPLICAS = Number(process.env['FIRMQUOTE_TEST_REPLICAS'] ?? 1);

export interface Balancer {
  url: string;
  stop(): Promise<void>;
}

const behind = new Map<string, readonly string[]>();

/** The replicas behind an address; the address itself without a balancer. */
export const replicasAt = (url: string): readonly string[] => behind.get(url) ?? [url];

export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const target = new URL(urls[turn++ % urls.length] as string);
    const replica = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, replica],
      [replica, client],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  behind.set(url, urls);
  return {
    url,
    async stop() {
      behind.delete(url);
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
