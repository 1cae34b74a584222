/** Makes what an LP's prices come from besides its configuration: the feeds and the pricing plug-in. */

import { wantedOf } from '../../lp/market/market.ts';
import type { ReloadedSources } from '../../lp/node/interface.ts';
import { createFeeds, type FeedContext, type MadeFeed } from '../wiring/feeds.ts';
import type { LpAppConfig } from './config.ts';
import { type LoadedPlugin, loadPlugin } from './plugin.ts';

export interface LpSources {
  feeds: readonly MadeFeed[];
  loaded: LoadedPlugin | undefined;
}

/** Feeds that would be made as they are running stay the same objects. Throws `RequestError`. */
export async function makeSources(
  { feeds, lp }: Pick<LpAppConfig, 'feeds' | 'lp'>,
  context: FeedContext,
  running?: LpSources,
): Promise<LpSources> {
  const { module } = lp.pricing;
  return {
    loaded: module === null ? undefined : await loadPlugin(module),
    feeds: createFeeds(feeds, wantedOf(lp.prices), context, running?.feeds),
  };
}

export const forNode = ({ feeds, loaded }: LpSources): ReloadedSources => ({
  feeds: feeds.map(({ feed }) => feed),
  plugin: loaded?.plugin,
});
