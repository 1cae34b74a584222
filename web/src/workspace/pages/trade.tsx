/** Ask for firm quotes, compare what each costs, sign with the browser's wallet, follow to settlement. */

import { Badge, Button, Callout, Flex, Table, Text, TextField } from '@radix-ui/themes';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatUnits, parseUnits } from 'viem';
import type { ConsoleChain } from '../../../../src/apps/venue/console.ts';
import { number, tokens } from '../../format.ts';
import { useNow } from '../../live.ts';
import { Section } from '../../parts/section.tsx';
import { type Access, call, readSetup } from '../api.ts';
import { Choice } from '../parts/choice.tsx';
import { useSession } from '../session.ts';
import { type Asked, askQuotes, type Judged, takeCandidate } from '../trade/trader.ts';
import { connect, type Connected, useWallets } from '../trade/wallets.ts';

interface Side {
  chain: ConsoleChain;
  token: ConsoleChain['tokens'][number];
}

export function TradePage() {
  const { service } = useSession();
  const { data: chains } = useQuery({
    queryKey: ['tradable'],
    queryFn: async () => {
      const [setup, pairs] = await Promise.all([
        readSetup(),
        call<Record<string, number>>(service?.key ?? '', 'GET', '/api/v1/rfq/pairs'),
      ]);
      const ids = new Set(Object.values(pairs));
      return setup.chains.filter(({ id }) => ids.has(id));
    },
    staleTime: 60_000,
  });
  const sides = (chains ?? []).flatMap((chain) => chain.tokens.map((token): Side => ({ chain, token })));
  if (service === undefined) return null;
  if (sides.length < 2)
    return (
      <Section title="Trade" live={pending}>
        {null}
      </Section>
    );
  return <Trade access={service} sides={sides} />;
}

const pending = { data: undefined, error: null, readAtMs: 0, old: false };
const nameOf = ({ chain, token }: Side) => `${token.symbol} on ${chain.slug}`;
const assetOf = ({ chain, token }: Side) => `eip155:${chain.id}/erc20:${token.address}`;

function Trade({ access, sides }: { access: Access; sides: readonly Side[] }) {
  const wallets = useWallets();
  const [wallet, setWallet] = useState<Connected>();
  const [from, setFrom] = useState(0);
  const [to, setTo] = useState(1);
  const [amount, setAmount] = useState('');
  const [told, setTold] = useState<readonly string[]>([]);
  const [give, get] = [sides[from], sides[to]] as [Side, Side];
  const open = useMutation({ mutationFn: connect, onSuccess: setWallet });
  const take = useMutation({
    mutationFn: ({ asked, chosen }: { asked: Asked; chosen: Judged }) => {
      if (chosen.checked === undefined) throw new Error('Only a checked candidate can be signed.');
      return takeCandidate(asked, chosen.checked, (what) => setTold((before) => [...before, what]));
    },
  });
  const ask = useMutation({
    mutationFn: async (owner: Connected) => {
      setTold([]);
      take.reset();
      const request = {
        taker: owner.address,
        input: { asset: assetOf(give), amount: parseUnits(amount, give.token.decimals) },
        output: { asset: assetOf(get) },
      };
      const asked = await askQuotes(access.key, owner, { source: give.chain, dest: get.chain }, request);
      return { asked, give, get };
    },
  });
  const options = sides.map((side, index) => [String(index), nameOf(side)] as const);
  const valid = /^\d+(?:\.\d+)?$/.test(amount) && Number(amount) > 0 && from !== to;
  const failure = open.error ?? ask.error ?? take.error;
  return (
    <>
      <Section
        title="Trade"
        note="Quotes are firm: what a candidate shows is what the escrow enforces, until it ends."
      >
        <Callout.Root color="blue" size="1" mb="3">
          <Callout.Text>
            Before your wallet is asked, the client in this page recomputes the order, its id, and every call
            and signature from your own request, and reads the escrow through your wallet. What differs by one
            byte is refused. The escrow on {give.chain.slug} is{' '}
            <span className="breaks">{give.chain.escrow}</span>: compare it with the address that you know.
          </Callout.Text>
        </Callout.Root>
        <Flex gap="2" wrap="wrap" mb="3" align="center">
          {wallet !== undefined ? (
            <Text size="2" className="breaks">
              {wallet.name}: {wallet.address}
            </Text>
          ) : wallets.length === 0 ? (
            <Text size="2">No wallet has announced itself. Install a browser wallet, and reload.</Text>
          ) : (
            wallets.map((each) => (
              <Button
                key={each.info.uuid}
                variant="soft"
                className="rt-high-contrast"
                onClick={() => open.mutate(each)}
              >
                Connect {each.info.name}
              </Button>
            ))
          )}
        </Flex>
        <form
          className="filters"
          onSubmit={(event) => {
            event.preventDefault();
            if (wallet !== undefined) ask.mutate(wallet);
          }}
        >
          <Text as="label" size="2">
            You give
            <TextField.Root
              mt="1"
              inputMode="decimal"
              value={amount}
              onChange={(event) => setAmount(event.target.value)}
            />
          </Text>
          <Choice
            label="Of"
            value={String(from)}
            options={options}
            onChange={(value) => setFrom(Number(value))}
          />
          <Choice
            label="For"
            value={String(to)}
            options={options}
            onChange={(value) => setTo(Number(value))}
          />
          <Button
            className="rt-high-contrast"
            type="submit"
            loading={ask.isPending}
            disabled={wallet === undefined || !valid || take.isPending}
          >
            Ask for quotes
          </Button>
        </form>
        {failure !== null && (
          <Callout.Root color="red" size="1" role="alert">
            <Callout.Text className="breaks">{failureText(failure)}</Callout.Text>
          </Callout.Root>
        )}
      </Section>
      {ask.data && (
        <Section title="Candidates" note="Best first, by what the escrow enforces.">
          <Candidates
            {...ask.data}
            busy={take.isPending || take.isSuccess}
            choose={(chosen) => take.mutate({ asked: ask.data.asked, chosen })}
          />
        </Section>
      )}
      {told.length > 0 && (
        <Section title="Progress">
          <ol aria-live="polite">
            {told.map((what, index) => (
              <li key={`${index} ${what}`} className="breaks">
                <Text size="2">{what}</Text>
              </li>
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}

/** A wallet's refusal is long; its first sentence says it. */
const failureText = (error: Error & { shortMessage?: string }): string =>
  error.shortMessage ?? error.message ?? 'The wallet refused.';

function Candidates({
  asked,
  give,
  get,
  busy,
  choose,
}: {
  asked: Asked;
  give: Side;
  get: Side;
  busy: boolean;
  choose(chosen: Judged): void;
}) {
  const nowMs = useNow();
  const secondsLeft = ({ candidate }: Judged) =>
    Math.max(0, candidate.validUntil - Math.floor(nowMs / 1_000));
  const rows: [string, (judged: Judged) => React.ReactNode][] = [
    ['You get', ({ candidate }) => out(candidate.preview.outputs[0]?.amount, get)],
    [
      'At least',
      ({
        candidate: {
          preview: { outputs },
        },
      }) => out(outputs[0]?.minimumAmount ?? outputs[0]?.amount, get),
    ],
    ['You give', ({ candidate }) => out(candidate.preview.inputs[0]?.amount, give)],
    ['Price', ({ candidate }) => priceOf(candidate, give, get)],
    ['Platform fee', ({ candidate: { platformFeeBps } }) => bps(platformFeeBps)],
    ['Spread of the LP', ({ candidate: { lpSpreadBps } }) => bps(lpSpreadBps)],
    [
      'Gas that you pay',
      ({ candidate: { executionMode, gas } }) =>
        executionMode === 'apiSubmit'
          ? 'none: the venue sends it'
          : gas?.usd == null
            ? 'yes'
            : `$${number(gas.usd, 4)}`,
    ],
    ['Expected time', ({ candidate: { eta } }) => (eta == null ? 'unknown' : `${eta} s`)],
    ['Firm for', (judged) => (secondsLeft(judged) === 0 ? 'over: ask again' : `${secondsLeft(judged)} s`)],
    [
      'Check',
      ({ refused }) =>
        refused === undefined ? (
          <Badge color="green" className="rt-high-contrast">
            every byte checked
          </Badge>
        ) : (
          <Text color="red" size="2" className="breaks">
            Refused: {refused}
          </Text>
        ),
    ],
  ];
  return (
    <div className="scroll" role="region" aria-label="Table: candidates" tabIndex={0}>
      <Table.Root size="1">
        <Table.Header>
          <Table.Row>
            <Table.ColumnHeaderCell>From</Table.ColumnHeaderCell>
            {asked.judged.map(({ candidate }) => (
              <Table.ColumnHeaderCell key={candidate.quoteId}>{candidate.solverId}</Table.ColumnHeaderCell>
            ))}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {rows.map(([name, show]) => (
            <Table.Row key={name}>
              <Table.RowHeaderCell>{name}</Table.RowHeaderCell>
              {asked.judged.map((judged) => (
                <Table.Cell key={judged.candidate.quoteId}>{show(judged)}</Table.Cell>
              ))}
            </Table.Row>
          ))}
          <Table.Row>
            <Table.RowHeaderCell>Take</Table.RowHeaderCell>
            {asked.judged.map((judged) => (
              <Table.Cell key={judged.candidate.quoteId}>
                <Button
                  size="1"
                  className="rt-high-contrast"
                  disabled={busy || judged.checked === undefined || secondsLeft(judged) === 0}
                  onClick={() => choose(judged)}
                >
                  Sign and trade with {judged.candidate.solverId}
                </Button>
              </Table.Cell>
            ))}
          </Table.Row>
        </Table.Body>
      </Table.Root>
    </div>
  );
}

const bps = (value: number | null | undefined) => (value == null ? 'unknown' : `${value} bps`);
const out = (amount: string | undefined, { token }: Side) =>
  amount === undefined ? 'unknown' : `${tokens(amount, token.decimals, 8)} ${token.symbol}`;

/** For the eye: floating point. */
function priceOf({ preview: { inputs, outputs } }: Judged['candidate'], give: Side, get: Side): string {
  const [input, output] = [inputs[0]?.amount, outputs[0]?.amount];
  if (input === undefined || output === undefined) return 'unknown';
  const paid = Number(formatUnits(BigInt(input), give.token.decimals));
  const got = Number(formatUnits(BigInt(output), get.token.decimals));
  return `1 ${get.token.symbol} = ${number(paid / got, 4)} ${give.token.symbol}`;
}
