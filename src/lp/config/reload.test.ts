import { describe, expect, test } from 'vitest';
import { changesBetween, isReloadable } from './reload.ts';

const changed = (before: unknown, after: unknown) =>
  changesBetween(before, after).map(({ path, from, to }) => [path.join('.'), from, to]);

describe('changesBetween', () => {
  const pair = (base: string, spread: number) => ({
    base,
    quote: 'USDC',
    corridors: ['a-b'],
    params: { minSpreadBps: spread },
  });

  test('one line per leaf, list items by their name', () => {
    const before = { pairs: [pair('WETH', 2), pair('USDC', 1)], chains: [{ chainId: 1, minGas: '1' }] };
    const after = { pairs: [pair('USDC', 1), pair('WETH', 3)], chains: [{ chainId: 1, minGas: '2' }] };
    expect(changed(before, after)).toEqual([
      ['pairs.WETH-USDC.params.minSpreadBps', 2, 3],
      ['chains.1.minGas', '1', '2'],
    ]);
  });

  test('added and removed options', () => {
    expect(changed({ a: { b: 1 } }, { a: { c: 2 } })).toEqual([
      ['a.b', 1, undefined],
      ['a.c', undefined, 2],
    ]);
    expect(changed({ pairs: [pair('WETH', 2)] }, { pairs: [] })).toEqual([
      ['pairs.WETH-USDC', pair('WETH', 2), undefined],
    ]);
  });

  test('a list of values is one value, and two items of one name stay two', () => {
    expect(changed({ corridors: ['a', 'b'] }, { corridors: ['b'] })).toEqual([
      ['corridors', ['a', 'b'], ['b']],
    ]);
    expect(
      changed({ pairs: [pair('WETH', 1), pair('WETH', 2)] }, { pairs: [pair('WETH', 1), pair('WETH', 4)] }),
    ).toEqual([['pairs.WETH-USDC#1.params.minSpreadBps', 2, 4]]);
    expect(changed({ a: null }, { a: [] })).toEqual([['a', null, []]]);
  });

  test('nothing for equal configurations; an absent option equals undefined', () => {
    expect(changed({ a: [1, { b: 2 }], c: undefined }, { a: [1, { b: 2 }] })).toEqual([]);
  });
});

test.each([
  [['pairs', 'WETH-USDC', 'params', 'minSpreadBps'], true],
  [['chains', '8453', 'buffers', 'USDC'], true],
  [['chains', '8453', 'account'], false],
  [['chains', '8453'], false],
  [['assets', 'WETH', 'target'], true],
  [['assets', 'WETH', 'price'], false],
  [['quoting', 'claimSeconds'], false],
  [['solver', 'id'], false],
  [['something', 'new'], false],
])('isReloadable %j: %s', (path, live) => {
  expect(isReloadable(path)).toBe(live);
});
