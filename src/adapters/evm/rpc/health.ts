/**
 * Health of RPC endpoints. A failing, lagging or contradicting one is ejected until it has behaved for a
 * while, because a wrong answer costs more than none.
 */

import type { Hex } from '../../../domain/hex.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';

export interface HealthOptions {
  maxLagBlocks: number;
  readmitAfterMs: number;
}

export const HEALTH: HealthOptions = { maxLagBlocks: 5, readmitAfterMs: 30_000 };

const FAULTS = ['failing', 'lagging', 'ahead', 'backwards', 'contradicting'] as const;
type EndpointFault = (typeof FAULTS)[number];

export interface Sighting {
  head: bigint;
  deep: Hex | undefined;
}

/** Failures in a row that eject an endpoint; a burst that fails together counts once. */
const MOST_FAILURES = 3;
const SMOOTHING = 0.2;

interface Endpoint {
  head: bigint | undefined;
  latencyMs: number | undefined;
  failures: number;
  failedAtMs: number;
  out: EndpointFault | undefined;
  goodSinceMs: number | undefined;
}

export interface Health {
  /**
   * Returns the endpoints in service; when there are none, returns all, those that only failed to answer
   * first.
   */
  order(): readonly number[];
  inService(): readonly number[];
  /**
   * Returns the endpoints in service, then those that only failed to answer: after an outage on our side all
   * have failed, and these never gave a wrong answer.
   */
  witnesses(): readonly number[];
  answered(index: number, tookMs: number): void;
  failed(index: number, startedMs: number): void;
  /** Notes the head in an answer, and ejects an endpoint whose head went down by too much. */
  saw(index: number, head: bigint): void;
  /** Compares what all endpoints answered at one time; undefined for those that did not. */
  round(sightings: readonly (Sighting | undefined)[]): void;
  eject(index: number, fault: EndpointFault): void;
}

export function createHealth(
  count: number,
  { chain, clock, log, metrics }: { chain: string; clock: Clock; log: Log; metrics: Metrics },
  { maxLagBlocks, readmitAfterMs }: HealthOptions = HEALTH,
): Health {
  const endpoints = Array.from({ length: count }, (): Endpoint => ({
    head: undefined,
    latencyMs: undefined,
    failures: 0,
    failedAtMs: Number.NEGATIVE_INFINITY,
    out: undefined,
    goodSinceMs: undefined,
  }));
  const mostLag = BigInt(maxLagBlocks);
  const all = endpoints.map((_, index) => index);
  let serving: readonly number[] = all;
  let lastResort: readonly number[] = all;
  const names = ['chain', 'endpoint'] as const;
  const series = { chain: [chain], endpoint: all.map(String) };
  const labels = (index: number) => ({ chain, endpoint: String(index) });
  const inServiceGauge = metrics.gauge(
    'firmquote_chain_endpoint_in_service',
    'Whether an RPC endpoint, by its index in rpcUrls, is in service',
    names,
  );
  const latencyGauge = metrics.gauge(
    'firmquote_chain_endpoint_latency_seconds',
    'Smoothed time to answer of an RPC endpoint',
    names,
  );
  const failuresTotal = metrics.counter(
    'firmquote_chain_endpoint_failures_total',
    'Requests that an RPC endpoint did not answer',
    series,
  );
  const ejectionsTotal = metrics.counter(
    'firmquote_chain_endpoint_ejections_total',
    'Times an RPC endpoint was taken out of service, by reason',
    { ...series, fault: FAULTS },
  );
  for (const index of all) inServiceGauge.set(1, labels(index));

  const at = (index: number): Endpoint => endpoints[index] as Endpoint;

  function eject(index: number, fault: EndpointFault): void {
    const endpoint = at(index);
    endpoint.goodSinceMs = undefined;
    if (endpoint.out || count === 1) return;
    endpoint.out = fault;
    changed(index);
    ejectionsTotal.add({ ...labels(index), fault });
    log.warn(
      { endpoint: index, fault, left: serving.length },
      'an RPC endpoint was taken out of service; it returns after it has behaved for a while',
    );
  }

  function readmit(index: number): void {
    Object.assign(at(index), { out: undefined, goodSinceMs: undefined, failures: 0 });
    changed(index);
    log.info({ endpoint: index }, 'an RPC endpoint is in service again');
  }

  function changed(index: number): void {
    serving = all.filter((each) => !at(each).out);
    inServiceGauge.set(at(index).out ? 0 : 1, labels(index));
    lastResort = all.toSorted((a, b) => Number(at(a).out !== 'failing') - Number(at(b).out !== 'failing'));
  }

  return {
    order: (): readonly number[] => (serving.length > 0 ? serving : lastResort),
    inService: (): readonly number[] => serving,
    witnesses: (): readonly number[] => [...serving, ...all.filter((index) => at(index).out === 'failing')],
    answered(index: number, tookMs: number): void {
      const endpoint = at(index);
      endpoint.failures = 0;
      endpoint.latencyMs =
        endpoint.latencyMs === undefined ? tookMs : endpoint.latencyMs * (1 - SMOOTHING) + tookMs * SMOOTHING;
      latencyGauge.set(endpoint.latencyMs / 1_000, labels(index));
    },
    failed(index: number, startedMs: number): void {
      const endpoint = at(index);
      failuresTotal.add(labels(index));
      if (startedMs < endpoint.failedAtMs) return;
      endpoint.failedAtMs = clock.monotonicMs();
      endpoint.failures += 1;
      if (endpoint.failures >= MOST_FAILURES) eject(index, 'failing');
    },
    saw(index: number, head: bigint): void {
      const endpoint = at(index);
      // Providers answer from several nodes, of which some are a few blocks behind.
      const back = endpoint.head !== undefined && endpoint.head - head > mostLag;
      // After a reorganisation to a shorter chain the endpoint can prove itself with its next answer.
      endpoint.head = head;
      if (back) eject(index, 'backwards');
    },
    round(sightings: readonly (Sighting | undefined)[]): void {
      const answers = sightings.flatMap((sighting, index) => (sighting ? [{ index, ...sighting }] : []));
      if (answers.length === 0) return;
      // The median of three; the higher of two, because nodes lag more often than they lead.
      const heads = answers.map(({ head }) => head).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const measure = heads[heads.length === 2 ? 1 : Math.floor((heads.length - 1) / 2)] as bigint;
      const settled = majority(answers.flatMap(({ deep }) => deep ?? []));
      const nowMs = clock.monotonicMs();
      for (const index of all) {
        const sighting = sightings[index];
        const good = sighting !== undefined && judge(index, sighting);
        const endpoint = at(index);
        if (!endpoint.out) continue;
        endpoint.goodSinceMs = good ? (endpoint.goodSinceMs ?? nowMs) : undefined;
        if (endpoint.goodSinceMs !== undefined && nowMs - endpoint.goodSinceMs >= readmitAfterMs)
          readmit(index);
      }

      function judge(index: number, { head, deep }: Sighting): boolean {
        const fault =
          measure - head > mostLag
            ? 'lagging'
            : head - measure > mostLag
              ? 'ahead'
              : settled !== undefined && deep !== undefined && deep !== settled
                ? 'contradicting'
                : undefined;
        if (fault) eject(index, fault);
        return fault === undefined;
      }
    },
    eject,
  };
}

function majority(hashes: readonly Hex[]): Hex | undefined {
  return hashes.find((hash) => hashes.filter((other) => other === hash).length * 2 > hashes.length);
}
