/** Looks up slots by key; the calls of one event-loop tick share a query. */

import type { Address } from '../../../domain/hex.ts';
import type { TxSlot, TxStore } from '../../../ports/stores/tx-store.ts';

export type SlotLookup = (key: string) => Promise<TxSlot | undefined>;

export function createSlotLookup(store: TxStore, chainId: number, signers: readonly Address[]): SlotLookup {
  let asked: Map<string, Promise<TxSlot | undefined>> | undefined;
  let answer: Promise<ReadonlyMap<string, TxSlot>> | undefined;

  async function ask(): Promise<ReadonlyMap<string, TxSlot>> {
    await new Promise((done) => setImmediate(done));
    const keys = [...(asked as Map<string, unknown>).keys()];
    [asked, answer] = [undefined, undefined];
    const slots = await store.slotsOf(chainId, signers, keys);
    return new Map(slots.flatMap((slot) => slot.keys.map((key) => [key, slot] as const)));
  }

  return (key) => {
    asked ??= new Map();
    const known = asked.get(key);
    if (known) return known;
    answer ??= ask();
    const found = answer.then((slots) => slots.get(key));
    asked.set(key, found);
    return found;
  };
}
