/** Runs a certification of a route partner, from its terms to the report. */

import type { KeyObject } from 'node:crypto';
import { createRuleFindings, type RuleResult, type RuleVerdict, verdictOver } from '../findings.ts';
import { becomesTrue } from '../waiting.ts';
import type { CertifyTaker, CertifyWorld } from '../world.ts';
import { createPartnerAsking, type PartnerAsking } from './asking.ts';
import { chainsOf, tradedPair, type PartnerContext } from './context.ts';
import { checkMessages } from './messages.ts';
import {
  checkCancel,
  checkEscrowedFill,
  checkPayouts,
  checkReconciliation,
  checkRefusals,
  checkUnknown,
} from './orders.ts';
import { accountOn, checkBlock, checkPrices, checkReserve, sizeOf } from './quotes.ts';
import { PARTNER_RULES, type PartnerRule } from './rules.ts';

interface PartnerCertifySettings {
  partner: string;
  /** Base of the partner's paths. */
  url: string;
  /** Ours. */
  key: KeyObject;
  partnerKey: KeyObject;
  /** The deadline of prices and reservations. */
  deadlineMs: number;
  /** The longest wait until the partner answers. */
  startMs: number;
  fillMs: number;
  onStep?(what: string): void;
}

export interface PartnerReport {
  partner: string;
  verdict: RuleVerdict;
  results: RuleResult<PartnerRule>[];
  answers: PartnerAsking['counts'];
}

export async function certifyPartner(
  world: CertifyWorld & { taker: CertifyTaker },
  {
    partner,
    url,
    key,
    partnerKey,
    deadlineMs,
    startMs,
    fillMs,
    onStep: step = () => {},
  }: PartnerCertifySettings,
): Promise<PartnerReport> {
  const findings = createRuleFindings<PartnerRule>(PARTNER_RULES);
  const asking = createPartnerAsking({ url, partner, key, partnerKey, findings, deadlineMs });
  const report = (): PartnerReport => {
    const results = findings.results();
    return {
      partner,
      verdict: verdictOver<PartnerRule>(PARTNER_RULES, results),
      results,
      answers: asking.counts,
    };
  };
  try {
    step('waiting for the partner to answer');
    if (!(await becomesTrue(startMs, async () => (await asking.reply('terms', {})) !== undefined))) {
      findings.fail('schema', `nothing answers at ${url} within ${startMs / 1_000} seconds`);
      return report();
    }
    step('messages that no partner may take');
    await checkMessages(asking, findings, { partner, key });
    const context = await contextOf(world, asking, findings, fillMs);
    if (context) await run(context, step);
    return report();
  } finally {
    asking.close();
  }
}

async function contextOf(
  world: PartnerContext['world'],
  asking: PartnerAsking,
  findings: PartnerContext['findings'],
  fillMs: number,
): Promise<PartnerContext | undefined> {
  const terms = await asking.ask('terms', {});
  if (!terms) return undefined;
  const pair = tradedPair(world, terms);
  if (!pair) {
    findings.fail('schema', 'the terms have no pair of tokens of the two chains');
    return undefined;
  }
  const { origin, dest } = chainsOf(world, pair);
  const account = accountOn({ terms, pair });
  if (account === undefined || origin === dest) {
    findings.fail('account', 'input and output have no account in common');
    return undefined;
  }
  findings.pass('account', `${account} on both chains`);
  return { world, asking, findings, terms, pair, origin, dest, account, fillMs };
}

async function run(context: PartnerContext, step: (what: string) => void): Promise<void> {
  step('prices');
  const sized = await sizeOf(context);
  if (!sized)
    return context.findings.fail(
      'reserve',
      `the account ${context.account} has nothing of ${context.pair.output}`,
    );
  if (!(await checkPrices(context, sized))) return;
  await checkBlock(context, sized);
  step('orders that must be refused');
  await checkRefusals(context, sized.small);
  await checkUnknown(context);
  step('a delivery');
  const delivered = await checkEscrowedFill(context, sized.small);
  step('an order that is given up');
  await checkCancel(context, sized.small);
  step('the day, and payouts');
  await checkReconciliation(context, delivered);
  await checkPayouts(context, sized.small);
  step('more than the account can pay');
  await checkReserve(context, sized);
}
