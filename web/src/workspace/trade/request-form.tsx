/** Asks what the taker wants: two tokens, the amount that is fixed, and who is asked. */

import { Button, Text, TextField } from '@radix-ui/themes';
import { useState } from 'react';
import { Choice } from '../parts/choice.tsx';
import { nameOf, parseAmount, type Side } from './side.ts';
import type { Namespace } from './trader.ts';

export interface Request {
  give: Side;
  get: Side;
  exact: 'input' | 'output';
  /** Base units of the side that is fixed. */
  amount: bigint;
  namespace: Namespace;
}

const EXACT = [
  ['input', 'I give exactly'],
  ['output', 'I get exactly'],
] as const;
const SOURCES = [
  ['rfq', 'LPs: firm quotes'],
  ['router', 'All routes'],
] as const;

/** Shows the form. `sides`: two at least. */
export function RequestForm({
  sides,
  busy,
  disabled,
  onSides,
  submit,
}: {
  sides: readonly Side[];
  busy: boolean;
  disabled: boolean;
  onSides(give: Side, get: Side): void;
  submit(request: Request): void;
}) {
  const [from, setFrom] = useState(0);
  const [to, setTo] = useState(1);
  const [exact, setExact] = useState<Request['exact']>('input');
  const [namespace, setNamespace] = useState<Namespace>('rfq');
  const [text, setText] = useState('');
  const [give, get] = [sides[from], sides[to]] as [Side, Side];
  const fixed = exact === 'input' ? give : get;
  const amount = parseAmount(text, fixed);
  const options = sides.map((side, index) => [String(index), nameOf(side)] as const);
  const choose = (nextFrom: number, nextTo: number) => {
    setFrom(nextFrom);
    setTo(nextTo);
    onSides(sides[nextFrom] as Side, sides[nextTo] as Side);
  };
  return (
    <form
      className="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (amount !== undefined) submit({ give, get, exact, amount, namespace });
      }}
    >
      <Choice
        label="Fixed amount"
        value={exact}
        options={EXACT}
        onChange={(value) => setExact(value as Request['exact'])}
      />
      <Text as="label" size="2">
        Amount of {fixed.token.symbol}
        <TextField.Root
          mt="1"
          inputMode="decimal"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Text>
      <Choice
        label="You give"
        value={String(from)}
        options={options}
        onChange={(value) => choose(Number(value), to)}
      />
      <Choice
        label="You get"
        value={String(to)}
        options={options}
        onChange={(value) => choose(from, Number(value))}
      />
      <Choice
        label="Ask"
        value={namespace}
        options={SOURCES}
        onChange={(value) => setNamespace(value as Namespace)}
      />
      <Button
        className="rt-high-contrast"
        type="submit"
        loading={busy}
        disabled={disabled || amount === undefined || from === to}
      >
        Ask for quotes
      </Button>
      {text !== '' && amount === undefined && (
        <Text as="p" size="2" role="status">
          Give an amount above zero with at most {fixed.token.decimals} decimals.
        </Text>
      )}
    </form>
  );
}
