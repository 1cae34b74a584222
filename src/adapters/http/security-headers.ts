/** Helmet's security headers, computed once. */

import helmet from '@fastify/helmet';
import Fastify from 'fastify';

export async function securityHeaders(): Promise<Readonly<Record<string, string>>> {
  const [bare, guarded] = await Promise.all([headersOf(false), headersOf(true)]);
  return Object.fromEntries(
    Object.entries(guarded).flatMap(([name, value]) => (name in bare ? [] : [[name, String(value)]])),
  );
}

async function headersOf(guarded: boolean): Promise<object> {
  const app = Fastify({ logger: false });
  if (guarded) await app.register(helmet, { global: true });
  const { headers } = await app.inject('/');
  await app.close();
  return headers;
}
