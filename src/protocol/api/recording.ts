/**
 * What a real venue was asked and answered once, kept as the examples of its documents. `npm run docs`
 * records anew.
 */

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
  /** Frames of GET /api/v1/ws and of the solver link, by message name. */
  events: Readonly<Record<string, readonly unknown[]>>;
  link: Readonly<Record<string, readonly unknown[]>>;
}
