/** Nodes that give wrong answers, and chains that are reorganised. */

import type { Fault } from '../fault.ts';
import { withPorts } from './with-ports.ts';

const ENDPOINTS = 'test/faults/endpoints.test.ts';
const LP_ADVANCER = 'src/lp/settlement/advance.ts#createAwardRunner';
const OBSERVE = 'src/venue/orders/advance/observe.ts#observeOrder';

export const CHAIN: readonly Fault[] = [
  {
    id: 'F15',
    fault: 'a machine’s clock is two minutes ahead or behind',
    holds:
      'that program quotes nothing, is not ready, and names the clock; accepted orders go on by the chain’s time; it quotes again when the clocks agree',
    invariants: ['I7'],
    test: 'test/faults/clocks.test.ts',
    defences: [
      {
        what: 'each new block is compared with this machine’s clock',
        symbol: 'src/adapters/evm/chain/clock-skew.ts#createSkew',
        becomes: '(...args) => ({ ...original(...args), healthIssue: () => undefined })',
      },
      {
        what: 'an LP whose clock differs is on standby',
        symbol: 'src/lp/risk/chain-reason.ts#chainReason',
        becomes:
          "(...args) => { const reason = original(...args); return reason?.kind === 'clock' ? undefined : reason; }",
      },
      {
        what: 'a venue whose clock differs asks no LP for quotes',
        symbol: 'src/venue/quoting/parse-request.ts#createRequestParser',
        becomes: `(deps, ...rest) => original({ ...deps, chains: ${withPorts('deps.chains', 'healthIssue: () => undefined')} }, ...rest)`,
      },
    ],
  },
  {
    id: 'F16',
    fault: 'the answer to a raw transaction is lost; or it is sent again and the node answers that it has it',
    holds: 'one transaction is mined, and one nonce used',
    invariants: ['I1'],
    test: ENDPOINTS,
    defences: [
      {
        what: 'a missing answer counts as sent',
        symbol: 'src/adapters/evm/transactor/send.ts#sendRaw',
        becomes: `async (...args) => {
          const outcome = await original(...args);
          return outcome.kind === 'indeterminate' ? { ...outcome, kind: 'rejected' } : outcome;
        }`,
      },
      {
        what: '“already known” counts as sent',
        symbol: 'src/adapters/evm/rpc/refusals.ts#meaningOf',
        becomes:
          "(refusal) => { const means = original(refusal); return means === 'known' ? 'invalid' : means; }",
      },
    ],
  },
  {
    id: 'F17',
    fault: 'a node answers with the hash and passes the transaction to no other; or every pool drops it',
    holds: 'it is mined within a few blocks',
    invariants: ['I5'],
    test: ENDPOINTS,
    defences: [
      {
        what: 'raw bytes go to every endpoint',
        symbol: 'src/adapters/evm/rpc/rpc.ts#createRpc',
        becomes: `(...args) => {
          const rpc = original(...args);
          const requestEach = (...asked) => [rpc.only(0).request(...asked).catch((error) => error)];
          return { ...rpc, requestEach };
        }`,
      },
      {
        what: 'a transaction that waits too long is replaced with higher fees',
        symbol: 'src/adapters/evm/transactor/transactor.ts#createTransactor',
        becomes: '(deps, options) => original(deps, { ...options, bumpAfterBlocks: 1_000_000 })',
      },
    ],
  },
  {
    id: 'F18',
    fault: 'a node goes back to an older block, or falls behind',
    holds:
      'the head never goes down; nothing is decided on the old state; that node is left out until it has behaved for a while',
    invariants: ['I3'],
    test: ENDPOINTS,
    defences: [
      {
        what: 'an endpoint whose head goes down by more than the allowed lag is left out',
        symbol: 'src/adapters/evm/rpc/health.ts#createHealth',
        becomes: '(...args) => ({ ...original(...args), saw: () => {} })',
      },
      {
        what: 'an endpoint that lags behind the others is left out',
        symbol: 'src/adapters/evm/rpc/health.ts#createHealth',
        becomes:
          '(count, deps, options) => original(count, deps, { ...HEALTH, ...options, maxLagBlocks: 1_000_000 })',
      },
      {
        what: 'an older head never replaces a newer one',
        symbol: 'src/adapters/evm/chain/head.ts#isNewHead',
        becomes: '(block, head) => block.hash !== head?.hash',
      },
    ],
  },
  {
    id: 'F19',
    fault: 'a node has lost logs, and gives no receipts',
    holds:
      'a fill is found by the balance that it moved, attested and claimed; its transaction counts as mined',
    invariants: ['I2'],
    test: ENDPOINTS,
    defences: [
      {
        what: 'where ledger and chain differ, events are read again from every endpoint',
        symbol: 'src/lp/chain/follow.ts#createFollower',
        becomes: `(deps, ...rest) => original({ ...deps, port: { ...deps.port,
          events: (from, to) => deps.port.events(from, to) } }, ...rest)`,
      },
      {
        what: 'a receipt that one endpoint lacks is asked of the others',
        symbol: 'src/adapters/evm/chain/find-block.ts#askUntilFound',
        becomes: '(rpc, health, method, params) => rpc.request(method, params)',
      },
      {
        what: 'missing events of an order are asked of every endpoint',
        symbol: 'src/adapters/evm/chain/read-logs.ts#logsOfAll',
        becomes: "(rpc, health, params) => rpc.request('eth_getLogs', params)",
      },
    ],
  },
  {
    id: 'F20',
    fault: 'the block that holds an order’s deposit is reorganised away',
    holds: 'nothing is delivered for it',
    invariants: ['I3'],
    test: 'test/faults/reorgs.test.ts',
    defences: [
      {
        what: 'an LP reads the origin at its depth',
        symbol: LP_ADVANCER,
        becomes: `(deps, ...rest) => original({ ...deps, chains: ${withPorts('deps.chains', 'chain: { ...port.chain, depth: 0 }')} }, ...rest)`,
      },
    ],
  },
  {
    id: 'F21',
    fault: 'the block that holds a fill or a claim is reorganised away, also while no process runs',
    holds: 'the same bytes go out again and deliver once; the books show the reversal',
    invariants: ['I1', 'I5'],
    test: 'test/faults/reorgs.test.ts',
    defences: [
      {
        what: 'the ledger reverses a fill that is no longer on the chain',
        symbol: 'src/lp/chain/follow.ts#createFollower',
        becomes: `(deps, ...rest) => original({ ...deps, ledger: { ...deps.ledger,
          apply: (event) => (event.type === 'reorged' ? { applied: false } : deps.ledger.apply(event)) } }, ...rest)`,
      },
      {
        what: 'a transaction whose block is no longer canonical is sent again',
        symbol: 'src/adapters/evm/transactor/transactor.ts#createTransactor',
        becomes: '(deps, options) => original(deps, { ...options, reorgBlocks: -1_000_000 })',
      },
    ],
  },
  {
    id: 'F22',
    fault: 'a reorganisation is deeper than the depth, after orders counted as settled',
    holds:
      'it is logged as fatal; nothing more is quoted or done on that chain; statuses stay; `firmquote audit` lists the affected orders; a restarted process goes on. What was delivered for a deposit that is gone is lost: the stated residual',
    invariants: ['I10'],
    test: 'test/faults/deep-reorg.test.ts',
    defences: [
      {
        what: 'each poll asks for the last final block',
        symbol: 'src/adapters/evm/chain/finality.ts#createFinality',
        becomes: '(...args) => ({ ...original(...args), stands: async () => true })',
      },
      {
        what: 'no listener gets blocks of such a chain',
        symbol: 'src/adapters/evm/chain/finality.ts#createFinality',
        becomes: `(...args) => {
          const finality = original(...args);
          return { ...finality, stands: async () => { await finality.stands(); return true; } };
        }`,
      },
      {
        what: 'the venue observes no order of such a chain',
        symbol: OBSERVE,
        becomes: `(record, progress, watches) => original(record, progress, new Map([...watches].map(([id, watch]) =>
          [id, { ...watch, chain: { ...watch.chain, healthIssue: () => undefined } }])))`,
      },
    ],
  },
  {
    id: 'F23',
    fault: 'a node lies: a deposit that is not there, a fill that never was, with its log and record',
    holds:
      'above the configured value nothing is filled, signed or concluded on one node’s word; the liar is left out',
    invariants: ['I3'],
    test: ENDPOINTS,
    defences: [
      {
        what: 'an LP fills when several endpoints show the deposit',
        symbol: LP_ADVANCER,
        becomes: `(deps, ...rest) => original({ ...deps, chains: ${withPorts('deps.chains', 'deciding: () => port.deciding(0)')} }, ...rest)`,
      },
      {
        what: 'an attester signs when several endpoints show the fill',
        symbol: 'src/attester/attester.ts#createAttester',
        becomes: `(deps, ...rest) => original({ ...deps, chains: ${withPorts('deps.chains', 'deciding: () => port.deciding(0)')} }, ...rest)`,
      },
      {
        what: 'a venue concludes when several endpoints agree',
        symbol: OBSERVE,
        becomes: `(record, progress, watches) => original(record, progress, new Map([...watches].map(([id, watch]) =>
          [id, { ...watch, chain: { ...watch.chain, deciding: () => watch.chain.deciding(0) } }])))`,
      },
    ],
  },
  {
    id: 'F29',
    fault: 'a chain stands still for minutes',
    holds:
      'nothing is quoted there or filled that could come too late; the taker is refunded when the chain goes on',
    invariants: ['I7', 'I8'],
    test: 'test/faults/reorgs.test.ts',
    defences: [
      {
        what: 'an old head puts the LP on standby',
        symbol: 'src/lp/risk/chain-reason.ts#chainReason',
        becomes:
          "(...args) => { const reason = original(...args); return reason?.kind === 'lag' ? undefined : reason; }",
      },
      {
        what: 'the later of the chain’s clock and ours decides whether a fill is late',
        symbol: LP_ADVANCER,
        becomes:
          '(deps, ...rest) => original({ ...deps, now: (chainId) => deps.chains.get(chainId).head().timestamp }, ...rest)',
      },
    ],
  },
];
