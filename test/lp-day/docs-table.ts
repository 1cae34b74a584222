/**
 * Every command that the LP's pages show: what it must print, or why it is not run here. A page with another
 * command fails the day.
 */

export type Shown =
  | { command: string; prints: RegExp; status?: number; afterwards?: string }
  /** Why it is not run, or the test that runs it. */
  | { command: string; notRun: string };

const ELSEWHERE = (test: string) => ({ notRun: `run by ${test}` });

/** Pages whose every block another test types. */
export const TYPED_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/lp/quickstart.md': 'test/walkthrough/lp-quickstart.test.ts',
  'docs/lp/go-live.md': 'test/rehearsal/rehearsal.test.ts',
  'docs/lp/account.md': 'test/long/flows/lp-account-trade.test.ts',
  'docs/lp/certify.md': 'test/long/certify/certify.test.ts',
  'docs/lp/replay.md': 'test/long/flows/lp-operator.test.ts',
  'docs/lp/shadow.md': 'test/long/flows/lp-shadow.test.ts',
  'docs/lp/studies.md': 'test/studies-docs.test.ts',
  'docs/lp/rotate-keys.md': 'test/faults/runbooks.test.ts',
  'docs/lp/move-database.md': 'test/faults/runbooks.test.ts',
  'docs/lp/restore.md': 'test/faults/runbooks.test.ts',
};

const TRANSFER_BOOKS = ELSEWHERE('test/long/flows/lp-transfer-books.test.ts');
const TRANSFERS = ELSEWHERE('test/long/flows/lp-transfers.test.ts');

export const SHOWN: Readonly<Record<string, readonly Shown[]>> = {
  'docs/lp/rebalancing.md': [
    {
      command:
        'firmquote lp rebalance plan       # what is worth moving, over which bridge, and whether it begins by itself',
      ...TRANSFERS,
    },
    {
      command: 'firmquote lp rebalance run --asset USDC --from base --to arc --amount 25000 --note "weekend"',
      ...TRANSFERS,
    },
    {
      command: 'firmquote lp rebalance status     # transfers under way, and what each waits for',
      ...TRANSFERS,
    },
    { command: 'firmquote lp rebalance history', ...TRANSFERS },
    {
      command:
        'firmquote lp pnl --since 30d                 # one line of rebalancing: transfers, minutes under way, fees, gas',
      ...TRANSFER_BOOKS,
    },
    {
      command: 'firmquote lp pnl --since 30d --by transfer   # each transfer; --format csv for a file',
      ...TRANSFER_BOOKS,
    },
    {
      command: 'firmquote lp journal                         # the books beside the chains',
      ...TRANSFER_BOOKS,
    },
    {
      command:
        'firmquote sim rebalance --config lp.json --prices prices.jsonl --rfqs rfqs.jsonl --bridge-fee-bps 1 --bridge-seconds 60 --delay-seconds 900',
      ...ELSEWHERE('src/apps/cli/sim/sim.test.ts'),
    },
  ],
  'docs/lp/remote-signers.md': [
    {
      command:
        'aws kms create-key --key-spec ECC_SECG_P256K1 --key-usage SIGN_VERIFY --description "firmquote operator"',
      notRun: 'needs an account of AWS; test/long/flows/remote-signers.test.ts plays the service',
    },
    {
      command:
        'gcloud kms keys create operator --keyring firmquote --location europe-west3 --purpose asymmetric-signing --default-algorithm ec-sign-secp256k1-sha256 --protection-level hsm',
      notRun: 'needs an account of Google; test/long/flows/remote-signers.test.ts plays the service',
    },
  ],
  'docs/lp/real-venue.md': [
    {
      command:
        'firmquote lp operator set --limit USDC=250000/1h --limit WETH=100/1h --config my-lp/lp.json --owner owner.json',
      prints:
        /0x[0-9a-f]{40} may now sign quotes and fills for the account, within its limits; it cannot withdraw\.|already/,
    },
    {
      command:
        'firmquote lp deposit --config my-lp/lp.json --chain base --token USDC --amount 100000 --owner owner.json',
      prints:
        /The account has [\d.]+ USDC in the escrow on chain1; a running LP uses it when the block is final/,
    },
    {
      command:
        'firmquote lp bond post --config my-lp/lp.json --chain base --token USDC --amount 5000 --owner owner.json',
      prints: /to post a bond of 5000 USDC/,
    },
    {
      command:
        'firmquote lp bond terms --config my-lp/lp.json --chain base --fill-window 2m --wallets --owner owner.json',
      prints: /to answer for orders across chains that are open 120 s before their deadline/,
    },
    {
      command: 'firmquote lp bond show --config my-lp/lp.json --chain base',
      prints: /USDC: a bond of 5000; it covers a quote of 500000/,
    },
  ],
  'docs/lp/operating.md': [
    { command: 'token="Authorization: Bearer $(cat data/admin.token)"', prints: /^$/ },
    { command: 'curl -H "$token" localhost:9201/status', prints: /"status":"active"/ },
    {
      command: 'curl -H "$token" -X POST localhost:9201/pause',
      prints: /"status":"standby"/,
      afterwards: 'firmquote lp resume --config my-lp/lp.json',
    },
  ],
  'docs/lp/profit.md': [
    {
      command:
        'firmquote lp explain QUOTE_ID|ORDER_ID|RFQ_ID -c lp.json     # or --json; or GET /explain/ID of the admin API',
      prints: /^We promised [\s\S]*rounding[\s\S]*total[\s\S]*nearest limits/,
    },
    {
      command:
        'firmquote lp pnl -c lp.json --since 24h|7d|all|DATE --until 1h|DATE --by pair|corridor|taker|trade|transfer --format table|csv|json',
      prints: /^trade,time,pair,corridor,side,/,
    },
    {
      command: 'firmquote lp journal -c lp.json --export --since 2026-01-01 --until 2026-02-01 > january.csv',
      prints: /^$/,
    },
    {
      command: 'firmquote lp journal -c lp.json --export --format ndjson --counterparty 0x… > taker.ndjson',
      prints: /^$/,
    },
  ],
  'docs/lp/reconcile.md': [
    {
      command:
        'firmquote lp journal -c lp.json                      # per token: books, chain, ledger, difference; --order ID for one order',
      // The operator was given 0.1 ether, which nobody booked.
      prints: /1 of 8 differ\. Nothing is adjusted automatically/,
      status: 1,
    },
    {
      command:
        'curl -s -H "Authorization: Bearer $(cat data/admin.token)" localhost:9201/books | jq .reconciled    # the same',
      prints: /"difference": "0"/,
    },
    {
      command:
        "cast call $ESCROW 'balanceOf(address,address)(uint256)' $ACCOUNT $TOKEN --block $BLOCK --rpc-url $RPC",
      notRun: 'needs Foundry; the next command makes the same call',
    },
    {
      command: `curl -s $RPC -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"'$ESCROW'","data":"0xf7888aec'$(printf %64s \${ACCOUNT#0x} | tr ' ' 0)$(printf %64s \${TOKEN#0x} | tr ' ' 0)'"},"'$(printf 0x%x $BLOCK)'"]}'`,
      prints: /"result":"0x0{50}[0-9a-f]{14}"/,
    },
    {
      command:
        'select account, chain_id, token, sum(amount) from lp_posting group by 1, 2, 3;                     -- equals lp_balance',
      prints: /equity:owner/,
    },
    {
      command:
        'select entry, chain_id, token from lp_posting group by 1, 2, 3 having sum(amount) <> 0;            -- never a row',
      prints: /^$/,
    },
    {
      command: 'firmquote lp journal -c lp.json --adjust 0.1 --chain base --token native --note "topped up"',
      prints: /All 8 balances of the accounting ledger agree/,
    },
  ],
  'docs/lp/pricing-plugins.md': [
    {
      command:
        'firmquote lp price --inputs docs/examples/worked-example.json --module docs/examples/pricing-terms.mjs',
      prints: /hedgeFee[\s\S]*The independent check agrees\./,
    },
  ],
  'docs/lp/signals.md': [
    {
      command:
        'firmquote lp signal set --config lp.json --pair WETH-USDC --shift 3 --width 2 --for 10m --note "CPI at 14:30"',
      prints: /^Set from the next request on: .*WETH-USDC/,
    },
    { command: 'firmquote lp signal list --config lp.json', prints: /^signal .*\n.*WETH-USDC.*CPI at 14:30/ },
    {
      command: 'firmquote lp signal clear WETH-USDC --config lp.json',
      prints: /^Ended: .*\n0 signals are still in force/,
    },
    {
      command: `curl -H "$token" localhost:9201/v1/signals -d '{"pair": "WETH-USDC", "fairValueShiftBps": 3, "widthBps": 2, "ttlSeconds": 600, "note": "CPI", "by": "desk"}'`,
      prints: /"signal":\{.*"replaced":\[\]/,
      afterwards: 'firmquote lp signal clear --all --config lp.json',
    },
  ],
  'docs/lp/simulator.md': [
    {
      command:
        'npm run -s sim -- --published                       # every published figure of the model, about a second',
      prints: /"ok":true,"rows":\[/,
    },
    {
      command:
        'npm run -s sim -- --bars                            # the firm-quote backtest, 1500 worlds of four hours, a few minutes',
      notRun: 'takes minutes of a core; src/sim/bars.test.ts runs it with fewer worlds',
    },
    {
      command:
        'npm run -s sim -- --bars --recording FILE           # also its last criterion, on a recorded exchange',
      notRun: 'takes minutes of a core, and needs hours of recorded prices',
    },
    {
      command: 'npm run -s sim -- --model glft --sigma .3 --A .9 --k .3 --gamma .01 --Q 30',
      prints: /"ok":true,"rows":\[/,
    },
    {
      command: 'npm run -s sim -- run --config lp.json --minutes 240 --copies 2 --fixed 8 --html market.html',
      prints: /^The total of every token was checked[\s\S]*this LP +\d+[\s\S]*"ok":true/m,
    },
    {
      command: 'npm run -s sim -- sweep --config lp.json --set gamma=0,0.0005 --seeds 20 --sort sharpe',
      prints: /^Sorted by sharpe, best first[\s\S]*as configured[\s\S]*"ok":true/m,
    },
    {
      command: 'npm run -s sim -- compare --config lp.json --against lp-new.json --seeds 20',
      prints: /difference[\s\S]*"ok":true/,
    },
    {
      command:
        'npm run -s sim -- replay --prices FILE --rfqs FILE --config lp.json --against lp-new.json --html replay.html',
      ...ELSEWHERE('test/long/flows/lp-operator.test.ts, with the files that docs/lp/replay.md makes'),
    },
    {
      command:
        'npm run -s sim -- run --config lp.json --pair WETH-USDC --start 2500 --sigma 0.9 --pair WBTC-USDC --start 60000 --sigma 0.5 --correlation 0.6',
      ...ELSEWHERE('src/apps/cli/sim/sim.test.ts, with a configuration of several pairs'),
    },
    {
      command:
        'npm run -s sim -- run --config lp.json --pair WETH-USDC --prices FILE#ETHUSDC --pair WBTC-USDC --prices FILE#BTCUSDC',
      ...ELSEWHERE('src/apps/cli/sim/sim.test.ts, with a recording of two symbols'),
    },
    {
      command: 'npm run -s sim -- run --config config/lp.example.json --minutes 60 --seeds 20 --csv study',
      prints: /^Distribution over 2 runs of 10 minutes[\s\S]*"ok":true/m,
    },
  ],
};

/** Pages of docs/lp that show nothing to type in a block. */
export const NOTHING_TO_TYPE = [
  'alerts',
  'alerts-books',
  'alerts-prices',
  'bridges',
  'console',
  'feeds',
  'inventory',
  'parameters',
  'replicas',
  'risk',
  'solver-protocol',
  'solver-protocol-settlement',
].map((name) => `docs/lp/${name}.md`);
