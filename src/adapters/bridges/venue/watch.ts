/** Metrics of a float: what it holds, promises and earns, per chain and token. */

import { formatUnits, max, min } from '../../../domain/amount.ts';
import { tokenOf } from '../../../domain/chain.ts';
import { type Address, bytes32ToAddress } from '../../../domain/hex.ts';
import type { MandateOutput, StandardOrder } from '../../../domain/order.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { FloatStore } from '../../../ports/stores/floats.ts';
import { freeOfFloat, readFloat, readGasCosts } from './float.ts';
import { keptDown } from './price.ts';
import type { BridgeVenueOptions, FloatAsset } from './venue.ts';

interface WatchDeps {
  chains: ReadonlyMap<number, ChainPort>;
  floats: FloatStore;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

const POLL_MS = 15_000;
const LABELS = ['venue', 'chain', 'token'] as const;

export function createFloatWatch(
  { chains, floats, clock, log, metrics }: WatchDeps,
  { id, account, operator, assets }: Pick<BridgeVenueOptions, 'id' | 'account' | 'operator' | 'assets'>,
) {
  const held = metrics.gauge(
    'firmquote_bridge_float_tokens',
    'What a bridge venue may promise on a chain, what is promised already included; whole tokens',
    LABELS,
  );
  const promised = metrics.gauge(
    'firmquote_bridge_promised_tokens',
    'What live quotes and unpaid orders take from the float; whole tokens',
    LABELS,
  );
  const low = metrics.gauge(
    'firmquote_bridge_float_low',
    '1 while less than `low` of the configuration is left to promise on the chain',
    LABELS,
  );
  const canFill = metrics.gauge(
    'firmquote_bridge_can_fill',
    '1 while the operator may fill on the chain and can pay for the gas',
    LABELS,
  );
  const earned = metrics.counter(
    'firmquote_bridge_fees_tokens_total',
    'Fees of the fills that this process sent, before costs; whole tokens of the input',
    LABELS,
  );
  const tokenAt = (chainId: number, token: Address) => {
    const chain = chains.get(chainId)?.chain;
    const info = chain && tokenOf(chain, token);
    return chain && info && { info, labels: { venue: id, chain: chain.slug, token: info.symbol } };
  };

  async function readPlace({ chainId, token, keep, low: lowest }: FloatAsset['on'][number]): Promise<void> {
    const [chain, at] = [chains.get(chainId), tokenAt(chainId, token)];
    const head = chain?.head();
    if (!chain || !at || !head) return;
    const { fill: fillWei } = await readGasCosts(chain, head);
    const place = { venueId: id, account, chainId, token };
    const owed = await floats.owed(place);
    const float = await readFloat(chain, token, head, { account, operator, keep, fillWei }, owed);
    const times = new Map(
      [...chains].flatMap(([origin, port]) => {
        const time = port.head()?.timestamp;
        return time === undefined ? [] : [[origin, time] as const];
      }),
    );
    const use = await floats.use(place, float.asOf, times);
    const whole = (amount: bigint) => Number(formatUnits(amount, at.info.decimals));
    held.set(whole(max(min(float.most, float.held - use.moving), 0n)), at.labels);
    promised.set(whole(use.promised + use.open), at.labels);
    if (lowest !== null) low.set(freeOfFloat(float, use) < lowest ? 1 : 0, at.labels);
    canFill.set(float.issue === undefined ? 1 : 0, at.labels);
  }

  return {
    filled(credit: bigint, order: StandardOrder, output: MandateOutput): void {
      const [origin, dest] = [
        tokenAt(
          Number(order.originChainId),
          `0x${(order.inputs[0]?.[0] ?? 0n).toString(16).padStart(40, '0')}`,
        ),
        tokenAt(Number(output.chainId), bytes32ToAddress(output.token)),
      ];
      if (!origin || !dest) return;
      const kept = keptDown(credit, output.amount, {
        inputDecimals: origin.info.decimals,
        outputDecimals: dest.info.decimals,
      });
      if (kept > 0n) earned.add(origin.labels, Number(formatUnits(kept, origin.info.decimals)));
    },
    /** Returns a function that ends it. */
    start(): () => void {
      let stopped = false;
      let cancel = () => {};
      const readAll = async (): Promise<void> => {
        await Promise.all(
          assets
            .flatMap(({ on }) => on)
            .map((place) =>
              readPlace(place).catch((error: unknown) =>
                log.warn(
                  { venue: id, chainId: place.chainId, error },
                  'the float of a bridge venue could not be read',
                ),
              ),
            ),
        );
        if (!stopped) cancel = clock.after(POLL_MS, () => void readAll());
      };
      void readAll();
      return () => {
        stopped = true;
        cancel();
      };
    },
  };
}
