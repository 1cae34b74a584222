/** The TCP proxies of the soak, in a process of their own. */

import { startTcpProxy, type TcpMode, type TcpProxy } from '../faults/support/tcp-proxy.ts';
import { answerAside } from './aside.ts';

const proxies: TcpProxy[] = [];

answerAside({
  async open(target: string) {
    const proxy = await startTcpProxy(target);
    return { at: proxies.push(proxy) - 1, port: proxy.port, url: proxy.url };
  },
  set: (at: number, mode: TcpMode) => proxies[at]?.set(mode),
  cut: (at: number) => void proxies[at]?.cut(),
});
