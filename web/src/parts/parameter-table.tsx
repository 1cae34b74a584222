/** Shows one row for each pricing parameter, with a field for its new value. */

import { Badge, Button, Flex, Table, Text, TextField } from '@radix-ui/themes';
import type { Answers } from '../api.ts';

type Pricing = Answers['/pricing'];
type Parameter = Pricing['parameters'][number];
type Values = Pricing['pairs'][number]['own'];
type Change = NonNullable<ReturnType<typeof valueOf>>['value'];

interface Place {
  pair: string;
  /** Empty: every corridor. */
  corridor: string;
}

/** New values as they were typed, by place and parameter. */
export type Drafts = Readonly<Record<string, Place & { name: string; text: string }>>;

/** Takes a value out of the file, so that the default, or the value of the whole pair, counts. */
const UNSET = 'default';

export function ParameterTable({
  rows,
  own,
  effective,
  place,
  drafts,
  setDrafts,
  isOperator,
}: {
  rows: readonly Parameter[];
  /** The values that the file sets at this place. */
  own: Values;
  effective: Readonly<Record<string, number | boolean>>;
  place: Place;
  drafts: Drafts;
  setDrafts(drafts: Drafts): void;
  isOperator: boolean;
}) {
  const draft = (name: string, text: string) => {
    const key = `${place.pair} ${place.corridor} ${name}`;
    const { [key]: _, ...others } = drafts;
    setDrafts(text.trim() === '' ? others : { ...others, [key]: { ...place, name, text } });
  };
  return (
    <div className="scroll" role="region" aria-label="Table: parameters" tabIndex={0}>
      <Table.Root size="1">
        <Table.Header>
          <Table.Row>
            <Table.ColumnHeaderCell>Parameter</Table.ColumnHeaderCell>
            <Table.ColumnHeaderCell justify="end">In force</Table.ColumnHeaderCell>
            <Table.ColumnHeaderCell>New value</Table.ColumnHeaderCell>
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {rows.map((row) => {
            const { name, unit, meaning } = row;
            const text = drafts[`${place.pair} ${place.corridor} ${name}`]?.text ?? '';
            const isSet = Object.hasOwn(own, name);
            return (
              <Table.Row key={name}>
                <Table.RowHeaderCell minWidth="150px">
                  <Text weight="medium">{name}</Text>
                  <Text as="p" size="1" className="meaning">
                    {meaning.replaceAll('`', '')}
                    {range(row)}
                  </Text>
                </Table.RowHeaderCell>
                <Table.Cell justify="end" style={{ whiteSpace: 'nowrap' }}>
                  {shown(effective[name])} {row.kind === 'boolean' || unit === '–' ? '' : unit}
                  <Text as="p" size="1">
                    <Badge className="rt-high-contrast" color={isSet ? 'blue' : 'gray'}>
                      {isSet ? 'set here' : place.corridor === '' ? 'default' : 'as the pair'}
                    </Badge>
                  </Text>
                </Table.Cell>
                <Table.Cell minWidth="190px">
                  <Flex gap="2" align="center">
                    {row.kind === 'boolean' ? (
                      <select
                        className="choice"
                        aria-label={`New value of ${name}`}
                        disabled={!isOperator}
                        value={text}
                        onChange={(event) => draft(name, event.target.value)}
                      >
                        <option value="">as it is</option>
                        <option>true</option>
                        <option>false</option>
                        {isSet && <option>{UNSET}</option>}
                      </select>
                    ) : (
                      <TextField.Root
                        size="1"
                        style={{ width: 110 }}
                        inputMode="decimal"
                        aria-label={`New value of ${name}`}
                        aria-invalid={text !== '' && valueOf(row, text) === undefined}
                        {...(text !== '' && valueOf(row, text) === undefined
                          ? { color: 'red' as const }
                          : {})}
                        disabled={!isOperator}
                        value={text}
                        onChange={(event) => draft(name, event.target.value)}
                      />
                    )}
                    {isSet && row.kind !== 'boolean' && isOperator && (
                      <Button
                        size="1"
                        variant="ghost"
                        className="rt-high-contrast"
                        aria-label={`Default of ${name}`}
                        onClick={() => draft(name, UNSET)}
                      >
                        {UNSET}
                      </Button>
                    )}
                  </Flex>
                </Table.Cell>
              </Table.Row>
            );
          })}
        </Table.Body>
      </Table.Root>
    </div>
  );
}

/** Writes the value as the file would, without rounding it. */
const shown = (value: number | boolean | undefined): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(12))) : String(value ?? '');

/** Writes the default and the bounds; the LP itself checks more, such as one value against another. */
function range({ preset, least, most }: Parameter): string {
  const parts = [
    preset === null ? '' : `default ${shown(preset)}`,
    least === null ? '' : `at least ${least}`,
    most === null || most >= Number.MAX_SAFE_INTEGER ? '' : `at most ${most}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** Reads a value from a text; undefined: no value. The LP decides whether it is in bounds. */
function valueOf({ kind }: Pick<Parameter, 'kind'>, text: string) {
  const word = text.trim();
  if (word === UNSET) return { value: null };
  if (kind === 'boolean') return { value: word === 'true' };
  const value = Number(word);
  return word === '' || !Number.isFinite(value) ? undefined : { value };
}

/**
 * Builds the changes as the LP takes them. A text that is no number is sent as it is, for the LP to refuse.
 */
export function pairChanges(drafts: Drafts) {
  const pairs: Record<
    string,
    {
      params: Record<string, Change | string>;
      corridorParams: Record<string, Record<string, Change | string>>;
    }
  > = {};
  for (const { pair, corridor, name, text } of Object.values(drafts)) {
    const { params, corridorParams } = (pairs[pair] ??= { params: {}, corridorParams: {} });
    const kind = text === 'true' || text === 'false' ? 'boolean' : 'number';
    const value = valueOf({ kind }, text)?.value;
    const into = corridor === '' ? params : (corridorParams[corridor] ??= {});
    into[name] = value === undefined ? text : value;
  }
  return pairs;
}
