/** The table from error code to HTTP status, and both error bodies. */

import * as z from 'zod';
import { BaseError, RequestError, UpstreamError } from '../domain/errors.ts';
import { EXAMPLE_ADDRESS, EXAMPLE_ASSET } from './wire.ts';

export const ERROR_STATUS = {
  bad_request: 400,
  unauthorized: 401,
  ticket_invalid: 401,
  wrong_key_kind: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_in_progress: 409,
  conflict: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  header_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

/** 422 `type`s beyond those of plain validation. */
export const REFUSALS = [
  'integrity_mismatch',
  'namespace_mismatch',
  'address_denied',
  'quote_expired',
  'quote_already_used',
  'invalid_signature',
  'wallet_not_deployed',
  'nonce_used',
  'lock_required',
  'lock_invalid',
  'chain_not_in_roster',
  'idempotency_key_reuse',
  'too_deep',
  'too_large',
  'json_invalid',
  'value_error',
] as const;
export type RefusalType = (typeof REFUSALS)[number];

export type Location = readonly (string | number)[];
export interface Detail {
  loc: Location;
  msg: string;
  type: string;
}

const zError = z
  .object({
    code: z.string().describe('Which rule refused the request: one of the table of codes, which may grow.'),
    message: z.string().describe('For people: what happened, what it means, what to do next. It may change.'),
  })
  .meta({ id: 'ErrorReason', description: 'Why the request was refused.' });
export const zErrorBody = z
  .object({ error: zError })
  .meta({ id: 'Error', description: 'The answer to a request that was refused, except 422.' });
const zDetail = z
  .object({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .describe(
        'Where: `body`, `query`, `path` or `header`, then the names of fields and the positions in lists.',
      ),
    msg: z.string().describe('For people: the rule, and an example of a value that keeps it. It may change.'),
    type: z
      .string()
      .describe(
        'For programs: which rule. `missing`, `extra_forbidden`, `enum`, `too_small`, `too_big`, ' +
          '`<type>_type`, or one of the types that the introduction lists.',
      ),
  })
  .meta({ id: 'ValidationDetail', description: 'One rule that the request does not keep.' });
export const zDetailBody = z
  .object({ detail: z.array(zDetail).min(1).describe('Every rule that is not kept, at most 50.') })
  .meta({ id: 'ValidationError', description: 'The answer to a request whose content does not hold.' });

/** 422: invalid input. */
export class InvalidError extends RequestError {
  readonly details: readonly Detail[];

  constructor(details: readonly Detail[]) {
    super(details[0]?.msg ?? 'The request is not valid.', { code: details[0]?.type ?? 'value_error' });
    this.details = details;
  }
}

export const invalid = (type: RefusalType, loc: Location, msg: string): InvalidError =>
  new InvalidError([{ loc, msg, type }]);

export class ApiError extends RequestError {
  readonly retryAfterSeconds: number | null;
  /** The headers of the answer beside Retry-After. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    {
      retryAfterSeconds = null,
      headers = {},
    }: { retryAfterSeconds?: number | null; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, { code, retry: retryAfterSeconds === null ? 'never' : 'later' });
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = headers;
  }
}

interface ErrorAnswer {
  status: number;
  body: z.infer<typeof zErrorBody> | { detail: readonly Detail[] };
  headers: Readonly<Record<string, string>>;
  /** true for our own faults: only those are logged as errors. */
  ours: boolean;
}

/** Hides messages of errors that were not written for callers. */
export function answerFor(error: unknown): ErrorAnswer {
  if (error instanceof InvalidError)
    return { status: 422, body: { detail: error.details }, headers: {}, ours: false };
  if (error instanceof ApiError)
    return plain(error.code as ErrorCode, error.message, error.retryAfterSeconds, error.headers);
  if (error instanceof UpstreamError || (error instanceof BaseError && error.retry === 'later')) {
    return plain(
      'unavailable',
      'A part of the venue does not answer at the moment, so nothing was done. Try again in a second.',
      1,
    );
  }
  if (error instanceof RequestError) return plain('bad_request', error.message, null);
  return plain(
    'internal',
    'The venue made a mistake and has logged it. Nothing is known to have been done; ask again or check the order.',
    null,
  );
}

function plain(
  code: ErrorCode,
  message: string,
  retryAfterSeconds: number | null,
  headers: ErrorAnswer['headers'] = {},
): ErrorAnswer {
  return {
    status: ERROR_STATUS[code],
    body: { error: { code, message } },
    headers: retryAfterSeconds === null ? headers : { ...headers, 'Retry-After': String(retryAfterSeconds) },
    ours: code === 'internal',
  };
}

/** Values of the fields that callers get wrong most. */
const EXAMPLES: Readonly<Record<string, string | number>> = {
  taker: EXAMPLE_ADDRESS,
  receiver: EXAMPLE_ADDRESS,
  asset: EXAMPLE_ASSET,
  amount: '1000000',
  minValidUntil: 1_800_000_000,
  deadline: 1_800_000_000,
  validAfter: 0,
  validBefore: 1_800_000_000,
  maxCandidates: 5,
};

/** `sent` is the parsed value: it tells a missing field from one of the wrong type. */
export function detailsOf(error: z.ZodError, part: string, sent: unknown): Detail[] {
  return error.issues.flatMap((issue) => issueDetails(issue, [part], sent)).slice(0, 50);
}

function issueDetails(issue: z.core.$ZodIssue, prefix: Location, sent: unknown): Detail[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  const loc = [...prefix, ...path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        loc: [...loc, key.slice(0, 100)],
        msg: 'Extra inputs are not permitted',
        type: 'extra_forbidden',
      }));
    case 'invalid_type':
      if (valueAt(sent, path) === undefined) return [{ loc, msg: 'Field required', type: 'missing' }];
      return [{ loc, msg: typeRule(issue.expected, path.at(-1)), type: `${issue.expected}_type` }];
    case 'invalid_value':
      if (valueAt(sent, path) === undefined) return [{ loc, msg: 'Field required', type: 'missing' }];
      return [
        {
          loc,
          msg: `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`,
          type: 'enum',
        },
      ];
    case 'too_big':
      return [{ loc, msg: `must ${size(issue.origin, 'at most', issue.maximum)}`, type: 'too_big' }];
    case 'too_small':
      return [{ loc, msg: `must ${size(issue.origin, 'at least', issue.minimum)}`, type: 'too_small' }];
    case 'invalid_format':
      return [
        {
          loc,
          msg:
            issue.format === 'email' ? 'must be an email address, such as jane@example.com' : issue.message,
          type: 'value_error',
        },
      ];
    case 'invalid_union':
      return [{ loc, msg: 'must have one of the shapes in /openapi.json', type: 'value_error' }];
    default:
      return [{ loc, msg: issue.message, type: 'value_error' }];
  }
}

/** The rule, and a value that keeps it. */
function typeRule(expected: string, field: string | number | undefined): string {
  const own = typeof field === 'string' ? EXAMPLES[field] : undefined;
  switch (expected) {
    case 'string':
      return `must be text in quotes, such as ${JSON.stringify(own ?? 'text')}`;
    case 'int':
      return `must be a whole number, such as ${own ?? 1}`;
    case 'number':
      return `must be a number without quotes, such as ${own ?? 1}`;
    case 'boolean':
      return 'must be true or false';
    case 'array':
      return 'must be a list, such as []';
    case 'object':
    case 'record':
      return 'must be a JSON object, such as {"name": "value"}';
    default:
      return `must be ${expected}`;
  }
}

function size(origin: string, than: 'at most' | 'at least', limit: number | bigint): string {
  switch (origin) {
    case 'string':
      return `have ${than} ${limit} characters`;
    case 'array':
    case 'set':
      return `have ${than} ${limit} entries`;
    default:
      return `be ${than} ${limit}, such as ${limit}`;
  }
}

function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value: unknown = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
