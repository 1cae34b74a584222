/** `/docs`: the OpenAPI document for people, written by the server so that the page needs no script and no stranger's code. */

interface Document {
  info: { title: string; description?: string; version: string };
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  summary?: string;
  tags?: string[];
  parameters?: { name: string; in: string; required?: boolean; schema?: unknown }[];
  requestBody?: { content?: Record<string, { schema?: unknown }> };
  responses?: Record<string, { content?: Record<string, { schema?: unknown }> }>;
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
const schemaOf = (content: Record<string, { schema?: unknown }> | undefined): unknown => content?.['application/json']?.schema;
const code = (label: string, schema: unknown): string => (schema === undefined ? '' : `<details><summary>${escaped(label)}</summary><pre>${escaped(JSON.stringify(schema, null, 2))}</pre></details>`);

export function docsPage({ info, paths }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
  const sections = operations.map(({ path, method, operation }) => {
    const parameters = (operation.parameters ?? []).map(({ name, in: where }) => `${escaped(name)} (${escaped(where)})`).join(', ');
    return `<section><h2><code>${method.toUpperCase()} ${escaped(path)}</code></h2><p>${escaped(operation.summary ?? '')}</p>${parameters && `<p>Parameters: ${parameters}</p>`}${code('Request', schemaOf(operation.requestBody?.content))}${Object.entries(operation.responses ?? {})
      .map(([status, { content }]) => code(`Response ${status}`, schemaOf(content)))
      .join('')}</section>`;
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(info.title)}</title><style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{overflow:auto;background:#f4f4f4;padding:1rem}</style><h1>${escaped(info.title)}</h1><p>${escaped(info.description ?? '')} Machine readable: <a href="/openapi.json">/openapi.json</a>.</p>${sections.join('')}</html>`;
}
