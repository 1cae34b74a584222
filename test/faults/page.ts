/** Writes docs/reference/faults.md from the list that the tests run by. */

import { FAULTS } from './faults.ts';

export const PAGE = 'docs/reference/faults.md';

const HEAD = `# Faults, and what keeps them from doing harm

\`npm run test:faults -- --page\` writes this page from \`test/faults/list\`; \`npm test\` compares the two.

| Command | What it does |
|---|---|
| \`npm run test:faults\` | runs every fault with a new seed, and prints the seed |
| \`npm run test:faults -- --seed S F18 F20\` | runs two faults with that seed |
| \`npm run test:faults -- --mutate F18\` | takes each defence of F18 out, in a copy of the tree; fails unless F18's test fails each time |

A defence is named by the file and the exported symbol that hold it. The invariants:

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
  const rows = FAULTS.map(({ id, fault, holds, invariants, test, defences }) => {
    const list = defences.map(({ what, symbol }) => `${what} (\`${symbol}\`)`).join('; ');
    return `| ${id} | ${fault} | ${holds} (${invariants.join(' ')}) | ${list} | \`${test}\` |`;
  });
  return `${HEAD}\n| | Fault | What holds | Defences | Test |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}
