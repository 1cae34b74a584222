/** Several replicas of one LP, seen as the one LP that they are: what is said to it is said to all, what it does is done by whoever leads. */

import type { LpNode } from '../../src/lp/node.ts';

export function asOne(nodes: readonly LpNode[]): LpNode {
  const [first] = nodes as readonly [LpNode];
  const leader = () => nodes.find((node) => node.status().replica?.leads === true) ?? first;
  const active = () => nodes.filter((node) => node.status().status === 'active');
  return {
    async start() {
      for (const node of nodes) await node.start();
    },
    async stop() {
      for (const node of nodes) await node.stop();
    },
    status() {
      const status = (active()[0] ?? leader()).status();
      return { ...status, openAwards: leader().status().openAwards, liveQuotes: nodes.reduce((sum, node) => sum + node.status().liveQuotes, 0) };
    },
    // Of what all of them hold, whoever asked last knows best.
    inventory: () =>
      leader().inventory().map((bucket) => {
        const { held = 0n, heldAtMs } = nodes.flatMap((node) => node.inventory()).filter(({ chainId, token }) => chainId === bucket.chainId && token === bucket.token).toSorted((a, b) => (b.heldAtMs ?? 0) - (a.heldAtMs ?? 0))[0] ?? {};
        const free = bucket.free + bucket.held - held;
        return { ...bucket, held, free: free > 0n ? free : 0n, ...(heldAtMs !== undefined && { heldAtMs }) };
      }),
    positions: () => leader().positions(),
    receivables: () => leader().receivables(),
    rebalancing: () => leader().rebalancing(),
    limits: () => leader().limits(),
    curves: () => leader().curves(),
    awards: (limit) => leader().awards(limit),
    accounts: () => leader().accounts(),
    recorded: (after, limit) => leader().recorded(after, limit),
    pause: (note) => nodes.forEach((node) => node.pause(note)),
    kill: (by, note) => nodes.forEach((node) => node.kill(by, note)),
    resume: () => nodes.forEach((node) => node.resume()),
    killFileGone: () => nodes.forEach((node) => node.killFileGone()),
    risk: () => leader().risk(),
    reload: (next) => nodes.map((node) => node.reload(next))[0] ?? { refused: [] },
  };
}
