/**
 * Puts several replicas of one LP behind the interface of one: a command goes to all, and the leader acts.
 */

import type { Explanation } from '../../src/lp/quote-log/explain.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';

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
      return {
        ...status,
        openAwards: leader().status().openAwards,
        liveQuotes: nodes.reduce((sum, node) => sum + node.status().liveQuotes, 0),
      };
    },
    get reservations() {
      return leader().reservations;
    },
    // The replica that asked last has the newest sum of all holds.
    inventory: () =>
      leader()
        .inventory()
        .map((bucket) => {
          const { held = 0n, heldAtMs } =
            nodes
              .flatMap((node) => node.inventory())
              .filter(({ chainId, token }) => chainId === bucket.chainId && token === bucket.token)
              .toSorted((a, b) => (b.heldAtMs ?? 0) - (a.heldAtMs ?? 0))[0] ?? {};
          const free = bucket.free + bucket.held - held;
          return {
            ...bucket,
            held,
            free: free > 0n ? free : 0n,
            ...(heldAtMs !== undefined && { heldAtMs }),
          };
        }),
    positions: () => leader().positions(),
    receivables: () => leader().receivables(),
    rebalancing: () => leader().rebalancing(),
    limits: () => leader().limits(),
    curves: () => leader().curves(),
    awards: (limit) => leader().awards(limit),
    // The leader keeps the books; each replica remembers its own quotes.
    accounts() {
      const own = nodes.map((node) => node.accounts());
      return {
        ...leader().accounts(),
        async explain(id) {
          const all = (await Promise.all(own.map((accounts) => accounts.explain(id)))).flat();
          return all.filter((each, at) => all.findIndex((other) => nameOf(other) === nameOf(each)) === at);
        },
      };
    },
    recorded: (after, limit) => ({
      rfqs: nodes.flatMap((node) => node.recorded(after, limit).rfqs).toSorted((a, b) => a.atMs - b.atMs),
      next: null,
    }),
    newest: (before, limit) => ({
      rfqs: nodes.flatMap((node) => node.newest(before, limit).rfqs).toSorted((a, b) => b.atMs - a.atMs),
      next: null,
    }),
    shadowReport: (window) => leader().shadowReport(window),
    pause: (note) => nodes.forEach((node) => node.pause(note)),
    kill: (by, note) => nodes.forEach((node) => node.kill(by, note)),
    pauseScope: (scope, note) => nodes.forEach((node) => node.pauseScope(scope, note)),
    resumeScope: (scope) => nodes.forEach((node) => node.resumeScope(scope)),
    resume: () => nodes.forEach((node) => node.resume()),
    setSignal: (wanted) => leader().setSignal(wanted),
    clearSignals: (of) => leader().clearSignals(of),
    killFileGone: () => nodes.forEach((node) => node.killFileGone()),
    risk: () => leader().risk(),
    preview: (next) => leader().preview(next),
    reload: async (next) => (await Promise.all(nodes.map((node) => node.reload(next))))[0] ?? { refused: [] },
  };
}

const nameOf = (each: Explanation) => (each.kind === 'quote' ? each.orderId : each.rfqId);
