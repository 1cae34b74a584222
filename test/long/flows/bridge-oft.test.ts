/** OFTs by their own rules: decimals, fees, the executor, the order of packets, and what owners may do. */

import { encodeFunctionData } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { decodePacket, type OftPacket } from '../../../src/adapters/bridges/oft/packet.ts';
import type { OftDeployment } from '../../support/deploy-oft.ts';
import { signTransaction } from '../../../src/adapters/evm/transactor/sign.ts';
import { createTransactor } from '../../../src/adapters/evm/transactor/transactor.ts';
import { TRANSACTION_MIGRATIONS } from '../../../src/adapters/postgres/migrations/transactions.ts';
import { createTxStore } from '../../../src/adapters/postgres/tx-store.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { zBridgeTransports } from '../../../src/apps/config/bridges.ts';
import { checkBridges } from '../../../src/apps/doctor/bridges.ts';
import type { TokenInfo } from '../../../src/domain/chain.ts';
import { type Hex, ZERO_ADDRESS } from '../../../src/domain/hex.ts';
import type { Bridge, BridgeEstimate, BridgeMove, SentTransfer } from '../../../src/ports/bridge.ts';
import { devLzEndpointAbi } from '../../support/abi/dev-lz-endpoint.ts';
import { devOftAbi } from '../../support/abi/dev-oft.ts';
import { devTokenAbi } from '../../../src/adapters/evm/deploy/abi/dev-token.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { NATIVE_FEE, startOft, type TestOft } from '../../support/oft.ts';
import { startTestPostgres } from '../../support/postgres.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { until } from '../../support/venue.ts';

const MOVER = account(8_320);
const KEEPER = account(8_321);
const TOKEN = 10n ** 18n;
/** Base units of a token of 18 decimals that are one of a message of 6. */
const UNIT = 10n ** 12n;
const AMOUNT = 1_000n * TOKEN;

let devnet: Devnet;
let a: TestChain;
let b: TestChain;
/** A token of 18 decimals, locked on the first chain and minted on the second. */
let oft: TestOft;
/** The same token, and one of 6 decimals that is locked on the second chain. */
let mixed: TestOft;

beforeAll(async () => {
  devnet = await startDevnet([31_441, 31_442], { moreTokens: 1 });
  [a, b] = devnet.chains as [TestChain, TestChain];
  for (const chain of devnet.chains) for (const { address } of [MOVER, KEEPER]) await chain.fund(address, 0n);
  const source = { chain: a, eid: 30_101, token: locked() };
  [oft, mixed] = [
    await startOft([source, { chain: b, eid: 30_111, token: null }]),
    await startOft([source, { chain: b, eid: 30_111, token: b.usdc }]),
  ];
  for (const { deployments } of [oft, mixed])
    await mint(a, locked().address, placed(deployments, 0).oft, 10n ** 24n);
  await mint(b, b.usdc.address, placed(mixed.deployments, 1).oft, 10n ** 12n);
  // What others have brought here.
  await mint(b, placed(oft.deployments, 1).token, KEEPER.address, 10n ** 24n);
  for (const { anvil, port } of devnet.chains) {
    const mined = BigInt(await anvil.rpc<string>('eth_blockNumber'));
    await until(async () => (port.head()?.number ?? 0n) >= mined || undefined);
  }
});
afterEach(async () => {
  oft.setFaults({});
  await oft.setFee(NATIVE_FEE);
  await oft.setPaused(0, false);
  await oft.setPaused(1, false);
});
afterAll(() => devnet?.stop());

const locked = (): TokenInfo => a.chain.tokens[2] as TokenInfo;
const placed = (deployments: readonly OftDeployment[], side: number) => deployments[side] as OftDeployment;

const mint = (chain: TestChain, token: Hex, to: Hex, amount: bigint) =>
  chain.send(
    MOVER.address,
    token,
    encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [to, amount] }),
  );

function moveOf(ground: TestOft, from: 0 | 1, amount = AMOUNT): BridgeMove {
  const side = (index: number) => ({
    chainId: (index === 0 ? a : b).chain.id,
    token: placed(ground.deployments, index).token,
  });
  return { account: ground.account, amount, from: side(from), to: side(1 - from) };
}

async function estimated(move: BridgeMove, bridge: Bridge = oft.open()): Promise<BridgeEstimate> {
  const estimate = await bridge.estimate(move);
  if ('refused' in estimate) throw new Error(estimate.detail);
  return estimate;
}

const chainOf = (chainId: number) => (chainId === a.chain.id ? a : b);

/** The hash of a call with value, mined with whatever outcome. */
async function run(
  chain: TestChain,
  from: Hex,
  { to, data, value }: ReturnType<Bridge['send']>,
): Promise<Hex> {
  const hash = await chain.anvil.rpc<Hex>('eth_sendTransaction', [
    { from, to, data, value: `0x${value.toString(16)}`, gas: '0x1e8480' },
  ]);
  await until(() => chain.port.receipt(hash));
  return hash;
}

async function sendOut(
  ground = oft,
  move = moveOf(ground, 0),
  terms?: BridgeEstimate,
): Promise<SentTransfer> {
  const chain = chainOf(move.from.chainId);
  const estimate = terms ?? (await estimated(move, ground.open()));
  await mint(chain, move.from.token, move.account, move.amount);
  const hash = await run(chain, MOVER.address, ground.open().send(move, estimate));
  const transfer = await ground.open().sent(move, estimate, hash);
  if (!transfer) throw new Error('nothing was sent');
  return transfer;
}

/** Asks until it stands so, and gives new heads time to be seen. */
const reaches = (transfer: SentTransfer, state: string, says = /./, bridge = oft.open()) =>
  until(async () => {
    await Promise.all([a.anvil.mine(1), b.anvil.mine(1)]);
    const progress = await bridge.follow(transfer);
    const fits = progress.state === state && (!('detail' in progress) || says.test(progress.detail));
    return fits ? progress : undefined;
  });

async function deliver(transfer: SentTransfer, bridge = oft.open()): Promise<Hex> {
  const progress = await reaches(transfer, 'deliverable', /./, bridge);
  if (progress.state !== 'deliverable') throw new Error('not deliverable');
  return run(chainOf(transfer.move.to.chainId), KEEPER.address, progress.call);
}

const packetOf = ({ message }: SentTransfer): OftPacket => decodePacket(message) as OftPacket;

describe('amounts', () => {
  test('become those of the other decimals, and dust is refused', async () => {
    const move = moveOf(mixed, 0, AMOUNT + UNIT);
    const estimate = await estimated(move, mixed.open());
    expect(estimate).toEqual({ leastReceived: 1_000_000_001n, seconds: 0, nativeFee: NATIVE_FEE });
    const before = await b.port.tokenBalance(mixed.account, b.usdc.address);
    const transfer = await sendOut(mixed, move, estimate);
    expect(transfer.leastReceived).toBe(1_000_000_001n);
    await mixed.verify();
    await deliver(transfer, mixed.open());
    expect(await reaches(transfer, 'arrived', /./, mixed.open())).toMatchObject({ received: 1_000_000_001n });
    expect((await b.port.tokenBalance(mixed.account, b.usdc.address)) - before).toBe(1_000_000_001n);
    expect(await mixed.open().estimate({ ...move, amount: AMOUNT + 1n })).toMatchObject({
      refused: 'too_much',
      maxAmount: AMOUNT,
      detail: expect.stringContaining('multiples of 1000000000000'),
    });
    const back = moveOf(mixed, 1, 7n);
    expect(await estimated(back, mixed.open())).toMatchObject({ leastReceived: 7n * UNIT });
  });

  test('lose the fee that the OFT takes, and no more than the estimate said', async () => {
    const setFeeBps = (bps: number) =>
      oft.own(
        b,
        placed(oft.deployments, 1).oft,
        encodeFunctionData({ abi: devOftAbi, functionName: 'setDefaultFeeBps', args: [bps] }),
      );
    await setFeeBps(5);
    const move = moveOf(oft, 1);
    const estimate = await estimated(move);
    expect(estimate.leastReceived).toBe(AMOUNT - AMOUNT / 2_000n);
    const transfer = await sendOut(oft, move, estimate);
    await setFeeBps(6);
    expect(await oft.open().estimate(move)).toMatchObject({
      refused: 'unavailable',
      detail: expect.stringContaining('6 bps; maxFeeBps of bridges.oft allows 5'),
    });
    // The fee rose after the estimate: nothing leaves the account.
    await mint(b, move.from.token, move.account, move.amount);
    const held = await b.port.tokenBalance(move.account, move.from.token);
    const hash = await run(b, MOVER.address, oft.open().send(move, estimate));
    expect(await oft.open().sent(move, estimate, hash)).toBeUndefined();
    expect(await b.port.tokenBalance(move.account, move.from.token)).toBe(held);
    await setFeeBps(0);
    await oft.verify();
    await deliver(transfer);
    expect(await reaches(transfer, 'arrived')).toMatchObject({ received: estimate.leastReceived });
  });

  test('stay in the account when LayerZero has become dearer than the estimate', async () => {
    const move = moveOf(oft, 0);
    const estimate = await estimated(move);
    await oft.setFee(NATIVE_FEE + 1n);
    await mint(a, move.from.token, move.account, move.amount);
    const hash = await run(a, MOVER.address, oft.open().send(move, estimate));
    expect((await a.port.receipt(hash))?.status).toBe('reverted');
    expect(await oft.open().sent(move, estimate, hash)).toBeUndefined();
  });

  test('are not quoted where LayerZero has no way', async () => {
    const { endpoint } = placed(oft.deployments, 0);
    const setClosed = (closed: boolean) =>
      oft.own(
        a,
        endpoint,
        encodeFunctionData({ abi: devLzEndpointAbi, functionName: 'setClosed', args: [closed] }),
      );
    await setClosed(true);
    expect(await oft.open().estimate(moveOf(oft, 0))).toMatchObject({
      refused: 'unavailable',
      detail: 'LayerZero quotes no message from chain1 to chain2 now.',
    });
    await setClosed(false);
    await estimated(moveOf(oft, 0));
  });
});

describe('a delivery', () => {
  test('is left to the executor until it is late', async () => {
    const patient = oft.open({ patienceSeconds: 3_600 }, { seconds: 60 });
    const transfer = await sendOut();
    await oft.verify();
    await reaches(transfer, 'waiting', /executor delivers it/, patient);
    for (const { anvil } of [a, b]) await anvil.rpc('evm_increaseTime', [3_700]);
    await deliver(transfer, patient);
    await reaches(transfer, 'arrived', /./, patient);
  });

  test('by the executor is seen, whoever it was', async () => {
    const transfer = await sendOut();
    await oft.verify();
    const hash = await deliver(transfer);
    expect(await reaches(transfer, 'arrived', /./, oft.open({ patienceSeconds: 3_600 }))).toMatchObject({
      txHash: hash,
    });
  });

  test('waits for the packets before it', async () => {
    const first = await sendOut();
    const second = await sendOut();
    oft.setFaults({ omit: [first.reference] });
    await oft.verify();
    await reaches(second, 'waiting', /an earlier packet/);
    oft.setFaults({});
    await oft.verify();
    await deliver(second);
    await deliver(first);
    expect([await reaches(first, 'arrived'), await reaches(second, 'arrived')]).toMatchObject([
      { received: AMOUNT },
      { received: AMOUNT },
    ]);
  });

  test('that the owner of the OFT dropped is reported', async () => {
    const transfer = await sendOut();
    await oft.verify();
    const { guid, message, srcEid, sender, nonce } = packetOf(transfer);
    const { endpoint, oft: contract } = placed(oft.deployments, 1);
    await oft.own(
      b,
      endpoint,
      encodeFunctionData({
        abi: devLzEndpointAbi,
        functionName: 'clear',
        args: [contract, { srcEid, sender, nonce }, guid, message],
      }),
    );
    await reaches(transfer, 'stuck', /its owner dropped the packet/);
  });
});

describe('a reorganisation', () => {
  /** The same bytes can be mined again. */
  async function signedSend(move: BridgeMove, estimate: BridgeEstimate): Promise<Hex> {
    const { to, data, value } = oft.open().send(move, estimate);
    const { raw } = await signTransaction(MOVER.signer, {
      ...{ chainId: a.chain.id, to, data, value, gas: 2_000_000n },
      nonce: await a.port.transactionCount(MOVER.address, 'latest'),
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    return raw;
  }
  async function mined(raw: Hex): Promise<Hex> {
    const hash = await a.anvil.rpc<Hex>('eth_sendRawTransaction', [raw]);
    await until(() => a.port.receipt(hash));
    return hash;
  }

  test('that mines the send again as another packet does not lose it', async () => {
    const move = moveOf(oft, 0);
    await mint(a, move.from.token, move.account, 2n * AMOUNT);
    const estimate = await estimated(move);
    const raw = await signedSend(move, estimate);
    const snapshot = await a.anvil.rpc('evm_snapshot', []);
    const hash = await mined(raw);
    const transfer = await oft.open().sent(move, estimate, hash);
    if (!transfer) throw new Error('nothing was sent');
    await a.anvil.rpc('evm_revert', [snapshot]);
    // Another transfer of the same amount takes the packet's place.
    const other = await run(a, KEEPER.address, oft.open().send(move, estimate));
    const taken = await oft.open().sent(move, estimate, other);
    expect(taken?.reference).toBe(transfer.reference);
    await mined(raw);
    await oft.verify();
    await deliver(taken as SentTransfer);
    expect((await oft.open().follow(transfer)).state).toBe('deliverable');
    const delivered = await deliver(transfer);
    expect(await reaches(transfer, 'arrived')).toMatchObject({ txHash: delivered, received: AMOUNT });
  });

  test('after which the send does nothing says that the money is in the account', async () => {
    const move = moveOf(oft, 0);
    await mint(a, move.from.token, move.account, AMOUNT);
    const estimate = await estimated(move);
    const raw = await signedSend(move, estimate);
    const snapshot = await a.anvil.rpc('evm_snapshot', []);
    const transfer = await oft.open().sent(move, estimate, await mined(raw));
    if (!transfer) throw new Error('nothing was sent');
    await a.anvil.rpc('evm_revert', [snapshot]);
    await oft.setPaused(0, true);
    await mined(raw);
    await reaches(transfer, 'stuck', /still in the account/);
  });
});

describe('a configuration', () => {
  const transports = (change: object = {}) =>
    zBridgeTransports.parse({
      oft: [
        {
          asset: 'OFT',
          chains: oft.deployments.map(({ eid, endpoint, oft: contract, token }, index) => ({
            ...{ chainId: (index === 0 ? a : b).chain.id, eid, endpoint, oft: contract, token },
            ...{ seconds: 60, maxNativeFee: '0.001' },
            ...(index === 1 && change),
          })),
        },
      ],
    });
  const sections = () =>
    [a, b].map(({ chain }) => ({
      ...chain,
      ...{ cctp: null, cctpDomain: null },
      tokens: [...chain.tokens, { address: placed(oft.deployments, 1).token, decimals: 18 }],
    }));
  const checked = async (change?: object) =>
    (await checkBridges(transports(change), sections(), [a.port, b.port])).map(
      ({ verdict, subject, found }) => `${verdict} ${subject}: ${found}`,
    );

  test('that the chains confirm passes the doctor', async () => {
    expect(await checked()).toEqual([
      'ok OFT OFT chain1: eid 30101; it knows the OFTs of the other chains',
      'ok OFT OFT chain2: eid 30111; it knows the OFTs of the other chains',
    ]);
  });

  test.each([
    ['an OFT of somebody else', () => ({ oft: MOVER.address }), /does not know 0x/],
    ['another eid', () => ({ eid: 30_110 }), /of eid 30111, not 30110/],
    ['another endpoint', () => ({ endpoint: MOVER.address }), /sends by the endpoint 0x/],
  ])('with %s fails there, and nothing is sent', async (_, change, says) => {
    expect((await checked(change())).join('\n')).toMatch(says);
    const move = moveOf(oft, 0);
    const wrong = (place: object) => oft.open({}, place);
    const refused = await wrong(change()).estimate(move);
    expect(refused).toMatchObject({
      refused: 'unavailable',
      detail: expect.stringContaining('bridges.oft is wrong'),
    });
  });
});

test('the mover sends exactly once, with the fee as value, through a crash before the bytes were sent', async () => {
  const postgres = await startTestPostgres();
  try {
    const store = createTxStore(await postgres.database('oft_tx', TRANSACTION_MIGRATIONS));
    const start = async (owner: string, chain = a.port) => {
      const transactor = createTransactor(
        { chain, store, signer: MOVER.signer, clock: systemClock, log: silentLog, metrics: silentMetrics },
        { owner, leaseMs: 1_000 },
      );
      await transactor.start();
      return transactor;
    };
    const move = moveOf(oft, 0);
    await mint(a, move.from.token, move.account, 3n * AMOUNT);
    const estimate = await estimated(move);
    const intent = { key: 'transfer-1-send', ...oft.open().send(move, estimate) };
    const deaf = await start('deaf', {
      ...a.port,
      sendRaw: async () => ({ kind: 'indeterminate', message: 'the process died here' }),
    });
    await deaf.submit(intent);
    await deaf.stop();
    const held = await a.port.tokenBalance(move.account, move.from.token);
    const heir = await start('heir');
    await heir.submit(intent);
    const status = await until(async () => {
      await a.anvil.mine(1);
      const now = await heir.status(intent.key);
      return now?.state === 'mined' ? now : undefined;
    });
    await heir.submit(intent);
    await heir.stop();
    expect(held - (await a.port.tokenBalance(move.account, move.from.token))).toBe(AMOUNT);
    const transfer = await oft.open().sent(move, estimate, status.receipt.txHash);
    expect(transfer?.leastReceived).toBe(AMOUNT);
    await oft.verify();
    await deliver(transfer as SentTransfer);
    await reaches(transfer as SentTransfer, 'arrived');
  } finally {
    await postgres.stop();
  }
});

test('an unknown packet in the database is a bug, and a strange token a wrong request', async () => {
  const transfer = await sendOut();
  await expect(oft.open().follow({ ...transfer, message: '0x02' })).rejects.toMatchObject({
    code: 'invariant',
  });
  const strange = { ...transfer.move, to: { ...transfer.move.to, token: ZERO_ADDRESS } };
  await expect(oft.open().estimate(strange)).rejects.toMatchObject({ code: 'bad_request' });
});
