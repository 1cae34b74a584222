/** A labelled choice of one out of a few, by the browser's own list. */

import { Text } from '@radix-ui/themes';

export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly (readonly [value: string, name: string])[];
  onChange(value: string): void;
}) {
  return (
    <Text as="label" size="2">
      {label}
      <select className="choice" value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </Text>
  );
}
