import { expect, test } from 'vitest';
import type { Decline } from '../../domain/decline.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import { createAfterwards } from './afterwards.ts';
import type { QuoteRecord } from './quote-events.ts';

const quoted = (orderId: string) => ({ orderId: orderId as Bytes32 }) as QuoteRecord;
const ECHO = 'echo' as Bytes32;
const rfq = (rfqId: string) => ({ rfqId }) as unknown as Rfq;

function play() {
  const heard: string[] = [];
  const afterwards = createAfterwards({
    quoted: ({ orderId }) => {
      heard.push(`quoted ${orderId}`);
      if (orderId === ECHO) afterwards.quoted(quoted('echoed'));
    },
    declined: ({ rfqId }, _, { declined }, atMs) =>
      void heard.push(`declined ${rfqId}: ${declined} at ${atMs}`),
  });
  return { heard, afterwards };
}

test('after what the turn has sent, in order, and before anything that comes from outside', async () => {
  const { heard, afterwards } = play();
  const limit: Decline = { declined: 'limit' };
  // As a frame comes: in a turn of its own.
  await new Promise<void>((done) =>
    setImmediate(() => {
      setImmediate(() => {
        heard.push('the next turn');
        done();
      });
      afterwards.quoted(quoted('a'));
      afterwards.declined(rfq('b'), undefined, limit, 5);
      afterwards.quoted(quoted('c'));
      process.nextTick(() => heard.push('sent'));
      heard.push('said');
    }),
  );
  expect(heard).toEqual(['said', 'sent', 'quoted a', 'declined b: limit at 5', 'quoted c', 'the next turn']);
});

test('what is said while it tells is told too', async () => {
  const { heard, afterwards } = play();
  afterwards.quoted(quoted(ECHO));
  await new Promise((done) => setImmediate(done));
  afterwards.quoted(quoted('later'));
  await new Promise((done) => setImmediate(done));
  expect(heard).toEqual(['quoted echo', 'quoted echoed', 'quoted later']);
});
