/**
 * How V8 compiles an LP and collects its memory.
 *
 * What a live quote keeps survives every collection of young memory, so each one stops the program for as
 * long as copying the survivors takes, which grows with young memory. An eighth of what Node chooses makes
 * shorter stops and more of them, at a little more CPU (`--trace-gc` shows each).
 *
 * One thread beside the program collects, where Node takes four. As many as that leave the loop without a
 * core on a small machine just while they mark a heap of a hundred thousand quotes. It marks and sweeps while
 * the program runs; what the program has to stop for, the loop does alone: it would wait for a thread that
 * has to be given a core first, or lost it with a lock in its hand, 12 ms and more where others want the
 * cores too, to save less than one.
 *
 * Old memory is collected when it has grown by three fifths. V8 decides by how fast it grows: every few
 * seconds while an LP quotes steadily; only at four times its size while somebody asks for very much, and
 * then the marking, which is to end within half a second whatever the size, falls behind and takes the loop's
 * own time, up to 10 ms at once.
 *
 * Old memory is marked by that thread, and by the loop only as it makes new objects. V8 has the loop help in
 * tasks of its own besides, and Node runs all that are there, one after the other, before anything else: 5 to
 * 8 ms at once, several times a collection.
 *
 * Everything is compiled when it is loaded, at 0.2 s and 5 MB. V8 compiles a function when it is called
 * first: then the first request of a process holds the loop for 20 ms, and so does whatever happens rarely,
 * such as a first award, in the middle of the day.
 *
 * What was compiled stays. V8 drops what some collections found unused: then the first reload in minutes
 * compiles the reading of a configuration again, 6 ms in one piece.
 */

import { setFlagsFromString } from 'node:v8';

/**
 * Read once, at the start, so whoever starts the process says them: the demo, `npm run firmquote`,
 * compose.yaml.
 */
export const LP_NODE_OPTIONS = ['--max-semi-space-size=2', '--v8-pool-size=1'];

/** What `NODE_OPTIONS` may not say either, of what is loaded from now on: before the LP's own modules are. */
export function compileAhead(): void {
  setFlagsFromString('--no-lazy');
}

/** What `NODE_OPTIONS` may not say; of this process, from now on. */
export function collectEvenly(): void {
  setFlagsFromString('--heap-growing-percent=60');
  setFlagsFromString('--no-incremental-marking-task');
  for (const stop of ['scavenge', 'compaction', 'pointer-update'])
    setFlagsFromString(`--no-parallel-${stop}`);
  setFlagsFromString('--no-flush-bytecode');
}
