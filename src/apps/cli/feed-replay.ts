/** `firmquote feed replay FILE`: replays a recorded exchange stream. */

import { replayFeed, type ReplayOptions } from '../../adapters/feeds/replay.ts';

export async function replayFile(file: string, options: ReplayOptions): Promise<void> {
  await replayFeed(file, options, (line) => console.log(line));
}
