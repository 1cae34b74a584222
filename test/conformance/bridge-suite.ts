/**
 * What moving inventory relies on in every bridge, as one suite that any adapter runs: nothing is lost or
 * made on the way, a new process can go on at every step, and nothing wrong is ever submitted.
 */

import fc from 'fast-check';
import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { UpstreamError } from '../../src/domain/errors.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import type {
  Bridge,
  BridgeCall,
  BridgeEstimate,
  BridgeMove,
  SentTransfer,
  TransferProgress,
} from '../../src/ports/bridge.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { until } from '../support/venue.ts';

interface BridgeSide {
  chain: TestChain;
  token: TokenInfo;
}

/** An adapter and the ground it stands on. */
export interface BridgeWorld {
  /** A new instance each time, as a process that starts again makes it. */
  open(): Bridge;
  sides: readonly [BridgeSide, BridgeSide];
  /** At the same address on both sides. */
  account: Address;
  /** May send its calls. Absent: anyone. */
  mover?: Address;
  /** Base units that the bridge carries either way, ones above its most, and ones below its least. */
  amount: bigint;
  tooMuch: bigint;
  tooLittle: bigint;
  /** The bridge and its attesters see what happened on both chains until now as final. */
  settle(): Promise<void>;
  /** Base units that the bridge has kept on this side for itself. */
  feesTaken(side: BridgeSide): Promise<bigint>;
  /** The fee rises above what the adapter is allowed to pay. Undone by `restore`. */
  makeDear(): Promise<void>;
  /** Failures of the bridge's attesters that last until `restore`, each with what `follow` then says. */
  faults: readonly BridgeFault[];
  restore(): Promise<void>;
  stop(): Promise<void>;
}

interface BridgeFault {
  name: string;
  /** Before the bridge sees the transfer as final. */
  begin(): Promise<void>;
  /** `throws`: an `UpstreamError`. The detail, or the message, matches. */
  follow: 'throws' | 'waiting' | 'stuck';
  says: RegExp;
}

const ANYONE = account(8_200);
const KEEPERS = [account(8_201), account(8_202)] as const;

export function bridgeConformance(name: string, start: () => Promise<BridgeWorld>): void {
  describe(`a bridge: ${name}`, () => {
    let world: BridgeWorld;

    beforeAll(async () => {
      world = await start();
      for (const { chain } of world.sides)
        for (const address of [mover(), ANYONE.address, ...KEEPERS.map((keeper) => keeper.address)])
          await chain.fund(address, 0n);
    });
    afterEach(() => world.restore());
    afterAll(() => world.stop());

    const mover = () => world.mover ?? ANYONE.address;
    const sidesOf = (way: 0 | 1) => [world.sides[way], world.sides[way === 0 ? 1 : 0]] as const;

    function moveOf(way: 0 | 1, amount = world.amount): BridgeMove {
      const [from, to] = sidesOf(way);
      return {
        account: world.account,
        amount,
        from: { chainId: from.chain.chain.id, token: from.token.address },
        to: { chainId: to.chain.chain.id, token: to.token.address },
      };
    }

    const held = ({ chain, token }: BridgeSide) => chain.port.tokenBalance(world.account, token.address);

    async function estimated(move: BridgeMove): Promise<BridgeEstimate> {
      const estimate = await world.open().estimate(move);
      if ('refused' in estimate) throw new Error(`refused: ${estimate.refused}: ${estimate.detail}`);
      return estimate;
    }

    const run = (chain: TestChain, from: Address, { to, data, value }: BridgeCall): Promise<Hex> =>
      chain.anvil.rpc<Hex>('eth_sendTransaction', [
        { from, to, data, value: `0x${value.toString(16)}`, gas: '0x1e8480' },
      ]);

    const succeeded = async (chain: TestChain, hash: Hex) =>
      (await until(() => chain.port.receipt(hash))).status === 'success';

    /** Funded, estimated and sent, as a mover does. */
    async function sendOut(
      way: 0 | 1,
      amount?: bigint,
    ): Promise<{ transfer: SentTransfer; estimate: BridgeEstimate }> {
      const move = moveOf(way, amount);
      const [{ chain, token }] = sidesOf(way);
      await mint(chain, token.address, world.account, move.amount);
      const estimate = await estimated(move);
      const hash = await run(chain, mover(), world.open().send(move, estimate));
      expect(await succeeded(chain, hash)).toBe(true);
      const transfer = await world.open().sent(move, estimate, hash);
      if (!transfer) throw new Error('the transaction sent nothing');
      return { transfer, estimate };
    }

    /** Asks new instances until the transfer has come so far. */
    const reached = <S extends TransferProgress['state']>(transfer: SentTransfer, state: S) =>
      until(async () => {
        await world.settle();
        const progress = await world.open().follow(transfer);
        if (progress.state === 'stuck') throw new Error(`stuck: ${progress.detail}`);
        return progress.state === state ? (progress as Extract<TransferProgress, { state: S }>) : undefined;
      });

    async function deliver(way: 0 | 1, transfer: SentTransfer) {
      const { call } = await reached(transfer, 'deliverable');
      const [, { chain }] = sidesOf(way);
      expect(await succeeded(chain, await run(chain, KEEPERS[0].address, call))).toBe(true);
      return reached(transfer, 'arrived');
    }

    test('describes itself and serves its routes, from memory', () => {
      const bridge = world.open();
      expect(bridge.id).toMatch(/^[a-z0-9-]{1,64}$/);
      expect(bridge.name.length).toBeGreaterThan(0);
      expect(world.open().id).toBe(bridge.id);
      const { from, to } = moveOf(0);
      expect([bridge.serves({ from, to }), bridge.serves({ from: to, to: from })]).toEqual([true, true]);
      const other: Address = '0x00000000000000000000000000000000000000aa';
      expect([
        bridge.serves({ from, to: from }),
        bridge.serves({ from, to: { ...to, token: other } }),
        bridge.serves({ from: { ...from, token: other }, to }),
        bridge.serves({ from, to: { ...to, chainId: 999_999 } }),
      ]).toEqual([false, false, false, false]);
    });

    test.each([0, 1] as const)('carries an amount and conserves it, way %i', async (way) => {
      const [source, destination] = sidesOf(way);
      const [gone, before, kept] = [
        await held(source),
        await held(destination),
        await world.feesTaken(destination),
      ];
      const { transfer, estimate } = await sendOut(way);
      // What was minted for the test is gone again, and nothing has arrived.
      expect([await held(source), await held(destination)]).toEqual([gone, before]);
      const arrived = await deliver(way, transfer);
      const received = (await held(destination)) - before;
      expect(arrived.received).toBe(received);
      expect(received).toBeGreaterThanOrEqual(estimate.leastReceived);
      expect(received).toBeGreaterThanOrEqual(transfer.leastReceived);
      expect(received + (await world.feesTaken(destination)) - kept).toBe(world.amount);
      const receipt = await destination.chain.port.receipt(arrived.txHash);
      expect([receipt?.status, receipt?.blockNumber]).toEqual(['success', arrived.blockNumber]);
      // Whoever asks later gets the same answer.
      expect(await world.open().follow(transfer)).toEqual(arrived);
    });

    test('a transfer survives being stored as JSON between all steps', async () => {
      const { transfer } = await sendOut(0);
      const stored = JSON.stringify(transfer, (_, value: unknown) =>
        typeof value === 'bigint' ? { bigint: String(value) } : value,
      );
      const again = JSON.parse(stored, (_, value: unknown) =>
        typeof value === 'object' && value !== null && 'bigint' in value
          ? BigInt(value.bigint as string)
          : value,
      ) as SentTransfer;
      expect(again).toEqual(transfer);
      await deliver(0, again);
    });

    test('tells two equal transfers apart', async () => {
      const [, destination] = sidesOf(0);
      const before = await held(destination);
      const [first, second] = [await sendOut(0), await sendOut(0)];
      expect(second.transfer.txHash).not.toBe(first.transfer.txHash);
      const one = await deliver(0, second.transfer);
      expect((await held(destination)) - before).toBe(one.received);
      const other = await deliver(0, first.transfer);
      expect(other.txHash).not.toBe(one.txHash);
      expect((await held(destination)) - before).toBe(one.received + other.received);
    });

    test('delivers once when two submit at the same time', async () => {
      const [, destination] = sidesOf(0);
      const before = await held(destination);
      const { transfer } = await sendOut(0);
      const { call } = await reached(transfer, 'deliverable');
      const outcomes = await Promise.all(
        KEEPERS.map(async ({ address }) =>
          succeeded(destination.chain, await run(destination.chain, address, call)),
        ),
      );
      expect(outcomes.toSorted()).toEqual([false, true]);
      const { received } = await reached(transfer, 'arrived');
      expect((await held(destination)) - before).toBe(received);
    });

    test('refuses amounts that are too large or too small, and names what it carries', async () => {
      const most = await world.open().estimate(moveOf(0, world.tooMuch));
      if (!('refused' in most) || most.refused !== 'too_much') throw new Error('not refused as too much');
      expect(most.maxAmount).toBeLessThan(world.tooMuch);
      await estimated(moveOf(0, most.maxAmount));
      const least = await world.open().estimate(moveOf(0, world.tooLittle));
      if (!('refused' in least) || least.refused !== 'too_little')
        throw new Error('not refused as too little');
      expect(least.minAmount).toBeGreaterThan(world.tooLittle);
      await estimated(moveOf(0, least.minAmount));
      expect(await world.open().estimate(moveOf(0, 0n))).toMatchObject({ refused: 'too_little' });
    });

    test('refuses a fee above what it may pay', async () => {
      await world.makeDear();
      expect(await world.open().estimate(moveOf(0))).toMatchObject({ refused: 'unavailable' });
      await world.restore();
      await estimated(moveOf(0));
    });

    test('knows a transaction that sent nothing, or something else', async () => {
      const [{ chain, token }] = sidesOf(0);
      const move = moveOf(0);
      const estimate = await estimated(move);
      const other = await chain.send(
        ANYONE.address,
        token.address,
        encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [world.account, 1n] }),
      );
      expect(await world.open().sent(move, estimate, other)).toBeUndefined();
      // The account does not hold so much.
      const call = world.open().send({ ...move, amount: move.amount * 1_000n }, estimate);
      const reverted = await run(chain, mover(), call);
      expect(await succeeded(chain, reverted)).toBe(false);
      expect(await world.open().sent(move, estimate, reverted)).toBeUndefined();
      const { transfer } = await sendOut(0);
      for (const wrong of [
        { ...move, amount: move.amount + 1n },
        { ...move, account: ANYONE.address },
      ])
        expect(await world.open().sent(wrong, estimate, transfer.txHash)).toBeUndefined();
      await deliver(0, transfer);
    });

    test('does not take a transaction that no node knows for one that sent nothing', async () => {
      const move = moveOf(0);
      const unknown: Hex = `0x${'ab'.repeat(32)}`;
      await expect(world.open().sent(move, await estimated(move), unknown)).rejects.toThrow(UpstreamError);
    });

    test('goes on after each failure of its attesters, and submits nothing meanwhile', async () => {
      expect(world.faults.length).toBeGreaterThan(0);
      for (const fault of world.faults) {
        const { transfer } = await sendOut(0);
        await fault.begin();
        await world.settle();
        const said = await world
          .open()
          .follow(transfer)
          .then(
            (progress) => ('detail' in progress ? `${progress.state}: ${progress.detail}` : progress.state),
            (error: unknown) => (error instanceof UpstreamError ? `throws: ${error.message}` : String(error)),
          );
        expect(said, fault.name).toMatch(new RegExp(`^${fault.follow}: `));
        expect(said, fault.name).toMatch(fault.says);
        await world.restore();
        await deliver(0, transfer);
      }
    });

    test('conserves both sides through a random history of sends, deliveries and failures', async () => {
      const steps = fc.sample(
        fc.record({
          what: fc.constantFrom('send', 'deliver', 'deliver', 'fault', 'restore'),
          way: fc.constantFrom<(0 | 1)[]>(0, 1),
          share: fc.bigInt({ min: 1n, max: 9n }),
          pick: fc.nat({ max: 999 }),
        }),
        { numRuns: 60, seed: 20_261_128 },
      );
      const before = await Promise.all(world.sides.map(held));
      const kept = await Promise.all(world.sides.map((side) => world.feesTaken(side)));
      const open: { way: 0 | 1; transfer: SentTransfer }[] = [];
      const follow = (transfer: SentTransfer) =>
        world
          .open()
          .follow(transfer)
          .catch((error: unknown) => {
            if (error instanceof UpstreamError) return undefined;
            throw error;
          });
      const deliverIfDue = async ({ way, transfer }: (typeof open)[number]) => {
        const progress = await follow(transfer);
        // Any keeper, perhaps for the second time: then it reverts.
        if (progress?.state === 'deliverable') {
          const { chain } = sidesOf(way)[1];
          await succeeded(chain, await run(chain, KEEPERS[0].address, progress.call));
        }
        return progress;
      };
      for (const { what, way, share, pick } of steps) {
        if (what === 'send') {
          // A failure of the attesters may hide the fee.
          await world.restore();
          open.push({ way, transfer: (await sendOut(way, (world.amount * share) / 10n)).transfer });
        } else if (what === 'fault') await world.faults[pick % world.faults.length]?.begin();
        else if (what === 'restore') await world.restore();
        else if (open.length > 0) await deliverIfDue(open[pick % open.length] as (typeof open)[number]);
        if (pick % 3 === 0) await world.settle();
      }
      await world.restore();
      const received = [0n, 0n];
      const sent = [0n, 0n];
      for (const one of open) {
        const arrived = await until(async () => {
          await world.settle();
          const progress = await deliverIfDue(one);
          return progress?.state === 'arrived' ? progress : undefined;
        });
        const to = one.way === 0 ? 1 : 0;
        received[to] = (received[to] as bigint) + arrived.received;
        sent[to] = (sent[to] as bigint) + one.transfer.move.amount;
      }
      expect(open.length).toBeGreaterThan(5);
      for (const [at, side] of world.sides.entries()) {
        const grown = (await held(side)) - (before[at] as bigint);
        expect(grown).toBe(received[at]);
        expect(grown + (await world.feesTaken(side)) - (kept[at] as bigint)).toBe(sent[at]);
      }
    });

    test('claims nothing for a burn that a reorganisation took back', async () => {
      const [source, destination] = sidesOf(0);
      const before = await held(destination);
      const snapshot = await source.chain.anvil.rpc('evm_snapshot', []);
      const { transfer } = await sendOut(0);
      await source.chain.anvil.rpc('evm_revert', [snapshot]);
      await source.chain.anvil.mine(2);
      const progress = await world.open().follow(transfer);
      expect(progress.state).toBe('waiting');
      expect(await held(destination)).toBe(before);
    });
  });
}

const mint = (chain: TestChain, token: Address, to: Address, amount: bigint): Promise<Hex> =>
  chain.send(
    ANYONE.address,
    token,
    encodeFunctionData({
      abi: [
        {
          type: 'function',
          name: 'mint',
          stateMutability: 'nonpayable',
          inputs: [{ type: 'address' }, { type: 'uint256' }],
          outputs: [],
        },
      ] as const,
      functionName: 'mint',
      args: [to, amount],
    }),
  );
