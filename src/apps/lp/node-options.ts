/**
 * How Node runs an LP. What a live quote keeps survives every collection of young memory, so each one stops the program for as long
 * as copying the survivors takes, which grows with young memory. A quarter of what Node chooses makes shorter stops and more of them, at a
 * little more CPU (`--trace-gc` shows each). V8 reads it once, at its start, so whoever starts the process says it: the demo,
 * `npm run firmquote`, compose.yaml.
 */
export const LP_NODE_OPTIONS = ['--max-semi-space-size=4'];
