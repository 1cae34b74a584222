/** The faulty network between the parts of the soak. */

import type { TcpMode } from '../faults/support/tcp-proxy.ts';
import { openAside } from './aside.ts';

/** A `TcpProxy` that another process controls. */
export interface Line {
  readonly port: number;
  /** The target's URL, through it. */
  readonly url: string;
  set(mode: TcpMode): Promise<void>;
  cut(): Promise<void>;
}

export interface Network {
  line(target: string): Promise<Line>;
  stop(): Promise<void>;
}

export function openNetwork(): Network {
  const aside = openAside(new URL('./network-process.ts', import.meta.url));
  return {
    async line(target) {
      const { at, port, url } = await aside.ask<{ at: number; port: number; url: string }>('open', target);
      return { port, url, set: (mode) => aside.ask('set', at, mode), cut: () => aside.ask('cut', at) };
    },
    stop: aside.stop,
  };
}
