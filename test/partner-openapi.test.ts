/** docs/partner-openapi.json is what the schemas say, describes itself, and passes the linter. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { DECLINE_REASONS } from '../src/domain/decline.ts';
import type { JsonSchema } from '../src/protocol/json-schemas.ts';
import {
  PARTNER_ERRORS,
  PARTNER_OPERATIONS,
  PARTNER_ORDER_STATES,
} from '../src/protocol/partner/messages.ts';
import { partnerOpenApi } from './support/partner-openapi.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PATH = resolve(ROOT, 'docs/partner-openapi.json');

test('the document is made from the schemas; vitest -u renews it', async () => {
  await expect(`${JSON.stringify(partnerOpenApi(), null, 2)}\n`).toMatchFileSnapshot(PATH);
});

test('every named schema and every field says what it means', () => {
  const { components } = partnerOpenApi() as { components: { schemas: Record<string, JsonSchema> } };
  const silent = Object.entries(components.schemas).flatMap(([name, { description, properties = {} }]) => [
    ...(description ? [] : [name]),
    ...Object.entries(properties)
      .filter(([, each]) => !each.description && !each.$ref)
      .map(([field]) => `${name}.${field}`),
  ]);
  expect(silent).toEqual([]);
});

test('the linter of redocly.yaml finds nothing', async () => {
  const config = await loadConfig({ configPath: resolve(ROOT, 'redocly.yaml') });
  const problems = await lintFromString({
    source: JSON.stringify(partnerOpenApi(), null, 2),
    absoluteRef: PATH,
    config,
  });
  expect(
    problems.map(
      ({ ruleId, severity, message, location }) =>
        `${severity} ${ruleId}: ${message} ${location.map(({ pointer }) => pointer).join()}`,
    ),
  ).toEqual([]);
});

test('the page names every request, field, state and error', () => {
  const page = readFileSync(resolve(ROOT, 'docs/reference/route-partner-protocol.md'), 'utf8');
  const { components } = partnerOpenApi() as { components: { schemas: Record<string, JsonSchema> } };
  const fields = Object.entries(components.schemas)
    .filter(([name]) => name.startsWith('Partner'))
    .flatMap(([, { properties = {} }]) => Object.keys(properties));
  const words = [
    ...new Set([
      ...fields,
      ...DECLINE_REASONS,
      ...Object.keys(PARTNER_OPERATIONS),
      ...Object.keys(PARTNER_ORDER_STATES),
      ...Object.keys(PARTNER_ERRORS),
    ]),
  ];
  const named = new Set([...page.matchAll(/[a-zA-Z_-]+/g)].map(([word]) => word));
  expect(words.filter((word) => !named.has(word))).toEqual([]);
});
