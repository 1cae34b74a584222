/** Admin API of the pricing parameters: shows them, previews a change, makes it, and goes back. */

import * as z from 'zod';
import type { OpsRoute } from '../../../adapters/http/ops.ts';
import { RequestError } from '../../../domain/errors.ts';
import { describeIssues } from '../../config/load.ts';
import type { ReadConfig, Reload, Reloader } from '../reload.ts';
import type { AdminActions } from '../admin/answers.ts';
import { getRoute as get } from '../admin/route.ts';
import { withChanges, withParameters, zPairChanges } from './change.ts';
import { configSha256 } from './config-file.ts';
import { type PricingPage, pricingPage, whyBlocked } from './page.ts';
import type { PricingHistory } from './versions.ts';

const zText = z.string().trim().min(1).max(200);

const zChange = z
  .strictObject({
    /** `configSha256` of the parameters that the change was made from. */
    configSha256: z.string(),
    pairs: zPairChanges.optional(),
    /** Goes back to this version, instead of `pairs`. */
    version: z.int().min(1).optional(),
    by: zText.default('admin API'),
    note: zText.nullable().default(null),
  })
  .refine(({ pairs, version }) => (pairs === undefined) !== (version === undefined), {
    path: ['pairs'],
    message: 'give either pairs or version',
  });
type Change = z.infer<typeof zChange>;

export function pricingRoutes({
  reloader,
  history,
  file,
}: {
  reloader: Reloader;
  history: Pick<PricingHistory, 'list' | 'parametersOf'>;
  file: string;
}): OpsRoute[] {
  const view = async (): Promise<PricingPage> =>
    pricingPage(reloader.current(), { file, versions: () => history.list() });

  /** The text that the change makes of the configuration. Throws `RequestError`. */
  async function wantedText({ configSha256: seen, pairs = {}, version }: Change, read: ReadConfig) {
    const blocked = await whyBlocked(read, file);
    if (blocked !== null) throw new RequestError(blocked.message, { code: blocked.code });
    if (seen !== configSha256(read.text))
      throw new RequestError(
        'The configuration was changed since you looked at it. Look at the parameters again, then repeat your change.',
        { code: 'config_changed' },
      );
    const text =
      version === undefined
        ? withChanges(read.text, pairs)
        : withParameters(read.text, await history.parametersOf(version));
    if (text === read.text)
      throw new RequestError('Nothing would change: the parameters are so already.', { code: 'no_change' });
    return text;
  }

  return [
    get('/pricing', view),
    post('/pricing/preview', async ({ body }) => {
      const read = reloader.current();
      const found: AdminActions['/pricing/preview'] = await reloader.preview(
        await wantedText(changeOf(body), read),
      );
      return found.reasons.length === 0 ? { status: 200, body: found } : refusal(found);
    }),
    post('/pricing/apply', async ({ body, address }) => {
      const change = changeOf(body);
      const { by: who, note } = change;
      if (note === null)
        throw new RequestError('Give a reason in "note": the audit log keeps it with the change.', {
          code: 'bad_request',
        });
      const read = reloader.current();
      const text = await wantedText(change, read);
      const done = await reloader.replace(text, { was: read.text, who, address, note });
      if (!done.applied) return refusal(done);
      const applied: AdminActions['/pricing/apply'] = { ...done, pricing: await view() };
      return { status: 200, body: applied };
    }),
  ];
}

const STATUS: Readonly<Record<string, number>> = {
  config_changed: 409,
  config_from_environment: 409,
  config_not_writable: 409,
  unknown_version: 404,
};

const post = (path: string, handle: OpsRoute['handle']): OpsRoute => ({
  method: 'POST',
  path,
  async handle(request) {
    try {
      return await handle(request);
    } catch (error) {
      const status = error instanceof RequestError ? STATUS[error.code] : undefined;
      if (!(error instanceof RequestError) || status === undefined) throw error;
      return { status, body: { error: { code: error.code, message: error.message } } };
    }
  },
});

function refusal(found: Omit<Reload, 'applied'>) {
  const message = `Nothing changed. ${found.reasons.join(' ')}`;
  return { status: 400, body: { error: { code: 'invalid_parameters', message }, ...found } };
}

function changeOf(body: string): Change {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new RequestError('The body is not JSON.', { code: 'bad_request' });
  }
  const read = zChange.safeParse(json);
  if (read.success) return read.data;
  throw new RequestError(`Nothing changed. ${describeIssues(zChange, read.error).join('. ')}`, {
    code: 'bad_request',
  });
}
