/** Schemas of what the admin API shows: open orders, roster, chains, queues, limits. */

import * as z from 'zod';
import { zExplained } from '../schema.ts';
import { zSettlementStatus } from '../api/status.ts';

const zWhen = z.iso.datetime();

const zOpenOrder = z
  .object({
    id: z.string().describe('Order id.'),
    workspaceId: z.string().describe('Workspace that submitted it.'),
    stage: zSettlementStatus,
    flow: zExplained('Where input and output are.', {
      same_chain: 'on one chain',
      cross_chain: 'on several chains',
    }),
    origin: z.string().describe('Slug of the chain that takes the input.'),
    destinations: z.array(z.string()).describe('Slugs of the chains that pay out.'),
    solverIds: z.array(z.string()).describe('Solvers that promised it.'),
    amountUsd: z.number().nullable().describe('What it is worth in USD. null when unknown.'),
    createdAt: zWhen.describe('When it was accepted.'),
    ageSeconds: z.int().describe('For how long it has been open.'),
    stuck: z
      .boolean()
      .describe(
        'Whether it has been open for longer than the objective of settlement_time, and does not only wait for a time of its chain.',
      ),
    waitsFor: zExplained('Who acts next.', {
      venue: 'a worker of this venue',
      lp: 'the solver',
      taker: 'the taker',
      anyone: 'the solver earns by it; the venue does it when the solver does not',
      time: 'nobody before the chain reaches a time',
    }),
    nextStep: z.string().describe('What happens next, for people.'),
    problems: z.array(z.string()).describe('What stands in the way, as far as this process knows.'),
  })
  .meta({ id: 'OpenOrder', description: 'An order that has not ended.' });
export type OpenOrderView = z.infer<typeof zOpenOrder>;

export const zOpenOrders = z
  .object({
    orders: z.array(zOpenOrder).describe('Stuck ones first, then by age.'),
    more: z.boolean().describe('Whether there are more, all of them newer.'),
  })
  .meta({ id: 'OpenOrders', description: 'Open orders.' });

const zBreaker = z
  .object({
    openUntil: zWhen.nullable().describe('Until when the solver is not asked. null while it is.'),
    reason: zExplained('The last fault that opened it.', {
      invalid: 'it gave answers that do not hold',
      fade: 'it failed orders that it had committed to',
    })
      .nullable()
      .describe('The last fault that opened it. null when none has.'),
    underWatch: z.boolean().describe('Whether it has made faults lately.'),
  })
  .meta({ id: 'BreakerState', description: 'Takes a solver that makes faults out of the auction.' });

export const zRosterRow = z
  .object({
    id: z.string().describe('Roster id.'),
    name: z.string().describe('Name for people.'),
    disabled: z.boolean().describe('Whether the venue has shut it out.'),
    status: zExplained('Whether it is asked for quotes by the process that answers.', {
      active: 'yes',
      standby: 'connected, but not asked',
      offline: 'not connected, or disabled',
    }),
    note: z.string().nullable().describe('Why it is not active. null when there is nothing to say.'),
    connections: z.int().describe('Open connections to the process that answers.'),
    liveKeys: z.int().describe('Keys of the solver that are not revoked.'),
    firstSeenAt: zWhen.nullable().describe('When it connected for the first time. null until then.'),
    lastQuoteAt: zWhen.nullable().describe('When it quoted last. null until it has.'),
    settled: z.int().describe('Orders that it settled since this process started.'),
    faded: z.int().describe('Promises that it broke since this process started.'),
    breaker: zBreaker,
    onboarding: zExplained('The next step of its onboarding.', {
      issue_key: 'it has no key yet',
      connect: 'it has a key, and has never connected',
      quote: 'it has connected, and has never quoted',
      done: 'it has quoted',
    }),
  })
  .meta({ id: 'RosterRow', description: 'A solver as this process sees it.' });
export type RosterRow = z.infer<typeof zRosterRow>;

const zRelayerRow = z
  .object({
    address: z.string().describe('The account.'),
    balanceWei: z.string().describe('What it has, in wei.'),
    costWei: z.string().describe('What one more transaction may cost now, in wei.'),
    transactionsLeft: z.int().describe('How many transactions it can pay for, rounded down.'),
    low: z.boolean().describe('Whether that is fewer than 20, as in the alert GasLow.'),
    openTransactions: z.int().describe('Transactions that were sent and are not mined.'),
    oldestOpenSeconds: z
      .int()
      .nullable()
      .describe('For how long the first of them has been open. null without any.'),
  })
  .meta({ id: 'RelayerRow', description: 'A relayer account on a chain.' });

export const zChainRow = z
  .object({
    id: z.int().describe('Chain id.'),
    slug: z.string().describe('Slug of the chain.'),
    head: z.string().nullable().describe('Number of the newest block seen. null without any.'),
    headAgeSeconds: z.int().nullable().describe('How long ago it was first seen. null without any.'),
    stale: z.boolean().describe('Whether that is too long ago: this process quotes nothing there.'),
    issue: z.string().nullable().describe('What else is wrong with the chain. null when nothing is.'),
    openOrders: z.int().describe('Open orders that begin on this chain.'),
    relayers: z
      .array(zRelayerRow)
      .nullable()
      .describe('Accounts that send there. null when the chain does not answer.'),
  })
  .meta({ id: 'ChainRow', description: 'A chain as this process sees it.' });
export type ChainRow = z.infer<typeof zChainRow>;

export const zQueueRow = z
  .object({
    topic: z.string().describe('What its wake-ups are about.'),
    waiting: z.int().describe('Due, and not taken.'),
    active: z.int().describe('In work.'),
    delayed: z.int().describe('Not due yet.'),
    failed: z.int().describe('Given up after every try.'),
    oldestDueSeconds: z.int().describe('For how long the first due one has waited.'),
    behind: z.boolean().describe('Whether that is more than 30 s, as in the alert QueueBehind.'),
  })
  .meta({ id: 'QueueRow', description: 'A topic of the queue of wake-ups.' });
export type QueueRow = z.infer<typeof zQueueRow>;

export const zRates = z
  .object({
    quotesPerSecond: z.number().describe('Quote requests of a key per second.'),
    submitsPerSecond: z.number().describe('Submissions of a key per second.'),
    readsPerSecond: z.number().describe('Other requests of a key per second.'),
    perIpPerSecond: z.number().describe('Requests of an address per second.'),
    burst: z.number().describe('Seconds of its rate that a rested caller may ask at once.'),
    openQuotes: z.int().describe("Most live, unsubmitted quotes of a key, without a workspace's own limit."),
    openNotionalUsd: z.number().describe('Most notional of them in USD.'),
    leastSubmittedShare: z.number().describe('Share of quoted amounts that a workspace should submit.'),
    adminPerSecond: z.number().describe('Requests of an admin key per second.'),
  })
  .meta({ id: 'Rates', description: 'Limits of one process, the one that answers.' });
export type RatesView = z.infer<typeof zRates>;
