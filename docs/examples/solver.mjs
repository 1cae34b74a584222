/**
 * A complete solver in one file, written from docs/lp/solver-protocol.md and solver-protocol-settlement.md.
 * It connects to a venue, quotes fixed prices plus a spread, signs its quotes, and fills cross-chain orders.
 * It needs `ws` and `viem`, and no code of firmquote.
 *
 *   node solver.mjs solver.json
 *
 * A real solver prices from a market, stores its holds on disk and watches its gas: see "What the example
 * leaves out" in the second page.
 */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  concat,
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodePacked,
  http,
  keccak256,
  pad,
  parseAbi,
  parseAbiParameters,
  recoverTypedDataAddress,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { WebSocket } from 'ws';

/**
 * The configuration file:
 * { urls, key, solverId, account, operatorKey, spreadBps, validSeconds, restSeconds,
 *   chains: { "8453": { rpc, escrow, oracle, depth } },          our own settings of each chain
 *   assets: { "eip155:8453/erc20:0x…": { decimals, usdE8 } } }   traded assets, with prices in 1e-8 USD
 * `urls` lists every replica of the venue.
 */
const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const operator = privateKeyToAccount(config.operatorKey);
const account = config.account.toLowerCase();

const OUTPUT =
  '(bytes32 oracle, bytes32 settler, uint256 chainId, bytes32 token, uint256 amount, bytes32 recipient, bytes callbackData, bytes context)';
const ESCROW = parseAbi([
  'function balanceOf(address account, address token) view returns (uint256)',
  'function pendingWithdrawal(address account, address token) view returns (uint256 amount, uint256 availableAt, uint256 lapsesAt)',
  'function orderStatus(bytes32 orderId) view returns (uint8)',
  'function isNonceUsed(address user, uint256 nonce) view returns (bool)',
  `function fill(bytes32 orderId, ${OUTPUT} output, uint48 fillDeadline, bytes fillerData) returns (bytes32)`,
]);
const OUTPUTS = parseAbiParameters(`${OUTPUT}[]`);
const COMMITMENT = {
  QuoteCommitment: [
    { name: 'orderId', type: 'bytes32' },
    { name: 'quoteId', type: 'bytes32' },
    { name: 'lp', type: 'address' },
    { name: 'deadline', type: 'uint32' },
  ],
};
const PROOF = {
  LinkProof: [
    { name: 'nonce', type: 'bytes32' },
    { name: 'venueId', type: 'string' },
    { name: 'solverId', type: 'string' },
    { name: 'account', type: 'address' },
  ],
};
const BPS = 10_000n;
/** No venue may ask for a longer validity by default. */
const MAX_VALID_SECONDS = 600;

const chains = new Map(
  Object.entries(config.chains).map(([id, chain]) => [
    Number(id),
    {
      ...chain,
      id: Number(id),
      rpc: createPublicClient({ transport: http(chain.rpc) }),
      wallet: createWalletClient({ account: operator, transport: http(chain.rpc) }),
    },
  ]),
);
const assetOf = (text) => {
  const [, chainId, token] = /^eip155:(\d+)\/erc20:(0x[0-9a-f]{40})$/.exec(text) ?? [];
  return config.assets[text] && { ...config.assets[text], chain: chains.get(Number(chainId)), token, text };
};
const log = (what, facts = {}) =>
  console.log(JSON.stringify({ at: new Date().toISOString(), what, ...facts }));

/* What we have, and what of it is promised */

/** Ledger balance minus pending withdrawals, by asset. Read in the background, never while quoting. */
const balances = new Map();
/** Holds by quoteId: the reserved amount, until when, and the order that it is for. */
const promises = new Map();
/** The newest block time of each chain: a quote's times are at least that. */
let chainNow = 0;

async function readBalances() {
  for (const text of Object.keys(config.assets)) {
    const { chain, token } = assetOf(text);
    if (!chain) continue;
    const [held, [leaving], block] = await Promise.all([
      chain.rpc.readContract({
        address: chain.escrow,
        abi: ESCROW,
        functionName: 'balanceOf',
        args: [account, token],
      }),
      chain.rpc.readContract({
        address: chain.escrow,
        abi: ESCROW,
        functionName: 'pendingWithdrawal',
        args: [account, token],
      }),
      chain.rpc.getBlock(),
    ]);
    balances.set(text, held > leaving ? held - leaving : 0n);
    chainNow = Math.max(chainNow, Number(block.timestamp));
  }
}

const now = () => Math.max(Math.floor(Date.now() / 1000), chainNow);

function free(text) {
  let promised = 0n;
  for (const [quoteId, { asset, amount, until }] of promises) {
    if (until < now()) promises.delete(quoteId);
    else if (asset === text) promised += amount;
  }
  return (balances.get(text) ?? 0n) - promised;
}

/* Prices */

/**
 * Fees are taken out of the input before it reaches us, so the price includes them. Rounded in our favour.
 */
function amountsFor({ side, amount, platformFeeBps, relayFee }, input, output) {
  const [fee, relay, spread] = [BigInt(platformFeeBps), BigInt(relayFee), BigInt(config.spreadBps)];
  const [up, down] = [
    BigInt(input.usdE8) * 10n ** BigInt(output.decimals),
    BigInt(output.usdE8) * 10n ** BigInt(input.decimals),
  ];
  if (side === 'exactInput') {
    const taken = BigInt(amount);
    const received = taken - (taken * fee) / BPS - relay;
    return {
      taken,
      given: received > 0n ? (received * up * (BPS - spread)) / (down * BPS) : 0n,
      beforeFees: (taken * up) / down,
    };
  }
  const given = BigInt(amount);
  const received = (given * down * BPS) / (up * (BPS - spread)) + 1n;
  const taken = ((received + relay) * BPS) / (BPS - fee) + 1n;
  return { taken, given, beforeFees: (taken * up) / down };
}

/* Orders and signatures */

const word = (address) => pad(address.toLowerCase(), { size: 32 });
const domainOf = (name, chainId, verifyingContract) => ({ name, version: '1', chainId, verifyingContract });

/** 0xe2: exclusive to us until the deadline, the whole input for this output, and the two fees. */
const contextOf = (fillDeadline, feeBps, relayFee) =>
  concat([
    '0xe2',
    word(account),
    toHex(fillDeadline + 1, { size: 4 }),
    toHex(10_000, { size: 2 }),
    toHex(feeBps, { size: 2 }),
    toHex(BigInt(relayFee), { size: 16 }),
  ]);

const typed = (output) => ({ ...output, chainId: BigInt(output.chainId), amount: BigInt(output.amount) });

function orderIdOf(escrow, order) {
  const inputs = keccak256(
    concat(
      order.inputs.map(([token, amount]) =>
        encodePacked(['uint256', 'uint256'], [BigInt(token), BigInt(amount)]),
      ),
    ),
  );
  const outputs = encodeAbiParameters(OUTPUTS, [order.outputs.map(typed)]);
  return keccak256(
    encodePacked(
      ['uint256', 'address', 'address', 'uint256', 'uint32', 'uint32', 'address', 'bytes32', 'bytes'],
      [
        BigInt(order.originChainId),
        escrow,
        order.user,
        BigInt(order.nonce),
        order.expires,
        order.fillDeadline,
        order.inputOracle,
        inputs,
        outputs,
      ],
    ),
  );
}

const commitmentOf = (orderId, quoteId, deadline, origin) => ({
  domain: domainOf('EscrowV0', origin.id, origin.escrow),
  types: COMMITMENT,
  primaryType: 'QuoteCommitment',
  message: { orderId, quoteId, lp: account, deadline },
});

/** Answers a request with a quote or a decline. */
async function answer(rfq) {
  const [input, output] = [assetOf(rfq.input), assetOf(rfq.output)];
  const { skeleton } = rfq;
  const decline = (reason, maxAmount = null) => ({ type: 'decline', rfqId: rfq.rfqId, reason, maxAmount });
  if (!input?.chain || !output?.chain) return decline('pair');
  const [origin, dest] = [input.chain, output.chain];
  // The oracle decides whether our fill is paid, so accept only the oracles we configured.
  const across = origin !== dest;
  const known =
    skeleton.originChainId === origin.id &&
    skeleton.settler === dest.escrow &&
    skeleton.inputOracle === (across ? origin.oracle : origin.escrow) &&
    skeleton.outputOracle === (across ? dest.oracle : dest.escrow) &&
    (across || skeleton.proofWindowSeconds === 1);
  if (!known) return decline('pair');
  const { taken, given, beforeFees } = amountsFor(rfq, input, output);
  if (given <= 0n) return decline('size_below_min');
  if (given > free(rfq.output)) return decline('no_inventory');

  const validUntil = Math.max(now() + config.validSeconds, rfq.minValidUntil ?? 0);
  if (validUntil > now() + MAX_VALID_SECONDS) return decline('validity');
  const fillDeadline = validUntil + skeleton.landingMarginSeconds;
  const order = {
    user: rfq.taker,
    nonce: skeleton.nonce,
    originChainId: String(origin.id),
    expires: fillDeadline + skeleton.proofWindowSeconds,
    fillDeadline,
    inputOracle: skeleton.inputOracle,
    inputs: [[BigInt(input.token).toString(), taken.toString()]],
    outputs: [
      {
        oracle: word(skeleton.outputOracle),
        settler: word(skeleton.settler),
        chainId: String(dest.id),
        token: word(output.token),
        amount: given.toString(),
        recipient: word(skeleton.delivery?.recipient ?? rfq.receiver),
        callbackData: skeleton.delivery?.callbackData ?? '0x',
        context: contextOf(fillDeadline, rfq.platformFeeBps, rfq.relayFee),
      },
    ],
  };
  const quoteId = toHex(crypto.getRandomValues(new Uint8Array(32)));
  const orderId = orderIdOf(origin.escrow, order);
  // Hold before signing: the amount stays reserved until the quote can no longer be executed.
  promises.set(quoteId, {
    ...{ asset: rfq.output, amount: given, until: fillDeadline + 60 },
    ...{ origin, orderId, user: order.user, nonce: BigInt(order.nonce) },
  });
  const signature = await operator.signTypedData(commitmentOf(orderId, quoteId, fillDeadline, origin));
  return {
    type: 'quote',
    rfqId: rfq.rfqId,
    quoteId,
    order,
    validUntil,
    eta: across ? 30 : 4,
    lpSpreadBps: config.spreadBps,
    amountBeforeFees: (beforeFees > given ? beforeFees : given).toString(),
    commitment: { lp: account, deadline: fillDeadline, signature },
    more: false,
  };
}

/** Frees a hold when the chain shows, at depth, that another order used the nonce. */
async function release(quoteId) {
  const hold = promises.get(quoteId);
  if (!hold) return;
  const { origin, orderId, user, nonce } = hold;
  const head = await origin.rpc.getBlockNumber({ cacheTime: 0 });
  const at = {
    address: origin.escrow,
    abi: ESCROW,
    blockNumber: head > BigInt(origin.depth) ? head - BigInt(origin.depth) : 0n,
  };
  const [used, status] = await Promise.all([
    origin.rpc.readContract({ ...at, functionName: 'isNonceUsed', args: [user, nonce] }),
    origin.rpc.readContract({ ...at, functionName: 'orderStatus', args: [orderId] }),
  ]);
  if (used && status === 0) promises.delete(quoteId);
}

/* Fills */

const filling = new Set();
const delivered = new Set();
/** Orders we won that are not final, from any replica. */
const orders = new Map();

/**
 * Fills an order on another chain, if its input is in escrow at depth, the deadline has not passed, and the
 * award carries our own signature.
 */
async function deliver(say, { orderId, quoteId, order, commitment }) {
  const origin = chains.get(Number(order.originChainId));
  const output = order.outputs.find(
    ({ context }) => context.slice(0, 68) === concat(['0xe2', word(account)]),
  );
  const dest = chains.get(Number(output?.chainId));
  if (!origin || !dest || origin === dest || filling.has(orderId) || delivered.has(orderId)) return;
  filling.add(orderId);
  try {
    const ours = await recoverTypedDataAddress({
      ...commitmentOf(orderId, quoteId, order.fillDeadline, origin),
      signature: commitment.signature,
    });
    if (ours !== operator.address || orderIdOf(origin.escrow, order) !== orderId)
      throw new Error('the award does not carry our signature');
    while (Number((await dest.rpc.getBlock()).timestamp) + 5 < order.fillDeadline) {
      const head = await origin.rpc.getBlockNumber({ cacheTime: 0 });
      const blockNumber = head > BigInt(origin.depth) ? head - BigInt(origin.depth) : 0n;
      const deposited =
        (await origin.rpc.readContract({
          address: origin.escrow,
          abi: ESCROW,
          functionName: 'orderStatus',
          args: [orderId],
          blockNumber,
        })) === 1;
      if (!deposited) {
        await sleep(500);
        continue;
      }
      // Paid from our account's ledger, because the sender is its operator. A second fill delivers nothing.
      const txHash = await dest.wallet.writeContract({
        chain: null,
        address: dest.escrow,
        abi: ESCROW,
        functionName: 'fill',
        args: [orderId, typed(output), order.fillDeadline, word(account)],
      });
      const { status } = await dest.rpc.waitForTransactionReceipt({ hash: txHash });
      log('filled', { orderId, txHash, status });
      if (status !== 'success') continue;
      delivered.add(orderId);
      return say({ type: 'fill', orderId, stage: 'delivered', txHash });
    }
    log('too late to fill', { orderId });
  } catch (error) {
    log('fill failed', { orderId, error: String(error.shortMessage ?? error.message) });
  } finally {
    filling.delete(orderId);
  }
}

/* The link */

async function hello({ nonce, venueId, chains: theirs }) {
  const shared = theirs.filter(
    ({ chainId, escrow, oracle }) =>
      chains.get(chainId)?.escrow === escrow && chains.get(chainId)?.oracle === oracle,
  );
  const accounts = await Promise.all(
    shared.map(async ({ chainId, escrow }) => ({
      chainId,
      account,
      operator: operator.address.toLowerCase(),
      signature: await operator.signTypedData({
        domain: domainOf('FirmquoteLink', chainId, escrow),
        types: PROOF,
        primaryType: 'LinkProof',
        message: { nonce, venueId, solverId: config.solverId, account },
      }),
    })),
  );
  const corridors = shared.flatMap(({ slug }) => shared.map((to) => `${slug}-${to.slug}`));
  return {
    type: 'hello',
    solverId: config.solverId,
    kind: 'solver',
    name: config.solverId,
    accounts,
    corridors,
    maxInFlight: 100,
    protocolVersion: 1,
  };
}

/** One connection to a venue replica. */
function connect(url) {
  return new Promise((ended) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/v1/solver/ws`, {
      headers: { 'X-API-Key': config.key },
      perMessageDeflate: false,
    });
    const say = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
    let heardAt = Date.now();
    let heartbeatSeconds = 5;
    // After three missed heartbeats the venue counts as disconnected.
    const watch = setInterval(
      () => Date.now() - heardAt > 3_000 * heartbeatSeconds && socket.terminate(),
      1_000,
    );
    const handlers = {
      ping: () => say({ type: 'pong' }),
      challenge: async (message) => say(await hello(message)),
      refused: ({ code, message }) => log('refused', { code, message }),
      rejected: ({ code, message, field }) => log('rejected', { code, message, field }),
      async welcome(message) {
        ({ heartbeatSeconds } = message);
        await readBalances();
        // Quotes signed before a restart may still be executed: wait until they have expired.
        await sleep((config.restSeconds ?? 0) * 1_000);
        say({ type: 'resync' });
        say({ type: 'status', status: 'active', note: null });
        log('active');
      },
      rfq: async (rfq) => say(await answer(rfq)),
      slice: ({ rfqId, quoteId }) =>
        say({ type: 'decline', rfqId, quoteId, reason: 'limit', maxAmount: null }),
      // A hold whose deadline has passed ends by itself.
      released: ({ quoteIds, proof }) => proof === 'nonce_used' && Promise.all(quoteIds.map(release)),
      award(award) {
        if (!orders.has(award.orderId)) log('won', { orderId: award.orderId });
        orders.set(award.orderId, award);
        return deliver(say, award);
      },
      resync: ({ awards }) => Promise.all(awards.map((award) => handlers.award(award))),
      order({ orderId, stage }) {
        log('order', { orderId, stage });
        const award = orders.get(orderId);
        if (award && stage === 'escrowed') return deliver(say, award);
        if (['settled', 'refunded', 'failed'].includes(stage))
          return orders.delete(orderId) && readBalances().then(() => promises.delete(award?.quoteId));
      },
    };
    socket.on('message', (data) => {
      heardAt = Date.now();
      const message = JSON.parse(data.toString());
      Promise.resolve(handlers[message.type]?.(message)).catch((error) =>
        log('error', { type: message.type, error: String(error.shortMessage ?? error.message) }),
      );
    });
    socket.on('error', (error) => log('socket', { error: error.message }));
    socket.on('close', (code, reason) => {
      clearInterval(watch);
      log('closed', { code, reason: reason.toString() });
      ended();
    });
  });
}

setInterval(
  () =>
    readBalances().catch((error) => log('balances', { error: String(error.shortMessage ?? error.message) })),
  2_000,
).unref();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0));

async function stayLinked(url) {
  for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 10_000)) {
    const startedAt = Date.now();
    await connect(url);
    if (Date.now() - startedAt > 60_000) pauseMs = 250;
    await sleep(pauseMs);
  }
}
await Promise.all(config.urls.map(stayLinked));
