/** A process whose loop does nothing: how long that stood still is the machine's own doing. Answers every message with its long turns; see `machine-watch.ts`. */

import { watchLoop } from './loop-watch.ts';

const loop = watchLoop();
process.on('message', () => process.send?.(loop.long()));
