/**
 * `firmquote verify`: honest dossiers hold against real chains, whoever signed and however they settled; a
 * dossier changed anywhere is refused by the name of what is wrong.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deployContractWallets } from '../../src/adapters/evm/deploy/deploy.ts';
import { exitCode, runVerify } from '../../src/apps/verify/main.ts';
import { verifyClaim } from '../../src/apps/verify/checks.ts';
import { readClaim } from '../../src/apps/verify/claim.ts';
import { feesOf } from '../../src/apps/verify/fees.ts';
import { openWitness, type Witness } from '../../src/apps/verify/witness.ts';
import { assetId } from '../../src/domain/asset.ts';
import { attestationDigest } from '../../src/domain/attestation.ts';
import { addressToBytes32, bytes32ToAddress, type Hex } from '../../src/domain/hex.ts';
import type { OrderRecord } from '../../src/ports/stores/store.ts';
import { encodeCommitments, formatSeal } from '../../src/protocol/seal-wire.ts';
import { postBondCall } from '../../src/settlement/bond-call.ts';
import {
  fillCall,
  finaliseCall,
  openForCall,
  refundCall,
  settleCall,
  submitAndFinaliseCall,
  submitAttestationsCall,
} from '../../src/settlement/call.ts';
import { depositForCall } from '../support/escrow.ts';
import { inputToken } from '../../src/settlement/funding.ts';
import { foldFacts } from '../../src/settlement/lifecycle.ts';
import { intentSection, proofsSection } from '../../src/venue/trades/record-sections.ts';
import { firmquote } from '../support/command.ts';
import {
  account,
  ATTESTERS,
  DEPLOYER,
  type Devnet,
  startDevnet,
  type TestAccount,
  type TestChain,
} from '../support/devnet.ts';
import { observed, payloadOf } from '../support/observed.ts';
import { makeTrade, type TradeTerms } from '../support/trade.ts';

let devnet: Devnet;
let a: TestChain;
let b: TestChain;
let folder: string;
const witnesses = new Map<number, Witness>();
const [lp, second, operator] = [account(201), account(202), account(210)];
const taker = account(300);

interface Told {
  record: OrderRecord;
  dossier: Dossier;
}
type Dossier = Record<string, never>;
let split: Told;
let crossed: Told;
let together: Told;
let wallet: Told;
let refunded: Told;
let waiting: Told;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-verify-'));
  devnet = await startDevnet([31_501, 31_502], { landingMarginSeconds: 600, proofWindowSeconds: 60 });
  [a, b] = devnet.chains as [TestChain, TestChain];
  for (const chain of [a, b]) {
    for (const one of [lp, second]) {
      await chain.fund(one.address);
      await chain.deposit(one.address, chain.weth.address, 10n ** 21n);
      await chain.setOperator(one.address, operator.address);
    }
    await chain.fund(operator.address, 0n);
    await chain.fund(taker.address);
    witnesses.set(chain.chain.id, await openWitness(chain.chain.id, chain.anvil.url, chain.chain.escrow));
  }
  // Of the two LPs of the split one answers with a bond.
  const { quoteBond } = a.deployment;
  await a.approve(lp.address, a.weth.address, quoteBond, 10n ** 18n);
  await a.send(lp.address, quoteBond, postBondCall(lp.address, a.weth.address, 10n ** 18n));
  split = await told(
    await settled({ lps: [{ account: lp, operator }, { account: second }], relayFee: 1_000n }),
  );
  wallet = await told(await settledByWallet());
  crossed = await told(await settledAcross(false));
  together = await told(await settledAcross(true));
  waiting = await told(await accepted());
  refunded = await told(await refundedLate());
});
afterAll(async () => {
  for (const witness of witnesses.values()) witness.close();
  await devnet.stop();
  await rm(folder, { recursive: true });
});

const now = async (chain: TestChain) =>
  (await chain.port.block(BigInt(await chain.anvil.rpc<Hex>('eth_blockNumber'))))?.timestamp ?? 0;
const make = async (terms: Partial<TradeTerms> = {}) => {
  const order = makeTrade({
    origin: a,
    taker,
    lps: [{ account: lp, operator }],
    now: await now(a),
    validForSeconds: 60,
    ...terms,
  });
  return {
    ...order,
    candidate: JSON.stringify({
      integrityChecksum: formatSeal({
        kid: 'k1',
        mac: 'ab'.repeat(32),
        commitments: encodeCommitments(order.commitments),
        route: null,
      } as Parameters<typeof formatSeal>[0]),
    }),
  };
};

async function settled(terms: Partial<TradeTerms>): Promise<OrderRecord> {
  const order = await make(terms);
  await a.send(
    DEPLOYER.address,
    a.chain.escrow,
    settleCall(order.order, order.funding, order.quoteId, order.commitments),
  );
  return observed(order, [a], (stage) => stage === 'settled');
}

/** Paid from the ledger balance of a contract wallet, by its ERC-1271 signature. */
async function settledByWallet(): Promise<OrderRecord> {
  const owner = account(301);
  const [address] = (await deployContractWallets({
    rpcUrl: a.anvil.url,
    chainId: a.chain.id,
    deployerPrivateKey: DEPLOYER.privateKey,
    owners: [owner.address],
  })) as [Hex];
  await a.approve(taker.address, a.usdc.address, a.chain.escrow);
  await a.send(taker.address, a.chain.escrow, depositForCall(address, a.usdc.address, 3_000_000_000n));
  const contract: TestAccount = { ...owner, address };
  return { ...(await settled({ taker: contract, lock: 'resourceLock' })), signScheme: 'EIP1271' };
}

/** `together`: proof and finalisation in one transaction, after which the oracle remembers no proof. */
async function settledAcross(together: boolean): Promise<OrderRecord> {
  const order = await make({ dest: b });
  const [output] = order.order.outputs as [OrderRecord['order']['outputs'][number]];
  await a.send(DEPLOYER.address, a.chain.escrow, openForCall(order.order, order.funding));
  await b.send(
    operator.address,
    b.chain.escrow,
    fillCall(order.orderId, output, order.order.fillDeadline, lp.address),
  );
  const filled = await observed(order, [a, b], (stage) => stage === 'delivered');
  const { payloadHash, timestamp } = payloadOf(filled, 0);
  const digest = attestationDigest(
    { chainId: a.chain.id, oracle: a.chain.oracle },
    { remoteChainId: BigInt(b.chain.id), application: addressToBytes32(b.chain.escrow), payloadHash },
  );
  const signatures = ATTESTERS.slice(0, 2)
    .toSorted((x, y) => (x.address < y.address ? -1 : 1))
    .map(({ sign }) => sign(digest));
  const finalisation = finaliseCall(order.order, [{ timestamp, solver: lp.address }]);
  const attestation = {
    remoteChainId: BigInt(b.chain.id),
    application: addressToBytes32(b.chain.escrow),
    payloadHash,
  };
  if (together) {
    const payloads = { ...attestation, payloadHashes: [payloadHash] };
    const data = submitAndFinaliseCall(payloads, signatures, a.chain.escrow, [finalisation]);
    await a.send(DEPLOYER.address, a.chain.oracle, data);
    return observed(order, [a, b], (stage) => stage === 'settled');
  }
  await a.send(
    DEPLOYER.address,
    a.chain.oracle,
    submitAttestationsCall(attestation.remoteChainId, attestation.application, [{ payloadHash, signatures }]),
  );
  await a.send(DEPLOYER.address, a.chain.escrow, finalisation);
  return observed(order, [a, b], (stage) => stage === 'settled');
}

async function accepted(): Promise<OrderRecord> {
  return observed(await make(), [a], () => true);
}

async function refundedLate(): Promise<OrderRecord> {
  const order = await make({ dest: b });
  await a.send(DEPLOYER.address, a.chain.escrow, openForCall(order.order, order.funding));
  await a.anvil.rpc('evm_setNextBlockTimestamp', [order.order.expires + 1]);
  await a.send(DEPLOYER.address, a.chain.escrow, refundCall(order.order));
  return observed(order, [a, b], (stage) => stage === 'refunded');
}

/** What the venue answers of it. */
async function told(record: OrderRecord): Promise<Told> {
  const chains = new Map(devnet.chains.map(({ chain }) => [chain.id, chain]));
  const progress = foldFacts(
    record.order,
    record.facts.map(({ fact }) => fact),
  );
  const [[token, amount]] = record.order.inputs as [readonly [bigint, bigint]];
  const [output] = record.order.outputs as [OrderRecord['order']['outputs'][number]];
  const stage = async (evidence: typeof progress.opened) =>
    evidence && {
      txHash: evidence.txHash,
      chainId: evidence.chainId,
      blockNumber: Number(evidence.blockNumber),
      at: new Date(evidence.at * 1_000).toISOString(),
      gasUsed: String((await witnesses.get(evidence.chainId)?.transaction(evidence.txHash))?.gasUsed),
      feeUsd: null,
    };
  const charged = progress.status === 'failed' ? { protocol: 0n, relayer: 0n } : feesOf(record.order);
  const asset = assetId({ chainId: record.originChainId, token: inputToken(token) });
  const dossier = {
    trade: {
      orderId: record.orderId,
      status: progress.status,
      settlementStatus: progress.stage,
      orderKind: record.commitments.length > 1 ? 'rfq_split' : 'rfq_direct',
      route: {
        input: {
          asset: { chainId: record.originChainId, address: inputToken(token) },
          rawAmount: amount.toString(),
        },
        output: {
          asset: { chainId: Number(output.chainId), address: bytes32ToAddress(output.token) },
          rawAmount: record.order.outputs.reduce((sum, one) => sum + one.amount, 0n).toString(),
        },
      },
    },
    settlement: {
      stages: {
        submit: (await stage(progress.opened)) ?? null,
        fill: (await stage(progress.fills[0]?.evidence)) ?? null,
        proof: (await stage(progress.attested[0]?.evidence)) ?? null,
        finalise: (await stage(progress.finalised)) ?? null,
      },
      transactions: [],
    },
    fees: {
      gas: null,
      protocolFee: { amount: charged?.protocol.toString(), asset, usd: null },
      solverFee: null,
      relayerTip: { amount: charged?.relayer.toString(), asset, usd: null },
    },
    intent: intentSection(record, chains),
    complianceProofs: proofsSection(record, chains),
  };
  return { record, dossier: JSON.parse(JSON.stringify(dossier)) as Dossier };
}

const verify = ({ record, dossier }: Told, knownEscrows = new Map<number, Hex>()) =>
  verifyClaim({ orderId: record.orderId, claim: readClaim(dossier), witnesses, knownEscrows });
const failed = async (changed: Told) =>
  (await verify(changed)).flatMap(({ id, result }) => (result === 'failed' ? [id] : []));

test('a bond that stood behind the order is found, one that did not is named', async () => {
  const bondsOf = async ({ record, dossier }: Told, knownBonds: ReadonlyMap<number, Hex>) =>
    (
      await verifyClaim({
        ...{ orderId: record.orderId, claim: readClaim(dossier), witnesses },
        ...{ knownEscrows: new Map(), knownBonds },
      })
    )
      .filter(({ id }) => id.endsWith('.bond'))
      .map(({ id, result }) => `${id} ${result}`);
  const bond = (address: Hex) => new Map([[a.chain.id, address]]);
  const { quoteBond } = a.deployment;
  expect(await bondsOf(split, bond(quoteBond))).toEqual(['lp.0.bond held', 'lp.1.bond failed']);
  // Across chains the bond would be in the token of the input.
  expect(await bondsOf(crossed, bond(quoteBond))).toEqual(['lp.0.bond failed']);
  expect(await bondsOf(split, bond(a.chain.escrow))).toEqual(['lp.0.bond failed', 'lp.1.bond failed']);
  expect(await bondsOf(split, new Map())).toEqual([]);
});

describe('an honest dossier passes', () => {
  test.each([
    [
      'two LPs on one chain, paid by EIP-3009',
      () => split,
      [
        'taker.signature',
        'lp.0.commitment',
        'lp.1.commitment',
        'venue.checksum',
        'order.opened',
        'output.0.filled',
        'output.0.delivered',
        'output.1.filled',
        'order.finalised',
        'order.state',
        'trade.amounts',
        'trade.fees',
        'trade.stage.submit',
      ],
    ],
    ['a contract wallet', () => wallet, ['taker.signature', 'output.0.delivered', 'order.finalised']],
    [
      'across chains, attested by two of three',
      () => crossed,
      [
        'order.opened',
        'output.0.filled',
        'output.0.delivered',
        'output.0.attested',
        'order.finalised',
        'trade.stage.proof',
      ],
    ],
    [
      'across chains, proven and finalised in one transaction',
      () => together,
      [
        'order.opened',
        'output.0.filled',
        'output.0.delivered',
        'output.0.attested',
        'order.finalised',
        'trade.stage.proof',
      ],
    ],
    ['not on chain yet', () => waiting, ['order.id', 'taker.signature', 'lp.0.commitment', 'order.state']],
    ['refunded', () => refunded, ['order.opened', 'order.refunded', 'order.state']],
  ] as [string, () => Told, string[]][])('%s', async (_, which, wanted) => {
    const checks = await verify(which());
    expect(checks.filter(({ result }) => result !== 'held')).toEqual([]);
    expect(checks.map(({ id }) => id)).toEqual(expect.arrayContaining(wanted));
    expect(exitCode(checks)).toBe(0);
  });

  test('attesters and quorum are counted, and the trusted escrow is enforced', async () => {
    const checks = await verify(
      crossed,
      new Map([
        [a.chain.id, a.chain.escrow],
        [b.chain.id, a.chain.oracle],
      ]),
    );
    expect(checks.find(({ id }) => id === 'output.0.attested')?.says).toMatch(
      /^2 of 3 attesters signed for output 0; 2 are needed at that block/,
    );
    expect(checks.filter(({ id }) => id.startsWith('escrow.')).map(({ id, result }) => [id, result])).toEqual(
      [
        [`escrow.${a.chain.id}`, 'held'],
        [`escrow.${b.chain.id}`, 'failed'],
      ],
    );
  });
});

describe('a changed dossier is refused, and the change is named', () => {
  const other = `0x${'12'.repeat(32)}`;
  type Deep = { [key: string]: Deep } & Deep[] & string & number;
  /** Whatever is changed, the rest is as it was. */
  const changed = (told: Told, change: (dossier: Deep) => void): Told => {
    const dossier = structuredClone(told.dossier) as unknown as Deep;
    change(dossier);
    return { record: told.record, dossier: dossier as unknown as Dossier };
  };
  const set = (deep: Deep, key: string, value: unknown) => void Object.assign(deep, { [key]: value });
  const proofs = (dossier: Deep, kind: 'receipts' | 'commitments' | 'attestations'): Deep[] =>
    (dossier['complianceProofs'] as Deep)[kind] as unknown as Deep[];
  const receipt = (dossier: Deep, event: string): Deep =>
    proofs(dossier, 'receipts').find((one) => (one['event'] as string) === event) as Deep;
  const message = (dossier: Deep): Deep => dossier['intent']?.['typedData']?.['message'] as Deep;
  const commitment = (dossier: Deep): Deep => proofs(dossier, 'commitments')[0] as Deep;

  const TAMPERED: [string, () => Told, (dossier: Deep) => void, string][] = [
    [
      'another order than the one asked for',
      () => split,
      (d) => set(d['trade'] as Deep, 'orderId', other),
      'order.id',
    ],
    [
      'the amount that the taker is owed',
      () => split,
      (d) => set(message(d)['outputs']?.[0] as Deep, 'amount', '1'),
      'order.id',
    ],
    [
      'whom it is delivered to',
      () => split,
      (d) => set(message(d)['outputs']?.[0] as Deep, 'recipient', addressToBytes32(lp.address)),
      'taker.signature',
    ],
    [
      'the ERC-7683 intent beside the envelope',
      () => split,
      (d) => set(d['intent']?.['resolved']?.['maxSpent']?.[0] as Deep, 'amount', '1'),
      'order.envelope',
    ],
    [
      'an envelope with other types',
      () => split,
      (d) => set(d['intent']?.['typedData'] as Deep, 'primaryType', 'Permit'),
      'order.envelope',
    ],
    [
      'somebody else’s signature for the taker’s',
      () => split,
      (d) => {
        const [proof, signature] = [d['complianceProofs'] as Deep, crossed.record.signature];
        set(proof['takerSignature'] as Deep, 'signature', signature);
        set(d['intent']?.['signatures']?.['taker'] as Deep, 'signature', signature);
      },
      'taker.signature',
    ],
    [
      'a wallet that never signed',
      () => wallet,
      (d) => {
        set(d['complianceProofs']?.['takerSignature'] as Deep, 'signature', split.record.signature);
        set(d['intent']?.['signatures']?.['taker'] as Deep, 'signature', split.record.signature);
      },
      'taker.signature',
    ],
    [
      'a commitment of nobody’s operator',
      () => split,
      (d) => {
        const forged = account(999).sign(commitment(d)['digest'] as unknown as Hex);
        set(commitment(d), 'signature', forged);
        set(d['intent']?.['signatures']?.['commitments']?.[0] as Deep, 'signature', forged);
      },
      'lp.0.commitment',
    ],
    [
      'a commitment for another quote',
      () => split,
      (d) => set(commitment(d), 'quoteId', other),
      'lp.0.commitment',
    ],
    [
      'a commitment that is missing',
      () => split,
      (d) => void proofs(d, 'commitments').pop(),
      'lp.1.commitment',
    ],
    [
      'commitments that are all missing',
      () => split,
      (d) => {
        set(d['complianceProofs'] as Deep, 'commitments', []);
        set(d['intent']?.['signatures'] as Deep, 'commitments', []);
        set(d['complianceProofs'] as Deep, 'checksum', null);
      },
      'lp.0.commitment',
    ],
    [
      'a checksum of another quote',
      () => split,
      (d) =>
        set(d['complianceProofs'] as Deep, 'checksum', crossed.dossier['complianceProofs']?.['checksum']),
      'venue.checksum',
    ],
    [
      'another order’s opening',
      () => split,
      (d) => Object.assign(receipt(d, 'Open'), receipt(crossed.dossier as unknown as Deep, 'Open')),
      'order.opened',
    ],
    [
      'a transaction that never was',
      () => split,
      (d) => set(receipt(d, 'Open'), 'txHash', other),
      'order.opened',
    ],
    [
      'the block of a receipt',
      () => crossed,
      (d) => set(receipt(d, 'OutputFilled'), 'blockNumber', 1),
      'output.0.filled',
    ],
    [
      'the time of a receipt',
      () => crossed,
      (d) => set(receipt(d, 'OutputFilled'), 'at', 1_700_000_000),
      'output.0.filled',
    ],
    [
      'the amount that arrived',
      () => crossed,
      (d) => set(receipt(d, 'OutputFilled')['fill'] as Deep, 'amount', '5'),
      'output.0.filled',
    ],
    [
      'who delivered',
      () => crossed,
      (d) => set(receipt(d, 'OutputFilled')['fill'] as Deep, 'solver', second.address),
      'output.0.filled',
    ],
    [
      'a delivery that is missing',
      () => crossed,
      (d) =>
        set(
          d['complianceProofs'] as Deep,
          'receipts',
          proofs(d, 'receipts').filter((one) => (one['event'] as string) !== 'OutputFilled'),
        ),
      'output.0.filled',
    ],
    [
      'an attestation of something else',
      () => crossed,
      (d) => set(d['complianceProofs']?.['attestations']?.[0] as Deep, 'payloadHash', other),
      'output.0.attested',
    ],
    [
      'an attestation in another transaction',
      () => crossed,
      (d) =>
        Object.assign(d['complianceProofs']?.['attestations']?.[0] as Deep, {
          txHash: receipt(d, 'Open')['txHash'],
          blockNumber: receipt(d, 'Open')['blockNumber'],
          blockHash: receipt(d, 'Open')['blockHash'],
          at: receipt(d, 'Open')['at'],
        }),
      'output.0.attested',
    ],
    [
      'the end, in another transaction',
      () => crossed,
      (d) =>
        Object.assign(receipt(d, 'Finalised'), {
          txHash: receipt(d, 'Open')['txHash'],
          blockNumber: receipt(d, 'Open')['blockNumber'],
          blockHash: receipt(d, 'Open')['blockHash'],
          at: receipt(d, 'Open')['at'],
        }),
      'order.finalised',
    ],
    [
      'a fee of an order that was refunded',
      () => refunded,
      (d) => set(d['fees']?.['relayerTip'] as Deep, 'amount', '1'),
      'trade.fees',
    ],
    [
      'settled, when it was refunded',
      () => refunded,
      (d) => Object.assign(d['trade'] as Deep, { status: 'settled', settlementStatus: 'settled' }),
      'order.state',
    ],
    [
      'refunded, when it was settled',
      () => split,
      (d) => Object.assign(d['trade'] as Deep, { status: 'failed', settlementStatus: 'refunded' }),
      'order.refunded',
    ],
    [
      'settled, when it never opened',
      () => waiting,
      (d) => Object.assign(d['trade'] as Deep, { status: 'settled', settlementStatus: 'settled' }),
      'order.opened',
    ],
    [
      'the amounts shown',
      () => split,
      (d) => set(d['trade']?.['route']?.['output'] as Deep, 'rawAmount', '1'),
      'trade.amounts',
    ],
    [
      'the asset shown',
      () => split,
      (d) => set(d['trade']?.['route']?.['input']?.['asset'] as Deep, 'address', a.weth.address),
      'trade.amounts',
    ],
    [
      'the platform fee',
      () => split,
      (d) => set(d['fees']?.['protocolFee'] as Deep, 'amount', '1'),
      'trade.fees',
    ],
    [
      'the relayer’s pay',
      () => split,
      (d) => set(d['fees']?.['relayerTip'] as Deep, 'amount', '0'),
      'trade.fees',
    ],
    [
      'the gas of a stage',
      () => split,
      (d) => set(d['settlement']?.['stages']?.['submit'] as Deep, 'gasUsed', '21000'),
      'trade.stage.submit',
    ],
    [
      'the transaction of a stage',
      () => crossed,
      (d) => set(d['settlement']?.['stages']?.['fill'] as Deep, 'txHash', receipt(d, 'Open')['txHash']),
      'trade.stage.fill',
    ],
  ];
  test.each(TAMPERED)('%s', async (_, which, change, name) => {
    expect(await failed(changed(which(), change))).toContain(name);
  });
});

describe('the command', () => {
  const save = async ({ dossier }: Told, name: string) => {
    const path = join(folder, `${name}.json`);
    await writeFile(path, JSON.stringify(dossier));
    return path;
  };
  const nodes = () => devnet.chains.flatMap(({ chain, anvil }) => ['--rpc', `${chain.id}=${anvil.url}`]);

  test('a saved dossier, one sentence per check, exit 0', async () => {
    const file = await save(crossed, 'crossed');
    const { status, stdout } = await firmquote([
      'verify',
      crossed.record.orderId,
      '--file',
      file,
      ...nodes(),
    ]);
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/^ok {2}.*order\.id/m);
    expect(stdout).toMatch(/All \d+ checks held for 0x[0-9a-f]{64}, by signatures and chains alone\.\n$/);
  });

  test('error: a false dossier exits 1, as JSON too; an unreachable chain exits 2', async () => {
    const lie = structuredClone(crossed);
    Object.assign(lie.dossier['trade'] as unknown as object, {
      status: 'failed',
      settlementStatus: 'refunded',
    });
    const refused = await firmquote([
      'verify',
      crossed.record.orderId,
      '--file',
      await save(lie, 'lie'),
      ...nodes(),
      '--json',
    ]);
    expect(refused.status).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      orderId: crossed.record.orderId,
      verified: false,
      failed: ['order.refunded', 'order.state'],
      checks: expect.arrayContaining([{ id: 'order.id', result: 'held', says: expect.any(String) }]),
    });
    const unasked = await verifyClaim({
      orderId: crossed.record.orderId,
      claim: readClaim(crossed.dossier),
      witnesses: new Map([...witnesses].slice(0, 1)),
      knownEscrows: new Map(),
    });
    expect(unasked.filter(({ result }) => result === 'unchecked').map(({ says }) => says)).toContain(
      `No node was given for chain ${b.chain.id}: add --rpc ${b.chain.id}=URL.`,
    );
    expect(exitCode(unasked)).toBe(2);
  });

  test('error: no dossier, and one without its proofs', async () => {
    const hidden = structuredClone(crossed) as unknown as { dossier: Record<string, unknown> };
    delete hidden.dossier['intent'];
    expect(
      (
        await firmquote([
          'verify',
          crossed.record.orderId,
          '--file',
          await save(hidden as unknown as Told, 'hidden'),
          ...nodes(),
        ])
      ).stderr,
    ).toContain('only owners and admins');
    await expect(runVerify(crossed.record.orderId, { rpc: [], escrow: [] })).rejects.toThrow(
      'Give a saved dossier',
    );
    await expect(runVerify('0x12', { rpc: [], escrow: [] })).rejects.toThrow('An order id is');
  });
});
