// node scripts/dashboards.mjs [--check]
//
// Writes the Grafana dashboards from the tables below; --check fails when the committed files differ. Rate,
// errors and duration come first, then what is used up, then the business.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DashboardBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { ReduceDataOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const FOLDER = join(import.meta.dirname, '..', 'ops', 'grafana', 'dashboards');
const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const COLUMNS = 24;

/** `$i` stands for the chosen instances. */
const of = (metric, labels = '') => `${metric}{instance=~"$instance"${labels && `, ${labels}`}}`;
const rate = (metric, labels) => `rate(${of(metric, labels)}[$__rate_interval])`;
const sumRate = (metric, by, labels) => `sum by (${by}) (${rate(metric, labels)})`;
const quantile = (q, metric, by = '') =>
  `histogram_quantile(${q}, sum by (le${by && `, ${by}`}) (${rate(`${metric}_bucket`)}))`;

/** Makes a panel: title, what it means, unit, and its queries with what a line is called. */
const lines = (title, description, unit, ...queries) => ({ title, description, unit, queries });
const number = (title, description, unit, expr, thresholds) => ({
  ...{ title, description, unit, stat: true, thresholds },
  queries: [[expr, '']],
});
/** Colours the panel red from this value on. */
const badFrom = (value) => [
  ['green', null],
  ['red', value],
];
/** Colours the panel red below this value. */
const badBelow = (value) => [
  ['red', null],
  ['green', value],
];

const processRow = [
  'Process',
  lines('CPU', 'Cores in use; one Node process uses little more than one.', 'percentunit', [
    rate('firmquote_process_cpu_seconds_total'),
    '{{job}} {{instance}}',
  ]),
  lines('Memory', 'Resident memory.', 'bytes', [
    of('firmquote_process_resident_memory_bytes'),
    '{{job}} {{instance}}',
  ]),
  lines('Event loop delay, p99', 'How late timers run; above 0.1 s quotes come late.', 's', [
    of('firmquote_process_event_loop_lag_seconds', 'percentile="p99"'),
    '{{job}} {{instance}}',
  ]),
  lines('Open files', 'Sockets included. The limit of the service is the end.', 'short', [
    of('firmquote_process_open_fds'),
    '{{job}} {{instance}}',
  ]),
];

/** Names what ops/rules.yml records for one service level indicator. */
const ratio = (slo, window) => `slo:error_ratio:rate${window}{slo="${slo}"}`;
const objective = (slo) => `slo:objective:ratio{slo="${slo}"}`;
/** Averages over a day: long enough for a number that everybody reads, and short enough to move. */
const budget = (slo) => `avg_over_time(${ratio(slo, '1h')}[1d]) / (1 - ${objective(slo)})`;

const objectives = (slos, firmness) => [
  'Objectives',
  lines(
    'Good',
    'Share of good events in the last hour, of all instances; docs/venue/slo.md defines them.',
    'percentunit',
    ...slos.map((slo) => [`1 - ${ratio(slo, '1h')}`, slo]),
  ),
  lines(
    'Budget spent',
    'Mean hour of the last day, of what the objective allows: above 1 it will not be met.',
    'percentunit',
    ...slos.map((slo) => [budget(slo), slo]),
  ),
  lines(
    'Burn rate',
    'Bad events of the last hour, of those allowed; 14.4 pages.',
    'none',
    ...slos.map((slo) => [`${ratio(slo, '1h')} / (1 - ${objective(slo)})`, slo]),
  ),
  firmness,
];

const dashboards = {
  lp: {
    title: 'firmquote LP',
    job: 'lp',
    rows: [
      [
        'Now',
        number(
          'Quoting',
          'LPs that quote now. 0: see the reasons beside it.',
          'short',
          `sum(${of('firmquote_lp_quoting')})`,
          badBelow(1),
        ),
        number(
          'Reasons for standby',
          'What stops quotes; the table of docs/lp/operating.md says what to do.',
          'short',
          `sum(${of('firmquote_lp_standby_reason')})`,
          badFrom(1),
        ),
        number(
          'Risk controls tripped',
          'Each limits or stops quotes until its condition is over.',
          'short',
          `sum(${of('firmquote_lp_risk_tripped')})`,
          badFrom(1),
        ),
        number(
          'Live quotes',
          'Quotes that a taker can still accept.',
          'short',
          `sum(${of('firmquote_lp_live_quotes')})`,
        ),
        number(
          'Faded',
          'Awards that this LP did not honour. Anything but 0 costs the bond.',
          'short',
          `sum(${of('firmquote_lp_awards_total', 'outcome="faded"')})`,
          badFrom(1),
        ),
        number(
          'Total profit',
          'Since the accounting ledger was opened, at the mid of now.',
          'currencyUSD',
          `sum(${of('firmquote_lp_pnl_usd', 'kind="total"')})`,
        ),
      ],
      objectives(
        ['lp_quote_latency'],
        lines('Promises broken', 'Awards that faded or were lost, each second: none.', 'short', [
          sumRate('firmquote_lp_awards_total', 'outcome', 'outcome=~"faded|lost"'),
          '{{outcome}}',
        ]),
      ),
      [
        'Requests',
        lines('Requests', 'Answered each second, by kind of answer.', 'reqps', [
          sumRate('firmquote_lp_answers_total', 'kind'),
          '{{kind}}',
        ]),
        lines('Declines', 'By reason; `lp explain` shows one request in full.', 'reqps', [
          sumRate('firmquote_lp_declines_total', 'reason'),
          '{{reason}}',
        ]),
        lines(
          'Time to answer',
          'From the request in to the answer out.',
          's',
          [quantile(0.5, 'firmquote_lp_quote_seconds'), 'p50'],
          [quantile(0.99, 'firmquote_lp_quote_seconds'), 'p99'],
        ),
        lines('Too late', 'Requests whose deadline could not be met.', 'reqps', [
          `sum(${rate('firmquote_lp_late_total')})`,
          'late',
        ]),
      ],
      [
        'Business',
        lines('Fill rate', 'Awards settled per quoted request, last hour, by pair.', 'percentunit', [
          `sum by (pair) (increase(${of('firmquote_lp_awards_total', 'outcome="settled"')}[1h])) / sum by (pair) (increase(${of('firmquote_lp_quotes_total')}[1h]) > 0)`,
          '{{pair}}',
        ]),
        lines('Traded', 'Value of settled trades each second, by pair.', 'currencyUSD', [
          sumRate('firmquote_lp_traded_usd_total', 'pair'),
          '{{pair}}',
        ]),
        lines('Spread quoted', 'All-in, of the first tenor; mean, by pair.', 'none', [
          `sum by (pair) (${rate('firmquote_lp_quoted_spread_bps_sum')}) / sum by (pair) (${rate('firmquote_lp_quoted_spread_bps_count')})`,
          '{{pair}} bps',
        ]),
        lines(
          'Profit',
          'Since the accounting ledger was opened: spread captured, fees, gas, positions, mark-outs.',
          'currencyUSD',
          [`sum by (kind) (${of('firmquote_lp_pnl_usd')})`, '{{kind}}'],
        ),
      ],
      [
        'Inventory',
        lines('Distance from target', 'In soft bands: 0 is the target, 1 the edge.', 'none', [
          `max by (asset, chain) (${of('firmquote_lp_inventory_q')})`,
          '{{asset}} {{chain}}',
        ]),
        lines('Free', 'Whole tokens that back no promise.', 'short', [
          `sum by (chain, token) (${of('firmquote_lp_inventory_units', 'part="free"')})`,
          '{{token}} on {{chain}}',
        ]),
        lines('Reserved', 'Held, committed and in flight, of the balance.', 'percentunit', [
          `max by (chain, token) (${of('firmquote_lp_reserved_share')})`,
          '{{token}} on {{chain}}',
        ]),
        lines('Transfers', 'Transfers between chains that are under way, by stage.', 'short', [
          `sum by (stage) (${of('firmquote_lp_transfers_open')})`,
          '{{stage}}',
        ]),
        lines('Drift', 'Balances that the ledger cannot explain; that place is not quoted.', 'short', [
          `sum by (chain, token) (${of('firmquote_lp_inventory_units', 'part="drift"')})`,
          '{{token}} on {{chain}}',
        ]),
      ],
      [
        'Prices',
        lines('Age of the mid', 'Of its oldest source.', 's', [
          `max by (pair) (${of('firmquote_lp_mid_age_seconds')})`,
          '{{pair}}',
        ]),
        lines('Sources apart', 'How far the sources of a mid lie apart.', 'none', [
          `max by (pair) (${of('firmquote_lp_mid_confidence_bps')})`,
          '{{pair}} bps',
        ]),
        lines('Volatility', 'Annualised, as priced.', 'percentunit', [
          `max by (pair) (${of('firmquote_lp_volatility_annual')})`,
          '{{pair}}',
        ]),
        lines('Feeds', 'Messages each second.', 'short', [
          sumRate('firmquote_lp_feed_messages_total', 'feed'),
          '{{feed}}',
        ]),
      ],
      processRow,
    ],
  },
  venue: {
    title: 'firmquote venue',
    job: 'venue',
    rows: [
      [
        'Now',
        number(
          'Active solvers',
          'Solvers that are asked for quotes.',
          'short',
          `count(max by (solver) (${of('firmquote_venue_roster_status')}) == 2)`,
          badBelow(1),
        ),
        number(
          'Quotes answered',
          'Of quote requests in the last five minutes, how many got a candidate.',
          'percentunit',
          `sum(increase(${of('firmquote_venue_quote_requests_total', 'result="quoted"')}[5m])) / sum(increase(${of('firmquote_venue_quote_requests_total')}[5m]))`,
          badBelow(0.9),
        ),
        number(
          'Open quote groups',
          'Requests with live quotes.',
          'short',
          `sum(${of('firmquote_venue_open_quote_groups')})`,
        ),
        number(
          'Open orders',
          'Of the worker that has them.',
          'short',
          `sum(${of('firmquote_venue_orders_open')})`,
        ),
        number(
          'Shed',
          'Requests refused for load in the last five minutes.',
          'short',
          `sum(increase(${of('firmquote_venue_shed_total')}[5m]))`,
          badFrom(1),
        ),
        number(
          'Streams',
          'Connected event streams.',
          'short',
          `sum(${of('firmquote_venue_stream_clients')})`,
        ),
      ],
      objectives(
        ['quote_availability', 'quote_latency', 'settlement_time'],
        lines(
          'Firm quotes broken',
          'Accepted orders that a solver did not keep, each second: none.',
          'short',
          [
            sumRate(
              'firmquote_venue_orders_ended_total',
              'code',
              'status="failed", code=~"expired_unfilled|solver_released|settlement_reverted"',
            ),
            '{{code}}',
          ],
        ),
      ),
      [
        'Requests',
        lines('Quote requests', 'Each second, by result.', 'reqps', [
          sumRate('firmquote_venue_quote_requests_total', 'result'),
          '{{result}}',
        ]),
        lines(
          'Time to answer a quote request',
          'Solvers included.',
          's',
          [quantile(0.5, 'firmquote_venue_quote_seconds'), 'p50'],
          [quantile(0.99, 'firmquote_venue_quote_seconds'), 'p99'],
        ),
        lines('Submissions', 'Each second, by result.', 'reqps', [
          `${sumRate('firmquote_venue_submissions_total', 'result')} > 0 or ${sumRate('firmquote_venue_submissions_total', 'result', 'result="accepted"')}`,
          '{{result}}',
        ]),
        lines(
          'Time to answer a submission',
          'With its database write.',
          's',
          [quantile(0.5, 'firmquote_venue_submit_seconds'), 'p50'],
          [quantile(0.99, 'firmquote_venue_submit_seconds'), 'p99'],
        ),
        lines('Refused at the gate', 'Keys, rates, connections.', 'reqps', [
          sumRate('firmquote_venue_refused_total', 'why'),
          '{{why}}',
        ]),
        lines('Failed requests', 'Answered with a 5xx status.', 'reqps', [
          sumRate('firmquote_venue_failed_total', 'rate'),
          '{{rate}}',
        ]),
        lines('Refused for load', 'What the bulkheads turned away.', 'reqps', [
          sumRate('firmquote_venue_shed_total', 'kind, why'),
          '{{kind}} {{why}}',
        ]),
      ],
      [
        'Solvers',
        lines('Status', '0 offline, 1 standby, 2 active.', 'none', [
          `max by (solver) (${of('firmquote_venue_roster_status')})`,
          '{{solver}}',
        ]),
        lines('Answers', 'Each second, by kind.', 'reqps', [
          sumRate('firmquote_venue_answers_total', 'answer'),
          '{{answer}}',
        ]),
        lines('Time to answer, p99', 'By solver.', 's', [
          quantile(0.99, 'firmquote_venue_answer_seconds', 'solver'),
          '{{solver}}',
        ]),
        lines(
          'Answers that failed verification',
          'By solver and reason; any is a bug or an attack.',
          'reqps',
          [sumRate('firmquote_venue_invalid_answers_total', 'solver, why'), '{{solver}} {{why}}'],
        ),
        lines('Declines', 'By reason.', 'reqps', [
          sumRate('firmquote_venue_declines_total', 'reason'),
          '{{reason}}',
        ]),
        lines('Waited in vain', 'Seconds each second that requests waited for one solver.', 's', [
          sumRate('firmquote_venue_wasted_wait_seconds_total', 'solver'),
          '{{solver}}',
        ]),
      ],
      [
        'Streams, webhooks',
        lines('Frames to streams', 'Each second.', 'short', [
          `sum(${rate('firmquote_venue_stream_frames_total')})`,
          'frames',
        ]),
        lines('Streams closed by the venue', 'By reason.', 'short', [
          sumRate('firmquote_venue_stream_dropped_total', 'why'),
          '{{why}}',
        ]),
        lines('Webhook attempts', 'By outcome.', 'short', [
          sumRate('firmquote_venue_webhook_attempts_total', 'outcome'),
          '{{outcome}}',
        ]),
        lines('Webhooks overdue', 'How long the longest due delivery waits.', 's', [
          of('firmquote_venue_webhook_overdue_seconds'),
          '{{instance}}',
        ]),
      ],
      processRow,
    ],
  },
  settlement: {
    title: 'firmquote settlement',
    job: 'venue|lp',
    rows: [
      [
        'Now',
        number(
          'Firmness',
          'Orders that ended settled, of those that ended settled or faded, last day.',
          'percentunit',
          `1 - (sum(increase(${of('firmquote_lp_awards_total', 'outcome="faded"')}[1d])) / (sum(increase(${of('firmquote_lp_awards_total', 'outcome=~"settled|faded"')}[1d])) > 0) or vector(0))`,
          badBelow(1),
        ),
        number(
          'Leading workers',
          'Chains on which a worker sends and has the orders.',
          'short',
          `sum(${of('firmquote_venue_worker_leads')})`,
          badBelow(1),
        ),
        number(
          'Open transactions',
          'Sent, and not mined yet.',
          'short',
          `sum(${of('firmquote_tx_open_slots')})`,
          badFrom(50),
        ),
        number(
          'Proofs without enough signatures',
          'Last five minutes.',
          'short',
          `sum(increase(${of('firmquote_attestations_proofs_total', 'outcome="incomplete"')}[5m]))`,
        ),
      ],
      [
        'Orders',
        lines('Open orders', 'By stage; a stage that only grows is stuck.', 'short', [
          `sum by (stage) (${of('firmquote_venue_orders_open')})`,
          '{{stage}}',
        ]),
        lines('Ended orders', 'Each second, by status and code.', 'short', [
          sumRate('firmquote_venue_orders_ended_total', 'status, code'),
          '{{status}} {{code}}',
        ]),
        lines(
          'From acceptance to settled',
          'By flow.',
          's',
          [quantile(0.5, 'firmquote_venue_settle_seconds', 'flow'), 'p50 {{flow}}'],
          [quantile(0.95, 'firmquote_venue_settle_seconds', 'flow'), 'p95 {{flow}}'],
        ),
        lines('Steps', 'Handed to a relayer, each second.', 'short', [
          sumRate('firmquote_venue_steps_total', 'step, chain'),
          '{{step}} {{chain}}',
        ]),
        lines('Awards of LPs', 'That ended, by outcome.', 'short', [
          sumRate('firmquote_lp_awards_total', 'outcome'),
          '{{outcome}}',
        ]),
        lines('Fills across chains', 'Each second, by outcome.', 'short', [
          sumRate('firmquote_lp_fills_total', 'outcome'),
          '{{outcome}}',
        ]),
      ],
      [
        'Transactions',
        lines('Signed', 'Each second, by reason: bumps and no-ops are repairs.', 'short', [
          sumRate('firmquote_tx_attempts_total', 'chain, kind'),
          '{{chain}} {{kind}}',
        ]),
        lines('Not mined yet', 'By chain and lane.', 'short', [
          of('firmquote_tx_open_slots'),
          '{{job}} {{chain}} {{lane}}',
        ]),
        lines('Transactions that the balance pays for', 'At the fees of now.', 'short', [
          `${of('firmquote_tx_balance_wei')} / ${of('firmquote_tx_cost_wei')}`,
          '{{job}} {{chain}} {{lane}}',
        ]),
        lines('Gas', 'Used each second.', 'short', [
          sumRate('firmquote_tx_gas_units_total', 'chain'),
          '{{chain}}',
        ]),
      ],
    ],
  },
  chains: {
    title: 'firmquote chains',
    job: 'venue|lp|attester',
    rows: [
      [
        'Heads',
        lines('Age of the newest block', 'As each process sees it.', 's', [
          `time() - ${of('firmquote_chain_head_seen_timestamp_seconds')}`,
          '{{chain}} {{job}} {{instance}}',
        ]),
        lines('Newest block', 'Lines that part show a node that is behind.', 'short', [
          of('firmquote_chain_head_block'),
          '{{chain}} {{job}} {{instance}}',
        ]),
        lines('Doubt', '1 while a final block was taken back, or clocks differ.', 'short', [
          `max by (chain, kind) (${of('firmquote_chain_doubt')})`,
          '{{chain}} {{kind}}',
        ]),
      ],
      [
        'Endpoints',
        lines('Time to answer', 'Smoothed, by endpoint.', 's', [
          of('firmquote_chain_endpoint_latency_seconds'),
          '{{chain}} {{endpoint}} {{job}}',
        ]),
        lines('Failures', 'Requests that an endpoint did not answer, each second.', 'reqps', [
          sumRate('firmquote_chain_endpoint_failures_total', 'chain, endpoint'),
          '{{chain}} {{endpoint}}',
        ]),
        lines('In service', '0 while an endpoint is left out.', 'short', [
          of('firmquote_chain_endpoint_in_service'),
          '{{chain}} {{endpoint}} {{job}}',
        ]),
        lines('Taken out', 'By reason, each second.', 'short', [
          sumRate('firmquote_chain_endpoint_ejections_total', 'chain, fault'),
          '{{chain}} {{fault}}',
        ]),
        lines('Raw transactions', 'Sent each second, by answer of the node.', 'reqps', [
          sumRate('firmquote_chain_sends_total', 'chain, outcome'),
          '{{chain}} {{outcome}}',
        ]),
      ],
      [
        'Attesters',
        lines(
          'Committee',
          'Members that answer, and how many a proof needs.',
          'short',
          [`min by (chain) (${of('firmquote_attestations_signers_present')})`, '{{chain}} present'],
          [`max by (chain) (${of('firmquote_attestations_signers_needed')})`, '{{chain}} needed'],
        ),
        lines('Answers', 'Of attesters to those who ask, each second.', 'reqps', [
          sumRate('firmquote_attestations_answers_total', 'kind'),
          '{{kind}}',
        ]),
        lines('Answers given', 'By the attesters of this Prometheus.', 'reqps', [
          sumRate('firmquote_attester_answers_total', 'kind'),
          '{{kind}}',
        ]),
      ],
      processRow,
    ],
  },
  stores: {
    title: 'firmquote PostgreSQL and queue',
    job: 'venue|lp',
    rows: [
      [
        'Now',
        number(
          'PostgreSQL answers',
          'The least of all processes. 0: one of them got no answer to its last statement.',
          'short',
          `min(${of('firmquote_postgres_up')})`,
          badBelow(1),
        ),
        number(
          'Longest wait for a connection',
          'Of all processes. Above 0 their pools are used up.',
          's',
          `max(${of('firmquote_postgres_longest_wait_seconds')})`,
          badFrom(1),
        ),
        number(
          'Queue answers',
          'The least of all processes. 0: wake-ups are lost, and orders wait for the sweep.',
          'short',
          `min(${of('firmquote_queue_up')})`,
          badBelow(1),
        ),
        number(
          'Oldest due job',
          'How long it waits for a worker.',
          's',
          `max(${of('firmquote_queue_oldest_due_seconds')})`,
          badFrom(30),
        ),
        number(
          'Given up',
          'Jobs that failed in every try and are kept to look at.',
          'short',
          `sum(max by (topic) (${of('firmquote_queue_jobs', 'state="failed"')}))`,
          badFrom(1),
        ),
      ],
      [
        'Statements',
        lines('Statements', 'Answered each second, by class.', 'ops', [
          `sum by (class) (${rate('firmquote_postgres_statement_seconds_count')})`,
          '{{class}}',
        ]),
        lines('Connection errors', 'Each second: busy, connect, lost, silent.', 'ops', [
          sumRate('firmquote_postgres_connection_errors_total', 'job, fault'),
          '{{job}} {{fault}}',
        ]),
        lines('Time to answer, p50', 'By class of statement.', 's', [
          quantile(0.5, 'firmquote_postgres_statement_seconds', 'class'),
          '{{class}}',
        ]),
        lines('Time to answer, p99', 'By class of statement. A slow commit is a slow disk.', 's', [
          quantile(0.99, 'firmquote_postgres_statement_seconds', 'class'),
          '{{class}}',
        ]),
      ],
      [
        'Connections',
        lines('In use', 'Of the connections that a pool may open.', 'percentunit', [
          `${of('firmquote_postgres_connections', 'state="in_use"')} / ignoring (state) ${of('firmquote_postgres_connections_max')}`,
          '{{job}} {{instance}}',
        ]),
        lines('Open', 'In use and idle.', 'short', [
          of('firmquote_postgres_connections'),
          '{{job}} {{instance}} {{state}}',
        ]),
        lines('Waiting callers', 'They wait for a connection.', 'short', [
          of('firmquote_postgres_waiting_callers'),
          '{{job}} {{instance}}',
        ]),
        lines('Wait for a connection, p99', 'By process.', 's', [
          quantile(0.99, 'firmquote_postgres_wait_seconds', 'job, instance'),
          '{{job}} {{instance}}',
        ]),
      ],
      [
        'Queue',
        lines('Handled', 'Wake-ups each second, by topic and outcome.', 'ops', [
          `sum by (topic, outcome) (${rate('firmquote_queue_job_seconds_count')})`,
          '{{topic}} {{outcome}}',
        ]),
        lines('Failures', 'Handlers that failed, and wake-ups that were not accepted.', 'ops', [
          sumRate('firmquote_queue_failures_total', 'topic, what'),
          '{{topic}} {{what}}',
        ]),
        lines('Time to handle, p99', 'One wake-up, by topic.', 's', [
          quantile(0.99, 'firmquote_queue_job_seconds', 'topic'),
          '{{topic}}',
        ]),
        lines('Depth', 'Jobs by topic and state, as the process sees it that sees most.', 'short', [
          `max by (topic, state) (${of('firmquote_queue_jobs')})`,
          '{{topic}} {{state}}',
        ]),
        lines('Oldest due job', 'How long it waits for a worker, by topic.', 's', [
          `max by (topic) (${of('firmquote_queue_oldest_due_seconds')})`,
          '{{topic}}',
        ]),
      ],
    ],
  },
};

function panel({ title, description, unit, stat, thresholds, queries }, width) {
  const builder = (
    stat
      ? new StatBuilder().reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
      : new TimeseriesBuilder()
  )
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(SOURCE)
    .span(width)
    .height(stat ? 4 : 8);
  if (thresholds)
    builder.thresholds({
      build: () => ({
        mode: ThresholdsMode.Absolute,
        steps: thresholds.map(([color, value]) => ({ color, value })),
      }),
    });
  for (const [expr, legend] of queries)
    builder.withTarget(
      new DataqueryBuilder()
        .expr(expr)
        .legendFormat(legend)
        .datasource(SOURCE)
        .refId(String.fromCharCode(65 + queries.findIndex((query) => query[0] === expr))),
    );
  return builder;
}

function dashboard(name, { title, job, rows }) {
  const builder = new DashboardBuilder(title)
    .uid(`firmquote-${name}`)
    .tags(['firmquote'])
    .timezone('browser')
    .refresh('10s')
    .time({ from: 'now-1h', to: 'now' })
    .readonly()
    .link(
      new DashboardLinkBuilder('firmquote')
        .type(DashboardLinkType.Dashboards)
        .tags(['firmquote'])
        .asDropdown(true),
    )
    .withVariable(new DatasourceVariableBuilder('datasource').type('prometheus').label('Prometheus'))
    .withVariable(
      new QueryVariableBuilder('instance')
        .label('Instance')
        .datasource(SOURCE)
        .query(`label_values(firmquote_process_build_info{job=~"${job}"}, instance)`)
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .multi(true)
        .includeAll(true)
        .allValue('.+'),
    );
  for (const [row, ...panels] of rows) {
    builder.withRow(new RowBuilder(row));
    const width = panels.length > 4 && panels[0].stat !== true ? 8 : Math.floor(COLUMNS / panels.length);
    for (const each of panels) builder.withPanel(panel(each, width));
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`;
}

let stale = 0;
for (const [name, spec] of Object.entries(dashboards)) {
  const file = join(FOLDER, `${name}.json`);
  const text = dashboard(name, spec);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    stale += 1;
    console.error(`ops/grafana/dashboards/${name}.json is stale. Run: node scripts/dashboards.mjs`);
  }
}
process.exitCode = stale === 0 ? 0 : 1;
