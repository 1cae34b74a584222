/**
 * How Node runs an LP. What a live quote keeps survives every collection of young memory, so each one stops the program for as long
 * as copying the survivors takes: about half a millisecond for each megabyte of young memory. Sixteen megabytes, Node's own
 * choice, are a stop of 8 ms every few hundred quotes; four are stops of 2 to 3 ms, four times as often and some microseconds of CPU
 * more a quote. V8 reads it once, at its start, so whoever starts the process says it: the demo, `npm run firmquote`, compose.yaml.
 */
export const LP_NODE_OPTIONS = ['--max-semi-space-size=4'];
