/** Commands to the admin API: read as meant, or refused. */

import { expect, test } from 'vitest';
import { readCommand } from './command.ts';

const read = (query: string, body = '') => readCommand(new URLSearchParams(query), body);

test('the query and the body say who, why and for what; the body counts where both do', () => {
  expect(read('')).toEqual({ by: 'admin API', note: null, scope: undefined });
  expect(read('note=lunch')).toMatchObject({ note: 'lunch', scope: undefined });
  expect(read('pair=WETH-USDC', '{"note":" odd fills ","by":"me"}')).toEqual({
    by: 'me',
    note: 'odd fills',
    scope: { pair: 'WETH-USDC' },
  });
  expect(read('note=one&chain=base', '{"note":"two"}')).toMatchObject({
    note: 'two',
    scope: { chain: 'base' },
  });
  expect(read('', '{"note":null,"by":""}')).toEqual({ by: 'admin API', note: null, scope: undefined });
  expect(read('', `{"note":"${'x'.repeat(300)}"}`).note).toHaveLength(200);
});

test.each([
  ['', '{"pair":7}', 'pair'],
  ['', '{"pair":""}', 'pair'],
  ['pair=', '', 'pair'],
  ['', '{"pair":null}', 'pair'],
  ['', '{"Pair":"WETH-USDC"}', 'Pair'],
  ['pairs=WETH-USDC', '', 'pairs'],
  ['', '{"chains":["base"]}', 'chains'],
  ['chain=base', '{"pair":"WETH-USDC"}', 'not both'],
  ['', '"WETH-USDC"', 'not a JSON object'],
  ['', '[]', 'not a JSON object'],
  ['', '{', 'not JSON'],
])('error: %s %s never reaches the whole LP', (query, body, says) => {
  expect(() => read(query, body)).toThrow(says);
});
