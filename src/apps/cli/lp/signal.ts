/** `firmquote lp signal`: the operator's own view of a pair. */

import { badRequest } from '../../wiring/bad-request.ts';
import type { SignalsView } from '../../lp/admin/answers.ts';
import type { SignalView } from '../../lp/admin/signal-view.ts';
import { secondsOf } from '../option-values.ts';
import { printLines, table } from '../../terminal/table.ts';
import { type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';

type Bounds = NonNullable<SignalsView['bounds']>;

export interface SetSignalOptions extends AdminClientOptions {
  pair: string;
  side?: string;
  skew?: number;
  shift?: number;
  width?: number;
  for: string;
  note?: string;
}

export async function setSignal({
  pair,
  side,
  skew = 0,
  shift = 0,
  width = 0,
  for: life,
  note,
  ...options
}: SetSignalOptions): Promise<void> {
  const ttlSeconds = lastsSeconds(life);
  const client = await openAdminClient(options);
  const { body } = await client.post('/signals', {
    ...{ pair, skewBps: skew, fairValueShiftBps: shift, widthBps: width, ttlSeconds },
    ...(side !== undefined && { side }),
    ...(note !== undefined && { note }),
  });
  if (options.json) return console.log(JSON.stringify(body));
  printLines([
    `Set from the next request on: ${signalText(body.signal)}`,
    ...body.replaced.map((signal) => `It replaced ${signalText(signal)}`),
    `End it earlier with: firmquote lp signal clear ${body.signal.id}`,
  ]);
}

export async function listSignals(options: AdminClientOptions): Promise<void> {
  const client = await openAdminClient(options);
  const body = await client.get('/signals');
  if (options.json) return console.log(JSON.stringify(body));
  const { signals, bounds } = body;
  printLines([
    ...(signals.length === 0
      ? ['No signal is in force.']
      : table(
          ['signal', 'pair', 'side', 'skew bps', 'fair value bps', 'width bps', 'ends in', 'by', 'note'],
          signals.map((signal) => [
            signal.id,
            signal.pair,
            signal.side ?? 'both',
            signed(signal.skewBps),
            signed(signal.fairValueShiftBps),
            String(signal.widthBps),
            `${signal.secondsLeft} s`,
            signal.by,
            signal.note ?? '',
          ]),
          { right: ['skew bps', 'fair value bps', 'width bps', 'ends in'] },
        )),
    ...(bounds === null ? [] : ['', `In force: ${boundsText(bounds)}`]),
  ]);
}

export async function clearSignal(
  of: string | undefined,
  { all = false, ...options }: AdminClientOptions & { all?: boolean },
): Promise<void> {
  if ((of === undefined) !== all)
    throw badRequest('Give the id of a signal, a pair, or --all: firmquote lp signal list shows them.');
  const client = await openAdminClient(options);
  const body = await (all ? client.delete('/signals') : client.delete('/signals/:id', of));
  if (options.json) return console.log(JSON.stringify(body));
  printLines([
    ...body.cleared.map((signal) => `Ended: ${signalText(signal)}`),
    `${body.signals.length} signals are still in force. Quotes that are live keep their terms.`,
  ]);
}

const signed = (bps: number): string => (bps > 0 ? `+${bps}` : String(bps));

/** Words a signal, such as "skew +2 bps, width 3 bps". */
export const bpsText = ({
  skewBps,
  fairValueShiftBps,
  widthBps,
}: Pick<SignalView, 'skewBps' | 'fairValueShiftBps' | 'widthBps'>): string =>
  [
    ...(skewBps === 0 ? [] : [`skew ${signed(skewBps)} bps`]),
    ...(fairValueShiftBps === 0 ? [] : [`fair value ${signed(fairValueShiftBps)} bps`]),
    ...(widthBps === 0 ? [] : [`width ${widthBps} bps`]),
  ].join(', ');

export function signalText(signal: SignalView): string {
  const { id, pair, side, expiresAt, by, note } = signal;
  const where = side === null ? pair : `${pair}, where we ${side} the base`;
  const until = new Date(expiresAt * 1000).toISOString().replace('.000', '');
  return `${id} on ${where}: ${bpsText(signal)} until ${until}, by ${by}${note === null ? '' : ` (${note})`}`;
}

export const boundsText = ({
  active,
  maxActive,
  maxSkewBps,
  maxFairValueShiftBps,
  maxWidthBps,
  maxSeconds,
}: Bounds): string =>
  `${active} of ${maxActive}. Each at most ${maxSkewBps} bps of skew, ${maxFairValueShiftBps} bps of fair value and ` +
  `${maxWidthBps} bps of width, for ${maxSeconds} s (lp.signals).`;

function lastsSeconds(text: string): number {
  const seconds = secondsOf(text);
  if (seconds !== undefined) return seconds;
  throw badRequest(`"${text}" is no time that a signal can last: write 90s, 10m or 1h after --for.`);
}
