/** Measures what a process still refers to, apart from heap that V8 has not given back. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The bytes of heap in use after two full collections: the second frees what finalizers have let go. */
export function heapInUse(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
