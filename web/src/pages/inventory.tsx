/** Shows where the money is, what it is promised for, and how far it is from its targets. */

import { Progress, Text } from '@radix-ui/themes';
import { age, number, short, tokens } from '../format.ts';
import { useLive } from '../live.ts';
import { Grid } from '../parts/grid.tsx';
import { Section } from '../parts/section.tsx';
import { TransferSections } from './transfers.tsx';

/** Positions are in 1e-18 of a whole token, whatever the token's decimals. */
const ATTO = 18;

export function InventoryPage() {
  const live = useLive('/inventory');
  const { data } = live;
  const chainOf = new Map(
    data?.positions.flatMap(({ places }) => places.map(({ chainId, slug }) => [chainId, slug] as const)),
  );
  type Bucket = NonNullable<typeof data>['buckets'][number];
  const amount = (name: string, of: (bucket: Bucket) => string) => ({
    name,
    end: true,
    show: (bucket: Bucket) => tokens(of(bucket), bucket.decimals),
    value: (bucket: Bucket) => Number(of(bucket)) / 10 ** bucket.decimals,
  });
  return (
    <>
      <Section title="By chain and token" live={live} note="Free backs new quotes. Held backs live quotes.">
        <Grid
          label="Balances"
          rows={data?.buckets ?? []}
          keyOf={({ chainId, token }) => `${chainId} ${token}`}
          empty="No balance is followed."
          columns={[
            { name: 'Token', show: ({ asset }) => asset, value: ({ asset }) => asset },
            {
              name: 'Chain',
              show: ({ chainId }) => chainOf.get(chainId) ?? String(chainId),
              value: ({ chainId }) => chainOf.get(chainId) ?? String(chainId),
            },
            amount('Balance', ({ onchain }) => onchain),
            amount('Free', ({ free }) => free),
            amount('Held', ({ held }) => held),
            amount('Accepted', ({ committed }) => committed),
            amount('In flight', ({ pendingOut }) => pendingOut),
            amount('Owed to us', ({ receivable }) => receivable),
            amount('Withdrawing', ({ withdrawing }) => withdrawing),
            amount('Drift', ({ drift }) => drift ?? '0'),
          ]}
        />
      </Section>
      <Section
        title="Targets and bands"
        live={live}
        note="Distance from the target: 1 is the edge of the soft band."
      >
        <Grid
          label="Targets"
          rows={(data?.positions ?? []).flatMap(({ asset, places }) =>
            places.map((place) => ({ ...place, asset })),
          )}
          keyOf={({ asset, slug }) => `${asset} ${slug}`}
          empty="No asset has a target."
          columns={[
            { name: 'Asset', show: ({ asset }) => asset, value: ({ asset }) => asset },
            { name: 'Chain', show: ({ slug }) => slug, value: ({ slug }) => slug },
            {
              name: 'Available',
              end: true,
              show: ({ available }) => tokens(available, ATTO),
              value: ({ available }) => Number(available),
            },
            {
              name: 'Target',
              end: true,
              show: ({ target }) => tokens(target, ATTO),
              value: ({ target }) => Number(target),
            },
            { name: 'Distance', end: true, show: ({ q }) => number(q, 3), value: ({ q }) => q },
            {
              name: 'Band',
              show: ({ q, asset, slug }) => (
                <Progress
                  value={Math.min(100, Math.round(Math.abs(q) * 100))}
                  color={Math.abs(q) >= 1 ? 'red' : 'indigo'}
                  aria-label={`${asset} on ${slug}: share of the soft band`}
                />
              ),
              value: ({ q }) => Math.abs(q),
            },
          ]}
        />
      </Section>
      <TransferSections advice={<Advice live={live} />} />
      <Section title="Owed to us" live={live}>
        <Grid
          label="Receivables"
          rows={data?.receivables ?? []}
          keyOf={({ orderId }) => orderId}
          empty="Nothing is owed to us."
          columns={[
            { name: 'Order', show: ({ orderId }) => short(orderId), value: ({ orderId }) => orderId },
            {
              name: 'Waiting',
              end: true,
              show: ({ seconds }) => age(seconds * 1_000),
              value: ({ seconds }) => seconds,
            },
            {
              name: 'Overdue',
              show: ({ overdue }) => (overdue ? <Text color="red">yes</Text> : 'no'),
              value: ({ overdue }) => (overdue ? 1 : 0),
            },
          ]}
        />
      </Section>
    </>
  );
}

/** Shows what is worth moving while transfers are off. */
function Advice({ live }: { live: ReturnType<typeof useLive<'/inventory'>> }) {
  return (
    <Section title="Worth moving" live={live} note="Moves that cost less than a day of what draining costs.">
      <Grid
        label="Moves"
        rows={live.data?.rebalancing ?? []}
        keyOf={({ asset, from, to }) => `${asset} ${from} ${to}`}
        empty="Nothing is worth moving."
        columns={[
          { name: 'Asset', show: ({ asset }) => asset, value: ({ asset }) => asset },
          { name: 'From', show: ({ from }) => from, value: ({ from }) => from },
          { name: 'To', show: ({ to }) => to, value: ({ to }) => to },
          {
            name: 'Amount',
            end: true,
            show: ({ amount: of }) => tokens(of, ATTO),
            value: ({ amount: of }) => Number(of),
          },
          {
            name: 'Cost',
            end: true,
            show: ({ cost }) => tokens(cost, ATTO),
            value: ({ cost }) => Number(cost),
          },
        ]}
      />
    </Section>
  );
}
