/** Writes figures: exact where they are money, short where they are not. */

/**
 * Writes base units as whole tokens, at most `digits` after the point, rounded toward zero; grouped in
 * threes.
 */
export function tokens(base: string, decimals: number, digits = 6): string {
  const negative = base.startsWith('-');
  const text = (negative ? base.slice(1) : base).padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  const part =
    decimals === 0
      ? ''
      : text
          .slice(text.length - decimals)
          .slice(0, digits)
          .replace(/0+$/, '');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, '\u202f');
  return `${negative ? '−' : ''}${grouped}${part === '' ? '' : `.${part}`}`;
}

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** Millionths of USD. */
export const micros = (value: string | number): string => DOLLARS.format(Number(value) / 1e6);

export const number = (value: number, digits = 2): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits });

export const clock = (ms: number): string => new Date(ms).toLocaleTimeString([], { hour12: false });
export const dateTime = (ms: number): string => new Date(ms).toLocaleString([], { hour12: false });

export const short = (id: string): string => (id.length > 14 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);

export const age = (ms: number): string =>
  ms < 90_000 ? `${Math.max(0, Math.round(ms / 1_000))} s` : `${Math.round(ms / 60_000)} min`;
