/** The faulty nodes in front of each chain. */

import type { RpcFault } from '../faults/support/rpc-proxy.ts';
import type { PlayedProvider, ProviderName } from '../support/providers.ts';
import { openAside } from './aside.ts';

/**
 * What another process can be told: false answers, by subject. `drop` answers with the hash, as if the
 * transaction had been accepted.
 */
export type NodeFault =
  | Exclude<RpcFault, { do: 'lie' | 'drop' }>
  | { do: 'lie'; about: 'the newest block' | 'the age of the chain' | 'state' | 'receipts' }
  | { do: 'drop' };

/** An `RpcProxy` that another process controls. */
export interface ChainNode {
  readonly url: string;
  /** Returns a function that removes the fault. */
  fault(method: string, fault: NodeFault): Promise<() => Promise<void>>;
  down(): Promise<void>;
  up(): Promise<void>;
  /** Answers as this provider does from now on. */
  play(provider: ProviderName): Promise<void>;
  /** What the provider has refused, by kind. */
  refused(): Promise<PlayedProvider['counts'] | undefined>;
}

export interface Nodes {
  /** Before this one. */
  node(target: string): Promise<ChainNode>;
  stop(): Promise<void>;
}

export function openNodes(): Nodes {
  const aside = openAside(new URL('./nodes-process.ts', import.meta.url));
  return {
    async node(target) {
      const { at, url } = await aside.ask<{ at: number; url: string }>('open', target);
      return {
        url,
        async fault(method, fault) {
          const rule = await aside.ask<number>('fault', at, method, fault);
          return () => aside.ask('lift', rule);
        },
        down: () => aside.ask('down', at),
        up: () => aside.ask('up', at),
        play: (provider) => aside.ask('play', at, provider),
        refused: () => aside.ask('refused', at),
      };
    },
    stop: aside.stop,
  };
}
