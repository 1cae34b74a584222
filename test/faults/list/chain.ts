/** Nodes that lie and chains that turn back. */

import type { Fault } from '../fault.ts';

export const CHAIN: readonly Fault[] = [
  {
    id: 'F15',
    fault: 'A machine’s clock is two minutes ahead or behind.',
    holds:
      'That program quotes nothing and is not ready, and says which clock differs; what was accepted goes on by the chain’s own time; when the clocks agree it quotes again.',
    invariants: ['I7'],
    test: 'test/faults/clocks.test.ts',
    defences: [
      {
        what: 'each new block is compared with this machine’s clock',
        file: 'src/adapters/evm/chain/clock-skew.ts',
        from: 'if (Math.abs(ms) <= maxClockSkewMs) return undefined;',
        to: 'if (Math.abs(ms) <= Number.POSITIVE_INFINITY) return undefined;',
      },
      {
        what: 'an LP whose clock differs is on standby',
        file: 'src/lp/risk/standby.ts',
        from: 'if (doubt !== undefined) return doubt;',
        to: "if (doubt?.kind === 'reorg') return doubt;",
      },
      {
        what: 'a venue whose clock differs asks nobody for quotes',
        file: 'src/venue/quoting/intent.ts',
        from: 'if (doubt) return nothing(',
        to: "if (doubt?.kind === 'reorg') return nothing(",
      },
    ],
  },
  {
    id: 'F16',
    fault:
      'The node takes a transaction and its answer is lost; or it is sent again and the node says that it knows it.',
    holds: 'One transaction is mined, and one nonce used.',
    invariants: ['I1'],
    test: 'test/faults/endpoints.test.ts',
    defences: [
      {
        what: 'no answer counts as sent',
        file: 'src/adapters/evm/transactor/send.ts',
        from: "return { kind: 'indeterminate', message: answer.message };",
        to: "return { kind: 'rejected', message: answer.message };",
      },
      {
        what: '“already known” counts as sent',
        file: 'src/adapters/evm/transactor/send.ts',
        from: 'already known|already imported|known transaction|already exists|alreadyknown',
        to: 'never said by any node',
      },
    ],
  },
  {
    id: 'F17',
    fault: 'A node answers with the hash and tells nobody of the transaction; or every pool forgets it.',
    holds: 'It is mined all the same, within a few blocks.',
    invariants: ['I5'],
    test: 'test/faults/endpoints.test.ts',
    defences: [
      {
        what: 'raw bytes go to every endpoint',
        file: 'src/adapters/evm/rpc/rpc.ts',
        from: '=> all.map((index) => ask<T>',
        to: '=> all.slice(0, 1).map((index) => ask<T>',
      },
      {
        what: 'what waits too long is sent again for more',
        file: 'src/adapters/evm/transactor/transactor.ts',
        from: '(entry.mustReplace || waited(entry) >= BigInt(bumpAfterBlocks))',
        to: 'entry.mustReplace',
      },
    ],
  },
  {
    id: 'F18',
    fault: 'A node goes back to an older block, or falls behind.',
    holds:
      'The head never goes down, nothing is decided on the old state, that node is left out until it has behaved for a while.',
    invariants: ['I3'],
    test: 'test/faults/endpoints.test.ts',
    defences: [
      {
        what: 'an endpoint whose head goes down is left out',
        file: 'src/adapters/evm/rpc/health.ts',
        from: "if (back) eject(index, 'backwards');",
        to: '',
      },
      {
        what: 'an endpoint that lags behind the others is left out',
        file: 'src/adapters/evm/rpc/health.ts',
        from: "measure - head > mostLag ? 'lagging' : ",
        to: '',
      },
      {
        what: 'no older head replaces a newer one',
        file: 'src/adapters/evm/chain/head.ts',
        from: 'block.number < head.number || ',
        to: '',
      },
    ],
  },
  {
    id: 'F19',
    fault: 'A node has lost logs, and gives no receipts.',
    holds:
      'A fill is found by the balance that it moved, attested and claimed; its transaction counts as mined.',
    invariants: ['I2'],
    test: 'test/faults/endpoints.test.ts',
    defences: [
      {
        what: 'where ledger and chain differ, events are read again from every endpoint',
        file: 'src/lp/chain/follow.ts',
        from: 'port.events(from, to, from <= doubtedTo)',
        to: 'port.events(from, to)',
      },
      {
        what: 'a receipt that one endpoint has not is asked of the others',
        file: 'src/adapters/evm/chain/chain.ts',
        from: 'if (first !== null || rpc.endpoints === 1) return first;',
        to: 'if (first !== null || rpc.endpoints > 0) return first;',
      },
      {
        what: 'what is missed of an order is asked of every endpoint',
        file: 'src/adapters/evm/chain/chain.ts',
        from: 'logs(fromAll, from, to, [null, orderId])',
        to: 'logs(fromOne, from, to, [null, orderId])',
      },
    ],
  },
  {
    id: 'F20',
    fault: 'The block that holds an order’s deposit is reorganised away.',
    holds: 'Nothing is delivered for it.',
    invariants: ['I3'],
    test: 'test/faults/reorgs.test.ts',
    defences: [
      {
        what: 'an LP looks at the origin at its depth',
        file: 'src/lp/settlement/advance.ts',
        from: 'const number = head.number - BigInt(port.chain.depth);',
        to: 'const number = head.number;',
      },
    ],
  },
  {
    id: 'F21',
    fault: 'The block that holds a fill or a claim is reorganised away, also while nobody looks.',
    holds: 'The same bytes go out again and deliver once; the books show the reversal.',
    invariants: ['I1', 'I5'],
    test: 'test/faults/reorgs.test.ts',
    defences: [
      {
        what: 'a fill that is not there any more is taken back in the ledger',
        file: 'src/lp/chain/follow.ts',
        from: 'else if (was.fill !== undefined) unsay(was.fill);',
        to: '',
      },
      {
        what: 'a transaction whose block is not canonical any more is sent again',
        file: 'src/adapters/evm/transactor/transactor.ts',
        from: 'if (canonical) break;',
        to: 'if (checked.size > 0) break;',
      },
    ],
  },
  {
    id: 'F22',
    fault: 'A reorganisation is deeper than the depth, after orders counted as settled.',
    holds:
      'It is said aloud, nothing more is quoted or done on that chain, statuses stay, `firmquote audit` names what is affected; a process started anew goes on. What was delivered for money that is gone is lost: the stated residual.',
    invariants: ['I10'],
    test: 'test/faults/deep-reorg.test.ts',
    defences: [
      {
        what: 'the last final block is asked for at every look',
        file: 'src/adapters/evm/chain/finality.ts',
        from: 'if (found !== undefined) {',
        to: "if (found === '0x') {",
      },
      {
        what: 'nobody hears of blocks of such a chain',
        file: 'src/adapters/evm/chain/head.ts',
        from: 'if (!stands || (head && ',
        to: 'if ((head && ',
      },
      {
        what: 'the venue looks at no order of such a chain',
        file: 'src/venue/orders/advance/observe.ts',
        from: "if (watches.get(id)?.chain.doubt()?.kind === 'reorg') return undefined;",
        to: '',
      },
    ],
  },
  {
    id: 'F23',
    fault: 'A node lies: a deposit that is not there, a fill that never was, with its log and its record.',
    holds:
      'Above the configured value nothing is filled, signed or concluded on one node’s word, and the liar is left out.',
    invariants: ['I3'],
    test: 'test/faults/endpoints.test.ts',
    defences: [
      {
        what: 'an LP fills when several endpoints show the deposit',
        file: 'src/lp/settlement/advance.ts',
        from: 'origin.deciding(deps.worthUsd(award))',
        to: 'origin.deciding(0)',
      },
      {
        what: 'an attester signs when several endpoints show the fill',
        file: 'src/attester/attester.ts',
        from: 'remote.deciding(undefined)',
        to: 'remote.deciding(0)',
      },
      {
        what: 'a venue concludes when several endpoints say so',
        file: 'src/venue/orders/advance/observe.ts',
        from: 'chain.deciding(amountUsd ?? undefined)',
        to: 'chain.deciding(0)',
      },
    ],
  },
  {
    id: 'F29',
    fault: 'A chain stands still for minutes.',
    holds:
      'Nothing is quoted there, nothing is filled that could come too late, and the taker is refunded when the chain goes on.',
    invariants: ['I7', 'I8'],
    test: 'test/faults/reorgs.test.ts',
    defences: [
      {
        what: 'an old head is standby',
        file: 'src/lp/risk/standby.ts',
        from: "if (age > maxHeadAgeMs) return { kind: 'lag'",
        to: "if (age < 0) return { kind: 'lag'",
      },
      {
        what: 'what is late is decided by whichever is later, the chain’s clock or ours',
        file: 'src/lp/settlement/advance.ts',
        from: 'dest: { now: deps.now(dest.chain.id),',
        to: 'dest: { now: destHead.timestamp,',
      },
    ],
  },
];
