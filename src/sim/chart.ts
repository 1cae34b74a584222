/** Charts as SVG text, so that a report is one self-contained file. */

interface ChartLine {
  name: string;
  /** null: no value; the line continues to the next. */
  values: readonly (number | null)[];
}

interface LineChart {
  title: string;
  unit: string;
  minutes: readonly number[];
  lines: readonly ChartLine[];
  level?: number;
  dots?: boolean;
}

interface BarChart {
  title: string;
  unit: string;
  bars: readonly { name: string; values: readonly { name: string; value: number }[] }[];
}

const [WIDTH, HEIGHT] = [600, 230];
const PLOT = { left: 62, right: 12, top: 12, bottom: 32 };
const TICKS = 5;

const colour = (at: number): string => `var(--c${at % 6})`;

export function lineChart({ title, unit, minutes, lines, level, dots = false }: LineChart): string {
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  if (values.length === 0 || minutes.length < 2) return figure(title, unit, '<p>Nothing to draw.</p>', []);
  const scale = scaleOf([...values, ...(level === undefined ? [] : [level])]);
  const last = minutes.at(-1) as number;
  const first = minutes[0] as number;
  const x = (minute: number) =>
    PLOT.left + ((minute - first) / (last - first || 1)) * (WIDTH - PLOT.left - PLOT.right);
  const y = (value: number) =>
    HEIGHT -
    PLOT.bottom -
    ((value - scale.low) / (scale.high - scale.low)) * (HEIGHT - PLOT.top - PLOT.bottom);
  const grid = scale.ticks
    .map(
      (tick) =>
        `<line class="grid" x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${fixed(y(tick))}" y2="${fixed(y(tick))}"/><text class="tick" x="${PLOT.left - 8}" y="${fixed(y(tick) + 4)}" text-anchor="end">${short(tick)}</text>`,
    )
    .join('');
  const times = ticksOf(first, last)
    .filter((tick) => tick >= first && tick <= last)
    .map(
      (tick) =>
        `<text class="tick" x="${fixed(x(tick))}" y="${HEIGHT - 12}" text-anchor="${x(tick) > WIDTH - PLOT.right - 24 ? 'end' : 'middle'}">${short(tick)} min</text>`,
    )
    .join('');
  const zero =
    level === undefined
      ? ''
      : `<line class="level" x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${fixed(y(level))}" y2="${fixed(y(level))}"/>`;
  const drawn = lines
    .map(({ values: each }, line) => {
      const points = each.flatMap((value, at): [string, string][] =>
        value === null ? [] : [[fixed(x(minutes[at] as number)), fixed(y(value))]],
      );
      if (dots)
        return points
          .map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="2" fill="${colour(line)}"/>`)
          .join('');
      return `<path class="line" stroke="${colour(line)}" d="${points.map(([px, py], at) => `${at === 0 ? 'M' : 'L'}${px} ${py}`).join('')}"/>`;
    })
    .join('');
  return figure(
    title,
    unit,
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(title)}">${grid}${times}${zero}${drawn}</svg>`,
    lines.length > 1 ? lines.map(({ name }) => name) : [],
  );
}

export function barChart({ title, unit, bars }: BarChart): string {
  const names = [...new Set(bars.flatMap(({ values }) => values.map(({ name }) => name)))];
  const most = Math.max(0, ...bars.flatMap(({ values }) => values.map(({ value }) => value)));
  if (most === 0) return figure(title, unit, '<p>None.</p>', []);
  const [label, row, gap] = [130, 16, 10];
  const height = names.length * (bars.length * row + gap) + gap;
  const width = WIDTH - label - 70;
  const drawn = names.map((name, at) => {
    const top = gap + at * (bars.length * row + gap);
    const each = bars.map(({ values }, bar) => {
      const value = values.find((one) => one.name === name)?.value ?? 0;
      const long = (value / most) * width;
      return `<rect x="${label}" y="${top + bar * row}" width="${fixed(Math.max(long, 0))}" height="${row - 3}" fill="${colour(bar)}"/><text class="tick" x="${fixed(label + long + 6)}" y="${top + bar * row + 11}">${short(value)}</text>`;
    });
    return `<text class="name" x="${label - 8}" y="${top + (bars.length * row) / 2 + 3}" text-anchor="end">${escape(name)}</text>${each.join('')}`;
  });
  return figure(
    title,
    unit,
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(title)}">${drawn.join('')}</svg>`,
    bars.length > 1 ? bars.map(({ name }) => name) : [],
  );
}

function figure(title: string, unit: string, body: string, legend: readonly string[]): string {
  const keys = legend
    .map((name, at) => `<span><i style="background:${colour(at)}"></i>${escape(name)}</span>`)
    .join('');
  return `<figure><figcaption><b>${escape(title)}</b> <small>${escape(unit)}</small><span class="legend">${keys}</span></figcaption>${body}</figure>`;
}

function scaleOf(values: readonly number[]): { low: number; high: number; ticks: number[] } {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (low === high)
    [low, high] = [low - Math.max(1, Math.abs(low) / 10), high + Math.max(1, Math.abs(high) / 10)];
  const ticks = ticksOf(low, high);
  return { low: Math.min(low, ticks[0] ?? low), high: Math.max(high, ticks.at(-1) ?? high), ticks };
}

export function ticksOf(low: number, high: number): number[] {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  const ticks: number[] = [];
  for (let at = Math.floor(low / step); at <= Math.ceil(high / step); at++)
    ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}

const fixed = (value: number): string => value.toFixed(1);

function short(value: number): string {
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 6 });
}

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
