/** Compares the dossier's amounts, fees and stages with terms and chains. */

import { assetId } from '../../domain/asset.ts';
import type { StandardOrder } from '../../domain/order.ts';
import { inputToken } from '../../settlement/funding.ts';
import type { Case } from './case.ts';
import { feesOf } from './fees.ts';
import { addressOf } from './on-chain.ts';

export async function checkAmounts(c: Case, delivered: readonly bigint[]): Promise<void> {
  const { trade, order, domain, judge, inTokens } = c;
  const { input, output } = trade.route;
  const [[token, amount]] = order.inputs as [readonly [bigint, bigint]];
  const [first] = order.outputs as [StandardOrder['outputs'][number]];
  const out = order.outputs.reduce((sum, one, index) => sum + (delivered[index] ?? one.amount), 0n);
  const signedOut = order.outputs.reduce((sum, one) => sum + one.amount, 0n);
  const same =
    input.rawAmount === amount.toString() &&
    input.asset.chainId === domain.chainId &&
    input.asset.address?.toLowerCase() === inputToken(token) &&
    [out.toString(), signedOut.toString()].includes(output.rawAmount) &&
    output.asset.chainId === Number(first.chainId) &&
    output.asset.address?.toLowerCase() === addressOf(first.token);
  const [paid, received] = await Promise.all([
    inTokens(amount, domain.chainId, inputToken(token)),
    inTokens(out, Number(first.chainId), addressOf(first.token)),
  ]);
  judge(
    'trade.amounts',
    same,
    `The trade shown, ${paid} for ${received}, is the signed trade.`,
    'The trade shown has other amounts or assets than the signed trade.',
  );
}

export async function checkFees(c: Case): Promise<void> {
  const { claim, trade, proofs, order, domain, judge, inTokens } = c;
  const shown = claim.fees;
  const signed = feesOf(order);
  if (!shown || !signed) return;
  // An order that failed was charged nothing.
  const failed = trade.status === 'failed' && !proofs.receipts.some(({ event }) => event === 'Finalised');
  const due = failed ? { protocol: 0n, relayer: 0n } : signed;
  const token = inputToken(order.inputs[0]?.[0] ?? 0n);
  const asset = assetId({ chainId: domain.chainId, token });
  const same = (fee: typeof shown.protocolFee, amount: bigint) =>
    !fee ||
    fee.amount === null ||
    fee.amount === undefined ||
    (fee.amount === amount.toString() && (amount === 0n || fee.asset === asset));
  const [platform, relayer] = await Promise.all(
    [due.protocol, due.relayer].map((amount) => inTokens(amount, domain.chainId, token)),
  );
  judge(
    'trade.fees',
    same(shown.protocolFee, due.protocol) && same(shown.relayerTip, due.relayer),
    `The fees of ${platform} for the platform and ${relayer} for the relayer are what the signed order charges.`,
    `The signed order charges ${platform} for the platform and ${relayer} for the relayer; the dossier differs.`,
  );
}

export async function checkStages(c: Case): Promise<void> {
  const { claim, trade, proofs, opened, witnesses, transaction, note, fail, judge, unasked } = c;
  const proven: Record<string, readonly string[]> = {
    fill: proofs.receipts.filter(({ event }) => event === 'OutputFilled').map(({ txHash }) => txHash),
    proof: proofs.attestations.map(({ txHash }) => txHash),
    finalise: proofs.receipts.filter(({ event }) => event === 'Finalised').map(({ txHash }) => txHash),
  };
  if (opened) proven['submit'] = [opened.txHash];
  for (const [stage, shown] of Object.entries(claim.settlement.stages)) {
    if (!shown?.txHash) continue;
    const name = `trade.stage.${stage}`;
    const wanted = proven[stage];
    if (wanted && wanted.length > 0 && !wanted.includes(shown.txHash)) {
      fail(name, `The stage "${stage}" names transaction ${shown.txHash}; the proofs name another.`);
      continue;
    }
    if (shown.chainId == null || !witnesses.has(shown.chainId)) {
      unasked(name, shown.chainId ?? 0);
      continue;
    }
    const tx = await transaction(shown.chainId, shown.txHash);
    const sent = trade.status === 'pending' && !tx;
    const same =
      tx !== undefined &&
      (shown.blockNumber == null || String(shown.blockNumber) === tx.blockNumber.toString()) &&
      (shown.gasUsed == null || String(shown.gasUsed) === tx.gasUsed.toString());
    if (sent) note(name, 'unchecked', `The transaction of stage "${stage}" is not in a block yet.`);
    else
      judge(
        name,
        same,
        `The transaction of stage "${stage}" is on chain ${shown.chainId}, with the block and gas shown.`,
        `The transaction of stage "${stage}" has another block or gas than shown, or does not exist.`,
      );
  }
}
