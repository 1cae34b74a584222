/** Examples for the API documents: requests to a real venue and its answers. `npm run docs` records anew. */

import recorded from './recorded.json' with { type: 'json' };

export interface RecordedExchange {
  request: {
    /** With its parameters filled in. */
    path: string;
    body?: unknown;
  };
  /** By status. */
  answers: Readonly<Record<string, { body: unknown }>>;
}

export interface Recording {
  /** By `METHOD /path/{parameter}`. */
  http: Readonly<Record<string, RecordedExchange>>;
  /** Frames of GET /api/v1/ws, by message name. */
  events: Readonly<Record<string, readonly unknown[]>>;
  /** Frames of the solver link, by message name. */
  link: Readonly<Record<string, readonly unknown[]>>;
}

export const RECORDED: Recording = recorded;
