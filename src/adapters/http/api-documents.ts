/**
 * The OpenAPI and AsyncAPI documents of a server, made when first asked for: their examples are 158 kB, and
 * most processes start and stop without showing a document.
 */

import type { Route } from '../../ports/http.ts';
import { asyncApiDocument } from '../../protocol/api/asyncapi.ts';
import { type OpenApi, openApiDocument } from './openapi.ts';

export interface ApiDocuments {
  openapi(): Promise<OpenApi>;
  /** undefined for a server without sockets. */
  asyncapi(): Promise<object | undefined>;
}

interface ApiDocumentOptions {
  title: string;
  routes: readonly Route[];
  hasSockets: boolean;
  bodyLimitBytes: number;
}

export function createApiDocuments(options: ApiDocumentOptions): ApiDocuments {
  let openapi: Promise<OpenApi> | undefined;
  let asyncapi: Promise<object> | undefined;
  return {
    openapi: () => (openapi ??= makeOpenApi(options)),
    asyncapi: async () => (options.hasSockets ? await (asyncapi ??= makeAsyncApi(options.title)) : undefined),
  };
}

async function makeOpenApi({ title, routes, bodyLimitBytes }: ApiDocumentOptions): Promise<OpenApi> {
  const { RECORDED } = await import('../../protocol/api/recording.ts');
  return openApiDocument(title, routes, RECORDED.http, { bodyLimitBytes });
}

async function makeAsyncApi(title: string): Promise<object> {
  const { RECORDED } = await import('../../protocol/api/recording.ts');
  return asyncApiDocument({ title, events: RECORDED.events, link: RECORDED.link });
}
