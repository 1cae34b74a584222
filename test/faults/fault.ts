/**
 * A fault, what must hold in spite of it (a row of docs/reference/faults.md), and the defences that make it
 * hold (`npm run test:faults -- --list` prints them).
 */

export interface Defence {
  /** What the defence does, in one sentence. */
  what: string;
  /** Where it is: `src/room/file.ts#exportedName`, or `contracts/src/File.sol#functionName`. */
  symbol: `${string}#${string}`;
  /**
   * What replaces it when the defence is taken out. In TypeScript an expression of the exported thing's type,
   * in which `original` is that thing; in Solidity the function's body.
   */
  becomes: string;
}

export interface Fault {
  id: `F${number}`;
  /** What happens. */
  fault: string;
  /** What must hold all the same. */
  holds: string;
  /** The invariants I1 to I11 at the head of docs/reference/faults.md. */
  invariants: readonly `I${number}`[];
  /** The file with the test that is named after the id: `test('F18: …')`. */
  test: string;
  /** At least one. `--mutate` shows that the test fails without it. */
  defences: readonly Defence[];
}
