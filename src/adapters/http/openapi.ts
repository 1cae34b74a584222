/** The OpenAPI document, from routes, errors and recorded examples. */

import type { Route, RouteKeyKind } from '../../ports/http.ts';
import { ERROR_STATUS, type ErrorCode, REFUSALS, zDetailBody, zErrorBody } from '../../protocol/errors.ts';
import { type Components, createComponents, type JsonSchema } from '../../protocol/json-schemas.ts';
import { API_VERSION } from '../../protocol/api/version.ts';
import type { RecordedExchange } from '../../protocol/api/recording.ts';
import { FIRST_TRADE } from './first-trade.ts';

/** Names the API of a venue in its document, by which `firmquote doctor` recognises one. */
export const VENUE_TITLE = 'firmquote venue';

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: unknown;
  example?: unknown;
}

export interface Content {
  schema?: unknown;
  example?: unknown;
}

interface OpenApiAnswer {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Content>;
}

export interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content?: Record<string, Content> };
  responses?: Record<string, OpenApiAnswer>;
}

export interface OpenApi {
  openapi: string;
  info: {
    title: string;
    version: string;
    description?: string;
    license?: { name: string; identifier: string };
  };
  servers?: { url: string; description: string }[];
  tags?: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components?: Record<string, Record<string, unknown>>;
}

/** `body_too_large` depends on the server. */
const MEANING: Record<Exclude<ErrorCode, 'body_too_large'>, string> = {
  bad_request: 'The request cannot be read as HTTP, or says something that can never be done.',
  unauthorized: 'No key, or none that is valid: missing, malformed, unknown and revoked ones answer alike.',
  ticket_invalid:
    'A WebSocket was opened with a ticket that is unknown, used before or too old. Ask for a new one.',
  wrong_key_kind: 'The key is valid and of another kind than this endpoint takes.',
  not_found: 'There is no such thing, or it is not yours: both answer alike.',
  method_not_allowed: 'The path exists with another method; Allow names it.',
  conflict: 'What was asked does not go together with what is there.',
  idempotency_in_progress: 'A request with the same Idempotency-Key is still at work. Ask again shortly.',
  unsupported_media_type: 'Bodies are application/json in UTF-8 without Content-Encoding; a GET has none.',
  rate_limited:
    'Too many requests of this key or address, or too many live quotes. Retry-After says when to come back.',
  header_too_large: 'The headers exceed 16 KB.',
  internal: 'Our mistake; it is in our log.',
  unavailable:
    'A part of the venue does not answer, or it is too busy; nothing was done. Retry-After says when ' +
    'to come back.',
};

/** Words the error of a body over the limit; the server answers with it too. */
export const bodyTooLarge = (limitBytes: number): string => `The body exceeds ${limitBytes / 1024} KB.`;

const ALWAYS: readonly ErrorCode[] = ['unauthorized', 'wrong_key_kind', 'rate_limited', 'unavailable'];
const WITH_BODY: readonly ErrorCode[] = ['body_too_large', 'unsupported_media_type'];

const integer = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });
const HEADERS = {
  'X-Request-Id': {
    description:
      'Id of this request, in every answer: the X-Request-Id that you sent, if it is at most 128 letters, ' +
      'digits and ._:/+=@-, otherwise a new one. Name it when you ask the venue about a request.',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  },
  'API-Version': { description: 'Version of the API, in every answer.', schema: { type: 'string' } },
  'RateLimit-Policy': {
    description: 'Requests per second, and how many at once after a rest, such as 50;w=1;burst=100.',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': integer('Requests that the full bucket of this key or address holds.'),
  'RateLimit-Remaining': integer('Requests left in the bucket.'),
  'RateLimit-Reset': integer('Seconds until there is another one.'),
  'Retry-After': integer('Seconds to wait before asking again.'),
};
const ALL = ['X-Request-Id', 'API-Version'] as const;
const RATE = ['RateLimit-Policy', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

/** Describes the purpose of each kind of key. All of them go in the header X-API-Key. */
const KINDS: Record<RouteKeyKind, string> = {
  service: 'A service key of a workspace: quotes, orders, preflight, roster and pairs.',
  workspace:
    'A workspace key: the trade history of its workspace. Its role, `owner`, `admin`, `member` or `viewer`, ' +
    'decides what of a trade is shown.',
  solver: 'A solver key: the link between a solver and the venue.',
  admin: 'The admin key: it manages workspaces, members, keys and solvers.',
};
const MODES =
  ' Keys that begin with `fq_test_` are for the sandbox on this host, those with `fq_live_` for production.';

const TAGS: Record<string, string> = {
  rfq: 'Firm quotes of LPs and solvers, each filled by one escrow order.',
  router: 'The same over all liquidity: LPs, DEXes, and routes of several legs.',
  roster: 'Solvers and LPs, and whether they keep their promises.',
  trades: 'The trade history of a workspace.',
  streams: 'Access to the WebSocket streams of `/asyncapi.json`.',
  webhooks: "Endpoints that get a workspace's events by POST, and the log of deliveries.",
  workspaces: 'Workspaces: the accounts that keys belong to.',
  members: 'People of a workspace.',
  keys: 'API keys.',
  solvers: 'Onboarding of solvers.',
  audit: 'Who changed what.',
};

export const exampleKey = (route: Pick<Route, 'method' | 'path'>): string =>
  `${route.method} ${templated(route.path)}`;
export const templated = (path: string): string => path.replace(/:([a-zA-Z]+)/g, '{$1}');

type Refusing = Pick<Route, 'body' | 'params' | 'errors'>;

const errorCodes = (route: Refusing): ErrorCode[] => [
  ...ALWAYS,
  ...(route.params ? ['not_found' as const] : []),
  ...(route.body ? WITH_BODY : []),
  ...(route.errors ?? []),
];

export const errorStatuses = (route: Refusing): string[] =>
  [...new Set([...errorCodes(route).map((code) => String(ERROR_STATUS[code])), '422'])].sort();

export function openApiDocument(
  title: string,
  routes: readonly Route[],
  examples: Readonly<Record<string, RecordedExchange>>,
  { bodyLimitBytes }: { bodyLimitBytes: number },
): OpenApi {
  const meaning: Meaning = (code) =>
    code === 'body_too_large' ? bodyTooLarge(bodyLimitBytes) : MEANING[code];
  const components = createComponents('draft-2020-12');
  const paths: OpenApi['paths'] = {};
  for (const route of routes)
    (paths[templated(route.path)] ??= {})[route.method.toLowerCase()] = operationOf(
      route,
      components,
      meaning,
      examples[exampleKey(route)],
    );
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: API_VERSION,
      description: [
        'Firm, escrow-backed quotes: ask, sign, submit, settle.',
        ...(routes.some(({ path }) => path.startsWith('/api/v1/rfq/')) ? [FIRST_TRADE] : []),
        errorTable(meaning),
      ].join('\n\n'),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to this document: whatever name or proxy it was fetched through is the right one.
    servers: [
      { url: '/', description: 'This venue. Test keys meet its sandbox here, live keys production.' },
    ],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: TAGS[name] ?? '' })),
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        [...new Set(routes.flatMap(({ keyKinds }) => keyKinds))].map((kind) => [
          schemeOf(kind),
          {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Key',
            description: `${KINDS[kind]}${kind === 'admin' ? '' : MODES}`,
          },
        ]),
      ),
      headers: HEADERS,
      schemas: components.schemas,
    },
  };
}

type Meaning = (code: ErrorCode) => string;

function operationOf(
  route: Route,
  components: Components,
  meaning: Meaning,
  example: RecordedExchange | undefined,
): Operation {
  const shown = (status: string): Content => {
    const answer = example?.answers[status];
    return answer === undefined ? {} : { example: answer.body };
  };
  const headers = (names: readonly (keyof typeof HEADERS)[]) =>
    Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  const examples = exampleParameters(route.path, example?.request.path);
  const parameters = [
    ...(route.params ? parametersOf('path', components.of(route.params, 'input'), examples.path) : []),
    ...(route.query ? parametersOf('query', components.of(route.query, 'input'), examples.query) : []),
    ...(route.headers ?? []).map(({ name, description, schema }): Parameter => ({
      name,
      in: 'header',
      required: false,
      description,
      schema,
    })),
  ];
  const media = route.contentType ?? 'application/json';
  const answers: Record<string, OpenApiAnswer> = {
    '200': {
      description: 'Done.',
      headers: headers([...ALL, ...RATE]),
      content: { [media]: { schema: components.of(route.response, 'output'), ...shown('200') } },
    },
  };
  for (const status of errorStatuses(route)) {
    const waits = ['409', '429', '503'].includes(status);
    answers[status] = {
      description: describe(status, route, meaning),
      headers: headers([
        ...ALL,
        ...(waits ? ['Retry-After' as const] : []),
        ...(status === '429' ? RATE : []),
      ]),
      content: {
        'application/json': {
          schema: components.of(status === '422' ? zDetailBody : zErrorBody, 'output'),
          ...shown(status),
        },
      },
    };
  }
  answers['default'] = {
    description: 'Any other refusal; see the table of codes.',
    headers: headers(ALL),
    content: { 'application/json': { schema: components.of(zErrorBody, 'output') } },
  };
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: `Takes ${route.keyKinds.map((kind) => (kind === 'admin' ? 'the admin key' : `a ${kind} key`)).join(' or ')}.`,
    tags: [route.tag],
    security: route.keyKinds.map((kind) => ({ [schemeOf(kind)]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: components.of(route.body, 'input'),
            ...(example?.request.body !== undefined && { example: example.request.body }),
          },
        },
      },
    }),
    responses: answers,
  };
}

const schemeOf = (kind: RouteKeyKind): string => `${kind}Key`;

function parametersOf(
  place: 'path' | 'query',
  { properties = {}, required = [] }: JsonSchema,
  examples: Readonly<Record<string, string>>,
): Parameter[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    const text = examples[name];
    const isNumber = schema.type === 'integer' || schema.type === 'number';
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema,
      ...(text !== undefined && { example: isNumber ? Number(text) : text }),
    };
  });
}

/** Values of the parameters in a recorded request. */
function exampleParameters(template: string, recorded = template) {
  const { pathname, searchParams } = new URL(recorded, 'http://localhost');
  const values = pathname.split('/');
  return {
    path: Object.fromEntries(
      template.split('/').map((part, at) => [part.replace(/^:/, ''), decodeURIComponent(values[at] ?? '')]),
    ),
    query: Object.fromEntries(searchParams),
  };
}

function describe(status: string, route: Refusing, meaning: Meaning): string {
  if (status === '422') return 'What was sent does not hold; `detail` says where and why.';
  const codes = errorCodes(route).filter((code) => String(ERROR_STATUS[code]) === status);
  return codes.map((code) => `${code}: ${meaning(code)}`).join(' ');
}

function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path
    .replace(/^\/api\/v1\//, '')
    .split('/')
    .map((word) =>
      word.startsWith(':')
        ? `By${word[1]?.toUpperCase() ?? ''}${word.slice(2)}`
        : `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`,
    );
  return `${method.toLowerCase()}${words.join('')}`;
}

function errorTable(meaning: Meaning): string {
  const rows = (Object.entries(ERROR_STATUS) as [ErrorCode, number][]).map(
    ([code, status]) => `| ${status} | ${code} | ${meaning(code)} |`,
  );
  return [
    'Errors are `{"error":{"code","message"}}`, and 422 is `{"detail":[{"loc","msg","type"}]}`. ' +
      'Requests are judged in this order: size, key, rate, media type, JSON, shape, seal, time, ' +
      'signer, state.',
    ['| Status | code | Meaning |', '|---|---|---|', ...rows].join('\n'),
    `Types of a 422 beyond plain validation: ${REFUSALS.map((type) => `\`${type}\``).join(', ')}.`,
  ].join('\n\n');
}
