/** Signed orders on disk: written before the submission, so that a killed command can be resumed. */

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { readSecretFile, writeSecretFile } from '../../adapters/keystore/file.ts';
import type { SignedTrade } from '../../client/client.ts';
import { badRequest } from '../wiring/bad-request.ts';

const zSaved = z.looseObject({
  orderId: z.string(),
  namespace: z.enum(['rfq', 'router']),
  candidate: z.looseObject({ quoteId: z.string() }),
  expectations: z.looseObject({ request: z.looseObject({ taker: z.string() }) }),
  submission: z.looseObject({ signature: z.string() }),
});

type SavedOrder = SignedTrade & { namespace: 'rfq' | 'router' };

const fileOf = (folder: string, orderId: string): string => join(folder, `${orderId}.json`);

/** Saves an order with mode 0600: the signature lets anybody execute it at its price. */
export async function saveOrder(folder: string, order: SavedOrder): Promise<string> {
  const file = fileOf(folder, order.orderId);
  await writeSecretFile(file, JSON.stringify(order, encode));
  return file;
}

/** undefined when this folder has no such order. */
export async function loadOrder(folder: string, orderId: string): Promise<SavedOrder | undefined> {
  const file = fileOf(folder, orderId);
  if (
    await access(file).then(
      () => false,
      () => true,
    )
  )
    return undefined;
  const text = await readSecretFile(file);
  try {
    return zSaved.parse(JSON.parse(text, decode)) as unknown as SavedOrder;
  } catch (cause) {
    throw badRequest(
      `${file} is not a signed order as this command writes it. Move it away to follow the order without it; its bond can then not be claimed here.`,
      cause,
    );
  }
}

const encode = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? { bigint: value.toString() } : value;

function decode(_: string, value: unknown): unknown {
  const { bigint } = (value ?? {}) as { bigint?: unknown };
  return typeof bigint === 'string' ? BigInt(bigint) : value;
}
