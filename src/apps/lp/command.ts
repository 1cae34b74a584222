/** Reads a command to the admin API: who gives it, why, and for which pair or chain. */

import * as z from 'zod';
import type { PauseScope } from '../../lp/risk/scoped-pauses.ts';
import { badRequest } from '../wiring/bad-request.ts';

const MOST_CHARS = 200;
const UNNAMED = 'admin API';

const zText = z.string().trim();
const zCommand = z.strictObject({
  by: zText.nullish(),
  note: zText.nullish(),
  pair: zText.min(1).optional(),
  chain: zText.min(1).optional(),
});

/** The keys that a command may have in its query. */
export const COMMAND_KEYS = Object.keys(zCommand.shape);

interface Command {
  by: string;
  note: string | null;
  /** The pair or chain; undefined: the whole LP. */
  scope: PauseScope | undefined;
}

/**
 * Reads the query and the JSON object in the body, if any; the body counts where both say something. A field
 * that is not understood refuses the command: a command for one pair must not reach the whole LP.
 */
export function readCommand(query: URLSearchParams, body: string): Command {
  const read = zCommand.safeParse({ ...Object.fromEntries(query), ...objectOf(body) });
  if (!read.success) {
    const [issue] = read.error.issues;
    const at = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue?.path.join('.');
    throw badRequest(
      `This command was not understood, so nothing changed: "${at ?? ''}" (${issue?.message ?? ''}). It takes "by", "note", and "pair" or "chain", each a text.`,
    );
  }
  const { by, note, pair, chain } = read.data;
  if (pair !== undefined && chain !== undefined)
    throw badRequest('Name a pair or a chain, not both. Send one request for each.');
  return {
    by: by?.slice(0, MOST_CHARS) || UNNAMED,
    note: note?.slice(0, MOST_CHARS) || null,
    scope: pair !== undefined ? { pair } : chain !== undefined ? { chain } : undefined,
  };
}

function objectOf(body: string): object {
  if (body.trim() === '') return {};
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw badRequest('The body is not JSON. Send {"note": "…", "by": "…"} or no body.');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw badRequest('The body is not a JSON object. Send {"note": "…", "by": "…"} or no body.');
  return json;
}
