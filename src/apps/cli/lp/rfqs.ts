/** `firmquote lp rfqs`: the requests of late as lines, to be played again against another configuration. */

import type { Flow } from '../../../lp/quote-log/recorded-requests.ts';
import { type DoorOptions, openDoor } from './admin-client.ts';

export async function printRfqs(options: DoorOptions): Promise<void> {
  const door = await openDoor(options);
  for (let after: number | null = -1; after !== null;) {
    const { rfqs, next }: ReturnType<Flow['recorded']> = await door.get(`/rfqs?after=${after}`);
    for (const rfq of rfqs) console.log(JSON.stringify(rfq));
    after = next;
  }
}
