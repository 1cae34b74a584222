/** Tests what the errors of nodes and providers mean, in their own words. */

import { describe, expect, test } from 'vitest';
import { type Meaning, meaningOf } from './refusals.ts';

type Said = readonly [meaning: Meaning, rpcCode: number, message: string, data?: unknown];

const SENDING: readonly Said[] = [
  // geth, Reth, anvil
  ['known', -32_000, 'already known'],
  ['known', -32_003, 'transaction already imported'],
  ['nonce_used', -32_000, 'nonce too low: next nonce 5, tx nonce 4'],
  ['underpriced', -32_000, 'transaction underpriced: gas tip cap 1, minimum needed 25'],
  ['underpriced', -32_000, 'replacement transaction underpriced'],
  [
    'underpriced',
    -32_000,
    'max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 7',
  ],
  ['out_of_funds', -32_000, 'insufficient funds for gas * price + value: address 0x1 have 0 want 21000'],
  ['not_now', -32_000, 'txpool is full'],
  ['not_now', -32_000, 'nonce too high'],
  ['not_now', -32_000, 'account limit exceeded'],
  ['not_now', -32_000, 'in-flight transaction limit reached for delegated accounts'],
  ['not_now', -32_000, 'gapped-nonce tx from delegated accounts'],
  ['not_now', -32_000, 'authority already reserved'],
  ['not_now', -32_000, 'future transaction tries to replace pending'],
  ['not_now', -32_000, 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)'],
  ['invalid', -32_000, 'intrinsic gas too low: gas 20000, minimum needed 21000'],
  ['invalid', -32_000, 'exceeds block gas limit'],
  ['invalid', -32_000, 'invalid sender'],
  ['invalid', -32_000, 'max priority fee per gas higher than max fee per gas'],
  ['invalid', -32_000, 'invalid chain id for signer: have 1 want 10'],
  // A contract chooses its revert text; it must not pass for the node's own words.
  ['reverted', 3, 'execution reverted: already known'],
  ['reverted', -32_000, 'execution reverted: nonce too low'],
  // Nethermind
  ['known', -32_010, 'AlreadyKnown'],
  ['nonce_used', -32_010, 'OldNonce, Current nonce: 7, nonce of rejected tx: 6'],
  ['underpriced', -32_010, 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 7'],
  ['underpriced', -32_010, 'ReplacementNotAllowed'],
  [
    'out_of_funds',
    -32_010,
    'InsufficientFunds, Account balance: 3000000000000000, cumulative cost: 4100000000000000',
  ],
  ['not_now', -32_010, 'NonceGap, Future nonce. Expected nonce: 7'],
  ['not_now', -32_010, 'Syncing'],
  ['invalid', -32_010, 'GasLimitExceeded'],
  // Besu
  ['known', -32_000, 'Known transaction'],
  ['nonce_used', -32_001, 'Nonce too low'],
  [
    'out_of_funds',
    -32_004,
    'Upfront cost exceeds account balance (transaction up-front cost 0x1 exceeds 0x0)',
  ],
  ['underpriced', -32_009, 'Gas price below current base fee'],
  ['underpriced', -32_000, 'Replacement transaction underpriced'],
  ['not_now', -32_006, 'Nonce too high'],
  ['not_now', -32_000, 'Transaction nonce is too distant from current sender nonce'],
  ['not_now', -32_000, 'An invalid transaction with a lower nonce exists'],
  ['not_now', -32_000, 'Transaction fee cap exceeded'],
  [
    'not_now',
    -32_002,
    'Transaction pool not enabled. (Either txpool explicitly disabled, or node not yet in sync).',
  ],
  ['not_now', -32_008, 'Initial sync is still in progress'],
  ['invalid', -32_003, 'Intrinsic gas exceeds gas limit'],
  ['invalid', -32_005, 'Transaction gas limit exceeds block gas limit'],
  ['invalid', -32_000, 'Wrong chainId'],
  // Erigon
  ['known', -32_000, 'existing tx with same hash'],
  ['underpriced', -32_000, 'could not replace existing tx'],
  ['not_now', -32_000, 'pending sub-pool is full'],
  // EDR
  ['nonce_used', -32_000, 'Nonce too low. Expected nonce to be 5 but got 4.'],
  [
    'out_of_funds',
    -32_000,
    "Sender doesn't have enough funds to send tx. The max upfront cost is: 9 and the sender's balance is: 3.",
  ],
  ['invalid', -32_000, 'Transaction gas limit is 99000000 and exceeds block gas limit of 30000000'],
  // Providers
  ['not_now', -32_005, 'daily request count exceeded, request rate limited'],
  ['not_now', 429, 'Too Many Requests'],
  ['unknown', -32_603, 'Internal error'],
  ['unknown', -32_000, 'the moon is in the wrong house'],
];

const LOGS: readonly Said[] = [
  // Alchemy, Infura (three answers), QuickNode, Tenderly, Reth, Besu, dRPC, Ankr, BSC, Avalanche, Morph
  [
    'smaller',
    -32_600,
    'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x10, 0x203]',
  ],
  ['smaller', -32_005, 'query returned more than 10000 results'],
  ['smaller', -32_602, 'range 2000 exceeds limit of 1000'],
  ['smaller', -32_005, 'query timeout exceeded'],
  ['smaller', -32_614, 'eth_getLogs is limited to a 10,000 range'],
  [
    'smaller',
    -32_602,
    'invalid params',
    { error_id: '4', payload: 'range 9009594 is bigger than range limit 2000' },
  ],
  ['smaller', -32_602, 'query exceeds max results 20000, retry with the range 25766988-25775072'],
  ['smaller', -32_005, 'Requested range exceeds maximum RPC range limit'],
  ['smaller', -32_701, 'ranges over 10000 blocks are not supported on freetier'],
  ['smaller', -32_000, 'block range is too wide'],
  ['smaller', -32_000, 'exceed maximum block range: 50000'],
  ['smaller', -32_000, 'requested too many blocks from 1 to 4000, maximum is set to 2048'],
  ['smaller', -32_602, 'Log response size exceeded.'],
  // Ankr, thirdweb, Coinbase, BlockPI, Harmony, Arc
  ['smaller', -32_602, 'maximum [from, to] blocks distance: 10000'],
  ['smaller', -32_005, 'Maximum allowed number of requested blocks is 1000'],
  ['smaller', -32_602, 'please limit the query to at most 1,000 blocks'],
  ['smaller', -32_602, 'eth_getLogs is limited to 1024 block'],
  ['smaller', -32_000, 'query must be smaller than size 1024'],
  ['smaller', -32_600, 'Query exceeds max block range of 10000'],
  // PublicNode keeps a day of history, however small the range.
  ['elsewhere', -32_701, 'History has been pruned for this block'],
  ['elsewhere', -32_602, 'Archive requests require a personal token. Get one at: https://www.allnodes.com'],
  ['not_now', -32_005, 'request rate limited'],
  ['behind', -32_000, 'header not found'],
  ['behind', -32_602, 'block range extends beyond current head block'],
  ['behind', -32_000, 'invalid block range params'],
];

const READING: readonly Said[] = [
  ['reverted', 3, 'execution reverted', '0x1234'],
  ['reverted', -32_000, 'execution reverted: rate limit'],
  ['reverted', -32_015, 'VM execution error.', 'Reverted 0x08c379a0'],
  ['reverted', -32_603, "Error: VM Exception while processing transaction: reverted with reason string 'no'"],
  ['reverted', -32_000, 'out of gas'],
  ['not_now', -32_011, 'request limit reached'],
  ['not_now', -32_007, '25/second request limit reached - reduce calls per second'],
  ['not_now', -32_012, 'credits quota exceeded'],
  ['not_now', -32_001, 'try again later'],
  ['not_now', -32_000, 'daily quota exceeded'],
  ['not_now', -32_005, "You've exceeded the RPS limit available on the current plan."],
  ['not_now', -32_012, 'credits limited to 6000/sec'],
  ['not_now', 30, 'Request timeout on the free tier, please upgrade your tier to the paid one'],
  // Infura, for the rest of the day.
  ['not_now', 402, 'Payment Required'],
  ['elsewhere', 35, 'chain is not available on free plan, please upgrade to paid plan'],
  ['not_now', 429, 'Your app has exceeded its compute units per second capacity'],
  ['not_now', -32_029, 'Too many requests'],
  ['not_now', -32_016, 'over rate limit'],
  ['elsewhere', -32_601, 'the method eth_feeHistory does not exist/is not available'],
  ['elsewhere', -32_604, 'Method not enabled'],
  ['elsewhere', -32_000, 'missing trie node 1234 (path )'],
  ['behind', -39_001, 'Unknown block'],
  ['elsewhere', 4_444, 'pruned history unavailable'],
  ['unknown', -32_602, 'Invalid params'],
];

const BATCH: readonly Said[] = [
  ['smaller_batch', -32_600, 'batch too large'],
  ['smaller_batch', -32_005, 'Number of requests exceeds max batch size'],
  ['smaller_batch', -32_010, 'The batch request was too large'],
  ['smaller_batch', -32_005, 'Batched requests are not supported by this server'],
  ['smaller_batch', -32_600, 'Too many ["eth_getLogs"] methods in the batch'],
  ['smaller_batch', 31, 'Batch of more than 3 requests are not allowed on free tier'],
  ['not_now', -32_005, 'daily request count exceeded, request rate limited'],
];

const SAID = { eth_sendRawTransaction: SENDING, eth_getLogs: LOGS, eth_call: READING, batch: BATCH };

describe.each(Object.entries(SAID))('%s', (method, answers) => {
  const cases = answers.map(([meaning, rpcCode, message, data]) => ({ meaning, rpcCode, message, data }));
  test.each(cases)('$meaning: $rpcCode $message', ({ meaning, rpcCode, message, data }) => {
    expect(meaningOf({ method, rpcCode, message, data })).toBe(meaning);
  });
});
