/**
 * Lists every rule that `firmquote certify` checks, with the sentence of the protocol page that it stands on.
 */

const PAGES = {
  quotes: 'docs/lp/solver-protocol.md',
  after: 'docs/lp/solver-protocol-settlement.md',
} as const;

export interface CertifiedRule {
  page: string;
  /** The page's sentence, word for word, with single spaces. */
  sentence: string;
  /** The page leaves it to the solver whether to take part, so a solver passes without it. */
  optional?: true;
}

const quotes = (sentence: string): CertifiedRule => ({ page: PAGES.quotes, sentence });
const after = (sentence: string): CertifiedRule => ({ page: PAGES.after, sentence });
const optional = (rule: CertifiedRule): CertifiedRule => ({ ...rule, optional: true });

export const RULES = {
  key: quotes(
    'Connect with `GET {venue}/api/v1/solver/ws` as a WebSocket, with the key in the `X-API-Key` header.',
  ),
  frames: quotes('Frames are text, one JSON object each, with a `type`.'),
  'frame-size': quotes('A frame has at most 64 KB.'),
  fields: quotes('Send only the fields listed here: a frame with another field is invalid.'),
  'unknown-types': quotes('Ignore a `type` you do not know.'),
  hello: quotes('You send `hello` within ten seconds, with the fields below.'),
  proof: quotes(
    'the operator\'s EIP-712 `signature` over `LinkProof(bytes32 nonce,string venueId,string solverId,address account)` in the domain `{name: "FirmquoteLink", version: "1", chainId, verifyingContract: escrow}`.',
  ),
  operator: quotes('an **operator** key that the account has named there'),
  addresses: quotes(
    'Compare the addresses with addresses from another source: an oracle decides whether your cross-chain fills are paid.',
  ),
  status: quotes('The venue asks you while you are `active`.'),
  heartbeat: quotes('Both sides answer `ping` with `pong`.'),
  silence: quotes('Treat a venue that is silent for that long as disconnected too.'),
  reconnect: quotes('Reconnect with growing pauses.'),
  rate: quotes(
    'The venue closes a connection (1008, `too many frames: <kind>`) that sends more than 4,000 `levels`, 1,000 `fill` or 100 frames of another kind in a second, or many more answers than it was asked for.',
  ),
  deadline: quotes('answer within this many milliseconds of its sending; the venue drops later answers'),
  answers: quotes('Answer with one quote, several quotes (with other validity windows), or a decline.'),
  'fixed-side': quotes(
    '`exactInput` fixes the input amount, `exactOutput` the output amount; the other amount is your price.',
  ),
  fees: quotes(
    'both are taken out of the input before it reaches you: fee = input × bps / 10,000 rounded down, plus `relayFee` base units of the input token. Price them in',
  ),
  'before-fees': quotes('`amountBeforeFees` (output before spread and fees; at least the output)'),
  'quote-id': quotes('`quoteId` (32 random bytes of yours)'),
  terms: quotes('from the skeleton; `nonce` and `originChainId` as decimal text'),
  output: quotes("the skeleton's `outputOracle` and `settler`, each left-padded to 32 bytes"),
  delivery: quotes('If the skeleton has `delivery`: its `recipient` padded and its `callbackData`'),
  context: quotes(
    '57 bytes: `0xe2` ‖ your account (32) ‖ `fillDeadline` + 1 (4) ‖ 10000 (2) ‖ `platformFeeBps` (2) ‖ `relayFee` (16)',
  ),
  validity: quotes(
    "`validUntil` must be in the future by the chains' clocks, not before `minValidUntil`, and within the venue's maximum (ten minutes by default).",
  ),
  'clock-law': quotes('your `validUntil` + `landingMarginSeconds`'),
  window: quotes(
    '`fillDeadline` + `proofWindowSeconds`; within one chain that is 1 second, decline any other',
  ),
  account: quotes('**`commitment`** is `lp` (your account), `deadline` (= `fillDeadline`)'),
  signature: quotes(
    "the operator's EIP-712 signature over `QuoteCommitment(bytes32 orderId,bytes32 quoteId,address lp,uint32 deadline)` in the domain",
  ),
  skeleton: quotes(
    'Decline a request whose `inputOracle`, `outputOracle`, `settler` or `originChainId` is not that of your own source',
  ),
  'max-in-flight': quotes('how many open requests you accept at once'),
  reserve: quotes('Reserve the money **before** you sign.'),
  binding: quotes('A quote is binding: once sent, anyone can execute it until its deadline.'),
  rejected: quotes('A rejected quote that you have signed can still be executed: keep its money reserved.'),
  ladder: optional(after('`ladder` (rows of input amount and output amount, sizes rising)')),
  commit: optional(
    after('Then send **`commit`**: `rfqId`, `quoteId`, `commitment` over that order, `lpSpreadBps`.'),
  ),
  slice: optional(
    after(
      'Check your output as if you had written it: the context holds its share, and that share of the input minus fees must be worth the output to you.',
    ),
  ),
  released: after('With null, a quote stays executable until its deadline, so keep the money reserved.'),
  'release-proof': after(
    'With `nonce_used` or `deadline_passed` the chain excludes these quotes; check it there before you free the money.',
  ),
  deposit: after("Wait until the order is `Deposited` in the origin's escrow"),
  fill: after('**Across chains** you deliver.'),
  resync: after('Send **`resync`** (no other field).'),
  resume: after(
    'Their `awards` are all your orders that are not final, each with your own commitment, which is enough to continue without any stored state.',
  ),
  levels: optional(after('`levels` (rows of size and output for that size, sizes rising, at most 32)')),
} as const satisfies Record<string, CertifiedRule>;

export type RuleId = keyof typeof RULES;
