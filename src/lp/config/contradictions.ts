/**
 * Finds values of a configuration that exclude each other, such as a minimum above its maximum. Each would be
 * accepted silently and stop quoting, or disable a control.
 */

import { pricingParams } from './params.ts';
import type { LpConfig } from './config.ts';

export interface Problem {
  path: (string | number)[];
  message: string;
}

type Path = Problem['path'];

/** Finds contradictions between values that are valid one by one. Each message names both values. */
export function contradictions(config: LpConfig): Problem[] {
  const problems: Problem[] = [];
  const report = (path: Path, message: string) => void problems.push({ path, message });
  /** Reports `low` when it is above `high`. */
  const atMost = (path: Path, low: number, name: string, high: number, effect: string) => {
    if (low > high)
      report(path, `is ${low}, above ${name} = ${high}, so ${effect}: lower it or raise ${name}`);
  };

  chainProblems(config, report);
  priceProblems(config, report);
  assetProblems(config, report);
  pairProblems(config, report, atMost);

  const { quoting, risk, rebalancing, takers, signals } = config;
  const longest = quoting.maxValiditySeconds;
  const capped = 'quotes live longer than that maximum allows';
  atMost(
    ['quoting', 'validitySeconds'],
    quoting.validitySeconds,
    'quoting.maxValiditySeconds',
    longest,
    capped,
  );
  for (const [at, seconds] of quoting.pointsSeconds.entries())
    atMost(['quoting', 'pointsSeconds', at], seconds, 'quoting.maxValiditySeconds', longest, capped);
  const { fatFinger, drawdown } = risk;
  atMost(
    ['risk', 'fatFinger', 'leastBps'],
    fatFinger.leastBps,
    'risk.fatFinger.mostBps',
    fatFinger.mostBps,
    'this control refuses every quote',
  );
  atMost(
    ['risk', 'drawdown', 'hourBps'],
    drawdown.hourBps,
    'risk.drawdown.dayBps',
    drawdown.dayBps,
    'the limit of an hour never acts before that of the day',
  );
  if (rebalancing.stopQ >= rebalancing.startQ)
    report(
      ['rebalancing', 'stopQ'],
      `is ${rebalancing.stopQ}, not below rebalancing.startQ = ${rebalancing.startQ}, so advice ends where it starts: ` +
        'lower it',
    );
  if (
    signals.maxActive > 0 &&
    signals.maxSkewBps === 0 &&
    signals.maxFairValueShiftBps === 0 &&
    signals.maxWidthBps === 0
  )
    report(
      ['signals', 'maxActive'],
      `is ${signals.maxActive}, but signals.maxSkewBps, maxFairValueShiftBps and maxWidthBps are all 0, so every signal ` +
        'is refused: raise one of them, or set maxActive to 0',
    );
  atMost(
    ['takers', 'startBps'],
    takers.startBps,
    'takers.capBps',
    takers.capBps,
    'the cap cuts the prior of every taker',
  );
  return problems;
}

type Report = (path: Path, message: string) => void;
type AtMost = (path: Path, low: number, name: string, high: number, effect: string) => void;

function chainProblems({ chains }: LpConfig, report: Report): void {
  const ids = chains.map(({ chainId }) => chainId);
  for (const [at, chainId] of ids.entries())
    if (ids.indexOf(chainId) !== at)
      report(
        ['chains', at, 'chainId'],
        `chain ${chainId} is configured twice, in chains.${ids.indexOf(chainId)} and here: remove one`,
      );
}

function priceProblems({ prices }: LpConfig, report: Report): void {
  for (const [symbol, price] of Object.entries(prices)) {
    const of = (name: string): Path => ['prices', symbol, name];
    const [kind, sources] =
      'fixed' in price ? (['guards', price.guards] as const) : (['sources', price.sources] as const);
    const names = sources.map(({ feed, symbol: at }) => `${feed}|${at}`);
    for (const [at, name] of names.entries())
      if (names.indexOf(name) !== at)
        report(
          [...of(kind), at],
          `${name} is named twice, in ${kind}.${names.indexOf(name)} and here, but counts once: remove one`,
        );
    const distinct = new Set(names).size;
    const [option, wanted] =
      'fixed' in price
        ? (['depegSources', price.depegSources] as const)
        : (['minSources', price.minSources] as const);
    if (wanted !== null && wanted > distinct && ('sources' in price || distinct > 0))
      report(
        of(option),
        `is ${wanted}, but ${kind} names ${distinct}, so ${
          'fixed' in price ? 'no depeg is ever seen' : 'there is never a price'
        }: lower it or add ${kind}`,
      );
    if ('fixed' in price) continue;
    for (const [at, { feed, symbol: named }] of price.references.entries())
      if (names.includes(`${feed}|${named}`))
        report(
          [...of('references'), at],
          `${feed}|${named} is also in sources.${names.indexOf(`${feed}|${named}`)}, and a source cannot check ` +
            'itself: name another reference',
        );
  }
}

function assetProblems({ assets }: LpConfig, report: Report): void {
  for (const [symbol, { softBand, hardBand, chains }] of Object.entries(assets)) {
    if (softBand !== null && hardBand !== null && Number(softBand) > Number(hardBand))
      report(
        ['assets', symbol, 'softBand'],
        `is ${softBand}, above hardBand = ${hardBand}, so trading stops before the price leans: lower it or raise ` +
          'hardBand',
      );
    for (const [slug, { softShare, hardShare }] of Object.entries(chains))
      if (hardShare !== null && softShare > hardShare)
        report(
          ['assets', symbol, 'chains', slug, 'softShare'],
          `is ${softShare}, above hardShare = ${hardShare}, so trading stops before the price leans: lower it or ` +
            'raise hardShare',
        );
  }
}

function pairProblems({ pairs, risk }: LpConfig, report: Report, atMost: AtMost): void {
  for (const [at, pair] of pairs.entries()) {
    const { base, quote, corridors, params, corridorParams } = pair;
    const overlap = pairs.findIndex(
      (other, index) =>
        index < at &&
        other.base === base &&
        other.quote === quote &&
        (corridors === null ||
          other.corridors === null ||
          corridors.some((one) => other.corridors?.includes(one))),
    );
    if (overlap >= 0)
      report(
        ['pairs', at],
        `${base}-${quote} is configured in pairs.${overlap} too, for the same corridors, and only one counts: remove one`,
      );
    const own = Object.entries(corridorParams);
    for (const [corridor] of own)
      if (corridors !== null && !corridors.includes(corridor))
        report(
          ['pairs', at, 'corridorParams', corridor],
          `is not among the corridors of this pair (${corridors.join(', ')}): add it there or take it out`,
        );
    const scopes: [Path, typeof params][] = [
      [['pairs', at, 'params'], params],
      ...own.map(([corridor, these]): [Path, typeof params] => [
        ['pairs', at, 'corridorParams', corridor],
        { ...params, ...these },
      ]),
    ];
    for (const [path, values] of scopes) {
      const { minSize, maxSize, minSpreadBps, maxSpreadBps, minEdgeBps } = pricingParams(values);
      const { leastBps, mostBps, maxUsd } = risk.fatFinger;
      atMost([...path, 'minSize'], minSize, 'maxSize', maxSize, 'no request has an allowed size');
      atMost(
        [...path, 'minSize'],
        minSize,
        'risk.fatFinger.maxUsd',
        maxUsd,
        'every quote is refused as too large',
      );
      atMost(
        [...path, 'minSpreadBps'],
        minSpreadBps,
        'maxSpreadBps',
        maxSpreadBps,
        'no price is within both',
      );
      atMost([...path, 'minEdgeBps'], minEdgeBps, 'maxSpreadBps', maxSpreadBps, 'no price is within both');
      if (minSpreadBps < leastBps)
        report(
          [...path, 'minSpreadBps'],
          `is ${minSpreadBps}, below risk.fatFinger.leastBps = ${leastBps}, so that control refuses the prices in ` +
            'between: raise it or lower risk.fatFinger.leastBps',
        );
      atMost(
        [...path, 'minSpreadBps'],
        minSpreadBps,
        'risk.fatFinger.mostBps',
        mostBps,
        'every quote is refused',
      );
    }
  }
}
