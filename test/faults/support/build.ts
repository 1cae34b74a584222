/** Before the faults: bundles the program with faults (program.ts). */

import { bundled } from '../../support/build.ts';

/** Returns a function that removes it. */
export default function buildFaultProgram(): () => void {
  const { program, remove } = bundled('test/faults/support/program.ts');
  process.env['FIRMQUOTE_FAULT_PROGRAM'] = program;
  return remove;
}
