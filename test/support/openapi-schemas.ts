/** The schemas of an OpenAPI document, ready to say what does not fit. */

import * as z from 'zod';
import type { OpenApi } from '../../src/adapters/http/openapi.ts';

export interface Schemas {
  /** Returns the documented statuses of `METHOD /path`, without `default`. */
  statuses(operation: string): string[];
  /** Returns what is wrong with a body; undefined: nothing. */
  requestFault(operation: string, body: unknown): string | undefined;
  /** The same of an answer; a status that is not documented is judged by `default`. */
  answerFault(operation: string, status: string, body: unknown): string | undefined;
}

export function createSchemas(document: OpenApi): Schemas {
  const built = new Map<string, z.ZodType>();

  function schemaOf(raw: unknown): z.ZodType | undefined {
    if (raw === undefined) return undefined;
    const text = JSON.stringify(raw);
    const known = built.get(text) ?? z.fromJSONSchema(bundled(raw as object, document) as never);
    built.set(text, known);
    return known;
  }

  function operationOf(operation: string) {
    const [method = '', path = ''] = operation.split(' ');
    const found = document.paths[path]?.[method.toLowerCase()];
    if (!found) throw new Error(`the document has no ${operation}`);
    return found;
  }

  const fault = (schema: z.ZodType | undefined, body: unknown): string | undefined => {
    const error = schema?.safeParse(body).error;
    return error && `${error.issues[0]?.path.join('.') ?? ''}: ${error.issues[0]?.message ?? ''}`;
  };

  return {
    statuses: (operation) =>
      Object.keys(operationOf(operation).responses ?? {}).filter((status) => status !== 'default'),
    requestFault: (operation, body) =>
      fault(schemaOf(operationOf(operation).requestBody?.content?.['application/json']?.schema), body),
    answerFault(operation, status, body) {
      const { responses = {} } = operationOf(operation);
      const answer = responses[status] ?? responses['default'];
      return fault(schemaOf(Object.values(answer?.content ?? {})[0]?.schema), body);
    },
  };
}

/** The schema with the components that it refers to as its own definitions. */
export function bundled(schema: object, { components }: { components?: object }): object {
  const { schemas } = (components ?? {}) as { schemas?: object };
  return JSON.parse(
    JSON.stringify({ ...schema, $defs: schemas ?? {} }).replaceAll('"#/components/schemas/', '"#/$defs/'),
  ) as object;
}
