/** A signal of the operator as the admin API shows it. */

import type { LpSignal } from '../../../ports/stores/lp-store.ts';

/** Times are Unix seconds. */
export interface SignalView {
  id: string;
  pair: string;
  side: 'buy' | 'sell' | null;
  skewBps: number;
  fairValueShiftBps: number;
  widthBps: number;
  setAt: number;
  expiresAt: number;
  secondsLeft: number;
  by: string;
  note: string | null;
}

export const signalView = ({ setAtMs, expiresAtMs, ...signal }: LpSignal, nowMs: number): SignalView => ({
  ...signal,
  setAt: Math.floor(setAtMs / 1000),
  expiresAt: Math.ceil(expiresAtMs / 1000),
  secondsLeft: Math.max(0, Math.ceil((expiresAtMs - nowMs) / 1000)),
});
