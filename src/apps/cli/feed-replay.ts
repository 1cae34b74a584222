/** `firmquote feed replay FILE`: what our feed would have made of a recorded exchange stream. */

import { replayFeed, type ReplayOptions } from '../../adapters/feeds/replay.ts';

export async function replayFile(file: string, options: ReplayOptions): Promise<void> {
  // The report prints its summary as its last line itself.
  await replayFeed(file, options, (line) => console.log(line));
}
