/** `firmquote lp rfqs`: the requests of late as lines, to be played again against another configuration. */

import type { RecordedRfq } from '../../lp/flow.ts';
import { type DoorOptions, openDoor } from './lp-door.ts';

export async function printRfqs(options: DoorOptions): Promise<void> {
  const { rfqs } = await (await openDoor(options)).get<{ rfqs: RecordedRfq[] }>('/rfqs');
  for (const rfq of rfqs) console.log(JSON.stringify(rfq));
}
