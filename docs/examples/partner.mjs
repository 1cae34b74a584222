/**
 * A complete route partner in one file, written from docs/reference/route-partner-protocol.md. It carries
 * tokens between chains at fixed prices less a fee: it quotes, reserves, fills orders on chain, and keeps a
 * journal, so that a restart loses no promise. It needs `viem`, and no code of firmquote.
 *
 *   node partner.mjs partner.json
 *
 * A real partner has a bank, a mint desk or a bridge behind it, and prices from a market.
 */

import { createPrivateKey, createPublicKey, randomUUID, sign, verify } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
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
  parseAbiItem,
  parseAbiParameters,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/**
 * The configuration file:
 * { partner, kind, listen: { host, port }, venueKeys: [the venue's public keys], privateKey: PEM text,
 *   account, operatorKey, feeBps, validSeconds, journal: a file, or null, callback: URL of the venue, or null,
 *   chains: { "8453": { rpc, escrow, oracle, depth } },         our own settings of each chain
 *   assets: { "eip155:8453/erc20:0x…": { decimals, usdE8 } },   prices in 1e-8 USD
 *   pairs: [{ input, output, minAmountIn, maxAmountIn }],
 *   hours: null, or { days: [1, 2, 3, 4, 5], from: "08:00", cutOff: "16:00", to: "17:00", holidays: ["2026-12-25"] }, in UTC, or the openings themselves,
 *   payouts: [{ asset, currency, perToken, fee, minAmount, maxAmount }],
 *   bank: null, or a file where the bank adds a line { "offerId", "reference", "sentAt" } for each transfer it has sent,
 *   holdDeliveries: true while compliance holds all deliveries }
 * A change of the file counts from the next request on.
 */
const file = process.argv[2];
let config = JSON.parse(readFileSync(file, 'utf8'));
let readAt = statSync(file).mtimeMs;
const operator = privateKeyToAccount(config.operatorKey);
const account = config.account.toLowerCase();
const signingKey = createPrivateKey(config.privateKey);

const OUTPUT =
  '(bytes32 oracle, bytes32 settler, uint256 chainId, bytes32 token, uint256 amount, bytes32 recipient, bytes callbackData, bytes context)';
const ORDER = `(address user, uint256 nonce, uint256 originChainId, uint32 expires, uint32 fillDeadline, address inputOracle, uint256[2][] inputs, ${OUTPUT}[] outputs)`;
const ESCROW = parseAbi([
  'function balanceOf(address account, address token) view returns (uint256)',
  'function pendingWithdrawal(address account, address token) view returns (uint256 amount, uint256 availableAt, uint256 lapsesAt)',
  'function orderStatus(bytes32 orderId) view returns (uint8)',
  'function fillRecord(bytes32 orderId, bytes32 outputHash) view returns (bytes32)',
  `function fill(bytes32 orderId, ${OUTPUT} output, uint48 fillDeadline, bytes fillerData) returns (bytes32)`,
  `function release(${ORDER} order, bytes[] signatures)`,
]);
const OUTPUTS = parseAbiParameters(`${OUTPUT}[]`);
const OUTPUT_ALONE = parseAbiParameters(OUTPUT);
const FILLED = parseAbiItem(
  `event OutputFilled(bytes32 indexed orderId, bytes32 solver, uint32 timestamp, ${OUTPUT} output, uint256 finalAmount)`,
);
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const BPS = 10_000n;
const TOLERANCE_SECONDS = 300;
const MAX_BYTES = 64 * 1024;
/** A quote that nobody reserves is forgotten. */
const QUOTE_SECONDS = 120;
const DEPOSITED = 1;
/** The longest range of blocks in which logs are searched. */
const LOOK_BACK_BLOCKS = 10_000n;

const chains = new Map(
  Object.entries(config.chains).map(([id, chain]) => [
    Number(id),
    {
      ...chain,
      id: Number(id),
      rpc: createPublicClient({ transport: http(chain.rpc), cacheTime: 0 }),
      wallet: createWalletClient({ account: operator, transport: http(chain.rpc) }),
    },
  ]),
);
const chainOf = (asset) => chains.get(Number(asset.split(/[:/]/)[1]));
const tokenOf = (asset) => asset.slice(asset.indexOf('0x'));
const word = (address) => pad(address.toLowerCase(), { size: 32 });
const seconds = () => Math.floor(Date.now() / 1000);
const log = (what, facts = {}) =>
  console.log(JSON.stringify({ at: new Date().toISOString(), what, ...facts }));
const say = (error) => String(error.shortMessage ?? error.message);

class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

/* What was promised */

/** By quoteId, for a short time. */
const quotes = new Map();
/** Reserved quotes by quoteId, until the order that has them cannot be filled any more. */
const reserved = new Map();
/** Orders by orderId: status, order, quote, fillTx, filledAt. */
const orders = new Map();
/** Offered payouts by offerId: asset, amount, from, block, status, reference, sentAt, and the transfer that came. */
const payouts = new Map();

/** Written before it is answered: after a restart every promise still stands. */
function record(kind, entry) {
  if (kind === 'reserved') reserved.set(entry.quoteId, entry);
  else if (kind === 'payout') payouts.set(entry.offerId, entry);
  else orders.set(entry.orderId, entry);
  if (config.journal) appendFileSync(config.journal, `${JSON.stringify({ kind, entry })}\n`);
}
if (config.journal && existsSync(config.journal))
  for (const line of readFileSync(config.journal, 'utf8').split('\n').filter(Boolean)) {
    const { kind, entry } = JSON.parse(line);
    if (kind === 'reserved') reserved.set(entry.quoteId, entry);
    else if (kind === 'payout') payouts.set(entry.offerId, entry);
    // A fill that was on its way may be lost. Filling again is harmless: the escrow pays an order once.
    else
      orders.set(entry.orderId, { ...entry, ...(entry.status === 'delivering' && { status: 'accepted' }) });
  }

/** Ledger balance minus pending withdrawals, as of this block or now. */
async function balance(asset, blockNumber) {
  const { rpc, escrow } = chainOf(asset);
  const when = blockNumber === undefined ? {} : { blockNumber: BigInt(blockNumber) };
  const at = { address: escrow, abi: ESCROW, args: [account, tokenOf(asset)], ...when };
  const [held, [leaving]] = await Promise.all([
    rpc.readContract({ ...at, functionName: 'balanceOf' }),
    rpc.readContract({ ...at, functionName: 'pendingWithdrawal' }),
  ]);
  return held - leaving;
}

/** What the orders and quotes that can still be demanded will take of this asset. */
function promised(asset) {
  let sum = 0n;
  for (const [quoteId, { output, amountOut, fillDeadline, done }] of reserved) {
    if (done || fillDeadline + 60 < seconds()) reserved.delete(quoteId);
    else if (output === asset) sum += BigInt(amountOut);
  }
  return sum;
}

/* When we are open */

/** The openings of two weeks as Unix seconds; null: always open. */
function openings() {
  if (!config.hours || Array.isArray(config.hours)) return config.hours;
  const { days, from, cutOff, to, holidays = [] } = config.hours;
  return Array.from({ length: 14 }, (_, n) =>
    new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10),
  )
    .filter((day) => days.includes(new Date(`${day}T00:00Z`).getUTCDay()) && !holidays.includes(day))
    .map((day) => {
      const at = (time) => Date.parse(`${day}T${time}Z`) / 1000;
      return { from: at(from), cutOff: at(cutOff), to: at(to) };
    });
}

/** The last second until which we may promise anything now, or why there is none. */
function hoursAt(now, validFrom) {
  const windows = openings();
  if (windows === null) return { cutOff: Infinity };
  const open = windows.find(({ from, cutOff }) => from <= now && validFrom <= cutOff);
  if (open) return open;
  const next = windows.find(({ from }) => from > now);
  return { closed: { declined: 'closed', opensAt: next ? next.from : null } };
}

/* What the venue asks */

const handlers = {
  terms: () => ({
    protocolVersion: 1,
    kind: config.kind,
    accounts: [...chains.keys()].map((chainId) => ({ chainId, account })),
    pairs: config.pairs,
    hours: openings(),
    payouts: (config.payouts ?? []).map(({ perToken: _rate, fee: _fee, ...pair }) => pair),
  }),

  async quote({ input, output, side, amount, now, destBlock, validFrom, validTo, taker, receiver }) {
    const pair = config.pairs.find((each) => each.input === input && each.output === output);
    if (!pair) return { declined: 'pair' };
    const { closed, cutOff } = hoursAt(now, validFrom);
    if (closed) return closed;
    const { amountIn, amountOut } = amountsFor(
      side,
      BigInt(amount),
      config.assets[input],
      config.assets[output],
    );
    if (amountOut <= 0n || amountIn < BigInt(pair.minAmountIn)) return { declined: 'size_below_min' };
    if (amountIn > BigInt(pair.maxAmountIn)) return { declined: 'size_above_max' };
    // The balance of the block that is named; what is promised counts as of now.
    if (amountOut > (await balance(output, destBlock)) - promised(output))
      return { declined: 'no_inventory' };
    const latest = Math.min(validTo, cutOff);
    const validUntil = Math.min(latest, Math.max(validFrom, now + config.validSeconds));
    const quote = {
      quoteId: randomUUID(),
      amountIn: amountIn.toString(),
      amountOut: amountOut.toString(),
      fee: ((amountIn * BigInt(config.feeBps)) / BPS).toString(),
      validUntil,
      eta: 10,
    };
    for (const [id, { at }] of quotes) if (at + QUOTE_SECONDS < seconds()) quotes.delete(id);
    quotes.set(quote.quoteId, { ...quote, input, output, taker, receiver, at: seconds() });
    return quote;
  },

  async reserve({ quoteId, originChainId, nonce, fillDeadline }) {
    const quote = quotes.get(quoteId);
    if (!quote) throw new Refusal(404, 'unknown', 'This quote is not known, or too old.');
    const held = await balance(quote.output);
    // Nothing is awaited between this look at the promises and the new one.
    if (BigInt(quote.amountOut) > held - promised(quote.output))
      return { reserved: false, detail: 'the money is promised to others' };
    record('reserved', { ...quote, originChainId, nonce, fillDeadline });
    return { reserved: true };
  },

  accept({ orderId, originChainId, order }) {
    const known = orders.get(orderId);
    if (known) return stateOf(known);
    const { quote, objection } = match(orderId, originChainId, order);
    record('order', {
      orderId,
      order,
      quote: quote ?? null,
      status: objection ? 'refused' : 'accepted',
      fillTx: null,
      detail: objection ?? null,
    });
    log(objection ? 'refused' : 'accepted', { orderId, ...(objection && { objection }) });
    return stateOf(orders.get(orderId));
  },

  async deliver({ orderId }) {
    const known = orderOf(orderId);
    if (known.status === 'accepted') await fill(known);
    return stateOf(orders.get(orderId));
  },

  status: ({ orderId }) => stateOf(orderOf(orderId)),

  /** Gives the input back to the taker at once, instead of after `expires`. */
  async cancel({ orderId }) {
    const known = orderOf(orderId);
    if (known.status !== 'accepted' && known.status !== 'refused') return stateOf(known);
    if (await isFilled(known)) return stateOf(orders.get(orderId));
    // From here on `deliver` does nothing.
    record('order', { ...known, status: 'cancelled', detail: 'given up' });
    if (known.quote) record('reserved', { ...known.quote, done: true });
    await release(known);
    return stateOf(orders.get(orderId));
  },

  reconciliation({ day }) {
    return [...orders.values()]
      .filter(
        ({ status, filledAt }) =>
          status === 'delivered' && new Date(filledAt * 1000).toISOString().startsWith(day),
      )
      .map(({ orderId, fillTx, filledAt, quote: { quoteId, input, amountIn, output, amountOut } }) =>
        JSON.stringify({
          orderId,
          quoteId,
          input,
          amountIn,
          output,
          amountOut,
          fillTx,
          filledAt,
          payout: null,
        }),
      );
  },

  async 'payout-offer'({ asset, amount, currency, from }) {
    const payout = config.payouts?.find((each) => each.asset === asset && each.currency === currency);
    if (!payout) return { declined: 'pair' };
    const { closed, cutOff } = hoursAt(seconds(), seconds());
    if (closed) return closed;
    const whole = Number(amount) / 10 ** config.assets[asset].decimals;
    const arrives = whole * payout.perToken - payout.fee;
    if (arrives <= 0) return { declined: 'size_below_min' };
    if (payout.minAmount && BigInt(amount) < BigInt(payout.minAmount))
      return { declined: 'size_below_min', minAmount: payout.minAmount };
    if (payout.maxAmount && BigInt(amount) > BigInt(payout.maxAmount))
      return { declined: 'size_above_max', maxAmount: payout.maxAmount };
    const offerId = randomUUID();
    const validUntil = Math.min(cutOff, seconds() + 3_600);
    const link = `http://${config.listen.host}:${config.listen.port}/payouts/${offerId}`;
    // Whatever came before is of other offers.
    const block = ((await chainOf(asset).rpc.getBlockNumber()) + 1n).toString();
    const state = { status: 'waiting', reference: null, sentAt: null, transfer: null };
    record('payout', { offerId, asset, amount, from, block, ...state });
    return {
      offerId,
      // Signed with the answer, so that the taker can hold us to it.
      ...{ asset, amount, currency, from, payTo: account },
      amountOut: arrives.toFixed(2),
      fee: payout.fee.toFixed(2),
      arrivesAt: validUntil + 86_400,
      validUntil,
      link,
    };
  },

  async 'payout-status'({ offerId }) {
    if (!payouts.has(offerId)) throw new Refusal(404, 'unknown', 'This offer is not known.');
    if (payouts.get(offerId).status === 'waiting') await lookFor(offerId);
    const payout = payouts.get(offerId);
    const sent = payout.status === 'received' && sentByBank(offerId);
    if (sent) record('payout', { ...payout, status: 'sent', ...sent });
    const { asset, status, reference, sentAt } = payouts.get(offerId);
    return { offerId, asset, status, reference, sentAt };
  },
};

/* Payouts */

/** Notes the transfer of exactly this amount, once it is as deep as we demand. Each transfer pays for one offer. */
async function lookFor(offerId) {
  const { asset, amount, from, block } = payouts.get(offerId);
  const { rpc, depth } = chainOf(asset);
  const toBlock = (await rpc.getBlockNumber()) - BigInt(depth);
  if (toBlock < BigInt(block)) return;
  const fromBlock = BigInt(block);
  const last = fromBlock + LOOK_BACK_BLOCKS;
  const range = { fromBlock, toBlock: toBlock < last ? toBlock : last };
  const args = { from, to: account };
  const logs = await rpc.getLogs({ address: tokenOf(asset), event: TRANSFER, args, ...range });
  const payout = payouts.get(offerId);
  const taken = new Set([...payouts.values()].map(({ transfer }) => transfer));
  const come = logs
    .filter((each) => each.args.value === BigInt(amount))
    .map(({ transactionHash, logIndex }) => `${transactionHash} ${logIndex}`)
    .find((transfer) => !taken.has(transfer));
  if (payout.status !== 'waiting') return;
  if (come) record('payout', { ...payout, status: 'received', transfer: come });
  // The next look begins there. After a restart it begins at the offer again.
  else payouts.set(offerId, { ...payout, block: (range.toBlock + 1n).toString() });
}

/** The bank's line about this offer. */
function sentByBank(offerId) {
  if (!config.bank || !existsSync(config.bank)) return undefined;
  const lines = readFileSync(config.bank, 'utf8').split('\n').filter(Boolean);
  const line = lines.map((text) => JSON.parse(text)).find((each) => each.offerId === offerId);
  return line && { reference: line.reference, sentAt: line.sentAt };
}

/** Rounded in our favour. */
function amountsFor(side, amount, input, output) {
  const keep = BPS - BigInt(config.feeBps);
  const up = BigInt(input.usdE8) * 10n ** BigInt(output.decimals) * keep;
  const down = BigInt(output.usdE8) * 10n ** BigInt(input.decimals) * BPS;
  return side === 'exactInput'
    ? { amountIn: amount, amountOut: (amount * up) / down }
    : { amountIn: (amount * down + up - 1n) / up, amountOut: amount };
}

function orderOf(orderId) {
  const known = orders.get(orderId);
  if (!known) throw new Refusal(404, 'unknown', 'This order was never accepted here.');
  return known;
}
const stateOf = ({ orderId, status, fillTx, detail }) => ({ orderId, status, fillTx, detail });

/* Orders */

const typed = (output) => ({ ...output, chainId: BigInt(output.chainId), amount: BigInt(output.amount) });
const inputsOf = (order) => order.inputs.map(([token, amount]) => [BigInt(token), BigInt(amount)]);

function orderIdOf(escrow, order) {
  const inputs = keccak256(concat(inputsOf(order).map((row) => encodePacked(['uint256', 'uint256'], row))));
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

/** The reservation that this order executes, or why there is none. Our own settings decide what is true. */
function match(orderId, originChainId, order) {
  const origin = chains.get(originChainId);
  const [output] = order.outputs;
  const dest = chains.get(Number(output.chainId));
  if (!origin || !dest || origin === dest) return { objection: 'its chains are not ours' };
  if (order.originChainId !== String(originChainId) || orderIdOf(origin.escrow, order) !== orderId)
    return { objection: 'the orderId is not that of the order' };
  if (order.inputs.length !== 1 || order.outputs.length !== 1)
    return { objection: 'it has several inputs or outputs' };
  // The oracle decides whether our fill is paid.
  if (
    order.inputOracle !== origin.oracle ||
    output.oracle !== word(dest.oracle) ||
    output.settler !== word(dest.escrow)
  )
    return { objection: 'its oracle or escrow is not ours' };
  if (output.callbackData !== '0x' && output.recipient !== output.settler)
    return { objection: 'it calls its recipient' };
  const context = output.context;
  if (!context.startsWith(concat(['0xe2', word(account)]))) return { objection: 'it is not exclusive to us' };
  const [[token, amount]] = inputsOf(order);
  const [feeBps, relayFee] = [BigInt(`0x${context.slice(80, 84)}`), BigInt(`0x${context.slice(84, 116)}`)];
  const handed = amount - (amount * feeBps) / BPS - relayFee;
  const input = `eip155:${originChainId}/erc20:0x${token.toString(16).padStart(40, '0')}`;
  const wanted = `eip155:${output.chainId}/erc20:0x${output.token.slice(-40)}`;
  const ofNonce = [...reserved.values()].filter(
    (each) =>
      !each.done &&
      each.originChainId === originChainId &&
      each.taker === order.user &&
      each.nonce === order.nonce,
  );
  if (ofNonce.length === 0) return { objection: 'no quote is reserved for it' };
  const quote = ofNonce.find(
    (each) =>
      each.input === input &&
      each.output === wanted &&
      handed >= BigInt(each.amountIn) &&
      BigInt(output.amount) <= BigInt(each.amountOut) &&
      order.fillDeadline <= each.fillDeadline,
  );
  return quote ? { quote } : { objection: 'its amounts or times are not those of the quote' };
}

const outputHash = (output) => keccak256(encodeAbiParameters(OUTPUT_ALONE, [typed(output)]));

/** Whether the chain has the fill already. The chain knows it also when a crash made us forget. */
async function isFilled(known) {
  const { orderId, order } = known;
  const [output] = order.outputs;
  const { rpc, escrow } = chains.get(Number(output.chainId));
  const args = [orderId, outputHash(output)];
  const found = await rpc.readContract({ address: escrow, abi: ESCROW, functionName: 'fillRecord', args });
  if (BigInt(found) === 0n) return false;
  const head = await rpc.getBlockNumber();
  const fromBlock = head > LOOK_BACK_BLOCKS ? head - LOOK_BACK_BLOCKS : 0n;
  const [event] = await rpc.getLogs({ address: escrow, event: FILLED, args: { orderId }, fromBlock });
  if (!event) return false;
  const { timestamp } = await rpc.getBlock({ blockNumber: event.blockNumber });
  const filledAt = Number(timestamp);
  record('order', { ...known, status: 'delivered', fillTx: event.transactionHash, filledAt, detail: null });
  record('reserved', { ...known.quote, done: true });
  log('delivered', { orderId, fillTx: event.transactionHash });
  tell(orderId);
  return true;
}

/** Pays once: it looks first, one call at a time, and a second `fill` of an order delivers nothing. */
async function fill(known) {
  const { orderId, order } = known;
  const note = (detail) => orders.set(orderId, { ...known, detail });
  if (config.holdDeliveries) return note('deliveries are on hold');
  const [output] = order.outputs;
  const origin = chains.get(Number(order.originChainId));
  const dest = chains.get(Number(output.chainId));
  orders.set(orderId, { ...known, status: 'delivering', detail: null });
  try {
    if (await isFilled(known)) return;
    const head = await origin.rpc.getBlockNumber();
    const status = await origin.rpc.readContract({
      address: origin.escrow,
      abi: ESCROW,
      functionName: 'orderStatus',
      args: [orderId],
      blockNumber: head > BigInt(origin.depth) ? head - BigInt(origin.depth) : 0n,
    });
    if (status !== DEPOSITED) return note('the input is not in escrow');
    const { timestamp } = await dest.rpc.getBlock();
    if (Number(timestamp) >= order.fillDeadline) return note('the fill deadline has passed');
    const call = {
      address: dest.escrow,
      abi: ESCROW,
      functionName: 'fill',
      args: [orderId, typed(output), order.fillDeadline, word(account)],
    };
    // Refuses a fill that the ledger balance does not cover, before it costs gas.
    await dest.rpc.simulateContract({ ...call, account: operator });
    const fillTx = await dest.wallet.writeContract({ ...call, chain: null });
    record('order', { ...known, status: 'delivering', fillTx, detail: null });
    void dest.rpc
      .waitForTransactionReceipt({ hash: fillTx })
      .then(async () => (await isFilled(known)) || note('the fill was reverted'))
      .catch((error) => note(say(error).slice(0, 300)));
  } catch (error) {
    note(say(error).slice(0, 300));
  }
}

async function release({ orderId, order }) {
  const origin = chains.get(Number(order.originChainId));
  const at = { address: origin.escrow, abi: ESCROW };
  const status = await origin.rpc.readContract({ ...at, functionName: 'orderStatus', args: [orderId] });
  if (status !== DEPOSITED) return;
  const signature = await operator.signTypedData({
    domain: { name: 'EscrowV0', version: '1', chainId: origin.id, verifyingContract: origin.escrow },
    types: { Release: [{ name: 'orderId', type: 'bytes32' }] },
    primaryType: 'Release',
    message: { orderId },
  });
  const message = {
    ...order,
    nonce: BigInt(order.nonce),
    originChainId: BigInt(order.originChainId),
    inputs: inputsOf(order),
    outputs: order.outputs.map(typed),
  };
  const call = { ...at, functionName: 'release', args: [message, [signature]] };
  const hash = await origin.wallet.writeContract({ ...call, chain: null });
  log('released', { orderId, hash });
}

/* The wire */

const signed = (id, timestamp, body) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': `v1a,${sign(null, Buffer.from(`${id}.${timestamp}.${body}`), signingKey).toString('base64')}`,
});

/** Message ids of the last minutes: a request is done once. */
const seen = new Map();

function requireVenue(headers, body) {
  const [id, at, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  );
  const bytes = Buffer.from(`${id}.${at}.${body}`);
  const holds =
    id &&
    /^[0-9]+$/.test(at ?? '') &&
    Math.abs(seconds() - Number(at)) <= TOLERANCE_SECONDS &&
    (signatures ?? '').split(' ').some((text) => {
      const [version, signature = ''] = text.split(',');
      return (
        version === 'v1a' &&
        config.venueKeys.some((key) => verify(null, bytes, publicKey(key), Buffer.from(signature, 'base64')))
      );
    });
  if (!holds)
    throw new Refusal(401, 'bad_signature', 'The signature does not hold, or its time is not ours.');
  for (const [old, until] of seen) if (until < seconds()) seen.delete(old);
  if (seen.has(id)) throw new Refusal(409, 'replayed', 'This message id was used before.');
  seen.set(id, seconds() + 2 * TOLERANCE_SECONDS);
}
const publicKey = (text) =>
  createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });

async function answer(request, body) {
  if (statSync(file).mtimeMs !== readAt) {
    readAt = statSync(file).mtimeMs;
    config = JSON.parse(readFileSync(file, 'utf8'));
  }
  requireVenue(request.headers, body);
  const type = request.url.split('/').at(-1);
  const message = JSON.parse(body);
  if (message.partner !== config.partner || message.type !== type || !Object.hasOwn(handlers, type))
    throw new Refusal(422, 'bad_request', 'The body does not belong to this path, or names another partner.');
  return handlers[type](message);
}

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/plain' });
    return response.end('Here the taker would name its bank account. This example has no bank.\n');
  }
  const parts = [];
  let bytes = 0;
  for await (const part of request) if ((bytes += part.length) <= MAX_BYTES) parts.push(part);
  let [status, contentType, text] = [200, 'application/json', ''];
  try {
    const done = await answer(request, Buffer.concat(parts).toString('utf8'));
    if (Array.isArray(done))
      [contentType, text] = ['application/x-ndjson', done.map((line) => `${line}\n`).join('')];
    else text = JSON.stringify(done);
  } catch (error) {
    if (!(error instanceof Refusal)) log('failed', { path: request.url, error: say(error) });
    status = error.status ?? 503;
    const message = error instanceof Refusal ? error.message : 'Something failed here. Ask again later.';
    text = JSON.stringify({ error: { code: error.code ?? 'unavailable', message } });
  }
  const id = request.headers['webhook-id'] ?? '';
  response.writeHead(status, { 'content-type': contentType, ...signed(id, seconds(), text) });
  response.end(text);
});

/** Tells the venue that an order has changed. It only saves time: the venue reads the chain anyway. */
function tell(orderId) {
  if (!config.callback) return;
  const body = JSON.stringify({
    type: 'order',
    partner: config.partner,
    order: stateOf(orders.get(orderId)),
  });
  const headers = { 'content-type': 'application/json', ...signed(randomUUID(), seconds(), body) };
  fetch(config.callback, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) }).catch(
    (error) => log('the venue was not told', { orderId, error: say(error) }),
  );
}

server.listen(config.listen.port, config.listen.host, () => log('listening', server.address()));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0));
