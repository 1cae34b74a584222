/** The structure of an answer without its values: two examples of the same thing have the same shape. */

/** Keys that are data rather than names of fields. */
const DATA = /^(?:eip155:|0x|chain\d|tron-)/;

/** Null fits anything, so a field that is null here and a text there is the same field. */
export function shapeOf(value: unknown): unknown {
  return canonical(shape(value));
}

type Known = { kinds: Set<string>; fields?: Map<string, Known>; items?: Known };

function shape(value: unknown): Known {
  if (Array.isArray(value)) {
    // A tuple and a list look alike here: what matters is what is in it.
    const items = value.map(shape);
    return { kinds: new Set(['array']), ...(items.length > 0 && { items: items.reduce(merged) }) };
  }
  if (typeof value === 'object' && value !== null) {
    const fields = new Map<string, Known>();
    for (const [key, part] of Object.entries(value)) {
      const name = DATA.test(key) ? '*' : key;
      const known = fields.get(name);
      fields.set(name, known ? merged(known, shape(part)) : shape(part));
    }
    return { kinds: new Set(['object']), fields };
  }
  return { kinds: new Set(value === null ? [] : [typeof value]) };
}

function merged(a: Known, b: Known): Known {
  const fields = new Map(a.fields);
  for (const [name, known] of b.fields ?? []) {
    const before = fields.get(name);
    fields.set(name, before ? merged(before, known) : known);
  }
  const items = a.items && b.items ? merged(a.items, b.items) : (a.items ?? b.items);
  return {
    kinds: new Set([...a.kinds, ...b.kinds]),
    ...(fields.size > 0 && { fields }),
    ...(items && { items }),
  };
}

/** Names of fields with where they are; kinds are the schemas' business. */
function canonical({ fields, items }: Known, at = ''): string[] {
  return [
    ...[...(fields ?? [])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, known]) => [`${at}.${name}`, ...canonical(known, `${at}.${name}`)]),
    ...(items ? canonical(items, `${at}[]`) : []),
  ];
}
