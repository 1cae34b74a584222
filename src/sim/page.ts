/** Writes a report as one self-contained HTML file. */

import { escape } from './chart.ts';

interface PageTable {
  title: string;
  note?: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

interface ReportPage {
  title: string;
  facts: readonly string[];
  tables: readonly PageTable[];
  charts: readonly string[];
  details?: readonly PageTable[];
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b2430; --dim: #647181; --paper: #fff; --line: #dfe4ea; --c0: #2563eb; --c1: #d9480f; --c2: #0f8a5f; --c3: #8b3fc4; --c4: #b58105; --c5: #5b6672; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --dim: #97a3b2; --paper: #12171e; --line: #2b3440; --c0: #6ea3ff; --c1: #ff8a57; --c2: #45c795; --c3: #c48cf0; --c4: #e3b341; --c5: #9aa7b5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 1240px; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
.facts, .note { color: var(--dim); margin: 0 0 .25rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: .3rem .55rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { color: var(--dim); font-weight: 500; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr)); gap: 1.5rem 2rem; margin-top: 2rem; }
figure { margin: 0; } figcaption { display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline; margin-bottom: .25rem; } small { color: var(--dim); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem .9rem; color: var(--dim); font-size: 13px; } .legend i { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px; margin-right: .35rem; }
svg { width: 100%; height: auto; display: block; } .grid { stroke: var(--line); } .level { stroke: var(--dim); stroke-dasharray: 4 4; } .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
svg text { fill: var(--dim); font: 12px system-ui, sans-serif; } svg .name { fill: var(--ink); }
`;

export function pageOf({ title, facts, tables, charts, details = [] }: ReportPage): string {
  const lines = facts.map((fact) => `<p class="facts">${escape(fact)}</p>`).join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(title)}</title><style>${STYLE}</style></head>
<body><h1>${escape(title)}</h1>${lines}${tables.map(tableOf).join('')}<div class="charts">${charts.join('')}</div>${details.map(tableOf).join('')}</body></html>
`;
}

function tableOf({ title, note, head, rows }: PageTable): string {
  const cells = (tag: string, row: readonly string[]) =>
    `<tr>${row.map((cell) => `<${tag}>${escape(cell)}</${tag}>`).join('')}</tr>`;
  return `<h2>${escape(title)}</h2>${note === undefined ? '' : `<p class="note">${escape(note)}</p>`}<div class="scroll"><table><thead>${cells('th', head)}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table></div>`;
}
