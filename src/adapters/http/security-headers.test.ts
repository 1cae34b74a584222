/** Tests that every answer carries what helmet would have put there itself. */

import helmet from '@fastify/helmet';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { securityHeaders } from './security-headers.ts';

test("equal helmet's, and nothing else", async () => {
  const app = Fastify();
  await app.register(helmet, { global: true });
  app.get('/', () => 'here');
  const { headers } = await app.inject('/');
  await app.close();
  const {
    'content-type': _type,
    'content-length': _length,
    date: _date,
    connection: _connection,
    ...added
  } = headers;
  expect(await securityHeaders()).toEqual(added);
  expect(Object.keys(added)).toEqual(
    expect.arrayContaining([
      'content-security-policy',
      'strict-transport-security',
      'x-content-type-options',
      'x-frame-options',
    ]),
  );
});
