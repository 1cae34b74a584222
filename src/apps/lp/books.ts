/** Admin API of the accounting ledger: explanations, profit, reconciliation. */

import type { OpsRoute } from '../../adapters/http/ops.ts';
import { RequestError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import type { LpNode } from '../../lp/node/interface.ts';
import type { ReconciliationView } from './admin/answers.ts';
import { getRoute } from './admin/route.ts';
import type { OperatorLog } from './operator-log.ts';
import type { ProfitKey, ProfitWindow } from '../../ports/stores/accounting-store.ts';
import { badRequest } from '../wiring/bad-request.ts';

const KEYS: readonly ProfitKey[] = ['pair', 'corridor', 'taker', 'trade'];
const MOST_ROWS = 10_000;

export function bookRoutes(node: LpNode, audit: Pick<OperatorLog, 'note'>): OpsRoute[] {
  const reconciled = async (): Promise<ReconciliationView> => ({
    reconciled: await node.accounts().reconcile(),
    gas: await node.accounts().reconcileGas(),
  });
  return [
    getRoute('/explain/:id', async ({ id }) => {
      const explanations = await node.accounts().explain(id);
      if (explanations.length > 0) return { explanations };
      throw new RequestError(
        `No quote, order or request has the id ${id.slice(0, 80)}. Give the whole id. Only the last lp.explain.keep quotes are kept; accepted ones are kept for ever.`,
        { code: 'unknown_quote' },
      );
    }),
    getRoute(
      '/rfqs',
      ({ query }) => {
        const [after, before] = [query.get('after'), query.get('before')];
        const place = Number(after ?? (before === 'now' ? 0 : (before ?? 0)));
        if (!Number.isSafeInteger(place) || (after !== null && before !== null))
          throw badRequest(
            'Ask with before=now for the newest first, or with `after` or `before` as the `next` of the previous answer, not both.',
          );
        if (before === null) return node.recorded(after === null ? undefined : place);
        return node.newest(before === 'now' ? undefined : place);
      },
      ['after', 'before'],
    ),
    getRoute(
      '/pnl',
      ({ query }) => {
        const by = KEYS.find((each) => each === (query.get('by') ?? 'pair'));
        const { sinceMs, untilMs } = windowOf(query);
        const limit = limitOf(query);
        if (by === undefined) throw badRequest(`Ask with by=${KEYS.join('|')}.`);
        return node.accounts().profit({ by, sinceMs, untilMs, limit });
      },
      ['by', ...WINDOW_KEYS, 'limit'],
    ),
    getRoute('/books', async () => ({
      ...(await reconciled()),
      balances: node.accounts().balances(),
      lag: node.accounts().lag(),
    })),
    {
      method: 'POST',
      path: '/books/adjust',
      // Only the exact difference, by a person, with a reason.
      async handle({ body, address }) {
        const { chain, token, amount, operator, note, by } = adjustmentOf(body);
        const booked = await node.accounts().adjust(chain, token, BigInt(amount), operator);
        await audit.note(by, 'adjust', {
          note,
          address,
          changes: [
            {
              path: `books.${chain}.${token}${operator === undefined ? '' : `.${operator}`}`,
              from: '',
              to: booked,
            },
          ],
        });
        return { status: 200, body: await reconciled() };
      },
    },
    getRoute(
      '/books/export',
      ({ query }) => {
        const { sinceMs, untilMs } = windowOf(query);
        const counterparty = query.get('counterparty');
        const [after, last] = [Number(query.get('after') ?? 0), query.get('last')];
        if (
          !Number.isSafeInteger(after) ||
          (last !== null && !/^\d{1,15}$/.test(last)) ||
          (counterparty !== null && !/^(?:0x[0-9a-f]{40}|owner|bridge|network)$/.test(counterparty))
        )
          throw badRequest(
            'Ask with counterparty=<address in lower case>, owner, bridge or network, or without it; `after` and `last` are `next` and `last` of the previous answer.',
          );
        return node
          .accounts()
          .statement(
            { sinceMs, untilMs, counterparty },
            { after, last: last === null ? undefined : Number(last) },
          );
      },
      [...WINDOW_KEYS, 'counterparty', 'after', 'last'],
    ),
    getRoute(
      '/books/transfers',
      async ({ query }) => ({ transfers: await node.accounts().transfers(windowOf(query), limitOf(query)) }),
      [...WINDOW_KEYS, 'limit'],
    ),
    getRoute('/books/:id', async ({ id }) => {
      if (!/^0x[0-9a-f]{64}$/.test(id))
        throw badRequest('The order id must be 0x and 64 lower-case hex digits.');
      return { entries: await node.accounts().entries(id as `0x${string}`) };
    }),
  ];
}

/** Throws `RequestError`. */
function limitOf(query: URLSearchParams): number {
  const limit = Number(query.get('limit') ?? 1_000);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ROWS)
    throw badRequest(`Ask with limit=<1 to ${MOST_ROWS}>.`);
  return limit;
}

/** The keys that `windowOf` reads. */
export const WINDOW_KEYS = ['sinceMs', 'untilMs'] as const;

/** Throws `RequestError`. */
export function windowOf(query: URLSearchParams): ProfitWindow {
  const sinceMs = Number(query.get('sinceMs') ?? 0);
  const until = query.get('untilMs');
  const untilMs = until === null ? null : Number(until);
  if (
    !Number.isSafeInteger(sinceMs) ||
    sinceMs < 0 ||
    (untilMs !== null && (!Number.isSafeInteger(untilMs) || untilMs <= sinceMs))
  )
    throw badRequest(
      'Ask with sinceMs=<Unix milliseconds> and untilMs=<Unix milliseconds after it, or leave it out for now>.',
    );
  return { sinceMs, untilMs };
}

function adjustmentOf(body: string) {
  let said: Record<string, unknown> = {};
  try {
    said = JSON.parse(body) as Record<string, unknown>;
  } catch {}
  const { chain, token, amount, operator, note, by = 'admin API' } = said;
  if (
    typeof chain !== 'string' ||
    typeof token !== 'string' ||
    typeof amount !== 'string' ||
    !/^-?[1-9][0-9]{0,77}$/.test(amount) ||
    typeof note !== 'string' ||
    note.trim() === '' ||
    typeof by !== 'string' ||
    (operator !== undefined && !/^0x[0-9a-f]{40}$/.test(String(operator)))
  ) {
    throw badRequest(
      'Send {"chain": "base", "token": "USDC" or "native", "amount": "-12" (base units, chain less books), "note": "what moved it", "by": "who"}; for "native" also "operator": "0x..." (lower case) unless it is the running one.',
    );
  }
  return {
    chain,
    token,
    amount,
    operator: operator as Address | undefined,
    note: note.slice(0, 500),
    by: by.slice(0, 100),
  };
}
