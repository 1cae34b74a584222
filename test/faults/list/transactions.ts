/** Transactions that are replaced, refused, or never mined. */

import type { Fault } from '../fault.ts';

const SENDING = 'test/faults/transactions.test.ts';
const SETTLING = 'test/faults/settlements.test.ts';
const TRANSACTOR = 'src/adapters/evm/transactor/transactor.ts#createTransactor';
const SLOTS = 'src/adapters/evm/transactor/live-slots.ts';
const FEES = 'src/adapters/evm/transactor/fees.ts';
const STORE = 'src/adapters/postgres/tx-store.ts';

export const TRANSACTIONS: readonly Fault[] = [
  {
    id: 'F8',
    fault: 'two programs have the same signer key',
    holds:
      'one sends and the other waits; it takes over when the lease of the first has lapsed, whatever the first believes',
    invariants: ['I1'],
    test: SETTLING,
    defences: [
      {
        what: 'a signer has one holder at a time',
        symbol: `${STORE}#SIGNER_IS_FREE`,
        becomes: "'s.fence >= 0'",
      },
      {
        what: 'only the holder of the newest fence reserves a nonce',
        symbol: `${STORE}#RESERVES_UNDER_FENCE`,
        becomes: "'fence >= $3::bigint * 0'",
      },
    ],
  },
  {
    id: 'F24',
    fault: 'the original is mined after its replacement was sent',
    holds: 'the mined attempt is found; the others have no effect',
    invariants: ['I1'],
    test: SENDING,
    defences: [
      {
        what: 'receipts of all attempts of a slot are looked for',
        symbol: `${SLOTS}#receiptOf`,
        becomes:
          '(chain, slot, hash) => hash === slot.attempts.at(-1)?.hash ? original(chain, slot, hash) : Promise.resolve(undefined)',
      },
      {
        what: 'all attempts of a slot have its nonce',
        symbol: 'src/adapters/evm/transactor/sign.ts#signTransaction',
        becomes: `(() => {
          const attempts = new Map();
          return (signer, tx) => {
            const key = signer.address + tx.chainId + ':' + tx.nonce;
            const before = attempts.get(key) ?? 0;
            attempts.set(key, before + 1);
            return original(signer, { ...tx, nonce: tx.nonce + before });
          };
        })()`,
      },
    ],
  },
  {
    id: 'F25',
    fault: 'another holder of the key uses a nonce',
    holds:
      'the foreign transaction is not taken for ours; our step gets another nonce, and no other step does',
    invariants: ['I1', 'I5'],
    test: SENDING,
    defences: [
      {
        what: 'a used nonce without a receipt of ours ends its slot as void',
        symbol: `${SLOTS}#slotEndOf`,
        becomes:
          "(...args) => { const end = original(...args); return end.mined === null ? { ...end, state: 'mined' } : end; }",
      },
      {
        what: 'a key whose slot is void gets a new one',
        symbol: `${STORE}#KEY_IS_FREE`,
        becomes: '"o.state = \'none\'"',
      },
      {
        what: 'receipts of our own hashes are looked for first',
        symbol: `${SLOTS}#receiptOf`,
        becomes: 'async () => undefined',
      },
    ],
  },
  {
    id: 'F26',
    fault: 'a nonce will never be sent: no node takes its transaction, or the signer gives no signature',
    holds: 'a no-op fills it, and transactions behind it are mined',
    invariants: ['I5'],
    test: SENDING,
    defences: [
      {
        what: 'a transaction that the chain refuses for good gives its nonce to a no-op',
        symbol: `${SLOTS}#noteOutcome`,
        becomes:
          "(entry, last, outcome) => outcome.kind === 'rejected' ? undefined : original(entry, last, outcome)",
      },
      {
        what: 'so does a transaction that cannot be signed',
        symbol: 'src/adapters/evm/transactor/attempts.ts#MOST_UNSIGNED',
        becomes: '3_000',
      },
      {
        what: 'a missing signature is asked for again with the next block',
        symbol: `${SLOTS}#lacksSignature`,
        becomes: '() => false',
      },
    ],
  },
  {
    id: 'F27',
    fault: 'gas costs more than the cap for a while',
    holds:
      'no attempt goes above the cap; a transaction in time waits, a late one gives its nonce to a no-op',
    invariants: ['I5', 'I9'],
    test: SENDING,
    defences: [
      {
        what: 'the first fees stay below the cap',
        symbol: `${FEES}#firstFees`,
        becomes:
          '({ baseFee, priorityFee }) => ({ maxFeePerGas: baseFee * 2n + priorityFee, maxPriorityFeePerGas: priorityFee })',
      },
      {
        what: 'a replacement that would be above the cap is not made',
        symbol: `${FEES}#bumpFees`,
        becomes: '(last, now, cap) => original(last, now, 100n * cap)',
      },
      {
        what: 'an intent leaves its no-op room below the cap',
        symbol: `${FEES}#belowCap`,
        becomes: '(cap) => cap',
      },
      {
        what: 'a no-op replaces an intent whose time has passed',
        symbol: `${SLOTS}#needsNoop`,
        becomes: '(entry) => original(entry, 0)',
      },
    ],
  },
  {
    id: 'F28',
    fault: 'a signer has no native currency left',
    holds: 'it says so, ends no slot, and sends everything once it is topped up',
    invariants: ['I5'],
    test: SENDING,
    defences: [
      {
        what: 'a signer below its least balance does not count as able to pay',
        symbol: TRANSACTOR,
        becomes: '(deps, options) => original(deps, { ...options, spareGas: 0n })',
      },
      {
        what: 'nor does a signer that a node refuses for lack of funds',
        symbol: TRANSACTOR,
        becomes: `(deps, options) => original({ ...deps, chain: { ...deps.chain, sendRaw: async (raw) => {
          const outcome = await deps.chain.sendRaw(raw);
          return outcome.kind === 'out_of_funds' ? { ...outcome, kind: 'indeterminate' } : outcome;
        } } }, options)`,
      },
      {
        what: 'only a final refusal ends a slot',
        symbol: `${SLOTS}#noteOutcome`,
        becomes:
          "(entry, last, outcome) => original(entry, last, outcome.kind === 'out_of_funds' ? { ...outcome, kind: 'rejected' } : outcome)",
      },
    ],
  },
  {
    id: 'F30',
    fault: 'the chain refuses a settlement or a fill: a paused token, an LP or taker without balance',
    holds: 'it fails with the reason; escrowed inputs go back; orders that shared its transaction settle',
    invariants: ['I5', 'I8'],
    test: SETTLING,
    defences: [
      {
        what: 'a failure carries the chain’s reason',
        symbol: 'src/settlement/revert.ts#isFundingRevert',
        becomes: '() => false',
      },
      {
        what: 'a refund goes to the taker',
        symbol: 'contracts/src/EscrowBase.sol#_refund',
        becomes: `        bytes32 orderId = order.id();
        _advance(orderId, OrderStatus.Deposited, OrderStatus.Refunded);
        emit IEscrow.Refunded(orderId);
        for (uint256 j; j < order.inputs.length; ++j) {
            IERC20(_token(order.inputs[j])).trySafeTransfer(msg.sender, order.inputs[j][1]);
        }`,
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
        what: 'an order leaves a status once',
        symbol: 'contracts/src/EscrowBase.sol#_advance',
        becomes: `        uint256 status = _status[orderId];
        if (status != uint256(from) && status == 0) revert IEscrow.InvalidOrderStatus(orderId, OrderStatus(status));
        _status[orderId] = uint256(to);`,
      },
    ],
  },
];
