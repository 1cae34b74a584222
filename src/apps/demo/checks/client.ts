/** `firmquote/client` refuses every manipulated answer of a venue by name, and accepts the honest one. */

import { type Candidate, type DistrustCode, DistrustError } from '../../../client/client.ts';
import { trustlessTaker, viewChain } from '../world.ts';
import { type DemoCheck, expect, expectEqual, expectSettled } from './check.ts';
import { SETTLE_TIMEOUT_MS } from './trade.ts';

type Message = {
  user: string;
  inputOracle: string;
  expires: number;
  inputs: string[][];
  outputs: { recipient: string; settler: string; amount: string; callbackData: string }[];
};
type Draft = Candidate & { order: { payload: { domain: { verifyingContract: string }; message: Message } } };

const THIEF = `0x${'66'.repeat(20)}`;
const WORD = `0x${'0'.repeat(24)}${'66'.repeat(20)}`;
const LIES: readonly [DistrustCode, (candidate: Draft) => void][] = [
  ['taker', ({ order }) => void (order.payload.message.user = THIEF)],
  ['receiver', ({ order }) => order.payload.message.outputs.forEach((output) => (output.recipient = WORD))],
  ['input_amount', ({ order }) => order.payload.message.inputs.forEach((row) => (row[1] = `${row[1]}0`))],
  ['minimum_amount', ({ order }) => order.payload.message.outputs.forEach((output) => (output.amount = '1'))],
  ['escrow', ({ order }) => void (order.payload.domain.verifyingContract = THIEF)],
  ['settler', ({ order }) => order.payload.message.outputs.forEach((output) => (output.settler = WORD))],
  ['oracle', ({ order }) => void (order.payload.message.inputOracle = THIEF)],
  [
    'callback',
    ({ order }) => order.payload.message.outputs.forEach((output) => (output.callbackData = '0x12')),
  ],
  ['clock_law', ({ order }) => void (order.payload.message.expires += 1_800)],
  [
    'commitments',
    (candidate) => void (candidate.integrityChecksum = candidate.integrityChecksum.replace(/[^.]+$/, 'AAAA')),
  ],
  ['decimals', ({ preview }) => preview.outputs.forEach((output) => (output.decimals = 9))],
  ['preview', ({ preview }) => preview.outputs.forEach((output) => (output.receiver = THIEF))],
];

export const clientCheck: DemoCheck = {
  name: 'firmquote/client refuses manipulated answers of a venue',
  async run(world, tally) {
    const base = viewChain(world.manifest, 'base');
    let lie: ((candidate: Draft) => void) | undefined;
    const { client, taker, wallet } = trustlessTaker(world, 'rfq', async (...call) => {
      const response = await fetch(...call);
      if (!lie || !response.ok) return response;
      const answer = (await response.json()) as { quotes?: Draft[] };
      answer.quotes?.forEach(lie);
      return Response.json(answer);
    });
    const request = {
      taker,
      input: { asset: base.asset('USDC'), amount: base.units('USDC', '300') },
      output: { asset: base.asset('WETH') },
    };
    for (const [name, change] of LIES) {
      lie = change;
      const { quotes } = await client.requestQuotes(request);
      expect(quotes[0] !== undefined, 'no LP quoted');
      const refusal = await client.check(quotes[0], { request }).catch((error: unknown) => error);
      expectEqual(refusal instanceof DistrustError ? refusal.code : 'accepted', name, 'code of the refusal');
    }
    lie = undefined;
    const signal = AbortSignal.timeout(SETTLE_TIMEOUT_MS);
    const { status } = await client.trade({ request, wallet, signal });
    expectSettled(status, tally, 'the honest quote');
    return `refused ${LIES.length} manipulations (${LIES.map(([name]) => name).join(', ')}); the honest quote settled`;
  },
};
