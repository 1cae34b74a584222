/** Access to the venue's API: rate limit by address, then API key, then rate limit by key. */

import { ApiError } from '../../protocol/errors.ts';
import type { Authenticated, RouteKeyKind, AccessGate, RateClass } from '../../ports/http.ts';
import type { ApiKey } from '../../ports/stores/store.ts';
import type { VenueDeps } from '../deps.ts';
import type { SlotLimiter } from './slot-limiter.ts';
import { type Buckets, createBuckets, rateHeaders, rateLimited, type Take } from './token-buckets.ts';
import type { KeyUses } from './key-uses.ts';
import type { Keyring } from './keys.ts';
import type { Tickets } from './tickets.ts';
import type { RateOptions } from '../options.ts';
import type { PeerPublisher, PeerUpdate, ReplicaShare } from '../replicas/peers.ts';

const KIND_NAMES: Record<RouteKeyKind, string> = {
  admin: 'an admin key',
  service: 'a service key',
  workspace: 'a workspace key',
  solver: 'a solver key',
};

/** A key's rate is counted over all replicas, an address's rate per replica. */
interface VenueAccessGate extends AccessGate {
  replicaShare(): ReplicaShare;
}

export function createAccessGate(
  {
    keyring,
    keyUses,
    tickets,
    slots,
    clock,
    metrics,
    peers,
  }: Pick<VenueDeps, 'clock' | 'metrics'> & {
    keyring: Keyring;
    keyUses: Pick<KeyUses, 'record'>;
    tickets: Tickets;
    slots: SlotLimiter;
    peers: PeerPublisher;
  },
  rates: RateOptions,
): VenueAccessGate {
  const burst = rates.burst;
  const addresses = createBuckets(clock, { perSecond: rates.perIpPerSecond, burst });
  const trusted = new Set(rates.trustedIps);
  const perKey: Record<RateClass, Buckets> = {
    quote: createBuckets(clock, { perSecond: rates.quotesPerSecond, burst }),
    submit: createBuckets(clock, { perSecond: rates.submitsPerSecond, burst }),
    read: createBuckets(clock, { perSecond: rates.readsPerSecond, burst }),
    socket: createBuckets(clock, { perSecond: rates.readsPerSecond, burst }),
  };
  /** The requests by rate class and key since the last update to the other replicas. */
  const taken = new Map<string, number>();
  const refused = metrics.counter(
    'firmquote_venue_refused_total',
    'Requests refused at the gate, and clients disconnected',
    {
      why: ['rate_key', 'rate_address', 'unauthorized', 'ticket', 'wrong_key_kind', 'connections', 'unread'],
    },
  );
  const failures = metrics.counter(
    'firmquote_venue_failed_total',
    'Requests answered with a 5xx status, those refused for load included',
    { rate: Object.keys(perKey) },
  );

  function limited(take: Take, why: string): never {
    refused.add({ why });
    throw rateLimited(take);
  }

  function limitByKey(
    key: ApiKey | undefined,
    { keyKinds, rate }: { keyKinds: readonly RouteKeyKind[]; rate: RateClass },
  ): Authenticated {
    if (!key) {
      refused.add({ why: 'unauthorized' });
      throw new ApiError('unauthorized', 'This needs a valid API key in the X-API-Key header.');
    }
    if (!keyKinds.includes(key.kind)) {
      refused.add({ why: 'wrong_key_kind' });
      throw new ApiError(
        'wrong_key_kind',
        `This needs ${keyKinds.map((kind) => KIND_NAMES[kind]).join(' or ')}; the one sent is ${KIND_NAMES[key.kind]}.`,
      );
    }
    keyUses.record(key.id);
    const take = perKey[rate].take(key.id);
    if (!take.ok) limited(take, 'rate_key');
    const slot = `${rate} ${key.id}`;
    taken.set(slot, (taken.get(slot) ?? 0) + 1);
    peers.publishSoon();
    return { key, headers: rateHeaders(take) };
  }

  return {
    limitByAddress(ip, { cost = 1 } = {}) {
      if (trusted.has(ip)) return;
      const take = addresses.take(ip, cost);
      if (!take.ok) limited(take, 'rate_address');
    },
    authenticate: async (apiKey, door) => limitByKey(await keyring.find(apiKey), door),
    async redeem(ticket, door) {
      const key = await tickets.redeem(ticket).catch((error: unknown) => {
        if (error instanceof ApiError) refused.add({ why: 'ticket' });
        throw error;
      });
      return limitByKey(key, door);
    },
    refusal(apiKey, address, { keyKinds, rate, load = rate }) {
      if (!slots.isBusy(load)) return undefined;
      const key = keyring.known(apiKey);
      if (!key || !keyKinds.includes(key.kind)) return undefined;
      // Whoever is over the limit of the address is told so.
      if (!trusted.has(address) && !addresses.take(address).ok) return undefined;
      return slots.refusal(load, key.id);
    },
    takeSlot: (kind, keyId) => slots.take(kind, keyId),
    turnedAway: (why) => refused.add({ why }),
    failed: ({ rate }) => failures.add({ rate }),
    onRevoked: (key, revoked) => keyring.watch(key, revoked),
    replicaShare() {
      return {
        name: 'rates',
        updates(): PeerUpdate[] {
          const updates = [...taken];
          taken.clear();
          return updates;
        },
        apply(_replica, [slot, count]) {
          const [rate, keyId = ''] = slot.split(' ');
          if (Object.hasOwn(perKey, rate ?? '')) perKey[rate as RateClass].spent(keyId, Number(count));
        },
      };
    },
  };
}
