/** The configuration of `--risk`: default controls, with shorter periods. */

import { zLpLimits } from '../../../lp/config/config.ts';
import { zLpRisk } from '../../../lp/config/risk-config.ts';
import type { DemoConfig } from '../config.ts';
import { PEG } from '../chains/set-up.ts';

export function withControls(config: DemoConfig): DemoConfig {
  const risk = zLpRisk.parse({ volSpike: { calmSeconds: 3, againSeconds: 30, haltSeconds: 4 } });
  return {
    ...config,
    chains: config.chains.map((chain, index) =>
      index === config.chains.length - 1 ? { ...chain, sequencerFeed: true } : chain,
    ),
    exchange: {
      ...config.exchange,
      symbols: [
        ...config.exchange.symbols,
        { base: 'USDC', quote: 'USD', price: PEG, startMid: 1, walkBps: 0.02, spreadBps: 0.2 },
      ],
    },
    lps: config.lps.map((lp) => ({ ...lp, limits: zLpLimits.parse({}), risk })),
  };
}
