/** Writes docs/reference/faults.md from the list that the tests run by. */

import { FAULTS } from './faults.ts';

export const PAGE = 'docs/reference/faults.md';

const HEAD = `# Faults, and what holds in spite of them

\`npm run test:faults -- --page\` writes this page from \`test/faults/list\`; \`npm test\` compares the two.

| Command | What it does |
|---|---|
| \`npm run test:faults -- --list F18\` | prints the defences of F18, each with the file and the exported symbol that hold it |
| \`npm run test:faults\` | runs every fault with a new seed, and prints the seed |
| \`npm run test:faults -- --seed S F18 F20\` | runs two faults with that seed |
| \`npm run test:faults -- --mutate F18\` | takes each defence of F18 out, in a copy of the tree; fails unless F18's test fails each time |

The invariants:

| | |
|---|---|
| I1 | no order is filled twice |
| I2 | no accepted order is lost |
| I3 | nothing is delivered without a funded escrow |
| I4 | no more is promised than there is |
| I5 | every order ends |
| I6 | a repeated submission is one order |
| I7 | nothing starts after \`validUntil\` |
| I8 | anyone can refund after \`expires\`, to the user only |
| I9 | no fill without time to prove and claim |
| I10 | an end never changes, and equals the chain's |
| I11 | no secret leaves a process |
`;

export function page(): string {
  const rows = FAULTS.map(
    ({ id, fault, holds, invariants, test }) =>
      `| ${id} | ${fault} | ${holds} (${invariants.join(' ')}) | \`${test}\` |`,
  );
  return `${HEAD}\n| | Fault | What holds | Test |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** The named faults, or all, with their defences, for a terminal. */
export function defencesOf(ids: readonly string[]): string {
  return FAULTS.filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map(({ id, fault, holds, defences, test }) =>
      [
        `${id}: ${fault}`,
        `  holds: ${holds}`,
        ...defences.map(({ what, symbol }) => `  ${symbol}: ${what}`),
        `  test: ${test}`,
      ].join('\n'),
    )
    .join('\n');
}
