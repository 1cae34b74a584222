/** CCTP by its own rules: what fast and standard transfers cost, and what changes of Circle's terms do. */

import { decodeFunctionData, encodeFunctionData } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { messageTransmitterAbi } from '../../src/adapters/bridges/cctp/contracts.ts';
import { decodeBurnMessage } from '../../src/adapters/bridges/cctp/message.ts';
import type { CctpDeployment } from '../support/deploy-cctp.ts';
import type { BridgeChain } from '../../src/apps/wiring/bridges.ts';
import { zBridgeTransports } from '../../src/apps/config/bridges.ts';
import { checkBridges } from '../../src/apps/doctor/bridges.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import type { Bridge, BridgeCall, BridgeEstimate, BridgeMove, SentTransfer } from '../../src/ports/bridge.ts';
import { devCctpMessengerAbi } from '../support/abi/dev-cctp-messenger.ts';
import { devCctpTransmitterAbi } from '../support/abi/dev-cctp-transmitter.ts';
import { devTokenAbi } from '../../src/adapters/evm/deploy/abi/dev-token.ts';
import { startCctp, type TestCctp } from '../support/cctp.ts';
import { account, ATTESTERS, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { until } from '../support/venue.ts';

const ANYONE = account(8_300);
const AMOUNT = 1_000_000_000n;
const FEES = { fast: 1.3, standard: 0 };

let devnet: Devnet;
let cctp: TestCctp;
let [base, arc]: TestChain[] = [];

beforeAll(async () => {
  devnet = await startDevnet([31_433, 31_434], { arcIds: [31_434] });
  [base, arc] = devnet.chains;
  cctp = await startCctp([
    { chain: baseChain(), domain: 6 },
    { chain: arcChain(), domain: 26, isFinalAtOnce: true },
  ]);
  for (const chain of devnet.chains) await chain.fund(ANYONE.address, 0n);
});
afterEach(() => {
  cctp.circle.setFaults({});
  cctp.circle.setFees(FEES);
  cctp.circle.setAllowance(100_000_000);
});
afterAll(async () => {
  await cctp?.stop();
  await devnet?.stop();
});

const baseChain = () => base as TestChain;
const arcChain = () => arc as TestChain;
const deployed = (chain: TestChain) => cctp.deployments[chain === base ? 0 : 1] as CctpDeployment;

function moveFrom(from: TestChain, amount = AMOUNT): BridgeMove {
  const to = from === base ? arcChain() : baseChain();
  const side = ({ chain, usdc }: TestChain) => ({ chainId: chain.id, token: usdc.address });
  return { account: cctp.account, amount, from: side(from), to: side(to) };
}

async function estimated(move: BridgeMove, bridge: Bridge = cctp.open()): Promise<BridgeEstimate> {
  const estimate = await bridge.estimate(move);
  if ('refused' in estimate) throw new Error(estimate.detail);
  return estimate;
}

const mint = (chain: TestChain, amount: bigint) =>
  chain.send(
    ANYONE.address,
    chain.usdc.address,
    encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [cctp.account, amount] }),
  );

async function sendOut(
  from: TestChain,
  { estimate, move = moveFrom(from) }: { estimate?: BridgeEstimate; move?: BridgeMove } = {},
): Promise<SentTransfer> {
  const terms = estimate ?? (await estimated(move));
  await mint(from, move.amount);
  const call = cctp.open().send(move, terms);
  const hash = await from.send(cctp.mover.address, call.to, call.data);
  const transfer = await cctp.open().sent(move, terms, hash);
  if (!transfer) throw new Error('nothing was sent');
  return transfer;
}

const setTransmitter = (
  chain: TestChain,
  functionName: 'setPaused' | 'setAttester',
  args: readonly [boolean] | readonly [Address, boolean],
) =>
  chain.send(
    ANYONE.address,
    deployed(chain).transmitter,
    encodeFunctionData({ abi: devCctpTransmitterAbi, functionName, args } as never),
  );

const setMessenger = (chain: TestChain, functionName: 'setMinFee' | 'setBurnLimit', value: bigint) =>
  chain.send(
    ANYONE.address,
    deployed(chain).messenger,
    encodeFunctionData({ abi: devCctpMessengerAbi, functionName, args: [value] }),
  );

/** Asks until it stands so, and gives the new head time to be seen. */
const reaches = (transfer: SentTransfer, state: string, bridge: Bridge = cctp.open()) =>
  until(async () => {
    const progress = await bridge.follow(transfer);
    return progress.state === state ? progress : undefined;
  });

/** Delivers what is attested. */
async function deliver(to: TestChain, transfer: SentTransfer): Promise<BridgeCall> {
  const progress = await reaches(transfer, 'deliverable');
  if (progress.state !== 'deliverable') throw new Error('not deliverable');
  await to.send(ANYONE.address, progress.call.to, progress.call.data);
  return progress.call;
}

test('a fast transfer costs its fee and arrives after one block', async () => {
  const move = moveFrom(baseChain());
  const estimate = await estimated(move);
  // 1.3 basis points, and a tenth more in case the fee rises.
  expect(estimate).toEqual({ leastReceived: AMOUNT - 143_000n, seconds: 20, nativeFee: 0n, mode: 'fast' });
  const transfer = await sendOut(baseChain(), { estimate });
  expect(decodeBurnMessage(transfer.message)).toMatchObject({ minFinality: 1_000n, maxFee: 143_000n });
  expect((await cctp.open().follow(transfer)).state).toBe('waiting');
  await baseChain().anvil.mine(1);
  await deliver(arcChain(), transfer);
  expect(await reaches(transfer, 'arrived')).toMatchObject({ received: AMOUNT - 130_000n });
});

test('from Arc every transfer is a standard one, at once and without a fee', async () => {
  const estimate = await estimated(moveFrom(arcChain()));
  expect(estimate).toEqual({ leastReceived: AMOUNT, seconds: 1, nativeFee: 0n, mode: 'standard' });
  const transfer = await sendOut(arcChain(), { estimate });
  expect(decodeBurnMessage(transfer.message)).toMatchObject({ minFinality: 2_000n, maxFee: 0n });
  await reaches(transfer, 'deliverable');
});

test('an estimate that lost its mode is sent as a standard transfer', async () => {
  const { mode: _, ...kept } = await estimated(moveFrom(baseChain()));
  const transfer = await sendOut(baseChain(), { estimate: kept });
  expect(decodeBurnMessage(transfer.message)).toMatchObject({ minFinality: 2_000n, maxFee: 143_000n });
  await baseChain().anvil.mine(4);
  await reaches(transfer, 'deliverable');
});

test.each([
  ['fast transfers cost more than allowed', { fast: true, maxFeeBps: 1 }],
  ['only standard transfers are wanted', { fast: false }],
])('a transfer is a standard one when %s', async (_, change) => {
  expect(await estimated(moveFrom(baseChain()), cctp.open(change))).toEqual({
    leastReceived: AMOUNT,
    seconds: 1_140,
    nativeFee: 0n,
    mode: 'standard',
  });
});

test('a transfer is a standard one while fast ones may not carry so much', async () => {
  cctp.circle.setAllowance(999.999999);
  expect(await estimated(moveFrom(baseChain()))).toMatchObject({ mode: 'standard', seconds: 1_140 });
  cctp.circle.setAllowance(1_000);
  expect(await estimated(moveFrom(baseChain()))).toMatchObject({ mode: 'fast', seconds: 20 });
});

test('the least fee of the contracts counts where it is above the one of the service', async () => {
  await setMessenger(arcChain(), 'setMinFee', 500n);
  try {
    expect(await estimated(moveFrom(arcChain()))).toMatchObject({ leastReceived: AMOUNT - 55_000n });
    await sendOut(arcChain());
    expect(await cctp.open().estimate(moveFrom(arcChain(), 1n))).toMatchObject({
      refused: 'too_little',
      minAmount: 2n,
    });
    await sendOut(arcChain(), { move: moveFrom(arcChain(), 2n) });
  } finally {
    await setMessenger(arcChain(), 'setMinFee', 0n);
  }
});

test('a fee that rises before the burn makes it a standard transfer, and Circle says why', async () => {
  const estimate = await estimated(moveFrom(baseChain()));
  cctp.circle.setFees({ fast: 1.5, standard: 0 });
  const transfer = await sendOut(baseChain(), { estimate });
  await baseChain().anvil.mine(1);
  expect(await cctp.open().follow(transfer)).toEqual({
    state: 'waiting',
    detail: 'Circle waits for the burn to be final (insufficient_fee).',
  });
  await baseChain().anvil.mine(3);
  await reaches(transfer, 'deliverable');
});

test('an attestation that expires is asked for again, once a minute', async () => {
  const transfer = await sendOut(baseChain());
  await baseChain().anvil.mine(1);
  await reaches(transfer, 'deliverable');
  const bridge = cctp.open();
  cctp.circle.setFaults({ change: (message) => ({ ...message, expirationBlock: 1n }) });
  const first = await reaches(transfer, 'waiting', bridge);
  expect(first).toMatchObject({ detail: expect.stringContaining('Re-attestation successfully requested') });
  expect(await bridge.follow(transfer)).toMatchObject({ detail: expect.stringContaining('a moment ago') });
  cctp.circle.setFaults({});
  const { data } = await deliver(arcChain(), transfer);
  const { args } = decodeFunctionData({ abi: messageTransmitterAbi, data });
  expect(decodeBurnMessage(args[0] as Hex)).toMatchObject({ finality: 2_000n, expirationBlock: 0n });
  await reaches(transfer, 'arrived');
});

test('a paused transmitter is waited for', async () => {
  const transfer = await sendOut(arcChain());
  await setTransmitter(baseChain(), 'setPaused', [true]);
  try {
    expect(await cctp.open().follow(transfer)).toEqual({
      state: 'waiting',
      detail: 'Circle has paused CCTP on chain1.',
    });
  } finally {
    await setTransmitter(baseChain(), 'setPaused', [false]);
  }
  await reaches(transfer, 'deliverable');
});

test('signatures of an attester that was removed are named and not submitted', async () => {
  const transfer = await sendOut(arcChain());
  await setTransmitter(baseChain(), 'setAttester', [ATTESTERS[0].address, false]);
  try {
    expect(await cctp.open().follow(transfer)).toMatchObject({
      state: 'stuck',
      detail: expect.stringContaining('Invalid signature: not attester'),
    });
  } finally {
    await setTransmitter(baseChain(), 'setAttester', [ATTESTERS[0].address, true]);
  }
  await reaches(transfer, 'deliverable');
});

test('the nonce of another message does not make a transfer arrive', async () => {
  const first = await sendOut(arcChain());
  const { data } = await deliver(baseChain(), first);
  await reaches(first, 'arrived');
  const { args } = decodeFunctionData({ abi: messageTransmitterAbi, data });
  const nonce = decodeBurnMessage(args[0] as Hex)?.nonce ?? '0x';
  const second = await sendOut(arcChain(), { move: moveFrom(arcChain(), AMOUNT + 1n) });
  cctp.circle.setFaults({ change: (message) => ({ ...message, nonce }) });
  expect(await cctp.open().follow(second)).toMatchObject({
    state: 'stuck',
    detail: expect.stringContaining(nonce),
  });
  cctp.circle.setFaults({});
  await reaches(second, 'deliverable');
});

test('a burn that a reorganisation took back, and that reverted then, is still in the account', async () => {
  const { anvil, usdc, chain } = baseChain();
  const held = () => baseChain().port.tokenBalance(cctp.account, usdc.address);
  const before = await held();
  const snapshot = await anvil.rpc('evm_snapshot', []);
  const move = moveFrom(baseChain(), 50n * AMOUNT);
  const estimate = await estimated(move);
  const call = cctp.open().send(move, estimate);
  const raw = await privateKeyToAccount(cctp.mover.privateKey).signTransaction({
    chainId: chain.id,
    nonce: Number(await anvil.rpc('eth_getTransactionCount', [cctp.mover.address, 'latest'])),
    to: call.to,
    data: call.data,
    gas: 2_000_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  await mint(baseChain(), move.amount);
  const txHash = await anvil.rpc<Hex>('eth_sendRawTransaction', [raw]);
  // The node answers before it has mined.
  await until(() => baseChain().port.receipt(txHash));
  const transfer = await cctp.open().sent(move, estimate, txHash);
  if (transfer === undefined) throw new Error('nothing was sent');
  await anvil.rpc('evm_revert', [snapshot]);
  // Without the transaction before it, which gave the account its money.
  expect(await anvil.rpc('eth_sendRawTransaction', [raw])).toBe(txHash);
  expect(await reaches(transfer, 'stuck')).toMatchObject({
    detail: expect.stringContaining('still in the account'),
  });
  expect(await held()).toBe(before);
});

test('names a messenger that burns no such token, and one that does not answer', async () => {
  await setMessenger(baseChain(), 'setBurnLimit', 0n);
  expect(await cctp.open().estimate(moveFrom(baseChain()))).toMatchObject({
    refused: 'unavailable',
    detail: expect.stringContaining('check the addresses'),
  });
  await setMessenger(baseChain(), 'setBurnLimit', 10_000_000_000_000n);
  cctp.circle.setFaults({ status: 503 });
  expect(await cctp.open().estimate(moveFrom(baseChain()))).toMatchObject({
    refused: 'unavailable',
    detail: expect.stringContaining('503'),
  });
});

describe('the doctor', () => {
  const sections = (change: Partial<BridgeChain['cctp'] & object> = {}): BridgeChain[] =>
    devnet.chains.map((chain) => {
      const { domain, token, messenger, transmitter } = deployed(chain);
      const cctpPlace = { token, messenger, transmitter, fastSeconds: null, standardSeconds: 1 };
      return {
        ...chain.chain,
        cctpDomain: domain,
        cctp: chain === base ? { ...cctpPlace, ...change } : cctpPlace,
      };
    });
  const found = async (chains: BridgeChain[]) => {
    const transports = zBridgeTransports.parse({
      cctp: { attestationUrl: cctp.circle.url, allowPrivate: true },
    });
    const rows = await checkBridges(
      transports,
      chains,
      devnet.chains.map(({ port }) => port),
    );
    return rows.map(({ subject, verdict, found: text }) => `${verdict} ${subject}: ${text}`);
  };

  test('finds the contracts as they are configured, and the service', async () => {
    expect(await found(sections())).toEqual([
      'ok CCTP chain1: domain 6; its contracts know the other chains',
      'ok CCTP chain2: domain 26; its contracts know the other chains',
      'ok CCTP attestations: the service answers: 1.3 bps at 1000, 0 bps at 2000',
    ]);
  });

  test.each([
    ['transmitter', 'messenger', /the transmitter is of domain none, not 6.*the messenger sends by/],
    ['messenger', 'token', /the messenger burns no token.*the messenger does not know 0x.* on chain2/],
    ['token', 'messenger', /the messenger burns no token at 0x/],
  ] as const)('names a wrong %s', async (option, other, says) => {
    const rows = await found(sections({ [option]: deployed(baseChain())[other] }));
    expect(rows[0]).toMatch(/^failure CCTP chain1: /);
    expect(rows[0]).toMatch(says);
  });

  test('names the wrong domain, and a service that does not answer', async () => {
    const [first, second] = sections() as [BridgeChain, BridgeChain];
    cctp.circle.setFaults({ status: 503 });
    expect(await found([{ ...first, cctpDomain: 7 }, second])).toEqual([
      'failure CCTP chain1: the transmitter is of domain 6, not 7',
      expect.stringMatching(/^failure CCTP chain2: the messenger does not know/),
      expect.stringMatching(/^failure CCTP attestations: .*503/),
    ]);
  });
});
