/** Structured logs: a sentence and named facts. Adapters redact secrets. */

export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  fatal(facts: object, message: string): void;
  child(facts: object): Log;
}
