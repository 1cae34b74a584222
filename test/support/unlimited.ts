/**
 * Risk controls without effect, for tests and benches of other things, where one taker asks for everything
 * together.
 */

export const UNLIMITED = {
  limits: { perTakerPair: {} },
  risk: {
    totalBps: null,
    gapLoss: { budgetBps: 1e12 },
    freeOption: { liveSeconds: 1e12, accepts: 1_000_000_000 },
    rate: { perSecond: 1e9, burst: 1_000_000_000 },
    burst: { fills: 1_000_000_000, deltaUsd: 1e15 },
    drawdown: { hourBps: 1e9, dayBps: 1e9 },
    fatFinger: { maxUsd: 1e12 },
  },
};
