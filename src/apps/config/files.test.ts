/** The files in config/ document every option: each is valid for its app and omits none. */

import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { appOf, schemaOf } from '../cli/config-check.ts';
import { parseConfig, readJson } from './load.ts';
import { schemasAt } from './schema-paths.ts';

const FOLDER = new URL('../../../config/', import.meta.url);
const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.json'));

describe('config/', () => {
  test('holds a file for every app', async () => {
    const apps = await Promise.all(
      files.map(async (name) => appOf(await readJson(new URL(name, FOLDER).pathname), name)),
    );
    expect(apps.toSorted()).toEqual(['attester', 'demo', 'deploy', 'lp', 'take', 'venue']);
  });

  test.each(files)('%s is valid', async (name) => {
    const json = await readJson(new URL(name, FOLDER).pathname);
    expect(() => parseConfig(z.any(), json, {})).not.toThrow();
    expect(parseConfig(await schemaOf(appOf(json, name)), json, {}).config).toBeDefined();
  });

  test.each(files)('%s contains every option once', async (name) => {
    const json = await readJson(new URL(name, FOLDER).pathname);
    // LP options are documented in lp.example.json; the demo's LPs show only what differs.
    const ofLps = /^lps\.(?:pairs\.(?:params|corridorParams)|quoting|limits|risk)(?:\.|$)/;
    const gaps = missing(await schemaOf(appOf(json, name)), json, '').filter(
      (path) => name !== 'demo.json' || !ofLps.test(path),
    );
    expect(gaps).toEqual([]);
  });
});

/**
 * Options that the file does not show. An option counts as shown when any list item, or one union branch, has
 * it.
 */
function missing(schema: z.ZodType, value: unknown, path: string): string[] {
  const branches = schemasAt(schema, []).map((branch) => missingIn(branch, value, path));
  return branches.sort((a, b) => a.length - b.length)[0] ?? [];
}

function missingIn(schema: z.ZodType, value: unknown, path: string): string[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([key, inner]) => {
      const here = path === '' ? key : `${path}.${key}`;
      const has = typeof value === 'object' && value !== null && key in value;
      return has ? missing(inner as z.ZodType, (value as Record<string, unknown>)[key], here) : [here];
    });
  }
  const items = Array.isArray(value)
    ? value
    : typeof value === 'object' && value !== null
      ? Object.values(value)
      : [];
  const element =
    schema instanceof z.ZodArray
      ? schema.element
      : schema instanceof z.ZodRecord
        ? schema.valueType
        : undefined;
  if (!element || items.length === 0) return [];
  const perItem = items.map((item) => new Set(missing(element as z.ZodType, item, path)));
  return [...(perItem[0] ?? [])].filter((gap) => perItem.every((gaps) => gaps.has(gap)));
}
