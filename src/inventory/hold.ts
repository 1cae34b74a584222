/** A hold: inventory reserved for one quote, with references to every balance and counter it changes. */

import type { UnixSeconds } from '../domain/time.ts';
import type { Bucket } from './bucket.ts';
import type { HoldCounters } from './counters.ts';
import type { HoldRequest } from './event.ts';
import type { ExpiryQueue } from './expiry.ts';
import { type Facts, type HoldState, holdStateOf } from './hold-state.ts';

export interface Hold {
  readonly request: HoldRequest;
  /** Always replaced together with `state`, which is `holdStateOf(facts)`. */
  facts: Facts;
  state: HoldState;
  readonly out: Bucket;
  readonly in: Bucket;
  readonly clock: ChainClock;
  readonly counters: HoldCounters;
  readonly group: NonceGroup;
  /** The chain time at which a hold that is done is forgotten; 0 while it is still needed. */
  forgetAt: UnixSeconds;
}

export interface NonceGroup {
  readonly id: string;
  holds: readonly Hold[];
}

export interface ChainClock {
  readonly chainId: number;
  now: UnixSeconds;
  readonly graceSeconds: number;
  readonly queue: ExpiryQueue<Hold>;
  backlog: boolean;
}

/** The first second at which a hold may end: its last second and the grace have passed. */
export const endOf = ({ request, clock }: Hold): UnixSeconds => request.lapsesAt + clock.graceSeconds + 1;

/** Replaces the facts and the state that follows from them. The books are not changed. */
export function setFacts(hold: Hold, facts: Facts): void {
  hold.facts = facts;
  hold.state = holdStateOf(facts);
}
