/** The Tracer port on the OpenTelemetry SDK: sends spans to a collector by OTLP over HTTP. */

import { ROOT_CONTEXT, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Log } from '../../ports/log.ts';
import type { Span, SpanIds, Tracer } from '../../ports/tracer.ts';

interface TracerOptions {
  /** The collector's URL, such as `http://127.0.0.1:4318/v1/traces`. */
  url: string;
  /** The share of traces that are kept, 0 to 1. The trace id decides, so each process keeps the same ones. */
  sampleRatio: number;
  /** `service.name`, such as `firmquote-venue`. */
  service: string;
}

const TIMEOUT_MS = 5_000;
/** Newer spans are dropped while so many wait for a collector that does not take them. */
const MOST_WAITING = 8_192;

/** `stop` sends what is left, for at most 5 s. */
export function createTracer(
  log: Log,
  { url, sampleRatio, service }: TracerOptions,
): Tracer & { stop(): Promise<void> } {
  const random = new RandomIdGenerator();
  let given: SpanIds | undefined;
  const sampler = new TraceIdRatioBasedSampler(sampleRatio);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.instance.id': String(process.pid) }),
    // A parent is in another process: its trace id says whether that one kept it.
    sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler }),
    idGenerator: {
      generateTraceId: () => given?.traceId ?? random.generateTraceId(),
      generateSpanId: () => given?.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [
      new BatchSpanProcessor(
        tellingFailures(log, url, new OTLPTraceExporter({ url, timeoutMillis: TIMEOUT_MS })),
        { maxQueueSize: MOST_WAITING, exportTimeoutMillis: TIMEOUT_MS },
      ),
    ],
  });
  const tracer = provider.getTracer('firmquote');
  return {
    record({ name, ids, parent, startMs, endMs, attributes = {}, failed }: Span) {
      const context = parent
        ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: TraceFlags.SAMPLED, isRemote: true })
        : ROOT_CONTEXT;
      given = ids;
      const span = tracer.startSpan(name, { startTime: startMs, attributes }, context);
      given = undefined;
      if (failed !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failed });
      span.end(endMs);
    },
    stop: () => provider.shutdown(),
  };
}

/** Logs when the collector stops taking spans and when it takes them again, not each failure. */
function tellingFailures(log: Log, url: string, exporter: OTLPTraceExporter): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error && !failing)
          log.warn(
            { collector: new URL(url).origin, err: result.error },
            'the trace collector takes no spans: they are lost until it does; quotes and orders go on. Check tracing.url',
          );
        if (!result.error && failing)
          log.info({ collector: new URL(url).origin }, 'the trace collector takes spans again');
        failing = result.error !== undefined;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
