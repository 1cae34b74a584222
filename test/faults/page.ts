/** docs/reference/faults.md, written from the list that the tests run by. */

import { FAULTS } from './faults.ts';

const HEAD = `# Faults, and what keeps them from doing harm

Written by \`npm run test:faults -- --page\` from \`test/faults/list\`; \`npm test\` compares. \`npm run test:faults\` runs every fault with a new seed
and prints it; \`npm run test:faults -- --seed S F18 F20\` runs two of them with that one. \`npm run test:faults -- --mutate F18\` takes each defence of F18 out,
in a copy of the tree, and fails unless the test of F18 goes red without it.

I1 no double fill · I2 no accepted order lost · I3 no delivery without funded escrow · I4 no more promised than there is · I5 every order ends ·
I6 a submission repeated is one order · I7 nothing starts after \`validUntil\` · I8 anybody can refund after \`expires\`, to the user only · I9 no fill without
time to prove and claim · I10 ends never change and equal the chain · I11 no secret leaves.
`;

export function page(): string {
  const rows = FAULTS.map(({ id, fault, holds, invariants, test, defences }) => {
    const kept = defences.map(({ what, file }) => `${what} (\`${file}\`)`).join('; ');
    return `| ${id} | ${fault} | ${holds} (${invariants.join(' ')}) | ${kept} | \`${test}\` |`;
  });
  return `${HEAD}\n| | Fault | What holds | Defence (\`--mutate\` takes it out) | Test |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}
