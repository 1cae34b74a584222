/** Finds what breaks a client of an older OpenAPI document in a newer one. Additions pass. */

import type { Content, OpenApi, Operation } from '../../src/adapters/http/openapi.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  prefixItems?: Schema[];
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** Returns one line for each breaking change; empty: every client of `before` can talk to `after`. */
export function breakingChanges(released: OpenApi, current: OpenApi): string[] {
  const found: string[] = [];
  const [before, after] = [inlined(released), inlined(current)];
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const [method, old] of Object.entries(methods)) {
      const at = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      if (now === undefined) found.push(`${at}: removed`);
      else operation(at, old, now);
    }
  }
  return found;

  function operation(at: string, old: Operation, now: Operation): void {
    for (const parameter of old.parameters ?? []) {
      const same = now.parameters?.find(
        ({ name, in: where }) => name === parameter.name && where === parameter.in,
      );
      if (!same) found.push(`${at}: parameter ${parameter.name} removed`);
      else {
        if (same.required && !parameter.required)
          found.push(`${at}: parameter ${parameter.name} is required now`);
        asked(`${at} ?${parameter.name}`, asText(parameter.schema), asText(same.schema));
      }
    }
    for (const parameter of now.parameters ?? []) {
      const known = old.parameters?.some(
        ({ name, in: where }) => name === parameter.name && where === parameter.in,
      );
      if (!known && parameter.required) found.push(`${at}: new required parameter ${parameter.name}`);
    }
    const [oldBody, newBody] = [old.requestBody?.content, now.requestBody?.content];
    if (!oldBody && newBody && now.requestBody?.required) found.push(`${at}: a body is required now`);
    if (oldBody) contents(`${at} body`, oldBody, newBody, asked);
    for (const [status, answer] of Object.entries(old.responses ?? {})) {
      const same = now.responses?.[status];
      if (!same) found.push(`${at}: answer ${status} removed`);
      else if (answer.content) contents(`${at} ${status}`, answer.content, same.content, told);
    }
  }

  function contents(
    at: string,
    old: Record<string, Content>,
    now: Record<string, Content> | undefined,
    compare: (at: string, old: Schema, now: Schema) => void,
  ): void {
    for (const [media, { schema }] of Object.entries(old)) {
      const same = now?.[media];
      if (!same) found.push(`${at}: ${media} removed`);
      else if (schema !== undefined) compare(at, schema as Schema, (same.schema ?? {}) as Schema);
    }
  }

  /** Requests: what was accepted is still accepted. */
  function asked(at: string, old: Schema = {}, now: Schema = {}): void {
    kinds(at, old, now, 'accepts');
    for (const value of old.enum ?? [])
      if (now.enum && !now.enum.includes(value))
        found.push(`${at}: ${JSON.stringify(value)} is accepted no more`);
    if (!old.enum && now.enum) found.push(`${at}: only some values are accepted now`);
    for (const name of now.required ?? [])
      if (!old.required?.includes(name)) found.push(`${at}.${name}: required now`);
    for (const [name, schema] of Object.entries(old.properties ?? {})) {
      const same = now.properties?.[name];
      if (same) asked(`${at}.${name}`, schema, same);
      else if (now.properties && now.additionalProperties === false)
        found.push(`${at}.${name}: accepted no more`);
    }
    if (old.pattern !== now.pattern && now.pattern !== undefined) found.push(`${at}: another pattern`);
    for (const [limit, narrower] of [
      ['minimum', above],
      ['minLength', above],
      ['minItems', above],
      ['maximum', below],
      ['maxLength', below],
      ['maxItems', below],
    ] as const) {
      if (narrower(old[limit], now[limit])) found.push(`${at}: ${limit} is ${String(now[limit])} now`);
    }
    if (old.items && now.items) asked(`${at}[]`, old.items, now.items);
    alternatives(at, old, now, asked);
    mapped(at, old, now, asked);
  }

  /** Responses: every released field stays, and no field may take a value that it could not take before. */
  function told(at: string, old: Schema = {}, now: Schema = {}): void {
    kinds(at, now, old, 'tells');
    for (const value of now.enum ?? [])
      if (old.enum && !old.enum.includes(value))
        found.push(`${at}: ${JSON.stringify(value)} is new to every client`);
    if (old.enum && !now.enum) found.push(`${at}: can be anything now`);
    // A client that waits for a removed value would wait forever.
    for (const value of old.enum ?? [])
      if (now.enum && !now.enum.includes(value))
        found.push(`${at}: ${JSON.stringify(value)} is told no more`);
    for (const name of old.required ?? [])
      if (!now.required?.includes(name)) found.push(`${at}.${name}: not always there any more`);
    for (const [name, schema] of Object.entries(old.properties ?? {})) {
      const same = now.properties?.[name];
      if (same) told(`${at}.${name}`, schema, same);
      else found.push(`${at}.${name}: removed`);
    }
    if (old.format !== undefined && old.format !== now.format) found.push(`${at}: no ${old.format} any more`);
    if (old.items && now.items) told(`${at}[]`, old.items, now.items);
    alternatives(at, old, now, told);
    mapped(at, old, now, told);
  }

  /** `narrow` must fit into `wide`. */
  function kinds(at: string, narrow: Schema, wide: Schema, verb: string): void {
    const [few, many] = [typesOf(narrow), typesOf(wide)];
    if (many.size === 0) return;
    if (few.size === 0) return void found.push(`${at}: ${verb} any kind of value now`);
    for (const type of few)
      if (!many.has(type) && !(type === 'integer' && many.has('number')))
        found.push(
          `${at}: ${verb === 'tells' ? 'tells' : 'accepted'} ${type}${verb === 'tells' ? ' now' : ' and does not any more'}`,
        );
  }

  /** Alternatives of the same kind are compared with each other; their number may grow. */
  function alternatives(
    at: string,
    old: Schema,
    now: Schema,
    compare: (at: string, old: Schema, now: Schema) => void,
  ): void {
    const [was, is] = [old.anyOf ?? old.oneOf, now.anyOf ?? now.oneOf];
    if (!was) return;
    const others = is ?? [now];
    for (const schema of was) {
      const kind = [...typesOf(schema)].join();
      const fits = others.filter((each) => [...typesOf(each)].join() === kind);
      // With several of one kind the position says which is which.
      const same = fits.length > 1 ? others[was.indexOf(schema)] : fits[0];
      if (same) compare(at, schema, same);
    }
  }

  function mapped(
    at: string,
    old: Schema,
    now: Schema,
    compare: (at: string, old: Schema, now: Schema) => void,
  ): void {
    if (typeof old.additionalProperties === 'object' && typeof now.additionalProperties === 'object')
      compare(`${at}.*`, old.additionalProperties, now.additionalProperties);
  }
}

const above = (old: number | undefined, now: number | undefined): boolean =>
  now !== undefined && now > (old ?? Number.NEGATIVE_INFINITY);
const below = (old: number | undefined, now: number | undefined): boolean =>
  now !== undefined && now < (old ?? Number.POSITIVE_INFINITY);

/** Replaces references by their schemas, and a constant by the enum that it is. */
function inlined(document: OpenApi): OpenApi {
  const known = document.components?.['schemas'] ?? {};
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, const: only, ...rest } = value as Schema;
    const fields = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, plain(each)]));
    if ($ref?.startsWith('#/components/schemas/'))
      return { ...(plain(known[$ref.split('/').at(-1) ?? '']) as object), ...fields };
    return only === undefined ? fields : { ...fields, enum: [only] };
  };
  return plain(document) as OpenApi;
}

/** Parameters are text: one that only numbers fit may be documented as a number. */
function asText(schema: unknown): Schema {
  const { type, ...rest } = schema as Schema;
  return type === 'integer' || type === 'number'
    ? { ...rest, type: 'string' }
    : { ...rest, ...(type && { type }) };
}

/** Kinds of value that a schema allows; empty: any. */
function typesOf(schema: Schema): Set<string> {
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) {
    const each = parts.map(typesOf);
    return each.some(({ size }) => size === 0) ? new Set() : new Set(each.flatMap((types) => [...types]));
  }
  if (schema.type !== undefined) return new Set([schema.type].flat());
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return new Set(values.map((value) => (value === null ? 'null' : typeof value)));
}
