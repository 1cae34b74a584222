/** A bridge venue, as a process, whose float is low on one of two chains and refills itself over CCTP. */

import { setTimeout as sleep } from 'node:timers/promises';
import { createTransferStore } from '../../../src/adapters/postgres/transfer-store.ts';
import type { StoredTransfer } from '../../../src/ports/stores/transfers.ts';
import { setOperatorCall } from '../../../src/settlement/call.ts';
import { EVERYTHING, moverCall } from '../../../src/settlement/lp-account.ts';
import { foldTransfer, type TransferStage } from '../../../src/settlement/transfer.ts';
import { type TestCctp, startCctp } from '../../support/cctp.ts';
import { account, type TestChain } from '../../support/devnet.ts';
import { MOVER } from '../../support/lp-account.ts';
import { patiently } from './client.ts';
import { type Config, startWorld, type World } from './world.ts';

interface Options {
  chainIds: readonly [number, number];
  /** Whole tokens of the float on each chain. */
  owned: readonly [bigint, bigint];
  /** Whole tokens: the second chain is low with less, and a transfer carries so much. */
  low: bigint;
  lot: bigint;
}

const WEEK_MS = 7 * 86_400_000;
const OPERATOR = account(3_250);

/** The venue is not started. */
export async function startRefillingVenue({ chainIds, owned, low, lot }: Options) {
  let cctp: TestCctp | undefined;
  const world: World = await startWorld({
    ...{ chainIds, lps: [], env: { MOVER: MOVER.privateKey, OPERATOR: OPERATOR.privateKey } },
    configure(part, config) {
      if (!('chains' in config)) return config;
      // The delay of a withdrawal passes by the chains' clocks, not by the machine's.
      const sections = config['chains'] as object[];
      const patient = { ...config, chains: sections.map((each) => ({ ...each, maxClockSkewMs: WEEK_MS })) };
      return part === 'venue' && cctp ? refilling(patient, cctp) : patient;
    },
  });
  const [here, there] = world.devnet.chains as [TestChain, TestChain];
  const part = world.venue();
  cctp = await startCctp([
    { chain: here, domain: 6 },
    { chain: there, domain: 26, isFinalAtOnce: true },
  ]);
  const { account: float, owner, mover } = cctp;
  for (const [at, chain] of [here, there].entries()) {
    await chain.fund(OPERATOR.address, 0n);
    await chain.send(owner.address, float, setOperatorCall(OPERATOR.address, true));
    await chain.fund(float, owned[at as 0 | 1]);
    await chain.send(mover.address, float, moverCall.deposit(chain.usdc.address, EVERYTHING));
  }

  function refilling(config: Config, { circle, deployments }: TestCctp): Config {
    return {
      ...config,
      chains: (config['chains'] as object[]).map((chain, at) => {
        const { domain, token, messenger, transmitter } = deployments[at] as (typeof deployments)[number];
        return {
          ...chain,
          cctpDomain: domain,
          cctp: { token, messenger, transmitter, fastSeconds: null, standardSeconds: 4 },
        };
      }),
      bridges: [
        {
          ...{ id: 'usdc-float', name: 'USDC float', account: float },
          operator: { env: 'OPERATOR', development: true },
          assets: [
            {
              on: [here, there].map(({ chain, usdc }) => ({
                ...{ chainId: chain.id, token: usdc.address, lot: String(lot) },
                low: chain === there.chain ? String(low) : null,
              })),
            },
          ],
          refill: {
            by: { cctp: { attestationUrl: circle.url, allowPrivate: true, fast: false, timeoutMs: 1_000 } },
          },
          moves: { ...{ mover: { env: 'MOVER', development: true }, mostPerDay: '1000000', everyMs: 200 } },
        },
      ],
    };
  }

  const holdingOf = async ({ port, usdc }: TestChain) => ({
    ledger: await port.ledgerBalance(float, usdc.address),
    beside: await port.tokenBalance(float, usdc.address),
  });
  const nonceOf = ({ port }: TestChain) => port.transactionCount(mover.address, 'latest');

  /** From outside, because the process may be dead. */
  async function transfers(): Promise<(StoredTransfer & { stage: TransferStage })[]> {
    const all = await createTransferStore(world.database).newest(10);
    return all.map((each) => ({ ...each, stage: foldTransfer(each.move.amount, each.facts).stage }));
  }

  let passed = false;
  /** Until the process has died, or the transfer is over. The delay of the withdrawal passes once. */
  async function untilOver(): Promise<'died' | 'over'> {
    let seen: TransferStage | undefined;
    return patiently(
      async () => {
        seen = (await transfers())[0]?.stage;
        if (!part.running()) return 'died';
        if (seen === 'deposited') return 'over';
        if (seen === 'requested' && !passed) {
          passed = true;
          const seconds = (await here.port.withdrawalDelay()) + 1;
          for (const { anvil } of [here, there]) await anvil.advance(seconds);
        }
        await sleep(100);
        return undefined;
      },
      () => `the transfer is ${seen}; the venue said:\n${part.said().slice(-3_000)}`,
    );
  }

  return {
    ...{ world, part, transfers, untilOver },
    async holdings() {
      return {
        here: await holdingOf(here),
        there: await holdingOf(there),
        nonces: { here: await nonceOf(here), there: await nonceOf(there) },
      };
    },
    async stop(): Promise<void> {
      await world.stop();
      await cctp?.stop();
    },
  };
}

export type RefillingVenue = Awaited<ReturnType<typeof startRefillingVenue>>;
