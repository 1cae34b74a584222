/**
 * Shows the legs of each candidate, in their order: who delivers what, for which fee, and after which leg.
 */

import { Table } from '@radix-ui/themes';
import type { Leg } from '../../../../src/protocol/api/router.ts';
import { legsOf } from './candidates.tsx';
import { amountOfAsset, type Side } from './side.ts';
import type { Judged } from './trader.ts';

export function Legs({ judged, sides }: { judged: readonly Judged[]; sides: readonly Side[] }) {
  return (
    <div className="scroll by-region" role="region" aria-label="Table: legs" tabIndex={0}>
      <Table.Root size="1">
        <Table.Header>
          <Table.Row>
            <Table.ColumnHeaderCell>Candidate</Table.ColumnHeaderCell>
            {COLUMNS.map(([name]) => (
              <Table.ColumnHeaderCell key={name}>{name}</Table.ColumnHeaderCell>
            ))}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {judged.flatMap(({ candidate }, index) =>
            legsOf(candidate).map((leg) => (
              <Table.Row key={`${candidate.quoteId} ${leg.index}`}>
                <Table.RowHeaderCell>{index + 1}</Table.RowHeaderCell>
                {COLUMNS.map(([name, show]) => (
                  <Table.Cell key={name}>{show(leg, sides)}</Table.Cell>
                ))}
              </Table.Row>
            )),
          )}
        </Table.Body>
      </Table.Root>
    </div>
  );
}

/** Legs are numbered from 0, as in the API and in the warnings of the venue. */
const COLUMNS: readonly (readonly [string, (leg: Leg, sides: readonly Side[]) => string])[] = [
  ['Leg', ({ index }) => String(index)],
  ['Kind', ({ kind }) => kind],
  ['Venue', ({ venue, solverId }) => (venue === solverId ? venue : `${venue}: ${solverId}`)],
  [
    'Chain',
    ({ chainId }, sides) => sides.find(({ chain }) => chain.id === chainId)?.chain.slug ?? `${chainId}`,
  ],
  ['Gives', ({ input: { amount, asset } }, sides) => amountOfAsset(amount, asset, sides)],
  ['Gets', ({ output: { amount, asset } }, sides) => amountOfAsset(amount, asset, sides)],
  [
    'At least',
    ({ output: { minimumAmount, asset } }, sides) =>
      minimumAmount === null ? 'not enforced' : amountOfAsset(minimumAmount, asset, sides),
  ],
  ['Fees', feesText],
  ['Expected time', ({ eta }) => (eta === null ? 'unknown' : `${eta} s`)],
  ['After', ({ dependsOn }) => (dependsOn.length === 0 ? 'at once' : `leg ${dependsOn.join(' and ')}`)],
];

/** The amounts of a leg contain its fees. null: LPs charge by their price. */
function feesText({ fees }: Leg, sides: readonly Side[]): string {
  if (fees == null) return 'in the price';
  if (fees.length === 0) return 'none';
  return fees.map(({ amount, asset }) => amountOfAsset(amount, asset, sides)).join(' and ');
}
