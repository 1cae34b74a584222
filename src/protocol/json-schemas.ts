/**
 * JSON Schemas for the API documents: a zod schema with an `id` becomes a component, written once. zod makes
 * the schemas; zod-openapi would replace these 60 lines only, and writes no AsyncAPI.
 */

import * as z from 'zod';
import type { Schema } from './schema.ts';

export interface JsonSchema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

export interface Components {
  /** Every named schema that `of` has met, by id. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** `input`: what is accepted; `output`: what is answered. Named schemas inside become references. */
  of(schema: Schema, io: 'input' | 'output'): JsonSchema;
}

const DEFINITIONS = { 'draft-2020-12': '$defs', 'draft-7': 'definitions' } as const;

/** Throws when one id names two schemas, or a schema that accepts something else than it answers. */
export function createComponents(target: keyof typeof DEFINITIONS): Components {
  const schemas: Record<string, JsonSchema> = {};
  const key = DEFINITIONS[target];

  return {
    schemas,
    of(schema, io) {
      const made = z.toJSONSchema(schema, { target, io, unrepresentable: 'any', override: readable });
      const text = JSON.stringify(made).replaceAll(`"#/${key}/`, '"#/components/schemas/');
      const { $schema: _, [key]: named = {}, ...root } = JSON.parse(text) as JsonSchema;
      for (const [id, each] of Object.entries(named as Record<string, JsonSchema>)) {
        if (schemas[id] !== undefined && JSON.stringify(schemas[id]) !== JSON.stringify(each))
          throw new Error(`two schemas are named ${id}; give one of them another id`);
        schemas[id] = each;
      }
      return root;
    },
  };
}

function readable({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.type === 'integer') {
    // The bounds of a JavaScript integer say nothing about the field, and generators default to 32 bits.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    jsonSchema.format = 'int64';
  }
  // The text of a number in a query: `.meta({ type })` documents it as the number that it is.
  if (jsonSchema.type !== 'string') delete jsonSchema.pattern;
  // The format says the same in a word.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
}
