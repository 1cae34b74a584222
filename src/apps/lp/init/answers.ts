/** Answers to the questions of `lp init`, from flags, a file or a running demo. */

import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { Address } from '../../../domain/hex.ts';
import { zAddress, zBytes32 } from '../../../protocol/wire.ts';
import { readJson } from '../../config/load.ts';
import { readSecretFile } from '../../../adapters/keystore/file.ts';
import { badRequest } from '../../wiring/bad-request.ts';

/** The answers file. It names keys by file or variable and never contains them. */
const zAnswers = z.strictObject({
  venue: z
    .strictObject({
      name: z.string().min(1).max(40).optional(),
      url: z.string().optional(),
      keyFile: z.string().optional(),
      keyEnv: z.string().optional(),
    })
    .optional(),
  solver: z.strictObject({ id: z.string().optional(), name: z.string().optional() }).optional(),
  account: zAddress.optional(),
  /** The owner of an `LpAccount`, in place of `account`: the account's address follows from it. */
  accountOwner: zAddress.optional(),
  /** Tells several accounts of one owner apart: 0x and 64 hex digits. */
  accountSalt: zBytes32.optional(),
  /** Also makes a key for the mover of the `LpAccount`, which moves inventory between chains. */
  mover: z.boolean().optional(),
  operator: z
    .strictObject({
      keyEnv: z.string().optional(),
      passwordFile: z.string().optional(),
      passwordEnv: z.string().optional(),
    })
    .optional(),
  chains: z
    .record(z.string(), z.strictObject({ rpcUrl: z.string().min(1), tokens: z.array(zAddress).min(1) }))
    .optional(),
  attesters: z.array(z.string()).optional(),
  /** Defaults: prices of three exchanges, every asset against every dollar token. */
  feeds: z.record(z.string(), z.unknown()).optional(),
  prices: z.record(z.string(), z.unknown()).optional(),
  pairs: z.array(z.unknown()).optional(),
  port: z.int().min(1_024).max(65_000).optional(),
  databaseUrl: z.string().optional(),
});
type FileAnswers = z.infer<typeof zAnswers>;

/**
 * Flags and the file name their keys. Only the answers of a demo contain keys: `venueKey` and `operatorKey`.
 */
export interface Answers extends FileAnswers {
  venueKey?: string;
  operatorKey?: string;
  networks?: Record<string, unknown>[];
  assets?: Record<string, { price: string }>;
  chain?: Record<string, unknown>;
}

export async function readAnswers(file: string): Promise<Answers> {
  const parsed = zAnswers.safeParse(await readJson(file));
  if (parsed.success) return parsed.data;
  throw badRequest(
    `The answers in ${file} cannot be used: ${parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`).join('; ')}.`,
  );
}

/** A partial list of sources or prices would leave the demo's others in the configuration. */
const REPLACED = new Set(['feeds', 'prices']);

/** Later answers override earlier ones, key by key in each section. `feeds` and `prices` are replaced. */
export function merge(...many: readonly Answers[]): Answers {
  const whole: Record<string, unknown> = {};
  for (const answers of many) {
    for (const [key, value] of Object.entries(answers)) {
      if (value === undefined) continue;
      const before = whole[key];
      const parts =
        !REPLACED.has(key) &&
        typeof value === 'object' &&
        !Array.isArray(value) &&
        typeof before === 'object' &&
        before !== null;
      whole[key] = parts
        ? { ...before, ...Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) }
        : value;
    }
  }
  return whole as Answers;
}

const zDemo = z.object({
  venue: z.object({ wsUrl: z.string(), keys: z.object({ solver: z.string() }) }),
  lp: z.object({ solverId: z.string(), account: z.string(), operatorPrivateKey: z.string() }),
  lpSections: z.object({
    networks: z.array(z.record(z.string(), z.unknown())),
    attesters: z.object({ urls: z.array(z.string()) }),
    feeds: z.record(z.string(), z.unknown()),
    prices: z.record(z.string(), z.unknown()),
    assets: z.record(z.string(), z.object({ price: z.string() })),
    chain: z.record(z.string(), z.unknown()),
  }),
});

/** demo.json as answers to all questions. */
export async function readDemo(file: string): Promise<Answers> {
  const missing = (why: string) =>
    badRequest(
      `${file} ${why}. Start the demo (npm run demo) and keep it running: it writes the file when it is ready.`,
    );
  await readFile(file).catch(() => {
    throw missing('does not exist');
  });
  const parsed = zDemo.safeParse(JSON.parse(await readSecretFile(file)));
  if (!parsed.success) throw missing('was not written by a demo of this version');
  const { venue, lp, lpSections } = parsed.data;
  return {
    venue: { name: 'demo', url: new URL(venue.wsUrl).origin.replace(/^http/, 'ws') },
    venueKey: venue.keys.solver,
    solver: { id: lp.solverId },
    account: lp.account as Address,
    operatorKey: lp.operatorPrivateKey,
    ...lpSections,
    attesters: lpSections.attesters.urls,
  };
}
