/**
 * Runs plug-ins: extra cost terms, or a pricer that replaces the model. Plug-ins return bps only. Amounts,
 * gas, fee, bounds, the independent check and the hold stay ours, so a bad plug-in can only price badly
 * within [minSpreadBps, maxSpreadBps] or cause a decline.
 */

import { UpstreamError } from '../domain/errors.ts';
import type { PriceInputs, PricingPlugin, PricingView } from './price-inputs.ts';

const MOST_BPS = 10_000;
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,39}$/;

/** Problems of a plug-in module; empty when it is valid. */
export function pluginProblems(value: unknown): string[] {
  if (typeof value !== 'object' || value === null)
    return ['it must be an object { name, terms } or { name, pricer }'];
  const problems: string[] = [];
  const { name, terms, pricer, ...rest } = value as Record<string, unknown>;
  if (typeof name !== 'string' || !NAME.test(name)) problems.push('name: must be a short word');
  for (const key of Object.keys(rest))
    problems.push(`${key}: no such part; a plug-in has name, and terms or pricer`);
  if ((terms === undefined) === (pricer === undefined))
    problems.push('it must have either terms or a pricer');
  if (pricer !== undefined && typeof pricer !== 'function')
    problems.push('pricer: must be a function of a view that answers parts in bps');
  if (terms !== undefined && (typeof terms !== 'object' || terms === null || Array.isArray(terms)))
    problems.push('terms: must be an object of functions by name');
  else {
    for (const [term, compute] of Object.entries(terms ?? {})) {
      if (!NAME.test(term)) problems.push(`terms.${term}: must have a short word as its name`);
      if (typeof compute !== 'function')
        problems.push(`terms.${term}: must be a function of a view that answers bps`);
    }
  }
  return problems;
}

export class PluginFault extends UpstreamError {
  constructor(plugin: string, what: string, cause?: unknown) {
    super(`The pricing plug-in "${plugin}" ${what}.`, { code: 'pricing_plugin', facts: { plugin }, cause });
  }
}

/** Calls a plug-in: its terms, or all parts of its pricer. Throws `PluginFault`. */
export function consult(plugin: PricingPlugin, view: PricingView): Record<string, number> {
  const answered: Record<string, number> = {};
  try {
    if (plugin.pricer === undefined)
      for (const [name, compute] of Object.entries(plugin.terms ?? {})) answered[name] = compute(view);
    else Object.assign(answered, plugin.pricer(view));
  } catch (cause) {
    throw new PluginFault(
      plugin.name,
      `threw: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  }
  const entries = Object.entries(answered);
  if (plugin.pricer !== undefined && entries.length === 0)
    throw new PluginFault(plugin.name, 'answered no parts of a spread');
  for (const [name, bps] of entries) {
    // Also rejects promises, texts and NaN.
    if (typeof bps !== 'number' || !(Math.abs(bps) <= MOST_BPS))
      throw new PluginFault(
        plugin.name,
        `answered ${typeof bps === 'number' ? bps : `a ${typeof bps}`} for ${name}, which is no number of bps`,
      );
  }
  return answered;
}

export function viewOf(inputs: PriceInputs, size: number, gas: number): PricingView {
  return Object.freeze({
    pair: inputs.market?.pair ?? '',
    corridor: inputs.market?.corridor ?? '',
    lp: inputs.lp,
    size,
    mid: Number(inputs.mid.num) / Number(inputs.mid.den),
    quoteValue: inputs.quoteValue,
    confidenceBps: inputs.confidenceBps,
    sigma: inputs.sigma,
    firmSeconds: inputs.firmSeconds,
    q: inputs.q,
    lockSeconds: inputs.lockSeconds,
    adverseBps: inputs.adverseBps ?? DEFAULT_ADVERSE_BPS,
    rebalanceBps: inputs.rebalanceBps ?? 0,
    gas,
    fee: inputs.platformFeeBps,
    params: Object.freeze({ ...inputs.params }),
  });
}

/** Adverse selection assumed for a taker without history. */
export const DEFAULT_ADVERSE_BPS = 1.5;
