import { expect, test } from 'vitest';
import { csvLineOf } from './csv.ts';

test('numbers stay numbers, and nothing else starts like a formula', () => {
  expect(csvLineOf(['a', 1, null, undefined, '-0.05', '12.5'])).toBe('a,1,,,-0.05,12.5');
  expect(csvLineOf(['=1+1', '+1', '-1+1', '@x', '\tx', '\uFF1Dx', '-.5', '-1.'])).toBe(
    "'=1+1,'+1,'-1+1,'@x,'\tx,'\uFF1Dx,'-.5,'-1.",
  );
  expect(csvLineOf(['a,b', 'say "x"', 'two\nlines', '=a,b'])).toBe(`"a,b","say ""x""","two\nlines","'=a,b"`);
});
