/** Deferred settlement: paid into the taker's escrow balance, and paid out after the delay. */

import * as z from 'zod';
import { readTrades } from '../world.ts';
import { type DemoCheck, eventually, expect, expectEqual, expectSettled } from './check.ts';
import { askOf, inTokens, outputOf, SETTLE_TIMEOUT_MS, freshTrade } from './trade.ts';

const zDossier = z.object({
  trade: z.object({
    deferredSettlement: z
      .object({
        stage: z.string(),
        autoWithdraw: z.boolean(),
        estimatedSettlementAvailableAt: z.string().nullable(),
        withdrawalTxHash: z.string().nullable(),
      })
      .nullable(),
    lifecycleStatus: z.object({ withdrawal: z.object({ key: z.string() }) }),
  }),
});

const PAYOUT_TIMEOUT_MS = 60_000;

export const deferredCheck: DemoCheck = {
  name: 'deferred settlement: into the escrow balance, paid out later',
  async run(world, tally) {
    const trade = freshTrade(world);
    const { taker, dest } = trade;
    const dossier = async (orderId: string) =>
      zDossier.parse(await (await readTrades(world.manifest, `/${orderId}`)).json()).trade;
    const held = () => Promise.all([dest.balance(taker.address, 'WETH'), dest.ledger(taker.address, 'WETH')]);
    const [wallet, ledger] = await held();
    const { candidate, orderId } = await taker.take(
      askOf(trade, { sell: '600' }, { settlement: 'ledger_auto_withdraw' }),
    );
    const amount = outputOf(candidate);
    expectEqual(candidate.preview.outputs[0]?.receiver, taker.address, 'receiver of the candidate');
    expectSettled(await taker.finish(orderId, SETTLE_TIMEOUT_MS), tally);
    expectEqual(
      (await held()).join(),
      [wallet, ledger + amount].join(),
      'WETH in wallet and ledger after the trade',
    );
    const { deferredSettlement: first, lifecycleStatus } = await dossier(orderId);
    expectEqual(first?.stage, 'executed', 'stage after the trade');
    expectEqual(lifecycleStatus.withdrawal.key, 'available', 'withdrawal status after the trade');
    const windowMs = Date.parse(first?.estimatedSettlementAvailableAt ?? '') - Date.now();
    expect(
      windowMs > 0,
      `the settlement became available at ${first?.estimatedSettlementAvailableAt}, before it was seen`,
    );
    await eventually(
      'the payout reaches the wallet',
      windowMs + PAYOUT_TIMEOUT_MS,
      async () => (await dest.balance(taker.address, 'WETH')) === wallet + amount,
    );
    await eventually(
      'history shows the withdrawal',
      PAYOUT_TIMEOUT_MS,
      async () => (await dossier(orderId)).deferredSettlement?.stage === 'withdrawn',
    );
    const { deferredSettlement: last, lifecycleStatus: end } = await dossier(orderId);
    expectEqual(end.withdrawal.key, 'withdrawn', 'withdrawal status at the end');
    const receipt = await dest.client.getTransactionReceipt({
      hash: last?.withdrawalTxHash as `0x${string}`,
    });
    expectEqual(receipt.status, 'success', 'transaction of the withdrawal');
    expectEqual(await dest.ledger(taker.address, 'WETH'), ledger, 'WETH in the ledger after the withdrawal');
    return `${inTokens(dest, 'WETH', amount)} credited in the escrow, and paid into the wallet ${Math.round(windowMs / 1000)} s later without another signature`;
  },
};
