/** An LP with an `LpAccount` on two chains that moves its USDC between them over CCTP, as a process. */

import { setTimeout as sleep } from 'node:timers/promises';
import { createTransferStore } from '../../../src/adapters/postgres/transfer-store.ts';
import type { StoredTransfer } from '../../../src/ports/stores/transfers.ts';
import { setOperatorCall } from '../../../src/settlement/call.ts';
import { EVERYTHING, moverCall } from '../../../src/settlement/lp-account.ts';
import { foldTransfer, type TransferStage } from '../../../src/settlement/transfer.ts';
import { type TestCctp, startCctp } from '../../support/cctp.ts';
import type { TestChain } from '../../support/devnet.ts';
import { MOVER } from '../../support/lp-account.ts';
import { patiently } from './client.ts';
import { type Config, startWorld, type World, type WorldLp } from './world.ts';

interface Options {
  chainIds: readonly [number, number];
  /** As in `createPart`. */
  program?: string;
  /** Whole tokens of the account on each chain. */
  owned?: readonly [bigint, bigint];
  transfers: object;
  /** Over the bridge's fast transfers, for which it keeps a fee. */
  fast?: boolean;
  /** More of the section `lp`. */
  lp?: object;
  /** More of the section `admin`. */
  admin?: object;
}

const OWNED = [50_000n, 50_000n] as const;
const WEEK_MS = 7 * 86_400_000;

export async function startMovingLp({
  chainIds,
  program,
  owned = OWNED,
  transfers,
  fast = false,
  lp: more,
  admin,
}: Options) {
  let cctp: TestCctp | undefined;
  const world: World = await startWorld({
    chainIds,
    ...(program !== undefined && { program }),
    env: { MOVER: MOVER.privateKey },
    // The delay of a withdrawal passes by the chains' clocks, not by the machine's.
    configure(part, config) {
      const name = 'networks' in config ? 'networks' : 'chains';
      const sections = config[name] as object[];
      const patient = { ...config, [name]: sections.map((each) => ({ ...each, maxClockSkewMs: WEEK_MS })) };
      return part === 'alpha' && cctp ? moving(patient, cctp) : patient;
    },
  });
  const [here, there] = world.devnet.chains as [TestChain, TestChain];
  const [lp] = world.lps as [WorldLp];
  cctp = await startCctp([
    { chain: here, domain: 6 },
    { chain: there, domain: 26, isFinalAtOnce: true },
  ]);
  const { account, owner, mover, circle, deployments } = cctp;
  for (const [at, chain] of [here, there].entries()) {
    await chain.send(owner.address, account, setOperatorCall(lp.operator.address, true));
    await chain.fund(account, owned[at as 0 | 1]);
    for (const { address } of [chain.usdc, chain.weth])
      await chain.send(mover.address, account, moverCall.deposit(address, EVERYTHING));
  }

  function moving(config: Config, { circle: service }: TestCctp): Config {
    const section = config['lp'] as { chains: object[] };
    const networks = config['networks'] as object[];
    return {
      ...config,
      keys: { ...(config['keys'] as object), mover: { env: 'MOVER', development: true } },
      bridges: { cctp: { attestationUrl: service.url, allowPrivate: true, fast, timeoutMs: 1_000 } },
      transfers: { everyMs: 200, ...transfers },
      admin: { ...(config['admin'] as object), ...admin },
      networks: networks.map((network, at) => {
        const { domain, token, messenger, transmitter } = deployments[at] as (typeof deployments)[number];
        return {
          ...network,
          cctpDomain: domain,
          cctp: { token, messenger, transmitter, fastSeconds: fast ? 1 : null, standardSeconds: 4 },
        };
      }),
      lp: {
        ...section,
        chains: section.chains.map((chain) => ({ ...chain, account })),
        reconcileSeconds: 1,
        ...more,
      },
    };
  }

  async function ask<T>(path: string, body?: object): Promise<T> {
    const answer = await fetch(`${lp.adminUrl}/v1${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** Also its admin API. */
  async function startWhole(): Promise<void> {
    await lp.part.start();
    await patiently(() => ask('/transfers').catch(() => undefined));
  }

  /** From outside, because the process may be dead. undefined: none has begun. */
  async function newest(): Promise<(StoredTransfer & { stage: TransferStage }) | undefined> {
    const [transfer] = await createTransferStore(lp.database).newest(1);
    return transfer && { ...transfer, stage: foldTransfer(transfer.move.amount, transfer.facts).stage };
  }

  const usdcOf = async ({ port, usdc }: TestChain) => ({
    ledger: await port.ledgerBalance(account, usdc.address),
    beside: await port.tokenBalance(account, usdc.address),
  });
  const nonceOf = ({ port }: TestChain) => port.transactionCount(mover.address, 'latest');

  /** What the LP would promise of the USDC here; undefined while it starts. */
  async function free(): Promise<bigint | undefined> {
    interface Bucket {
      chainId: number;
      token: string;
      free: string;
    }
    const { buckets } = await ask<{ buckets: Bucket[] }>('/inventory');
    const found = buckets.find(
      ({ chainId, token }) => chainId === here.chain.id && token === here.usdc.address,
    );
    return found && BigInt(found.free);
  }

  /** Both chains' clocks move on, past the delay of a withdrawal. */
  async function passDelay(): Promise<void> {
    const seconds = (await here.port.withdrawalDelay()) + 1;
    for (const { anvil } of [here, there]) await anvil.advance(seconds);
  }

  /** Until the process has died, or the newest transfer has this stage; `passed`: whether its delay has. */
  async function until(stage: TransferStage, passed: { delay: boolean }): Promise<'died' | 'reached'> {
    let seen: TransferStage | undefined;
    return patiently(
      async () => {
        if (!lp.part.running()) return 'died';
        seen = (await newest())?.stage;
        if (seen === stage) return 'reached';
        if (seen === 'requested' && !passed.delay) {
          passed.delay = true;
          await passDelay();
        }
        await sleep(100);
        return undefined;
      },
      () => `the transfer is ${seen}; the LP said:\n${lp.part.said().slice(-3_000)}`,
    );
  }

  await startWhole();
  await world.startAll();
  return {
    ...{ world, lp, here, there, account, circle, ask, startWhole, newest, free, until },
    async before() {
      return {
        here: await usdcOf(here),
        there: await usdcOf(there),
        nonces: { here: await nonceOf(here), there: await nonceOf(there) },
      };
    },
    async stop(): Promise<void> {
      await world.stop();
      await cctp?.stop();
    },
  };
}

export type MovingLp = Awaited<ReturnType<typeof startMovingLp>>;
