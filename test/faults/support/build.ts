/** Before the faults: bundles the program with faults (program.ts). */

import { bundled } from '../../support/bundle.ts';

/** Returns a function that removes it. */
export default async function buildFaultProgram(): Promise<() => void> {
  const { program, remove } = await bundled('test/faults/support/program.ts');
  process.env['FIRMQUOTE_FAULT_PROGRAM'] = program;
  return remove;
}
