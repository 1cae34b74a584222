/**
 * Classifies a node's error answer, for reading and for sending. Nodes and providers agree on few codes and
 * on no wording, so this is a table; the first row that fits decides. Its words come from the sources of the
 * named clients, and from providers' documentation and public reports of their answers.
 */

/**
 * - `reverted`: the call itself fails; every node says so.
 * - `not_now`: overloaded, limited or busy. The same again, here later or elsewhere.
 * - `behind`: a block that this endpoint has not seen. It comes soon, and another node may have it now.
 * - `elsewhere`: this endpoint cannot answer: it prunes state or lacks the method.
 * - `smaller`: fewer blocks in one request for logs. `smaller_batch`: fewer calls in one HTTP request.
 * - `known`, `nonce_used`, `underpriced`, `out_of_funds`: about a raw transaction.
 * - `invalid`: no node will ever take it.
 * - `unknown`: not in the table. It is tried again a few times, and never ends anything by itself.
 */
export type Meaning =
  | 'reverted'
  | 'not_now'
  | 'behind'
  | 'elsewhere'
  | 'smaller'
  | 'smaller_batch'
  | 'known'
  | 'nonce_used'
  | 'underpriced'
  | 'out_of_funds'
  | 'invalid'
  | 'unknown';

interface NodeRefusal {
  method: string;
  /** The code of JSON-RPC, or the HTTP status where the body held no JSON-RPC error. */
  rpcCode: number;
  message: string;
  data?: unknown;
}

interface Row {
  means: Meaning;
  /** The method it is about; absent: any. */
  method?: 'eth_getLogs' | 'eth_sendRawTransaction';
  codes?: readonly number[];
  words?: RegExp;
}

/** A row fits when its method fits and one of its codes or its words do. */
const TABLE: readonly Row[] = [
  // A contract chooses the text of its revert, so this comes first. geth gives it code 3, Nethermind -32015;
  // revm, geth's vm package and Besu say in words how execution halted.
  {
    means: 'reverted',
    codes: [3, -32_015],
    words:
      /\brevert|vm exception|vm execution error|invalid opcode|out ?of ?gas|\bOOG\b|EVM error|invalid jump|stack (?:under|over)flow|stack limit reached|max call depth|gas uint64 overflow|return data out of bounds|write protection|could not be completed due to an exception/i,
  },

  // geth core/txpool and legacypool, Nethermind AcceptTxResult, Besu RpcErrorType, Erigon DiscardReason,
  // Reth, EDR and anvil.
  {
    means: 'known',
    method: 'eth_sendRawTransaction',
    words:
      /already ?(?:known|imported|exists)|known transaction|existing tx with same hash|already in (?:the )?mempool/i,
  },
  {
    means: 'nonce_used',
    method: 'eth_sendRawTransaction',
    words: /nonce (?:is )?too low|old ?nonce|nonce has already been used|invalid nonce/i,
  },
  {
    means: 'out_of_funds',
    method: 'eth_sendRawTransaction',
    words: /insufficient ?(?:funds|balance)|out of funds|overshot|enough funds|upfront cost exceeds/i,
  },
  {
    means: 'invalid',
    method: 'eth_sendRawTransaction',
    words:
      /intrinsic gas|block gas limit|gas ?limit ?exceeded|requires at least \d+ gas|invalid (?:sender|signature|chain ?id|transaction (?:type|envelope|signature))|wrong chain|chainid (?:is required|not supported)|transaction type not supported|oversized data|max ?tx ?size|initcode size|\brlp\b|sender is ?contract|not an eoa|replay-protected|(?:higher than|exceeds) max fee per gas/i,
  },
  {
    means: 'not_now',
    method: 'eth_sendRawTransaction',
    words:
      /nonce ?(?:gap|too high|too distant)|future nonce|too distant from|lower nonce exists|delegated account|cannot be delegated|authority (?:already )?reserved|\bfull\b|pool overflow|account limit exceeded|pool not enabled|sync|configured cap|fee cap exceeded|temporarily|future transaction tries/i,
  },
  {
    means: 'underpriced',
    method: 'eth_sendRawTransaction',
    words:
      /underpriced|replacement|could not replace|fee ?too ?low|base ?fee|feecap|tip (?:cap )?(?:too|less)|gas ?price (?:is )?(?:too low|below)/i,
  },

  // Besu, Nethermind, geth and jsonrpsee (Reth) limit batches, and so do the free plans of providers.
  {
    means: 'smaller_batch',
    words:
      /batch.*(?:large|big|limit|exceed|maximum|at most|more than|not (?:supported|allowed))|(?:max|limit|too many|exceed|more than).*batch/i,
  },
  // geth and Reth, of a node behind the one that told the head. A smaller range would not help.
  {
    means: 'behind',
    method: 'eth_getLogs',
    words: /beyond (?:the )?(?:current )?head|in the future|future block|invalid block range/i,
  },
  // PublicNode (-32701) and Erigon, of history that they dropped.
  { means: 'elsewhere', method: 'eth_getLogs', words: /pruned|archive requests/i },
  // Infura (-32602, -32005), Alchemy (-32600), QuickNode (-32614), Tenderly (words in `data`), Reth, Besu,
  // dRPC (35, -32701), Ankr and thirdweb (blocks instead of a range), Coinbase, BlockPI, Harmony and others.
  {
    means: 'smaller',
    method: 'eth_getLogs',
    codes: [-32_614, -32_701, 413],
    words:
      /\brange\b|ranges over|too many blocks|blocks? limit|blocks distance|requested blocks|(?:at most|limited to) [\d,.]+ blocks?|smaller than size|(?:more than|exceeds? (?:max )?)\s*\d* ?results|too many (?:results|logs)|response (?:size|is too|too)|query timeout|timed? ?out|logs matched/i,
  },

  // -32005 is "limit exceeded" in EIP-1474; the other codes are what providers use for the same. Infura says
  // 402 for the rest of a day.
  {
    means: 'not_now',
    codes: [-32_005, -32_007, -32_011, -32_012, -32_016, -32_029, 402, 429, 502, 503, 504],
    words:
      /too many requests|rate.?limit|(?:request|usage|daily|monthly|compute) .*limit|limit (?:was )?(?:reached|exceeded)|quota|throttl|capacity|credits|overload|\bbusy\b|try again|timed? ?out|timeout/i,
  },
  {
    means: 'behind',
    codes: [-39_001],
    words: /(?:header|block) not found|unknown block|BlockOutOfRange|sync is still in progress/i,
  },
  {
    means: 'elsewhere',
    codes: [-32_601, -32_604, 4_444],
    words:
      /missing trie node|state (?:is )?(?:un|not )available|historical|pruned|archive|method .*(?:not|un)|not supported|not available on/i,
  },
];

export function meaningOf({ method, rpcCode, message, data }: NodeRefusal): Meaning {
  const text = method === 'eth_getLogs' ? `${message} ${JSON.stringify(data ?? '')}` : message;
  const fits = (row: Row): boolean =>
    (row.method === undefined || row.method === method) &&
    ((row.codes?.includes(rpcCode) ?? false) || (row.words?.test(text) ?? false));
  return TABLE.find(fits)?.means ?? 'unknown';
}
