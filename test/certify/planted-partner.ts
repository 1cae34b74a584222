/** Faults planted in docs/examples/partner.mjs, each with the one rule of the protocol that it breaks. */

import type { PartnerRule } from '../../src/apps/certify/partner/rules.ts';
import { fault, type PlantedFault } from './planted.ts';

export interface PlantedPartner {
  name: string;
  faults: readonly PlantedFault<PartnerRule>[];
}

/** Faults that stop the certification early, or hide others: one partner each. */
const ALONE: readonly PlantedFault<PartnerRule>[] = [
  fault('signature', 'takes any signature', [
    "config.venueKeys.some((key) => verify(null, bytes, publicKey(key), Buffer.from(signature, 'base64')))",
    'true',
  ]),
  fault('answers', 'signs no errors', [
    "const id = request.headers['webhook-id'] ?? '';",
    "const id = status === 200 ? (request.headers['webhook-id'] ?? '') : 'none';",
  ]),
  fault('schema', 'adds a field to its terms', ['protocolVersion: 1,', 'protocolVersion: 1, motto: "fast",']),
  fault('account', 'names two accounts', [
    'accounts: [...chains.keys()].map((chainId) => ({ chainId, account })),',
    "accounts: [...chains.keys()].map((chainId, n) => ({ chainId, account: n === 0 ? account : pad('0x1', { size: 20 }) })),",
  ]),
  fault('fixed-side', 'gives a unit more than asked', ['amountOut: amount };', 'amountOut: amount + 1n };']),
  fault('firm', 'fills nothing', ['if (await isFilled(known)) return;', 'if (known) return;']),
];

export const PLANTED_PARTNERS: readonly PlantedPartner[] = [
  ...ALONE.map((one) => ({ name: one.says, faults: [one] })),
  {
    name: 'careless with messages and prices',
    faults: [
      fault('time', 'takes messages of any age', [
        'Math.abs(seconds() - Number(at)) <= TOLERANCE_SECONDS &&',
        'true &&',
      ]),
      fault('replay', 'forgets message ids', ['if (seen.has(id)) throw', 'if (false) throw']),
      fault('path', 'believes the path', ['message.type !== type ||', '']),
      fault('limits', 'quotes beyond its limits', [
        "if (amountIn > BigInt(pair.maxAmountIn)) return { declined: 'size_above_max' };",
        '',
      ]),
      fault(
        'cut-off',
        'quotes after the cut-off',
        ['const latest = Math.min(validTo, cutOff);', 'const latest = validTo;'],
        ['from <= now && validFrom <= cutOff', 'from <= now'],
      ),
      fault('same-block', 'looks at the newest block', [
        '(await balance(output, destBlock))',
        '(await balance(output))',
      ]),
      fault('order-id', 'believes the orderId', ['|| orderIdOf(origin.escrow, order) !== orderId', '']),
      fault('match', 'takes any deadline', ['order.fillDeadline <= each.fillDeadline', 'true']),
      fault('accept-twice', 'refuses an order that it knows', [
        'if (known) return stateOf(known);',
        "if (known) return { ...stateOf(known), status: 'refused' };",
      ]),
      fault('deposit', 'fills before the deposit', [
        "if (status !== DEPOSITED) return note('the input is not in escrow');",
        '',
      ]),
      fault('unknown', 'has every order', [
        "throw new Refusal(404, 'unknown', 'This order was never accepted here.');",
        "return { orderId, status: 'accepted', fillTx: null, detail: null };",
      ]),
      fault('release', 'keeps the input of what it has given up', ['await release(known);', '']),
      fault(
        'reconciliation',
        'leaves out its fee',
        ['output, amountOut } }) =>', 'output, amountOut, fee } }) =>'],
        [
          'JSON.stringify({\n          orderId,\n          quoteId,\n          input,\n          amountIn,',
          'JSON.stringify({\n          orderId,\n          quoteId,\n          input,\n          amountIn: (BigInt(amountIn) - BigInt(fee)).toString(),',
        ],
      ),
      fault('reserve', 'promises its balance to everyone', ['let sum = 0n;', 'let sum = -(10n ** 30n);']),
    ],
  },
  {
    name: 'careless with orders and books',
    faults: [
      fault('audience', 'answers for everybody', ['message.partner !== config.partner ||', '']),
      fault('deadline', 'answers late', [
        'const quote = quotes.get(quoteId);',
        'await new Promise((done) => setTimeout(done, 3_000)); const quote = quotes.get(quoteId);',
      ]),
      fault('validity', 'keeps no price for long', [
        'Math.min(latest, Math.max(validFrom, now + config.validSeconds))',
        'Math.min(latest, now + config.validSeconds)',
      ]),
      fault('same-price', 'changes its mind', [
        'amountIn: amountIn.toString(),',
        "amountIn: (side === 'exactOutput' ? amountIn + BigInt(quotes.size) : amountIn).toString(),",
      ]),
      fault('source', 'believes any oracle', ['output.oracle !== word(dest.oracle) ||', '']),
      fault('reservation', 'looks at no nonce', ['each.nonce === order.nonce', 'true']),
      fault('status', 'names no transaction', [
        'fillTx: event.transactionHash, filledAt, detail: null',
        'fillTx: orderId, filledAt, detail: null',
      ]),
      fault('payouts', 'returns every payout at once', ["status: 'waiting',", "status: 'returned',"]),
    ],
  },
  {
    name: 'undoes what is done',
    faults: [
      fault('delivered', 'cancels what it has delivered', [
        "if (known.status !== 'accepted' && known.status !== 'refused') return stateOf(known);",
        "if (known.status === 'delivered') return { ...stateOf(known), status: 'cancelled' };",
      ]),
      fault('payouts', 'signs for another amount of the payout', [
        'asset, amount, currency, from, payTo',
        "asset, amount: '1', currency, from, payTo",
      ]),
      fault('given-up', 'says nothing of what it has given up', [
        "record('order', { ...known, status: 'cancelled', detail: 'given up' });",
        '',
      ]),
    ],
  },
];
