/** A plan for people. */

import { formatUnits } from '../../domain/amount.ts';
import { keccakHex } from '../../domain/keccak.ts';
import { table } from '../terminal/table.ts';
import { runtimeOf } from './code.ts';
import type { ChainPlan } from './plan.ts';

const FOUND = {
  absent: 'to be deployed',
  ours: 'there',
  other_code: 'OTHER CODE',
  other_immutables: 'OTHER IMMUTABLES',
} as const;

export function planLines(plan: ChainPlan): string[] {
  const { chain, sender, state, send, sign, problems, notes, mostCost } = plan;
  const symbol = chain.native.symbol;
  const contracts = state.contracts.map(({ contract, match }) => [
    contract.name,
    contract.address,
    keccakHex(runtimeOf(contract)),
    contract.differs === null ? 'every chain' : 'this chain',
    FOUND[match.is],
  ]);
  const args = state.contracts.flatMap(({ contract }) =>
    Object.entries(contract.args).map(([name, value]) => [contract.name, name, [value].flat().join(', ')]),
  );
  const steps = send.map(({ what, to, gas, isEstimate, mostCost: cost }, at) => [
    String(at + 1),
    what,
    to,
    `${isEstimate ? '' : '<'}${gas}`,
    formatUnits(cost, 18),
  ]);
  const differing = state.contracts.filter(({ contract }) => contract.differs !== null);
  return [
    '',
    `${chain.slug} (chain ${chain.id}), block ${state.block}`,
    '',
    ...table(['CONTRACT', 'ADDRESS', 'CODE HASH', 'SAME ON', 'NOW'], contracts),
    ...differing.map(
      ({ contract }) => `${contract.name} has another address on other chains: ${contract.differs}.`,
    ),
    '',
    ...table(['CONTRACT', 'CONSTRUCTOR ARGUMENT', 'VALUE'], args),
    '',
    `Owner of the oracle, in the end: ${state.owner.address}`,
    ...(state.oracle === null
      ? []
      : [
          `Owner of the oracle, now: ${state.oracle.owner}${state.oracle.pendingOwner === null ? '' : `, offered to ${state.oracle.pendingOwner}`}`,
        ]),
    '',
    ...(steps.length === 0
      ? [`Nothing is to be sent from ${sender}.`]
      : [
          `To be sent from ${sender}, which has ${formatUnits(state.balance, 18)} ${symbol}:`,
          ...table(['', 'STEP', 'TO', 'GAS', `AT MOST, ${symbol}`], steps, {
            right: ['GAS', `AT MOST, ${symbol}`],
          }),
          `In all at most ${formatUnits(mostCost, 18)} ${symbol}.`,
        ]),
    ...sign.map(({ what, by }) => `To be signed by ${by}: ${what}`),
    ...notes.map((note) => `Note: ${note}`),
    ...problems.map(({ what, todo }) => `PROBLEM: ${what}. ${todo}.`),
  ];
}
