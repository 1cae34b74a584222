/** A taker is added to the venue's deny list while it runs, and removed again. */

import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import type { DemoWorld } from '../world.ts';
import { type DemoCheck, eventually, expect, expectEqual } from './check.ts';
import { askOf, freshTrade } from './trade.ts';

export const screeningCheck: DemoCheck = {
  name: 'a taker on the deny list gets no quote',
  async run(world: DemoWorld) {
    const trade = freshTrade(world);
    const { taker } = trade;
    const ask = () =>
      taker.call('POST', '/api/v1/rfq/quotes', { ...askOf(trade, { sell: '100' }), taker: taker.address });
    expectEqual((await ask()).status, 200, 'status before the change');
    const { denyList } = world.disturbances;
    const before = await readFile(denyList, 'utf8');
    await appendFile(denyList, `${taker.address}\n`);
    await eventually('the list is in force', 20_000, async () => (await ask()).status === 422);
    const refusal = await ask();
    const { detail } = refusal.json as { detail?: { loc: string[]; type: string }[] };
    expect(
      detail?.[0]?.type === 'address_denied' && detail[0].loc.join('.') === 'body.taker',
      `the refusal was: ${refusal.text.slice(0, 200)}`,
    );
    await writeFile(`${denyList}.new`, before);
    await rename(`${denyList}.new`, denyList);
    await eventually('the old list is in force again', 20_000, async () => (await ask()).status === 200);
    return 'address added to the file: 422 address_denied; removed: quoted again, both without a restart';
  },
};
