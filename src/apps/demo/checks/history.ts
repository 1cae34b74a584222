/** A finished trade in the workspace: list, dossier, export. */

import { zTradeDossier, type TradeDossier } from '../../../protocol/api/trades/dossier.ts';
import { zTradesResponse } from '../../../protocol/api/trades/trades.ts';
import { readTrades } from '../world.ts';
import { type DemoCheck, eventually, expect, expectEqual } from './check.ts';
import { askOf, settleAndCompare, freshTrade } from './trade.ts';

const RESTRICTED = [
  'member',
  'compliance',
  'snapshotCompliance',
  'travelRuleTransmission',
  'complianceProofs',
  'intent',
  'fees',
];

export const historyCheck: DemoCheck = {
  name: 'trade history: list, dossier and CSV export',
  async run(world, tally) {
    const trade = freshTrade(world, ['base', 'arc']);
    const { orderId, candidate } = await settleAndCompare(trade, askOf(trade, { sell: '700' }), tally);
    const { workspaceMember, service } = world.manifest.venue.keys;
    const read = (path: string, key?: string) => readTrades(world.manifest, path, key);

    const list = zTradesResponse.parse(
      await (await read('?corridor=base-arc&status=settled&limit=100')).json(),
    );
    const item = list.items.find((each) => each.orderId === orderId);
    expect(item !== undefined, 'the list of settled trades does not hold the trade');
    expectEqual(item.route.input.rawAmount, candidate.preview.inputs[0]?.amount, 'input amount in the list');
    expectEqual(item.slippageBps, 0, 'slippage of a firm quote');

    let dossier: TradeDossier | undefined;
    await eventually('the gas of every transaction is recorded', 30_000, async () => {
      dossier = zTradeDossier.strict().parse(await (await read(`/${orderId}`)).json());
      return dossier.settlement.transactions.every(
        ({ gasUsed, feeUsd }) => gasUsed !== null && feeUsd !== null,
      );
    });
    const { submit, fill, proof, finalise } = (dossier as TradeDossier).settlement.stages;
    for (const [stage, view] of [
      [submit, trade.source],
      [fill, trade.dest],
      [proof, trade.source],
      [finalise, trade.source],
    ] as const) {
      expect(stage !== null, 'a stage of a settled trade across chains is missing');
      const receipt = await view.client.getTransactionReceipt({ hash: stage.txHash as `0x${string}` });
      expectEqual(stage.gasUsed, receipt.gasUsed.toString(), 'gas of a stage');
    }

    const plain = (await (await read(`/${orderId}`, workspaceMember)).json()) as object;
    const shown = RESTRICTED.filter((section) => section in plain);
    expectEqual(shown.join(), '', 'sections that a plain member sees');
    expectEqual(
      RESTRICTED.filter((section) => !(section in (dossier as object))).join(),
      '',
      'sections that an admin does not see',
    );
    expectEqual((await read('', service)).status, 403, 'status for a service key');

    const csv = (await (await read('/export?corridor=base-arc&status=settled')).text()).split('\r\n');
    const line = csv.find((each) => each.startsWith(orderId));
    expect(
      line !== undefined && line.includes(submit?.txHash ?? '?') && line.includes(finalise?.txHash ?? '?'),
      'the export does not hold the trade with its transactions',
    );
    const gas = (dossier as TradeDossier).fees?.gas;
    return `${item.executionPrice?.value.slice(0, 12)} ${item.executionPrice?.quoteSymbol} per ${item.executionPrice?.baseSymbol} by ${item.lpName}, settled in ${((item.settlementSpeedMs ?? 0) / 1000).toFixed(1)} s, gas $${gas?.usd?.toFixed(4)}; ${csv.length - 2} trades in the CSV; ${RESTRICTED.length} sections are hidden from members`;
  },
};
