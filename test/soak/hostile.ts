/** One hostile peer of each kind, in a process of its own: what the soak can tell it. */

import { openAside } from './aside.ts';
import type { Chain } from '../../src/domain/chain.ts';
import type { Ground } from './ground.ts';

/** What the attackers need to know; a process receives it as a message. */
export interface Targets {
  chains: readonly Chain[];
  /** Where each venue process serves takers and solvers. */
  venueUrls: readonly string[];
  /** A workspace key of their own, so that the budget of honest takers stays theirs. */
  takerKey: string;
  flooder: { id: string; apiKey: string; account: number; operator: number };
  announcer: { id: string; apiKey: string };
}

export interface Hostiles {
  /** Of the hostile venue. It behaves until `attack`. */
  venueUrl: string;
  attack(targets: Targets): Promise<void>;
  /** All leave: no socket of theirs stays open. */
  leave(): Promise<void>;
  /** How often each kind struck. */
  counts(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

export async function openHostiles(chains: readonly Chain[]): Promise<Hostiles> {
  const aside = openAside(new URL('./hostile-process.ts', import.meta.url));
  return {
    venueUrl: await aside.ask('venue', chains),
    attack: (targets) => aside.ask('attack', targets),
    leave: () => aside.ask('leave'),
    counts: () => aside.ask('counts'),
    stop: aside.stop,
  };
}

/** A node of each chain lies about the newest block. */
export async function deceive({ nodes }: Ground): Promise<() => Promise<void>> {
  const lifts = await Promise.all(
    nodes.flatMap(([liar]) =>
      liar ? [liar.fault('eth_blockNumber', { do: 'lie', about: 'the newest block' })] : [],
    ),
  );
  return async () => void (await Promise.all(lifts.map((lift) => lift())));
}
