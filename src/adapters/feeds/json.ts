/** JSON with numbers as text, so that no price passes through a float. */

/** Matches a string, terminated or not, or a number outside of one. Takes linear time. */
const TOKEN = /"(?:[^"\\]|\\[^])*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function parseLossless(text: string): unknown {
  try {
    return JSON.parse(text.replace(TOKEN, (token) => (token.startsWith('"') ? token : `"${token}"`)));
  } catch {
    return undefined;
  }
}

const NUMBER = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?)0*(\d{1,2}))?$/;

/**
 * Writes a number without an exponent: "1.5e-7" and "1.5E-007" become "0.00000015". undefined for anything
 * but a non-negative number, and for exponents of three digits.
 */
export function decimalText(text: string): string | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', sign = '', exponent = '0'] = match;
  const shift = Number(`${sign}${exponent}`);
  if (shift === 0) return text.replace(/[eE].*$/, '');
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point <= 0 ? `${'0'.repeat(1 - point)}${digits}` : digits.padEnd(point, '0');
  const at = Math.max(point, 1);
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const right = padded.slice(at);
  return right === '' ? left : `${left}.${right}`;
}
