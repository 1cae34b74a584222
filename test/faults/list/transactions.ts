/** Transactions that do not go their way. */

import type { Fault } from '../fault.ts';

const SENDING = 'test/faults/transactions.test.ts';
const TRANSACTOR = 'src/adapters/evm/transactor/transactor.ts';

const SETTLING = 'test/faults/settlements.test.ts';

export const TRANSACTIONS: readonly Fault[] = [
  {
    id: 'F8',
    fault: 'two programs have the same signer key',
    holds:
      'one sends and the other waits; it takes over when the lease of the first is over, whatever that one believes',
    invariants: ['I1'],
    test: SETTLING,
    defences: [
      {
        what: 'a signer has one holder at a time',
        file: 'src/adapters/postgres/tx-store.ts',
        from: 'where s.lease_until < clock_timestamp() or s.owner = excluded.owner',
        to: 'where s.fence >= 0',
      },
      {
        what: 'a nonce is given to who shows the fence of now',
        file: 'src/adapters/postgres/tx-store.ts',
        from: 'fence = $3 for update',
        to: 'fence >= $3::bigint * 0 for update',
      },
    ],
  },
  {
    id: 'F24',
    fault: 'the original is mined after its replacement was sent',
    holds: 'whichever attempt is mined is found, and nothing comes of the others',
    invariants: ['I1'],
    test: SENDING,
    defences: [
      {
        what: 'receipts are looked for over all attempts of a slot',
        file: TRANSACTOR,
        from: 'entry.slot.attempts.map(({ hash }) => receiptOf(',
        to: 'entry.slot.attempts.slice(-1).map(({ hash }) => receiptOf(',
      },
      {
        what: 'all attempts of a slot have its nonce',
        file: TRANSACTOR,
        from: '{ chainId, nonce: slot.nonce, gas,',
        to: '{ chainId, nonce: slot.nonce + slot.attempts.length, gas,',
      },
    ],
  },
  {
    id: 'F25',
    fault: 'a nonce is used by somebody else who has the key',
    holds: 'it is not taken for ours; what it was meant for gets another one, and only that',
    invariants: ['I1', 'I5'],
    test: SENDING,
    defences: [
      {
        what: 'a used nonce without a receipt of ours ends its slot as void',
        file: TRANSACTOR,
        from: "state: 'void', reason: 'somebody else used this nonce",
        to: "state: 'mined', reason: 'somebody else used this nonce",
      },
      {
        what: 'a key whose slot is void gets a new one',
        file: 'src/adapters/postgres/tx-store.ts',
        from: "(o.state = 'void' or o.signer",
        to: "(o.state = 'none' or o.signer",
      },
      {
        what: 'own hashes are looked for first',
        file: TRANSACTOR,
        from: 'const receipt = receipts[at];',
        to: 'const receipt = at < -1 ? receipts[at] : undefined;',
      },
    ],
  },
  {
    id: 'F26',
    fault: 'a nonce will never be sent: no node takes its transaction, or no signature is to be had for it',
    holds: 'a no-op fills it, and what waited behind it is mined',
    invariants: ['I5'],
    test: SENDING,
    defences: [
      {
        what: 'bytes that the chain refuses for ever give their nonce to a no-op',
        file: TRANSACTOR,
        from: "'the chain refuses a transaction; its nonce goes to a no-op');\n            entry.mustEnd = true;",
        to: "'the chain refuses a transaction; its nonce goes to a no-op');",
      },
      {
        what: 'so does what cannot be signed',
        file: TRANSACTOR,
        from: 'if (entry.unsigned >= MOST_UNSIGNED) entry.mustEnd = true;',
        to: 'if (entry.unsigned >= 1_000 * MOST_UNSIGNED) entry.mustEnd = true;',
      },
      {
        what: 'a signature that was not to be had is asked for again with the next block',
        file: TRANSACTOR,
        from: "await attempt(over, 'noop');\n    await attempt(unsigned, 'first');",
        to: "await attempt(over, 'noop');\n    if (unsigned.length > 1_000) await attempt(unsigned, 'first');",
      },
    ],
  },
  {
    id: 'F27',
    fault: 'gas is dearer than the cap for a while',
    holds:
      'no attempt goes above the cap; what is in time waits, what is too late gives its nonce to a no-op',
    invariants: ['I5', 'I9'],
    test: SENDING,
    defences: [
      {
        what: 'the first fees stay below the cap',
        file: 'src/adapters/evm/transactor/fees.ts',
        from: 'const maxFee = maxFeePerGas < cap ? maxFeePerGas : cap;',
        to: 'const maxFee = maxFeePerGas < cap ? maxFeePerGas : maxFeePerGas;',
      },
      {
        what: 'a replacement that would be above the cap is not made',
        file: 'src/adapters/evm/transactor/fees.ts',
        from: 'if (least.maxFeePerGas > capPerGas) return undefined;',
        to: 'if (least.maxFeePerGas > 100n * capPerGas) return undefined;',
      },
      {
        what: 'an intent leaves its no-op room below the cap',
        file: TRANSACTOR,
        from: 'noop ? maxFeePerGasCap : belowCap(maxFeePerGasCap)',
        to: 'noop || belowCap(maxFeePerGasCap) > 0n ? maxFeePerGasCap : 0n',
      },
      {
        what: 'past its time an intent is replaced by a no-op',
        file: TRANSACTOR,
        from: 'head.timestamp > slot.notAfter)',
        to: 'head.timestamp > slot.notAfter + 1e9)',
      },
    ],
  },
  {
    id: 'F28',
    fault: 'a signer has no native currency left',
    holds: 'it says so, ends nothing, and sends everything once it is topped up',
    invariants: ['I5'],
    test: SENDING,
    defences: [
      {
        what: 'a signer below its least balance does not count as able to pay',
        file: TRANSACTOR,
        from: '(balanceWei === undefined || balanceWei >= minBalanceWei);',
        to: '(balanceWei === undefined || balanceWei >= 0n * minBalanceWei);',
      },
      {
        what: 'nor does one of whom a node says so',
        file: TRANSACTOR,
        from: "outOfFunds = outcome.kind === 'out_of_funds';",
        to: "outOfFunds = outcome.kind === 'out_of_funds' && balanceWei === 0n;",
      },
      {
        what: 'only a refusal for ever ends a slot',
        file: TRANSACTOR,
        from: "if (outcome.kind === 'rejected' && !last.noop)",
        to: "if (outcome.kind !== 'sent' && outcome.kind !== 'indeterminate' && !last.noop)",
      },
    ],
  },
  {
    id: 'F30',
    fault: 'the chain refuses a settlement or a fill: a token is paused, an LP or a taker has nothing',
    holds:
      'it fails with the reason, what was escrowed goes back to the taker, and those that shared its transaction settle',
    invariants: ['I5', 'I8'],
    test: SETTLING,
    defences: [
      {
        what: 'a failure says what the chain said',
        file: 'src/venue/orders/advance/advancer.ts',
        from: "return isFundingRevert(refusal, order.user) ? 'funding_failed'",
        to: "return refusal.name === 'nothing' ? 'funding_failed'",
      },
      {
        what: 'a refund goes to the taker',
        file: 'contracts/src/Escrow.sol',
        from: 'trySafeTransfer(order.user, amount)',
        to: 'trySafeTransfer(msg.sender, amount)',
      },
    ],
  },
  {
    id: 'F34',
    fault: 'a claim and a refund are mined in one block, right after expires',
    holds: 'the first succeeds and the other reverts; the venue records which, and sends nothing itself',
    invariants: ['I8', 'I10'],
    test: SETTLING,
    defences: [
      {
        what: 'an order leaves the state that a step starts from, once',
        file: 'contracts/src/Escrow.sol',
        from: 'if (status != uint256(from)) revert InvalidOrderStatus',
        to: 'if (status != uint256(from) && status == 0) revert InvalidOrderStatus',
      },
    ],
  },
];
