/** Opens the tracer that a configuration names. */

import type { Log } from '../../ports/log.ts';
import type { Tracer } from '../../ports/tracer.ts';
import type { Life } from './process.ts';

/** The SDK is loaded only where it is used. */
export async function openTracing(
  { url, sampleRatio }: { url: string | null; sampleRatio: number },
  service: string,
  { life, log }: { life: Life; log: Log },
): Promise<Tracer | undefined> {
  if (url === null) return undefined;
  const { createTracer } = await import('../../adapters/opentelemetry/tracer.ts');
  const tracer = createTracer(log, { url, sampleRatio, service });
  life.onStop('tracing', () => tracer.stop());
  return tracer;
}
