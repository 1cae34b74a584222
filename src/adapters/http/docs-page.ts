/** `/docs`: the OpenAPI document as HTML without scripts or third-party code. */

import { createHash } from 'node:crypto';
import type { OpenApiAnswer, OpenApi, Operation } from './openapi.ts';

const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8881;--ink:#3b5bdb}
body{font:15px/1.55 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:17rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.5rem 1rem;border-right:1px solid var(--line);box-sizing:border-box;font-size:13px}
nav h2{font-size:11px;letter-spacing:.08em;text-transform:uppercase;opacity:.65;margin:1.2rem 0 .3rem}
nav a{display:block;padding:.15rem 0;color:inherit;text-decoration:none;overflow-wrap:anywhere}nav a:hover{color:var(--ink)}
main{max-width:58rem;padding:1.5rem 2rem 6rem}
section{border-top:1px solid var(--line);padding:1.2rem 0}
h1{margin:.2rem 0 1rem}section h2{font-size:1.05rem;margin:0 0 .4rem;overflow-wrap:anywhere}
code{font:13px/1.5 ui-monospace,monospace}b.m{font:600 12px ui-monospace,monospace;background:var(--ink);color:#fff;border-radius:4px;padding:.15rem .4rem;margin-right:.5rem}nav b.m{padding:0 .25rem;font-size:10px;margin-right:.3rem}
table{border-collapse:collapse;width:100%;margin:.6rem 0}td,th{border:1px solid var(--line);padding:.3rem .55rem;text-align:left;vertical-align:top}th{background:var(--soft)}
details{margin:.35rem 0}summary{cursor:pointer}pre{overflow:auto;max-height:26rem;background:var(--soft);padding:.8rem;border-radius:6px;margin:.4rem 0}
@media(max-width:800px){body{display:block}nav{position:static;height:auto;border:0}main{padding:1rem}}`;

/** The page runs and loads nothing, so injected markup is harmless too. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
const json = (value: unknown): string =>
  `<pre><code>${escaped(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}</code></pre>`;
const folded = (label: string, value: unknown): string =>
  value === undefined ? '' : `<details><summary>${inline(label)}</summary>${json(value)}</details>`;
const anchor = (method: string, path: string): string => `${method}${path}`.replace(/[^a-zA-Z0-9]+/g, '-');

export interface Streams {
  channels: Record<
    string,
    {
      address: string;
      title: string;
      description: string;
      messages: Record<string, { summary: string; examples?: { payload: unknown }[] }>;
    }
  >;
}

export function docsPage({ info, paths }: OpenApi, streams: Streams | undefined): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const tags = [...new Set(operations.map(({ operation }) => operation.tags?.[0] ?? ''))];
  const menu = tags.map(
    (tag) =>
      `<h2>${escaped(tag)}</h2>${operations
        .filter(({ operation }) => (operation.tags?.[0] ?? '') === tag)
        .map(
          ({ path, method }) =>
            `<a href="#${anchor(method, path)}"><b class="m">${method}</b>${escaped(path)}</a>`,
        )
        .join('')}`,
  );
  const channels = Object.values(streams?.channels ?? {});
  if (channels.length > 0)
    menu.push(
      `<h2>WebSockets</h2>${channels.map(({ address, title }) => `<a href="#${anchor('ws', address)}"><b class="m">WS</b>${escaped(title)}</a>`).join('')}`,
    );
  const also =
    channels.length > 0
      ? ' and <a href="/asyncapi.json">/asyncapi.json</a> (WebSocket events, the solver link)'
      : '';
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(info.title)}</title><style>${STYLE}</style><nav><strong>${escaped(info.title)}</strong> v${escaped(info.version)}${menu.join('')}</nav><main><h1>${escaped(info.title)}</h1><p>For programs: <a href="/openapi.json">/openapi.json</a>${also}.</p>${prose(info.description ?? '')}${operations.map(section).join('')}${channels.map(channel).join('')}</main></html>`;
}

function section({
  path,
  method,
  operation,
}: {
  path: string;
  method: string;
  operation: Operation;
}): string {
  const { summary = '', description = '', parameters = [], requestBody, responses = {} } = operation;
  const request = requestBody?.content?.['application/json'];
  const rows = parameters.map(
    ({ name, in: where, required, description: says, schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${escaped(where)}${required ? ', required' : ''}</td><td>${escaped(says ?? '')}<code>${escaped(briefly(schema))}</code></td></tr>`,
  );
  return `<section id="${anchor(method, path)}"><h2><b class="m">${method}</b><code>${escaped(path)}</code></h2><p>${escaped(summary)}. ${escaped(description)}</p>${
    rows.length > 0 ? `<table><tr><th>Parameter</th><th>In</th><th></th></tr>${rows.join('')}</table>` : ''
  }${folded('Request: example', request?.example)}${folded('Request: schema', request?.schema)}${Object.entries(responses).map(answer).join('')}</section>`;
}

function channel({ address, title, description, messages }: Streams['channels'][string]): string {
  const each = Object.entries(messages).map(([name, { summary, examples = [] }]) =>
    folded(`${name}: ${summary}`, examples[0]?.payload ?? '(no example)'),
  );
  return `<section id="${anchor('ws', address)}"><h2><b class="m">WS</b><code>${escaped(address)}</code></h2><p>${escaped(title)}. ${inline(description)}</p>${each.join('')}</section>`;
}

function answer([status, { description = '', content = {} }]: [string, OpenApiAnswer]): string {
  const [body] = Object.values(content);
  const label = `${status}: ${description}`;
  if (body?.example === undefined && status !== '200') return `<p>${inline(label)}</p>`;
  return `${folded(label, body?.example)}${status === '200' ? folded('200: schema', body?.schema) : ''}`;
}

function briefly(schema: unknown): string {
  const { description: _, ...rest } = (schema ?? {}) as Record<string, unknown>;
  const text = JSON.stringify(rest);
  return text === '{}' ? '' : ` ${text.length > 300 ? `${text.slice(0, 300)}…` : text}`;
}

function prose(text: string): string {
  return text
    .split('\n\n')
    .map((block) => {
      if (!block.startsWith('|')) return `<p>${inline(block)}</p>`;
      const [head = '', , ...rows] = block.split('\n');
      const cells = (row: string) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => inline(cell.trim()));
      return `<table><tr>${cells(head)
        .map((cell) => `<th>${cell}</th>`)
        .join('')}</tr>${rows
        .map(
          (row) =>
            `<tr>${cells(row)
              .map((cell) => `<td>${cell}</td>`)
              .join('')}</tr>`,
        )
        .join('')}</table>`;
    })
    .join('');
}

const inline = (text: string): string => escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>');
