/**
 * What stands behind a row of docs/reference/faults.md: a fault, what must hold in spite of it, and what goes red when
 * a defence is taken out.
 */

export interface Defence {
  /** What keeps the fault from doing harm, in a sentence. */
  what: string;
  /** Where it is: a file of src or contracts, from the root. */
  file: string;
  /** Text that occurs once in that file, and what it becomes when the defence is taken out. */
  from: string;
  to: string;
}

export interface Fault {
  id: `F${number}`;
  /** What happens. */
  fault: string;
  /** What must be true all the same. */
  holds: string;
  /** Of reliability's I1 to I11. */
  invariants: readonly `I${number}`[];
  /** The file whose test is named after the id: `test('F18: …')`. */
  test: string;
  /** At least one. `--mutate` shows whether the test is red without it. */
  defences: readonly Defence[];
}
