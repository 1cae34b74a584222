import { describe, expect, test } from 'vitest';
import { BaseError } from '../../domain/errors.ts';
import { createLog } from './log.ts';
import { createRedactor } from './redact.ts';

function capture(redactor = createRedactor()) {
  const lines: string[] = [];
  const log = createLog({
    app: 'test',
    level: 'debug',
    redactor,
    destination: { write: (line: string) => void lines.push(line) },
  });
  return {
    log,
    text: () => lines.join(''),
    last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown>,
  };
}

const CANARY = 'c4naryc4nary';
const SIGNATURE = `0x${'ab'.repeat(65)}`;

describe('log', () => {
  test('writes level, app, facts and message, with bigints as decimals', () => {
    const { log, last } = capture();
    log.child({ requestId: 'r1' }).info({ amount: 12n, orderId: `0x${'11'.repeat(32)}` }, 'order accepted');
    expect(last()).toMatchObject({
      level: 'info',
      app: 'test',
      requestId: 'r1',
      amount: '12',
      orderId: `0x${'11'.repeat(32)}`,
      msg: 'order accepted',
    });
  });

  test.each([
    ['x-api-key', { headers: { 'x-api-key': `fq_test_${CANARY}` } }],
    ['X-API-KEY in an array', { list: [{ 'X-API-Key': CANARY }] }],
    ['key text in a sentence', { note: `refused fq_live_${CANARY} today` }],
    ['a ticket in a sentence', { note: `refused fq_ticket_${CANARY} today` }],
    ['a ticket in headers', { headers: { 'sec-websocket-protocol': `firmquote, ${CANARY}` } }],
    ['signature by name', { order: { signature: CANARY } }],
    [
      'signature by shape',
      { blob: `${SIGNATURE}${Buffer.from(CANARY).toString('hex')}`, plain: [SIGNATURE] },
    ],
    ['permit2Lock', { body: { permit2Lock: { deadline: 1, signature: CANARY } } }],
    ['eip3009Authorization', { eip3009Authorization: { nonce: CANARY } }],
    ['private key', { taker: { privateKey: CANARY, operator_private_key: CANARY } }],
    ['rpc url by name', { rpcUrl: `node.example/${CANARY}` }],
    ['rpc url in a sentence', { detail: `POST https://${CANARY}.example/v3/${CANARY} failed` }],
    ['database url', { why: `connect postgres://u:${CANARY}@db:5432/x` }],
    ['loopback url keeps host only', { url: `http://user:${CANARY}@127.0.0.1:8545/${CANARY}?k=${CANARY}` }],
    [
      'error with cause',
      {
        err: new Error(`HTTP request failed. URL: https://rpc.example/${CANARY}`, {
          cause: new BaseError(`wss://x/${CANARY}`, { code: 'x', facts: { signature: CANARY } }),
        }),
      },
    ],
    ['map and set', { map: new Map([['apiKey', CANARY]]), set: new Set([`https://x.y/${CANARY}`]) }],
    ['bytes', { bytes: Buffer.from(CANARY) }],
  ])('hides %s', (_, facts) => {
    const { log, text } = capture();
    log.error(facts, `something with ${SIGNATURE} at https://a.example/${CANARY}`);
    log.child(facts).warn({}, 'child');
    expect(text()).not.toContain(CANARY);
    expect(text()).not.toContain(Buffer.from(CANARY).toString('hex'));
    expect(text()).not.toContain('ab'.repeat(65));
  });

  test('hides each line of a secret of several lines, and no frame of a PEM file', () => {
    const redactor = createRedactor();
    redactor.hide(
      '-----BEGIN PRIVATE KEY-----\r\nMIGHAgEAMBMG\r\nByqGSM49AgEG\r\n-----END PRIVATE KEY-----\r\n',
    );
    expect(redactor.text('error at ByqGSM49AgEG, after MIGHAgEAMBMG')).toBe(
      'error at [redacted], after [redacted]',
    );
    expect(redactor.text('no -----BEGIN PRIVATE KEY-----')).toBe('no -----BEGIN PRIVATE KEY-----');
  });

  test('hides a secret learned later, in facts and in messages', () => {
    const redactor = createRedactor();
    const { log, text } = capture(redactor);
    redactor.hide(CANARY);
    log.info({ a: { b: `x${CANARY}y` }, [CANARY]: 1 }, `hello ${CANARY}`);
    expect(text()).not.toContain(CANARY);
  });

  test('survives cycles, deep values and many values', () => {
    const { log, last } = capture();
    const ring: Record<string, unknown> = { many: Array.from({ length: 500 }, (_, index) => index) };
    ring['self'] = ring;
    log.info({ ring, when: new Date(Number.NaN) }, 'odd');
    expect(last()).toMatchObject({ ring: { self: '[circular]' }, when: 'invalid date' });
  });
});
