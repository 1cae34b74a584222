/** Shows the pricing parameters: what the file sets, what is in force, and what was before. */

import { RequestError } from '../../../domain/errors.ts';
import { pricingParams } from '../../../lp/config/params.ts';
import { type ParameterRow, parameterTable } from '../../../lp/config/parameter-table.ts';
import type { LpAppConfig } from '../config.ts';
import type { ReadConfig } from '../reload.ts';
import { parametersIn } from './change.ts';
import { configSha256, requireUnchanged } from './config-file.ts';
import type { VersionView } from './versions.ts';

export interface PricingPage {
  configSha256: string;
  /** The reason why no change can be made now. */
  blocked: { code: string; message: string } | null;
  parameters: ParameterRow[];
  pairs: ReturnType<typeof pairsOf>;
  versions: VersionView[];
}

/** Rejects when the file or the versions cannot be read. */
export async function pricingPage(
  read: ReadConfig,
  { file, versions }: { file: string; versions(): Promise<VersionView[]> },
): Promise<PricingPage> {
  return {
    configSha256: configSha256(read.text),
    blocked: await whyBlocked(read, file),
    parameters: parameterTable(),
    pairs: pairsOf(read),
    versions: await versions(),
  };
}

/** Shows each pair as the file sets it and as it is priced, corridors included. */
function pairsOf({ config, text }: ReadConfig) {
  const inFile = Object.entries(parametersIn(text));
  return config.lp.pairs.map(({ params, corridors, corridorParams }, index) => {
    const [name, own] = inFile[index] ?? ['', { params: {}, corridorParams: {} }];
    return {
      pair: name,
      own: own.params,
      effective: pricingParams(params),
      corridors: (corridors ?? corridorsOf(config)).map((corridor) => ({
        corridor,
        own: own.corridorParams[corridor] ?? {},
        effective: {
          ...pricingParams(params, corridorParams[corridor] ?? {}),
          lockSeconds: corridorParams[corridor]?.lockSeconds ?? config.lp.quoting.lockSeconds,
        },
      })),
    };
  });
}

function corridorsOf({ lp: { chains }, networks }: LpAppConfig): string[] {
  const slugs = networks.filter(({ id }) => chains.some(({ chainId }) => chainId === id));
  return slugs.flatMap((from) => slugs.map((to) => `${from.slug}-${to.slug}`));
}

/** Returns why no change can be made now; null when one can. Rejects when the file cannot be read. */
export async function whyBlocked(
  { text, fromEnv }: ReadConfig,
  file: string,
): Promise<PricingPage['blocked']> {
  const named = fromEnv.filter((path) => /^lp(?:\.pairs(?:\.|$)|$)/.test(path));
  if (named.length > 0)
    return {
      code: 'config_from_environment',
      message: `The environment sets ${named.join(', ')}, which the file cannot change. Set pairs in the file instead, then restart the LP.`,
    };
  try {
    await requireUnchanged(file, text);
    return null;
  } catch (error) {
    if (error instanceof RequestError) return { code: error.code, message: error.message };
    throw error;
  }
}
