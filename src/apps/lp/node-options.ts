/**
 * How Node runs an LP. What a live quote keeps survives every collection of young memory, so each one stops the program for as long
 * as copying the survivors takes, which grows with young memory. A quarter of what Node chooses makes shorter stops and more of them, at a
 * little more CPU (`--trace-gc` shows each).
 *
 * One thread beside the program collects, where Node takes four. As many as that leave the loop without a core on a small machine just
 * while they mark a heap of a hundred thousand quotes, and a short collection waits for the last of them to be given one.
 *
 * Both are read once, at the start, so whoever starts the process says it: the demo, `npm run firmquote`, compose.yaml.
 */
export const LP_NODE_OPTIONS = ['--max-semi-space-size=4', '--v8-pool-size=1'];
