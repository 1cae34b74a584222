/** Faults planted in docs/examples/solver.mjs, each with the one rule of the protocol that it breaks. */

import type { RuleId } from '../../src/apps/certify/rules.ts';

export interface PlantedFault<R extends string = RuleId> {
  rule: R;
  says: string;
  /** Text of the example, and what stands there instead. */
  changes: readonly (readonly [string, string])[];
}

export const fault = <R extends string>(
  rule: R,
  says: string,
  ...changes: (readonly [string, string])[]
): PlantedFault<R> => ({ rule, says, changes });

const ACTIVE = "log('active');";
const once = (code: string) =>
  [ACTIVE, `${ACTIVE} if (!globalThis.done) { globalThis.done = 1; ${code} }`] as const;

/** The example has no splits: with this it offers half of its balance, and signs what it is asked to. */
const SPLITS: readonly (readonly [string, string])[] = [
  [
    "if (given > free(rfq.output)) return decline('no_inventory');",
    `if (given > free(rfq.output)) {
      if (rfq.maxSplitParts < 2) return decline('no_inventory');
      const rows = [8n, 4n, 2n].map((part) => {
        const half = free(rfq.output) / part;
        return [((taken * half) / given).toString(), half.toString()];
      });
      return { type: 'partial', rfqId: rfq.rfqId, ladder: rows, validUntil: now() + config.validSeconds };
    }`,
  ],
  [
    `slice: ({ rfqId, quoteId }) =>
        say({ type: 'decline', rfqId, quoteId, reason: 'limit', maxAmount: null }),`,
    `slice: async ({ rfqId, quoteId, order, outputIndex }) => {
        const origin = chains.get(Number(order.originChainId));
        const output = order.outputs[outputIndex];
        const share = BigInt('0x' + output.context.slice(76, 80));
        const input = assetOf('eip155:' + origin.id + '/erc20:0x' + BigInt(order.inputs[0][0]).toString(16).padStart(40, '0'));
        const token = 'eip155:' + output.chainId + '/erc20:0x' + output.token.slice(-40);
        const most = input && amountsFor(
          { side: 'exactInput', amount: (BigInt(order.inputs[0][1]) * share) / BPS, platformFeeBps: 2, relayFee: 0 },
          input, assetOf(token),
        ).given;
        const fair = input && BigInt(output.amount) <= most && output.oracle === word(origin.escrow);
        if (!fair) return say({ type: 'decline', rfqId, quoteId, reason: 'limit', maxAmount: null });
        const orderId = orderIdOf(origin.escrow, order);
        promises.set(quoteId, { asset: token, amount: BigInt(output.amount), until: order.fillDeadline + 60 });
        const deadline = order.fillDeadline;
        const signature = await operator.signTypedData(commitmentOf(orderId, quoteId, deadline, origin));
        say({ type: 'commit', rfqId, quoteId, commitment: { lp: account, deadline, signature }, lpSpreadBps: 10 });
      },`,
  ],
];

export interface PlantedSolver {
  name: string;
  /** Made to the example first. */
  base?: readonly (readonly [string, string])[];
  faults: readonly PlantedFault[];
  /** What is changed on chain instead. */
  limitOperator?: true;
}

/** Faults that stop the certification early: one solver each. */
const ALONE: readonly PlantedFault[] = [
  fault('status', 'never says active', ["status: 'active'", "status: 'standby'"]),
  fault('proof', 'proves another nonce', [
    'message: { nonce, venueId',
    'message: { nonce: pad("0x1"), venueId',
  ]),
  fault('operator', 'signs with a key that the account has not named', [
    'privateKeyToAccount(config.operatorKey)',
    "privateKeyToAccount(pad('0x77'))",
  ]),
  fault('deadline', 'answers late', [
    'rfq: async (rfq) => say(',
    'rfq: async (rfq) => await sleep(rfq.deadlineMs + 100) || say(',
  ]),
  fault('fixed-side', 'gives a unit more than asked', [
    'const given = BigInt(amount);',
    'const given = BigInt(amount) + 1n;',
  ]),
  fault('before-fees', 'names less than the output as the amount before fees', [
    '(beforeFees > given ? beforeFees : given)',
    '(given - 1n)',
  ]),
  fault('terms', 'takes another nonce', [
    'nonce: skeleton.nonce',
    'nonce: (BigInt(skeleton.nonce) ^ 1n).toString()',
  ]),
  fault('output', 'takes another settler', ['settler: word(skeleton.settler)', 'settler: word(account)']),
  fault('context', 'takes a share below the whole', [
    'toHex(10_000, { size: 2 })',
    'toHex(9_999, { size: 2 })',
  ]),
  fault('validity', 'has a clock that is an hour slow', [
    'const now = () => Math.max(Math.floor(Date.now() / 1000), chainNow);',
    'const now = () => Math.floor(Date.now() / 1000) - 3_600;',
  ]),
  fault('clock-law', 'adds a second to the fill deadline', [
    'validUntil + skeleton.landingMarginSeconds',
    'validUntil + skeleton.landingMarginSeconds + 1',
  ]),
  fault('account', 'commits until a second earlier', [
    'commitment: { lp: account, deadline: fillDeadline, signature }',
    'commitment: { lp: account, deadline: fillDeadline - 1, signature }',
  ]),
  fault('signature', 'signs another quoteId', [
    'commitmentOf(orderId, quoteId, fillDeadline, origin));',
    "commitmentOf(orderId, pad('0x1'), fillDeadline, origin));",
  ]),
];

export const PLANTED: readonly PlantedSolver[] = [
  ...ALONE.map((one) => ({ name: one.says, faults: [one] })),
  {
    name: 'careless with frames, skeletons and silence',
    faults: [
      fault('hello', 'names another version', ['protocolVersion: 1', 'protocolVersion: 2']),
      fault('addresses', 'compares no oracle of the challenge', [
        '&& chains.get(chainId)?.oracle === oracle',
        '',
      ]),
      fault('frames', 'sends text that is no JSON', once("socket.send('active');")),
      fault('levels', 'sends a ladder that falls', [
        "log('won'",
        "say({ type: 'levels', input: Object.keys(config.assets)[0], output: Object.keys(config.assets)[1], levels: [['2', '2'], ['1', '1']], atMs: Date.now() }); log('won'",
      ]),
      fault('rate', 'repeats its status', [
        "log('order', { orderId, stage });",
        "for (let n = 0; n < 150; n++) say({ type: 'status', status: 'active', note: null });",
      ]),
      fault('frame-size', 'sends 70 KB', [
        'delivered.add(orderId);',
        "delivered.add(orderId); say({ type: 'x'.repeat(70_000) });",
      ]),
      fault('fields', 'adds a field', [
        "return say({ type: 'fill', orderId,",
        "return say({ type: 'fill', speed: 'high', orderId,",
      ]),
      fault('unknown-types', 'hangs up on an unknown type', [
        'handlers[message.type]?.(message)',
        '(handlers[message.type] ?? (() => socket.terminate()))(message)',
      ]),
      fault('heartbeat', 'answers no ping', ["ping: () => say({ type: 'pong' }),", 'ping: () => {},']),
      fault('silence', 'waits for ever for a silent venue', ['> 3_000 * heartbeatSeconds', '> 3_000_000']),
      fault('delivery', 'ignores delivery into the ledger', [
        'skeleton.delivery?.recipient ?? rfq.receiver',
        'rfq.receiver',
      ]),
      fault('validity', 'signs for a day', [
        "if (validUntil > now() + MAX_VALID_SECONDS) return decline('validity');",
        '',
      ]),
      fault('window', 'signs a proof window within one chain', [
        '(across || skeleton.proofWindowSeconds === 1)',
        'true',
      ]),
      fault('skeleton', 'signs for any output oracle', [
        'skeleton.outputOracle === (across ? dest.oracle : dest.escrow)',
        'true',
      ]),
      fault('quote-id', 'uses one quoteId for all', [
        'toHex(crypto.getRandomValues(new Uint8Array(32)))',
        "pad('0x7')",
      ]),
    ],
  },
  {
    name: 'careless with money and load',
    base: SPLITS,
    faults: [
      fault('slice', 'signs a slice at any price', ['BigInt(output.amount) <= most &&', '']),
      fault('ladder', 'offers falling sizes', ['[8n, 4n, 2n]', '[2n, 4n, 8n]']),
      fault('key', 'sends another key', ["{ 'X-API-Key': config.key }", "{ 'X-API-Key': 'other' }"]),
      fault('reconnect', 'reconnects without growing pauses', [
        'pauseMs = Math.min(pauseMs * 2, 10_000)',
        'pauseMs = 250',
      ]),
      fault('fees', 'prices no fees', [
        'const received = taken - (taken * fee) / BPS - relay;',
        'const received = taken;',
      ]),
      fault('deposit', 'fills before the deposit', ['if (!deposited) {', 'if (false) {']),
      fault('max-in-flight', 'hangs up under load', [
        'rfq: async (rfq) => say(await answer(rfq))',
        `rfq: async (rfq) => {
        globalThis.open = (globalThis.open ?? 0) + 1;
        if (globalThis.open > 150) { globalThis.open = 0; return socket.terminate(); }
        await sleep(globalThis.open > 20 ? 3_000 : 300);
        const reply = await answer(rfq);
        globalThis.open = Math.max(0, globalThis.open - 1);
        say(reply);
      }`,
      ]),
      fault('reserve', 'promises its balance to everyone', [
        'if (given > free(rfq.output))',
        'if (given > (balances.get(rfq.output) ?? 0n))',
      ]),
      fault('resume', 'ignores the orders of a resync', [
        'Promise.all(awards.map((award) => handlers.award(award)))',
        'awards.length',
      ]),
    ],
  },
  {
    name: 'frees money of rejected quotes',
    base: SPLITS,
    faults: [
      fault('rejected', 'frees what was rejected', [
        "rejected: ({ code, message, field }) => log('rejected', { code, message, field }),",
        'rejected: ({ quoteId }) => promises.delete(quoteId),',
      ]),
      fault('resync', 'asks for no open orders', ["say({ type: 'resync' });", '']),
      fault('answers', 'declines what it has quoted', [
        'rfq: async (rfq) => say(await answer(rfq))',
        "rfq: async (rfq) => { const reply = await answer(rfq); say(reply); if (reply.type === 'quote') say({ type: 'decline', rfqId: rfq.rfqId, reason: 'internal', maxAmount: null }); }",
      ]),
    ],
  },
  {
    name: 'frees money of released quotes, and changes the price at commit',
    base: SPLITS,
    limitOperator: true,
    faults: [
      fault('released', 'frees what was released without a proof', [
        "proof === 'nonce_used' && Promise.all(quoteIds.map(release))",
        'proof === null && quoteIds.forEach((quoteId) => promises.delete(quoteId))',
      ]),
      fault('commit', 'changes its output at commit', [
        'const orderId = orderIdOf(origin.escrow, order);\n        promises.set',
        'output.amount = (BigInt(output.amount) - 1n).toString(); const orderId = orderIdOf(origin.escrow, order);\n        promises.set',
      ]),
      fault('binding', 'quotes beyond what its operator may spend'),
    ],
  },
  {
    name: 'believes every proof, and fills nothing but what a resync names',
    faults: [
      fault('release-proof', 'believes a proof without looking at the chain', [
        'if (used && status === 0) promises.delete(quoteId);',
        'promises.delete(quoteId);',
      ]),
      fault(
        'fill',
        'does not deliver an award',
        ['return deliver(say, award);\n      },\n      resync', '},\n      resync'],
        ['awards.map((award) => handlers.award(award))', 'awards.map((award) => deliver(say, award))'],
        ["if (award && stage === 'escrowed') return deliver(say, award);", ''],
      ),
    ],
  },
];

/** The example with changes; throws when a text to change is not there once. */
export function changed(program: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`the example has this not once: ${from}`);
    return text.replace(from, () => to);
  }, program);
}
