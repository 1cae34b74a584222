import { describe, expect, test } from 'vitest';
import { createRandom } from '../random.ts';
import { glft } from './glft.ts';
import { modelRows } from './model.ts';
import { addToSums, deviationOf, meanOf, noSums } from '../sums.ts';
import { published } from './published.ts';
import { asPrinted, atLeast, atMost, near, within } from '../row.ts';
import { groundState } from './tridiagonal.ts';

describe('published figures', () => {
  const { rows, ok } = published();

  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    expect(row, JSON.stringify(row)).toMatchObject({ ok: true });
  });

  test('all hold, each under its own name', () => {
    expect(ok).toBe(true);
    expect(rows.length).toBeGreaterThan(140);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  test('the same seed gives the same report, another seed another report', () => {
    expect(JSON.stringify(published({ paths: 50 }))).toBe(JSON.stringify(published({ paths: 50 })));
    expect(JSON.stringify(published({ paths: 50, seed: 2 }))).not.toBe(
      JSON.stringify(published({ paths: 50 })),
    );
  });

  test('a wrong figure fails', () => {
    expect(asPrinted('', 1.23455, '1.2345').ok).toBe(true);
    expect(asPrinted('', 1.23456, '1.2345').ok).toBe(false);
    expect(asPrinted('', 24973895501, '24973895500').ok).toBe(false);
    expect(within('', 103, 100, 0.02).ok).toBe(false);
    expect(near('', 2, 1, 0.5, '').ok).toBe(false);
    expect(atMost('', 2, 1).ok || atLeast('', 1, 2).ok).toBe(false);
    expect(atMost('', Number.NaN, 1).ok).toBe(false);
  });

  test('a model at the printed parameters is compared with the print', () => {
    const rows = modelRows('as2008', {
      gamma: '0.1',
      sigma: '2',
      k: '1.5',
      A: '140',
      T: '1',
      dt: '0.005',
      paths: '1000',
      seed: '1',
      strategy: 'inventory',
    });
    expect(rows.map(({ reference }) => reference)).toEqual([1.49, 65, 6.6, 0.08, 2.9]);
    expect(rows.every(({ ok }) => ok)).toBe(true);
  });

  test.each([
    ['nope', {}, /There is no model "nope"/],
    ['constructor', {}, /There is no model/],
    ['glft', { foo: '1' }, /no option --foo. It takes: --gamma/],
    ['glft', { gamma: 'x' }, /--gamma must be a number, not "x"/],
    ['glft', { gamma: '' }, /--gamma must be a number/],
    ['glft', { Q: '1.5' }, /--Q must be a whole number/],
    ['lambertw', { x: '0' }, /--x must be above 0/],
    ['as2008', { strategy: 'best' }, /--strategy must be one of inventory, symmetric, not "best"/],
    ['as2008', { dt: '1e-9' }, /--dt leaves more than a million steps/],
  ])('%s with %o is refused', (model, options, message) => {
    expect(() => modelRows(model, options)).toThrow(message);
  });
});

describe('ground state of a tridiagonal matrix', () => {
  test('of the second difference: 2 - 2 cos(pi / (n + 1)), a sine', () => {
    for (const n of [2, 3, 10, 61, 200]) {
      const { value, vector, residual } = groundState(
        Array.from({ length: n }, () => 2),
        Array.from({ length: n - 1 }, () => -1),
      );
      expect(value).toBeCloseTo(2 - 2 * Math.cos(Math.PI / (n + 1)), 13);
      const norm = Math.sqrt(2 / (n + 1));
      for (const [at, each] of vector.entries())
        expect(each).toBeCloseTo(norm * Math.sin(((at + 1) * Math.PI) / (n + 1)), 10);
      expect(residual).toBeLessThan(1e-14);
    }
  });

  test('small components keep their digits: 60-digit arithmetic gives 11.24544405263389', () => {
    expect(glft({ gamma: 0.01, sigma: 1, A: 0.2, k: 0.3, Q: 30 }).exactBid(20)).toBeCloseTo(
      11.24544405263389,
      10,
    );
  });
});

describe('random', () => {
  test('draws have the right moments, and streams are independent', () => {
    const random = createRandom(7);
    const [uniforms, normals, laplaces, exponentials] = [noSums(), noSums(), noSums(), noSums()];
    for (let at = 0; at < 200_000; at++) {
      addToSums(uniforms, random.uniform());
      addToSums(normals, random.normal());
      addToSums(laplaces, random.laplace(30));
      addToSums(exponentials, random.exponential(20));
    }
    expect(meanOf(uniforms)).toBeCloseTo(0.5, 2);
    expect(meanOf(normals)).toBeCloseTo(0, 1.5);
    expect(deviationOf(normals)).toBeCloseTo(1, 1.5);
    expect(deviationOf(laplaces) / (30 * Math.SQRT2)).toBeCloseTo(1, 1.5);
    expect(meanOf(exponentials) / 20).toBeCloseTo(1, 1.5);
    const [a, b] = [createRandom(1, 0), createRandom(1, 1)];
    const products = noSums();
    for (let at = 0; at < 100_000; at++) addToSums(products, (a.uniform() - 0.5) * (b.uniform() - 0.5) * 12);
    expect(meanOf(products)).toBeCloseTo(0, 1.5);
  });
});
