/** Requests to a real venue and its answers, for the API documents; `npm run docs` records them. */

import recorded from './recorded.json' with { type: 'json' };

export interface RecordedExchange {
  request: { path: string; body?: unknown };
  answers: Readonly<Record<string, { body: unknown }>>;
}

export interface Recording {
  http: Readonly<Record<string, RecordedExchange>>;
  events: Readonly<Record<string, readonly unknown[]>>;
  link: Readonly<Record<string, readonly unknown[]>>;
}

export const RECORDED: Recording = recorded;
