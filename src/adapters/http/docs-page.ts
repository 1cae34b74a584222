/**
 * `/docs`: both documents as a page on which each call can be tried. Scalar renders it, from this server
 * alone: the page asks no other host for scripts, styles, fonts or anything else.
 */

import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import type { OpenApi } from './openapi.ts';

export const SCRIPT_PATH = '/docs/scalar.js';

/**
 * Tables keep words whole; on a phone their cells stand below each other. There, Scalar's button for a list
 * of calls would cover the address that is tried.
 */
const STYLE = `.markdown table { display: block !important; overflow-x: auto; }
.markdown :is(th, td) { word-break: normal !important; padding-inline: 8px !important; }
section:focus-visible { outline: none !important; }
@media (max-width: 767px) {
  .scalar-client .scalar-sidebar-toggle, .markdown thead { display: none !important; }
  .markdown :is(tbody, tr, td) { display: block !important; }
  .markdown td { border: 0 !important; padding-block: 2px !important; }
  .markdown tr { border-bottom: 1px solid var(--scalar-border-color); padding-block: 8px; }
}`;

/** The page's own script; the policy below names its hash. */
const START = `const { api, streams } = JSON.parse(document.getElementById('documents').textContent);
const sources = [{ slug: 'http', title: 'HTTP API', content: api }];
if (streams) {
  const protocol = location.protocol === 'https:' ? 'wss' : 'ws';
  streams.servers = { venue: { ...streams.servers.venue, host: location.host, protocol, variables: {} } };
  sources.push({ slug: 'websockets', title: 'WebSockets', content: streams });
}
Scalar.createApiReference('#app', {
  sources,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
  authentication: { preferredSecurityScheme: Object.keys(api.components?.securitySchemes ?? {})[0] },
  documentDownloadType: 'direct',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});`;

/**
 * Scripts are this server's bundle and the text above, so injected markup does not run. Requests go to this
 * server only. Scalar writes its styles into the page, hence `unsafe-inline` for these.
 */
export const DOCS_POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(START).digest('base64')}'`,
  "style-src 'self' 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
/** JSON that cannot end the script element it stands in. */
const inert = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

export function docsPage(openapi: OpenApi, asyncapi: object | undefined): string {
  const { title } = openapi.info;
  // What is tried here goes to the server that shows the page, whatever its address.
  const documents = { api: { ...openapi, servers: [{ url: '/' }] }, ...(asyncapi && { streams: asyncapi }) };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<noscript>This page needs JavaScript. For programs: <a href="/openapi.json">/openapi.json</a>${asyncapi ? ', <a href="/asyncapi.json">/asyncapi.json</a>' : ''}.</noscript>
<div id="app"></div>
<script id="documents" type="application/json">${inert(documents)}</script>
<script src="${SCRIPT_PATH}"></script>
<script>${START}</script>
</body>
</html>
`;
}

/** Scalar's bundle of 4 MB, as its plugin serves it. Only who opens the page pays for loading it. */
export async function scalarScript(): Promise<string> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const app = Fastify({ logger: false });
  await app.register(reference, { routePrefix: '/', configuration: { content: {} } });
  const { body } = await app.inject('/js/scalar.js');
  await app.close();
  return body;
}
