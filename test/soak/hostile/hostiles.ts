/** One hostile peer of each kind, in a process of its own: what the soak can tell it. */

import type { Chain } from '../../../src/domain/chain.ts';
import { openAside } from '../aside.ts';
import type { Ground } from '../ground.ts';

/** What the attackers need to know; a process receives it as a message. */
export interface Targets {
  chains: readonly Chain[];
  /** Where each venue process serves takers and solvers. */
  venueUrls: readonly string[];
  /** Admin doors of venues and LPs. */
  adminUrls: readonly string[];
  attesterUrls: readonly string[];
  /** A workspace key of their own, so that the budget of honest takers stays theirs. */
  takerKey: string;
  flooder: SolverKey;
  repeater: SolverKey;
  announcer: Pick<SolverKey, 'id' | 'apiKey'>;
}

/** `account` and `operator` are indices of test accounts. */
export interface SolverKey {
  id: string;
  apiKey: string;
  account: number;
  operator: number;
}

export interface Hostiles {
  /** Starts the hostile venue, which behaves until `attack`; returns its address. */
  venue(chains: readonly Chain[]): Promise<string>;
  /** A node before this one, which behaves until `attack`; returns its address. */
  node(target: string): Promise<string>;
  attack(targets: Targets): Promise<void>;
  /** All leave: no socket of theirs stays open. */
  leave(): Promise<void>;
  /** How often each kind struck. */
  counts(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

const LIE_MS = 4_000;
const LIE_EVERY_MS = 20_000;

export function openHostiles(): Hostiles {
  const aside = openAside(new URL('./process.ts', import.meta.url));
  return {
    venue: (chains) => aside.ask('venue', chains),
    node: (target) => aside.ask('node', target),
    attack: (targets) => aside.ask('attack', targets),
    leave: () => aside.ask('leave'),
    counts: () => aside.ask('counts'),
    stop: aside.stop,
  };
}

/** A node of each chain names a head of 2^200 for some seconds, again and again. Returns what ends this. */
export function deceive({ nodes }: Ground): () => Promise<void> {
  const liars = nodes.flatMap(([liar]) => (liar ? [liar] : []));
  const lie = async () => {
    const lifts = await Promise.all(
      liars.map((liar) => liar.fault('eth_getBlockByNumber', { do: 'lie', about: 'the age of the chain' })),
    );
    await new Promise((resolve) => setTimeout(resolve, LIE_MS));
    for (const lift of lifts) await lift();
  };
  let last = lie();
  const timer = setInterval(() => (last = last.then(lie)), LIE_EVERY_MS);
  return () => {
    clearInterval(timer);
    return last;
  };
}
