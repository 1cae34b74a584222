/** Reads values that several commands take in their options. */

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Seconds of `90s`, `10m`, `1h` or `2d`; undefined for anything else. */
export function secondsOf(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9][0-9]{0,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(digits) * (UNITS[unit] ?? 0);
  return seconds > 0 ? seconds : undefined;
}

/** For an option that may be repeated. */
export const collect = (text: string, before: readonly string[] = []): string[] => [...before, text];
