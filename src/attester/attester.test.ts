/**
 * Tests what an attester signs, and above all what it does not: too early, taken back, elsewhere, tampered
 * with.
 */

import { encodeFunctionData } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  account,
  ATTESTERS,
  DEPLOYER,
  type Devnet,
  startDevnet,
  type TestAccount,
  type TestChain,
} from '../../test/support/devnet.ts';
import { silentLog, silentMetrics } from '../../test/support/silent.ts';
import { makeTrade, type TradeTerms } from '../../test/support/trade.ts';
import { createAttestationClient } from '../adapters/attestations/client.ts';
import { attestationRoutes } from '../adapters/attestations/routes.ts';
import { type OpsServer, startOps } from '../adapters/http/ops.ts';
import { createRecovery } from '../adapters/secp256k1/recovery.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { attestationDigest, fillAttestation } from '../domain/attestation.ts';
import { UpstreamError } from '../domain/errors.ts';
import { addressToBytes32, type Bytes32, type Hex } from '../domain/hex.ts';
import type { MandateOutput } from '../domain/order.ts';
import type { AttestRequest } from '../ports/attestations.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { NewOrder } from '../ports/stores/store.ts';
import { attestationOracleAbi } from '../settlement/abi/attestation-oracle.ts';
import { fillCall, submitAndFinaliseCall, submitAttestationsCall } from '../settlement/call.ts';
import { createAttester, type RunningAttester } from './attester.ts';

let devnet: Devnet;
let a: TestChain;
let b: TestChain;
const lp = account(701);
const taker = account(702);
const running: RunningAttester[] = [];
const doors: OpsServer[] = [];
const recovery = createRecovery();

beforeAll(async () => {
  devnet = await startDevnet([31337, 31338], { depth: 2, rotationDelaySeconds: 2 });
  [a, b] = devnet.chains as [TestChain, TestChain];
  await b.fund(lp.address);
  await b.deposit(lp.address, b.weth.address, 10n ** 22n);
});
afterAll(async () => {
  await Promise.all(doors.map((door) => door.close()));
  await Promise.all(running.map((attester) => attester.stop()));
  await devnet.stop();
});

const ports = () => new Map<number, ChainPort>(devnet.chains.map(({ chain, port }) => [chain.id, port]));

async function startAttester(who: TestAccount = ATTESTERS[0], chains = ports()): Promise<RunningAttester> {
  const attester = createAttester({
    chains,
    signer: who.signer,
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
  });
  await attester.start();
  running.push(attester);
  return attester;
}

/** Makes an order that chain a never saw: an attester proves fills, not orders. */
function trade(terms: Partial<TradeTerms> = {}): NewOrder {
  return makeTrade({
    origin: a,
    dest: b,
    taker,
    lps: [{ account: lp }],
    lock: 'self',
    now: b.port.head()?.timestamp ?? 0,
    ...terms,
  });
}

async function fill(order: NewOrder): Promise<{ request: AttestRequest; timestamp: number }> {
  const output = order.order.outputs[0] as MandateOutput;
  const hash = await b.send(
    lp.address,
    b.chain.escrow,
    fillCall(order.orderId, output, order.order.fillDeadline, lp.address),
  );
  const { blockNumber } = await b.anvil.rpc<{ blockNumber: Hex }>('eth_getTransactionReceipt', [hash]);
  const timestamp = (await b.port.block(BigInt(blockNumber)))?.timestamp ?? 0;
  return { timestamp, request: requestFor(order, timestamp) };
}

function requestFor(
  { order, orderId }: NewOrder,
  timestamp: number,
  solver: Bytes32 = addressToBytes32(lp.address),
): AttestRequest {
  return {
    ...fillAttestation({ solver, orderId, timestamp, output: order.outputs[0] as MandateOutput }),
    chainId: a.chain.id,
    oracle: a.chain.oracle,
    orderId,
  };
}

/** Mines blocks, and waits until every port has seen them. */
async function mine(blocks: number): Promise<void> {
  await b.anvil.mine(blocks);
  const height = BigInt(await b.anvil.rpc<Hex>('eth_blockNumber'));
  await expect.poll(() => (b.port.head()?.number ?? 0n) >= height).toBe(true);
}

test("signs a final fill, over that oracle's digest", async () => {
  const attester = await startAttester();
  const { request } = await fill(trade());
  await mine(2);
  const answer = await attester.attest(request);
  if (answer.kind !== 'signed') throw new Error(answer.kind);
  expect(
    recovery.recover(
      attestationDigest({ chainId: a.chain.id, oracle: a.chain.oracle }, request),
      answer.signature,
    ),
  ).toBe(ATTESTERS[0].address);
});

test('signs nothing before the depth is reached, block by block', async () => {
  const attester = await startAttester();
  const { request } = await fill(trade());
  await mine(0);
  expect(await attester.attest(request)).toEqual({ kind: 'not_final', blocksToGo: 2 });
  await mine(1);
  expect(await attester.attest(request)).toEqual({ kind: 'not_final', blocksToGo: 1 });
  await mine(1);
  expect(await attester.attest(request)).toMatchObject({ kind: 'signed' });
});

test('does not sign a fill that a reorganisation removed, at any depth', async () => {
  const attester = await startAttester();
  const { request } = await fill(trade());
  await mine(0);
  expect(await attester.attest(request)).toMatchObject({ kind: 'not_final' });
  await b.anvil.rpc('anvil_reorg', [1, []]);
  await mine(4);
  expect(await attester.attest(request)).toMatchObject({ kind: 'unknown' });
});

test('signs a fill that moved to another block as it is now', async () => {
  const attester = await startAttester();
  const order = trade();
  const before = await fill(order);
  await b.anvil.rpc('anvil_reorg', [1, []]);
  await b.anvil.advance(3);
  const after = await fill(order);
  await mine(3);
  expect(after.timestamp).not.toBe(before.timestamp);
  expect(await attester.attest(before.request)).toMatchObject({ kind: 'unknown' });
  expect(await attester.attest(after.request)).toMatchObject({ kind: 'signed' });
});

describe('tampering', () => {
  test('every word of the payload counts', async () => {
    const attester = await startAttester();
    const order = trade();
    const { timestamp } = await fill(order);
    await mine(2);
    const output = order.order.outputs[0] as MandateOutput;
    const changed = (change: Partial<MandateOutput>): NewOrder => ({
      ...order,
      order: { ...order.order, outputs: [{ ...output, ...change }] },
    });
    const lies = [
      requestFor(order, timestamp + 1),
      requestFor(order, timestamp, addressToBytes32(taker.address)),
      requestFor(changed({ amount: output.amount + 1n }), timestamp),
      requestFor(changed({ recipient: addressToBytes32(lp.address) }), timestamp),
      requestFor(changed({ token: addressToBytes32(b.usdc.address) }), timestamp),
      requestFor({ ...order, orderId: `0x${'12'.repeat(32)}` }, timestamp),
    ];
    for (const lie of lies)
      expect(await attester.attest({ ...lie, orderId: order.orderId })).toMatchObject({ kind: 'unknown' });
  });

  test('another escrow, oracle or chain', async () => {
    const attester = await startAttester();
    const { request } = await fill(trade());
    await mine(2);
    expect(
      await attester.attest({ ...request, application: addressToBytes32(b.chain.oracle) }),
    ).toMatchObject({ kind: 'refused' });
    expect(await attester.attest({ ...request, oracle: a.chain.escrow })).toMatchObject({ kind: 'refused' });
    expect(await attester.attest({ ...request, chainId: 5 })).toMatchObject({ kind: 'refused' });
    expect(await attester.attest({ ...request, remoteChainId: 5n })).toMatchObject({ kind: 'refused' });
    // The chain on which nothing of the kind happened.
    expect(
      (
        await attester.attest({
          ...request,
          remoteChainId: BigInt(a.chain.id),
          application: addressToBytes32(a.chain.escrow),
        })
      ).kind,
    ).not.toBe('signed');
  });

  test('an output that names another oracle is refused', async () => {
    const attester = await startAttester();
    const order = trade();
    const foreign: NewOrder = {
      ...order,
      order: {
        ...order.order,
        outputs: [{ ...(order.order.outputs[0] as MandateOutput), oracle: addressToBytes32(taker.address) }],
      },
    };
    const { request } = await fill(foreign);
    await mine(2);
    expect(await attester.attest(request)).toEqual({
      kind: 'refused',
      reason: 'the output names another oracle',
    });
  });

  test('a node that shows a log of a fill that the contract does not have', async () => {
    const order = trade();
    const { request, timestamp } = await fill(order);
    await mine(2);
    const forged = { ...order, orderId: `0x${'ab'.repeat(32)}` as Hex };
    const lying: ChainPort = {
      ...b.port,
      events: async (from, to) =>
        (await b.port.events(from, to)).map((event) =>
          event.kind === 'filled' && event.orderId === order.orderId
            ? { ...event, orderId: forged.orderId }
            : event,
        ),
      orderEvents: async () => [],
    };
    const attester = await startAttester(
      ATTESTERS[0],
      new Map([
        [a.chain.id, a.port],
        [b.chain.id, lying],
      ]),
    );
    await mine(1);
    expect((await attester.attest(requestFor(forged, timestamp))).kind).toBe('unknown');
    expect((await attester.attest({ ...request })).kind).toBe('unknown');
  });
});

test('an attester that starts later finds older fills', async () => {
  const order = trade();
  const { request } = await fill(order);
  await mine(30);
  const attester = await startAttester();
  expect(await attester.attest(request)).toMatchObject({ kind: 'signed' });
});

test('an attester whose node is down at start waits, and finds the fills it missed', async () => {
  const order = trade();
  const { request } = await fill(order);
  await mine(2);
  let away = true;
  const silent = async (): Promise<never> => {
    throw new UpstreamError('No answer.', { code: 'rpc_unavailable' });
  };
  const moody: ChainPort = {
    ...b.port,
    events: (from, to) => (away ? silent() : b.port.events(from, to)),
    orderEvents: async () => [],
  };
  const attester = await startAttester(
    ATTESTERS[0],
    new Map([
      [a.chain.id, a.port],
      [b.chain.id, moody],
    ]),
  );
  expect(attester.ready()).toEqual([`${b.chain.slug} has not been seen yet`]);
  away = false;
  await mine(1);
  await expect.poll(() => attester.ready()).toEqual([]);
  await expect.poll(async () => (await attester.attest(request)).kind).toBe('signed');
});

describe('over HTTP, two of three', () => {
  async function door(attester: RunningAttester): Promise<string> {
    const server = await startOps({
      host: '127.0.0.1',
      port: 0,
      routes: attestationRoutes(attester),
      log: silentLog,
    });
    doors.push(server);
    return server.url;
  }
  const client = (urls: readonly string[]) =>
    createAttestationClient(
      { chains: ports(), recovery, clock: systemClock, log: silentLog, metrics: silentMetrics },
      { urls, timeoutMs: 1_000 },
    );

  test('counts signatures as the oracle does; unknown and absent signers do not count', async () => {
    const { request } = await fill(trade());
    await mine(2);
    const [one, two, stranger] = [
      await door(await startAttester(ATTESTERS[2])),
      await door(await startAttester(ATTESTERS[1])),
      await door(await startAttester(account(799))),
    ];
    const nobody = 'http://127.0.0.1:9';
    expect(await client([one, stranger, nobody]).signatures(request, request)).toBeUndefined();
    // One attester asked twice is still one.
    expect(await client([one, one]).signatures(request, request)).toBeUndefined();
    const signatures = await client([stranger, nobody, one, two]).signatures(
      request,
      request,
      request.orderId,
    );
    expect(signatures).toHaveLength(2);
    expect(
      await a.port.isProven(
        a.chain.oracle,
        request.remoteChainId,
        addressToBytes32(b.chain.oracle),
        request.application,
        request.payloadHash,
      ),
    ).toBe(false);
    await a.fund(taker.address, 0n);
    await a.send(
      taker.address,
      a.chain.oracle,
      submitAttestationsCall(request.remoteChainId, request.application, [
        { payloadHash: request.payloadHash, signatures: signatures ?? [] },
      ]),
    );
    expect(
      await a.port.isProven(
        a.chain.oracle,
        request.remoteChainId,
        addressToBytes32(b.chain.oracle),
        request.application,
        request.payloadHash,
      ),
    ).toBe(true);
  });

  test('a signer counts as soon as it has joined the committee, although the client knew the one before', async () => {
    const fresh = account(798);
    const { request } = await fill(trade());
    await mine(2);
    const asking = client([
      await door(await startAttester(ATTESTERS[1])),
      await door(await startAttester(fresh)),
    ]);
    expect(await asking.signatures(request, request)).toBeUndefined();
    const signers = [...ATTESTERS, fresh].map(({ address }) => address).toSorted();
    await a.send(
      DEPLOYER.address,
      a.chain.oracle,
      encodeFunctionData({ abi: attestationOracleAbi, functionName: 'scheduleSigners', args: [signers, 2n] }),
    );
    await expect
      .poll(
        async () => {
          await a.anvil.mine(1);
          return asking.signatures(request, request);
        },
        { timeout: 20_000, interval: 500 },
      )
      .toHaveLength(2);
    await asking.probe(request);
    expect(asking.presence(request)).toEqual({ present: 2, needed: 2 });
  });

  test('a list is signed when all of its fills are final, and the oracle takes one set of signatures', async () => {
    const asked = [(await fill(trade())).request, (await fill(trade())).request] as const;
    const listOf = (...requests: AttestRequest[]) => ({
      remoteChainId: asked[0].remoteChainId,
      application: asked[0].application,
      fills: requests.map(({ payloadHash, orderId = payloadHash }) => ({ payloadHash, orderId })),
    });
    const asking = client([
      await door(await startAttester(ATTESTERS[2])),
      await door(await startAttester(ATTESTERS[1])),
    ]);
    const oracle = { chainId: a.chain.id, oracle: a.chain.oracle };
    expect(await asking.listSignatures?.(listOf(...asked), oracle)).toBeUndefined();
    await mine(2);
    const unfilled = requestFor(trade(), 1_800_000_000);
    expect(await asking.listSignatures?.(listOf(...asked, unfilled), oracle)).toBeUndefined();
    const signatures = (await asking.listSignatures?.(listOf(...asked), oracle)) ?? [];
    expect(signatures).toHaveLength(2);
    await a.fund(taker.address, 0n);
    const payloadHashes = asked.map(({ payloadHash }) => payloadHash);
    const data = submitAndFinaliseCall({ ...listOf(), payloadHashes }, signatures, a.chain.escrow, []);
    await a.send(taker.address, a.chain.oracle, data);
    const head = BigInt(await a.anvil.rpc<Hex>('eth_blockNumber'));
    await expect.poll(() => (a.port.head()?.number ?? 0n) >= head).toBe(true);
    const proven = (await a.port.events(head, head)).flatMap((event) =>
      event.kind === 'proven' ? [event.payloadHash] : [],
    );
    expect(proven).toEqual(payloadHashes);
  });

  test.each(['', '{', '{}', '{"fills":[]}'])('a list that is none is a 400: %s', async (body) => {
    const url = await door(await startAttester());
    expect((await fetch(`${url}/attestations/lists`, { method: 'POST', body })).status).toBe(400);
  });

  test('an invalid question is a 400, not a signature', async () => {
    const url = await door(await startAttester());
    for (const query of [
      '',
      '?remoteChainId=1',
      '?remoteChainId=x&application=0x&payloadHash=0x&oracleChainId=1&oracle=0x',
    ]) {
      expect((await fetch(`${url}/attestations${query}`)).status).toBe(400);
    }
  });
});
