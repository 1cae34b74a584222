/** Two dossiers are verified as `firmquote verify` does, and a falsified one fails. */

import type { Bytes32 } from '../../../domain/hex.ts';
import { zTravelRuleTransmission, zCompliance } from '../../../protocol/api/records.ts';
import { verifyClaim } from '../../verify/checks.ts';
import { type TradeClaim, claimFromVenue } from '../../verify/claim.ts';
import { openWitness } from '../../verify/witness.ts';
import { readTrades } from '../world.ts';
import { type DemoCheck, eventually, expect, expectEqual } from './check.ts';
import { askOf, settleAndCompare, freshTrade } from './trade.ts';

export const verifiedCheck: DemoCheck = {
  name: 'verify: dossiers are proven by signatures and chains alone',
  async run(world, tally) {
    const { url, keys, workspaceId: workspace } = world.manifest.venue;
    const dossierOf = async (orderId: Bytes32) => {
      const response = await readTrades(world.manifest, `/${orderId}`);
      expectEqual(response.status, 200, 'status of the dossier');
      return (await response.json()) as Record<string, unknown>;
    };
    const ids: Bytes32[] = [];
    for (const corridor of [
      ['base', 'base'],
      ['base', 'arc'],
    ] as const) {
      const trade = freshTrade(world, corridor);
      // Large enough for a travel-rule report.
      ids.push((await settleAndCompare(trade, askOf(trade, { sell: '1500' }), tally)).orderId as Bytes32);
    }
    const witnesses = new Map(
      await Promise.all(
        world.manifest.chains.map(
          async ({ id, rpcUrl, escrow }) => [id, await openWitness(id, rpcUrl, escrow)] as const,
        ),
      ),
    );
    const knownEscrows = new Map(world.manifest.chains.map(({ id, escrow }) => [id, escrow]));
    const judge = async (orderId: Bytes32, claim: TradeClaim) =>
      verifyClaim({ orderId, claim, witnesses, knownEscrows });
    try {
      let held = 0;
      for (const orderId of ids) {
        const claim = await claimFromVenue({ url, key: keys.workspaceAdmin, workspace, orderId });
        const checks = await judge(orderId, claim);
        const bad = checks.find(({ result }) => result !== 'held');
        expect(!bad, `${bad?.id}: ${bad?.says}`);
        held += checks.length;
        const lie = structuredClone(claim);
        lie.trade.route.output.rawAmount = (BigInt(lie.trade.route.output.rawAmount) + 1n).toString();
        expectEqual(
          (await judge(orderId, lie))
            .filter(({ result }) => result === 'failed')
            .map(({ id }) => id)
            .join(),
          'trade.amounts',
          'checks that fail for an amount one unit too high',
        );
        await eventually(
          'the travel-rule record is transmitted',
          20_000,
          async () =>
            zTravelRuleTransmission.parse((await dossierOf(orderId))['travelRuleTransmission']).state ===
            'transmitted',
        );
        expectEqual(
          zCompliance.parse((await dossierOf(orderId))['snapshotCompliance']).decision,
          'allowed',
          'screening at creation',
        );
      }
      return `${held} checks held for a same-chain and a cross-chain trade; an amount one unit too high fails; both were screened and reported`;
    } finally {
      for (const witness of witnesses.values()) witness.close();
    }
  },
};
