/** Candidates side by side, best first: what each gives and costs, what the client found, and its button. */

import { Badge, Button, Table, Text } from '@radix-ui/themes';
import type { ReactNode } from 'react';
import { formatUnits } from 'viem';
import type { Candidate } from '../../../../src/client/client.ts';
import type { Leg } from '../../../../src/protocol/api/router.ts';
import { number } from '../../format.ts';
import { useNow } from '../../live.ts';
import { amountIn, type Side } from './side.ts';
import type { Judged } from './trader.ts';

export interface Ends {
  give: Side;
  get: Side;
  /** The side whose amount the taker has fixed. */
  exact: 'input' | 'output';
}

export const legsOf = (candidate: Candidate): readonly Leg[] =>
  ('composite' in candidate && candidate.composite?.legs) || [];

/** Names the solvers, in the order of the legs. */
function titleOf(candidate: Candidate): string {
  const legs = legsOf(candidate);
  const joint = legs.some(({ dependsOn }) => dependsOn.length > 0) ? ', then ' : ' and ';
  return legs.length === 0 ? candidate.solverId : legs.map(({ solverId }) => solverId).join(joint);
}

export function Candidates({
  judged,
  ends,
  later = false,
  busy,
  choose,
}: {
  judged: readonly Judged[];
  ends: Ends;
  /** True for a later leg of a route: its legs name the earlier ones too, which are over. */
  later?: boolean;
  busy: boolean;
  choose(chosen: Judged): void;
}) {
  const nowMs = useNow();
  const title = (candidate: Candidate) => (later ? candidate.solverId : titleOf(candidate));
  const secondsLeft = ({ validUntil }: Candidate) => Math.max(0, validUntil - Math.floor(nowMs / 1_000));
  const rows: [string, (judged: Judged) => ReactNode][] = [
    ...amountRows(ends),
    ...costRows(ends),
    ...(!later && judged.some(({ candidate }) => legsOf(candidate).length > 0) ? [routeRow] : []),
    ['Firm for', ({ candidate }) => `${secondsLeft(candidate)} s`.replace(/^0 s$/, 'over: ask again')],
    ['Warnings', warnings],
    ['Check', check],
  ];
  return (
    <div
      className="scroll"
      role="region"
      aria-label={later ? 'Table: next leg' : 'Table: candidates'}
      tabIndex={0}
    >
      <Table.Root size="1">
        <Table.Header>
          <Table.Row>
            <Table.ColumnHeaderCell>From</Table.ColumnHeaderCell>
            {judged.map(({ candidate }, index) => (
              <Table.ColumnHeaderCell key={candidate.quoteId}>
                {index + 1}. {title(candidate)}
              </Table.ColumnHeaderCell>
            ))}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {rows.map(([name, show]) => (
            <Table.Row key={name}>
              <Table.RowHeaderCell>{name}</Table.RowHeaderCell>
              {judged.map((each) => (
                <Table.Cell key={each.candidate.quoteId}>{show(each)}</Table.Cell>
              ))}
            </Table.Row>
          ))}
          <Table.Row>
            <Table.RowHeaderCell>Take</Table.RowHeaderCell>
            {judged.map((each) => (
              <Table.Cell key={each.candidate.quoteId}>
                <Button
                  size="1"
                  className="rt-high-contrast"
                  disabled={busy || each.checked === undefined || secondsLeft(each.candidate) === 0}
                  onClick={() => choose(each)}
                >
                  Sign and trade with {title(each.candidate)}
                </Button>
              </Table.Cell>
            ))}
          </Table.Row>
        </Table.Body>
      </Table.Root>
    </div>
  );
}

type Row = [string, (judged: Judged) => ReactNode];
const [input, output] = [
  ({ candidate }: Judged) => candidate.preview.inputs[0],
  ({ candidate }: Judged) => candidate.preview.outputs[0],
];

/** The order of the first leg fixes the input; the escrow enforces the least output. */
function amountRows({ give, get, exact }: Ends): Row[] {
  const gets: Row = ['You get', (judged) => amountIn(output(judged)?.amount, get)];
  const least: Row = [
    'At least',
    (judged) => {
      const floor = output(judged)?.minimumAmount ?? undefined;
      return floor === undefined ? 'open until the last leg is quoted' : amountIn(floor, get);
    },
  ];
  const gives: Row = [
    exact === 'output' ? 'You give, at most' : 'You give',
    (judged) => amountIn(input(judged)?.amount, give),
  ];
  return exact === 'output' ? [gives, gets, least] : [gets, least, gives];
}

const costRows = ({ give, get }: Ends): Row[] => [
  ['Price', ({ candidate }) => priceOf(candidate, give, get)],
  ['Platform fee', ({ candidate: { platformFeeBps } }) => bps(platformFeeBps)],
  [
    'Relay fee',
    ({ checked }) => (checked === undefined ? 'unknown' : amountIn(String(checked.relayFee), give)),
  ],
  ['Spread of the LP', ({ candidate: { lpSpreadBps } }) => bps(lpSpreadBps)],
  [
    'Gas that you pay',
    ({ candidate: { executionMode, gas } }) =>
      executionMode === 'apiSubmit'
        ? 'none: the venue sends it'
        : gas?.usd == null
          ? 'yes'
          : `$${number(gas.usd, 4)}`,
  ],
  ['Expected time', ({ candidate: { eta } }) => (eta == null ? 'unknown' : `${eta} s`)],
];

const routeRow: Row = [
  'Route',
  ({ candidate }) => {
    const several = legsOf(candidate).length > 1;
    const model = 'composite' in candidate ? candidate.composite?.executionModel : undefined;
    if (model === 'sequential') return 'an order for each part, one after the other';
    return several ? 'one order: all legs happen, or none' : 'one order';
  },
];

const warnings = ({ candidate: { warnings: all = [] } }: Judged): ReactNode =>
  all.length === 0
    ? 'none'
    : all.map(({ code, message }) => (
        <Text as="p" size="2" key={code} className="sentence">
          {message}
        </Text>
      ));

const check = ({ refused }: Judged): ReactNode =>
  refused === undefined ? (
    <Badge color="green" className="rt-high-contrast">
      every byte checked
    </Badge>
  ) : (
    <Text color="red" size="2" className="breaks">
      Refused: {refused}
    </Text>
  );

const bps = (value: number | null | undefined) => (value == null ? 'unknown' : `${value} bps`);

/** Computes the price for display only, in floating point. */
function priceOf({ preview: { inputs, outputs } }: Candidate, give: Side, get: Side): string {
  const [paid, got] = [inputs[0]?.amount, outputs[0]?.amount];
  if (paid === undefined || got === undefined) return 'unknown';
  const price =
    Number(formatUnits(BigInt(paid), give.token.decimals)) /
    Number(formatUnits(BigInt(got), get.token.decimals));
  return `1 ${get.token.symbol} = ${number(price, 4)} ${give.token.symbol}`;
}
