/**
 * Receives firmquote's webhooks with nothing but Node: verifies each signature, drops repetitions, answers fast.
 * WEBHOOK_SECRET=whsec_… PORT=8088 node docs/examples/webhook-receiver.mjs
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

// During a rotation: both secrets, with a space between them.
const keys = (process.env.WEBHOOK_SECRET ?? '')
  .split(' ')
  .filter((text) => text.startsWith('whsec_'))
  .map((text) => Buffer.from(text.slice('whsec_'.length), 'base64'));
if (keys.length === 0) throw new Error('Set WEBHOOK_SECRET to the secret that creating the webhook showed.');

const TOLERANCE_SECONDS = 300;
const MAX_BYTES = 256 * 1024;
// A real receiver keeps the ids in its database, in the transaction that handles the event.
const handled = new Set();

createServer(async (request, response) => {
  const body = await readBody(request);
  if (body === undefined || !isAuthentic(request.headers, body)) return response.writeHead(400).end();
  const id = request.headers['webhook-id'];
  if (!handled.has(id)) {
    handle(JSON.parse(body.toString('utf8')));
    handled.add(id);
  }
  // Any 2xx: it will not come again.
  response.writeHead(204).end();
}).listen(Number(process.env.PORT ?? 8088), '127.0.0.1', function () {
  console.log(`listening on http://127.0.0.1:${this.address().port}`);
});

/** Signed by one of our keys, and not long ago: an old message may be replayed by somebody else. */
function isAuthentic(headers, body) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (!id || !/^[0-9]+$/.test(timestamp ?? '') || !signatures) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  // The bytes as they came. JSON that was parsed and written again has another signature.
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const expected = keys.map((key) => createHmac('sha256', key).update(signed).digest());
  return signatures.split(' ').some((text) => {
    const [version, signature] = text.split(',');
    const given = Buffer.from(signature ?? '', 'base64');
    return (
      version === 'v1' && expected.some((one) => one.length === given.length && timingSafeEqual(one, given))
    );
  });
}

async function readBody(request) {
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MAX_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Events may come late and in another order: of one order, the highest `seq` is the newest. */
function handle(event) {
  switch (event.type) {
    case 'order.created':
    case 'order.settled':
    case 'order.failed':
      return console.log(`${event.type} ${event.orderId} ${event.data.status}`);
    case 'solver.changed':
      return console.log(`${event.type} ${event.data.id} ${event.data.status}`);
    default:
      return console.log(event.type);
  }
}
