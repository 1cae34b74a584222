/** Tells a newcomer with only the API page how to make a first trade; it stands at the top of that page. */

/** Markdown. */
export const FIRST_TRADE = `## First trade

You need a service key, a wallet, and the addresses of two tokens. Begin with a test key (\`fq_test_…\`): it
meets test chains. Amounts are text in base units: 1,000 USDC with 6 decimals is \`"1000000000"\`.

1. \`GET /api/v1/rfq/pairs\` lists the chains that your key can name. Assets are
   \`eip155:<chain id>/erc20:<token address>\`.
2. \`POST /api/v1/rfq/quotes\` with \`taker\` (your wallet's address), \`input\` (\`asset\`, \`amount\`) and
   \`output\` (\`asset\`). \`quotes\` is ranked; the first is the best. \`preview.outputs[0].amount\` is what you
   receive, all fees taken off. Send the whole candidate back in the next steps, unchanged. Where
   \`quotes\` is empty, \`productUnavailable\` says why, such as the least amount that would pass.
3. \`POST /api/v1/rfq/orders/preflight\` with \`{"quoteResponse": <candidate>}\`. Take its \`nextActions\` in order:
   - \`evmTransaction\`: send \`tx\` from your wallet and wait until it is mined. Where \`after\` says
     \`rerunPreflight\`, ask for preflight again. Do not send \`settlementBroadcast\` yet: see step 5.
   - \`signature\`: sign \`typedData.payload\` as it is, by EIP-712 (\`eth_signTypedData_v4\`;
     ethers wants \`types\` without \`EIP712Domain\`).
4. \`POST /api/v1/rfq/orders\` with \`quoteResponse\`, the signatures, and an \`Idempotency-Key\` header of your
   choice. The same key and body give the same order, so a lost answer can be asked for again.
   - \`orderSignature\` is the field \`signature\`.
   - \`permit2Lock\` is \`{"signature", "deadline"}\`, \`eip3009Authorization\` is
     \`{"signature", "validAfter", "validBefore", "nonce"}\`: all but the signature from the \`message\` that you
     signed, times as numbers.
5. Only where \`executionMode\` is \`walletBroadcast\`: now, after the submission, send the \`tx\` of
   \`settlementBroadcast\`, before its \`details.notAfter\` (Unix seconds). Sent before the submission, the trade is
   made on chain and the venue never hears of it.
6. \`GET /api/v1/rfq/orders/{id}\` until \`status\` is no longer \`pending\`. \`settled\`: you have the output.
   \`failed\`: \`failure\` says why and where the input is.

Submit before \`validUntil\`: quotes live for seconds. Ask for longer with \`minValidUntil\`, and after the first
approval of a token ask for a new quote. Nobody can change a quote: what you signed is what the escrow pays, or
your input comes back. A service key sees its own orders; the trade history needs a workspace key.

## Errors
`;
