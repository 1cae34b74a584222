/** `firmquote travel-rule`: lists records of large orders and retries abandoned ones. */

import { systemClock } from '../../../adapters/system/clock.ts';
import { type Bytes32, isBytes32 } from '../../../domain/hex.ts';
import { toIso } from '../../../domain/time.ts';
import { TRAVEL_RULE_STATES, type TravelRuleState } from '../../../ports/stores/travel-rule.ts';
import { type AdminOptions, withAdmin } from './venue-admin.ts';
import { printLines, table } from '../../terminal/table.ts';
import { badRequest } from '../../wiring/bad-request.ts';

const MOST = 500;

export const listTravelRule = ({
  config,
  json,
  state,
}: AdminOptions & { state?: TravelRuleState }): Promise<void> =>
  withAdmin(config, async ({ records }) => {
    const found = await records.travelRulesIn(state === undefined ? TRAVEL_RULE_STATES : [state], MOST);
    if (json) return console.log(JSON.stringify({ records: found }));
    const rows = found.map((record) => [
      record.orderId,
      String(record.attempt),
      record.state,
      toIso(record.dueAtMs),
      record.transmitter ?? '-',
      record.reference ?? '-',
      record.detail ?? '',
    ]);
    printLines(
      rows.length === 0
        ? ['No such record.']
        : table(['order', 'attempt', 'state', 'due', 'transmitter', 'reference', 'detail'], rows),
    );
  });

export const retryTravelRule = (orderId: string, { config, json }: AdminOptions): Promise<void> =>
  withAdmin(config, async ({ records }) => {
    if (!isBytes32(orderId))
      throw badRequest(
        'An order id is 0x and 64 hex digits. See: firmquote travel-rule list --state abandoned',
      );
    if (!(await records.retryTravelRule(orderId.toLowerCase() as Bytes32, systemClock.nowMs())))
      throw badRequest(
        'The record of this order is not abandoned, so there is nothing to send again. See: firmquote travel-rule list',
      );
    console.log(
      json
        ? JSON.stringify({ orderId, state: 'due' })
        : `A running venue worker will send the record of ${orderId} again within seconds.`,
    );
  });
