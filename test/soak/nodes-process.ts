/** The RPC proxies of the soak, in a process of their own. */

import { keccak256, type Hex } from 'viem';
import { type RpcFault, type RpcProxy, startRpcProxy } from '../faults/support/rpc-proxy.ts';
import { type PlayedProvider, playProvider, type ProviderName } from '../support/providers.ts';
import { answerAside } from './aside.ts';
import type { NodeFault } from './nodes.ts';

const proxies: RpcProxy[] = [];
const lifts: (() => void)[] = [];
const providers: PlayedProvider[] = [];

answerAside({
  async open(target: string) {
    const proxy = await startRpcProxy(target);
    return { at: proxies.push(proxy) - 1, url: proxy.url };
  },
  fault(at: number, method: string, fault: NodeFault) {
    const lift = proxies[at]?.fault(method, faultOf(fault));
    return lifts.push(lift ?? (() => {})) - 1;
  },
  lift: (rule: number) => lifts[rule]?.(),
  down: (at: number) => proxies[at]?.down(),
  up: (at: number) => proxies[at]?.up(),
  play(at: number, name: ProviderName) {
    const provider = playProvider(name);
    providers[at] = provider;
    proxies[at]?.play(provider);
  },
  refused: (at: number) => providers[at]?.counts,
});

const LIES: Record<
  (NodeFault & { do: 'lie' })['about'],
  (honest: unknown, params: readonly unknown[]) => unknown
> = {
  'the newest block': higher((number) => number + 500n),
  'the age of the chain': higher(() => 2n ** 200n),
  // A word of zeros for each word that the node returned.
  state: (honest) => (typeof honest === 'string' ? honest.replace(/[1-9a-f]/gi, '0') : honest),
  receipts: (honest) => (honest === null ? null : { ...(honest as object), status: '0x0' }),
};

/** Another number for the newest block; of other blocks the truth. */
function higher(change: (number: bigint) => bigint) {
  return (honest: unknown, [tag]: readonly unknown[]) => {
    if (tag !== 'latest' || honest === null) return honest;
    const block = honest as { number: string };
    return { ...block, number: `0x${change(BigInt(block.number)).toString(16)}` };
  };
}

function faultOf(fault: NodeFault): RpcFault {
  if (fault.do === 'lie') return { do: 'lie', answer: LIES[fault.about] };
  if (fault.do === 'drop') return { do: 'drop', answer: ([raw]) => keccak256(raw as Hex) };
  return fault;
}
