/** Plays the shared inventory in a few lines of plain bigints: every real one has to decide alike. */

import type { ChainReport, SharedHoldGroup, Verdict } from '../../src/ports/shared-inventory.ts';

interface Member {
  endsAt: number;
  clockChainId: number;
  kept: boolean;
  amounts: Map<string, bigint>;
}

export interface SharedTruth {
  reserve(group: SharedHoldGroup): Verdict[];
  report(report: ChainReport, by?: number): { known: string[] };
  sums(): Map<string, bigint>;
  kept(): string[];
}

export function createSharedTruth(): SharedTruth {
  const groups = new Map<string, Map<string, Member>>();
  const rooms = new Map<string, { block: bigint; room: bigint; by: number }>();
  const times = new Map<number, number>();
  const groupOf = (id: string) => [...groups.entries()].find(([, members]) => members.has(id));
  const largest = (members: ReadonlyMap<string, Member>, key: string) =>
    [...members.values()].reduce(
      (most, { amounts }) => ((amounts.get(key) ?? 0n) > most ? (amounts.get(key) ?? 0n) : most),
      0n,
    );
  const sum = (key: string) =>
    [...groups.values()].reduce((total, members) => total + largest(members, key), 0n);
  const membersOf = (group: string) =>
    groups.get(group) ?? groups.set(group, new Map()).get(group) ?? new Map<string, Member>();
  const drop = (id: string) => groupOf(id)?.[1].delete(id);
  const keep = (member: Member) => {
    member.kept = true;
    for (const key of member.amounts.keys()) if (key.startsWith('c ')) member.amounts.delete(key);
  };

  return {
    reserve({ group, clockChainId, promises }) {
      return promises.map(({ orderId, bucket, amount, endsAt, caps }): Verdict => {
        const members = membersOf(group);
        if (members.has(orderId)) return { held: true };
        if (endsAt <= (times.get(clockChainId) ?? 0)) return { held: false, why: 'late' };
        for (const [key, name, claimed, most] of [
          [`i ${bucket}`, bucket, amount, rooms.get(bucket)?.room] as const,
          ...caps.map((cap) => [`c ${cap.key}`, cap.key, cap.amount, cap.most] as const),
        ]) {
          if (most === undefined) return { held: false, why: 'unknown_bucket' };
          const own = largest(members, key);
          const room = most - sum(key) + own;
          if (claimed > own && claimed > room)
            return { held: false, why: 'full', key: name, room: room > 0n ? room : 0n };
        }
        members.set(orderId, {
          endsAt,
          clockChainId,
          kept: false,
          amounts: new Map([
            [`i ${bucket}`, amount],
            ...caps.map((cap): [string, bigint] => [`c ${cap.key}`, cap.amount]),
          ]),
        });
        return { held: true };
      });
    },
    report({ chainId, block, time, rooms: told, kept, unknownOrders, ended, used }, by = 0) {
      for (const { orderId, group, clockChainId, bucket, amount } of kept) {
        const members = membersOf(group);
        const known = members.get(orderId);
        if (known === undefined)
          members.set(orderId, {
            endsAt: 0,
            clockChainId,
            kept: true,
            amounts: new Map([[`i ${bucket}`, amount]]),
          });
        else keep(known);
      }
      const known = unknownOrders.filter((id) => groupOf(id) !== undefined);
      for (const id of known) keep(groupOf(id)?.[1].get(id) as Member);
      for (const { group, winner } of used)
        for (const id of [...membersOf(group).keys()]) if (id !== winner) drop(id);
      for (const id of ended) drop(id);
      for (const { bucket, room } of told) {
        const was = rooms.get(bucket);
        if (
          was === undefined ||
          block > was.block ||
          (block === was.block && (by === was.by || room < was.room))
        )
          rooms.set(bucket, { block, room, by });
      }
      const now = Math.max(times.get(chainId) ?? 0, time);
      times.set(chainId, now);
      for (const members of groups.values())
        for (const [id, member] of members)
          if (!member.kept && member.clockChainId === chainId && member.endsAt <= now) members.delete(id);
      return { known };
    },
    sums() {
      const keys = new Set(
        [...groups.values()].flatMap((members) =>
          [...members.values()].flatMap(({ amounts }) => [...amounts.keys()]),
        ),
      );
      return new Map(
        [...keys]
          .map((key): [string, bigint] => [key.slice(2), sum(key)])
          .filter(([, total]) => total !== 0n),
      );
    },
    kept: () =>
      [...groups.values()].flatMap((members) => [...members].flatMap(([id, { kept }]) => (kept ? [id] : []))),
  };
}
