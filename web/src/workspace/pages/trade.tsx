/** Ask for quotes, compare what each costs, sign with the browser's wallet, follow to settlement. */

import { Callout, Text } from '@radix-ui/themes';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConsoleChain } from '../../../../src/apps/venue/console.ts';
import type { Trade } from '../../../../src/client/client.ts';
import { Section } from '../../parts/section.tsx';
import { type Access, call, readSetup } from '../api.ts';
import { useSession } from '../session.ts';
import { Candidates, legsOf } from '../trade/candidates.tsx';
import { failureText } from '../trade/failure.ts';
import { Legs } from '../trade/legs.tsx';
import { NextLeg } from '../trade/next-leg.tsx';
import { type Request, RequestForm } from '../trade/request-form.tsx';
import { assetOf, type Side, sidesOf } from '../trade/side.ts';
import { type Asked, askQuotes, type Judged, takeCandidate } from '../trade/trader.ts';
import { TrustNote } from '../trade/trust-note.tsx';
import { WalletChoice } from '../trade/wallet-choice.tsx';
import { connect, type Connected } from '../trade/wallets.ts';

export function TradePage() {
  const { service } = useSession();
  const { data: chains = [] } = useQuery({
    queryKey: ['tradable'],
    queryFn: async () => {
      const [setup, pairs] = await Promise.all([
        readSetup(),
        call<Record<string, number>>(service?.key ?? '', 'GET', '/api/v1/router/pairs'),
      ]);
      const ids = new Set(Object.values(pairs));
      return setup.chains.filter(({ id }) => ids.has(id));
    },
    staleTime: 60_000,
  });
  const sides = sidesOf(chains);
  if (service === undefined) return null;
  if (sides.length < 2)
    return (
      <Section title="Trade" live={pending}>
        {null}
      </Section>
    );
  return <TradeDesk access={service} chains={chains} sides={sides} />;
}

const pending = { data: undefined, error: null, readAtMs: 0, old: false };

function TradeDesk({
  access,
  chains,
  sides,
}: {
  access: Access;
  chains: readonly ConsoleChain[];
  sides: readonly Side[];
}) {
  const [wallet, setWallet] = useState<Connected>();
  const [[give, get], setEnds] = useState([sides[0], sides[1]] as [Side, Side]);
  const [told, setTold] = useState<readonly string[]>([]);
  /** The newest leg that has settled, or the only one. */
  const [ended, setEnded] = useState<Trade>();
  const open = useMutation({ mutationFn: connect, onSuccess: setWallet });
  const take = useMutation({
    mutationFn: ({ asked, chosen }: { asked: Asked; chosen: Judged }) => {
      if (chosen.checked === undefined) throw new Error('Only a checked candidate can be signed.');
      return takeCandidate(asked, chosen.checked, (what) => setTold((before) => [...before, what]));
    },
    // When a later leg fails, the route still stands behind the one before it.
    onSuccess: (trade) =>
      setEnded((before) => (trade.status.status === 'settled' ? trade : (before ?? trade))),
  });
  const ask = useMutation({
    mutationFn: async ({ owner, request }: { owner: Connected; request: Request }) => {
      setTold([]);
      setEnded(undefined);
      take.reset();
      const asked = await askQuotes({
        key: access.key,
        wallet: owner,
        namespace: request.namespace,
        chains,
        source: request.give.chain,
        dest: request.get.chain,
        request: tradeRequest(owner, request),
      });
      return { asked, ends: request };
    },
  });
  const failure = open.error ?? ask.error ?? take.error;
  const { asked, ends } = ask.data ?? {};
  const choose = (chosen: Judged) => {
    if (asked !== undefined) take.mutate({ asked, chosen });
  };
  return (
    <>
      <Section
        title="Trade"
        note="The escrow pays out at least what a candidate promises, or the input comes back."
      >
        <TrustNote give={give} get={get} />
        <WalletChoice wallet={wallet} connect={open.mutate} />
        <RequestForm
          sides={sides}
          busy={ask.isPending}
          disabled={wallet === undefined || take.isPending}
          onSides={(...both) => setEnds(both)}
          submit={(request) => wallet !== undefined && ask.mutate({ owner: wallet, request })}
        />
        {failure !== null && (
          <Callout.Root color="red" size="1" role="alert">
            <Callout.Text className="breaks">{failureText(failure)}</Callout.Text>
          </Callout.Root>
        )}
      </Section>
      {asked !== undefined && ends !== undefined && (
        <Section title="Candidates" note={ORDER[ends.exact]}>
          {asked.byContract && (
            <Text as="p" size="2" mb="2">
              Your account is a contract: the escrow asks it (ERC-1271) whether it has signed the order.
            </Text>
          )}
          <Candidates
            judged={asked.judged}
            ends={ends}
            busy={take.isPending || ended !== undefined}
            choose={choose}
          />
        </Section>
      )}
      {asked?.judged.some(({ candidate }) => legsOf(candidate).length > 0) && (
        <Section title="Legs" note="What happens in each candidate, in order. Amounts contain the fees.">
          <Legs judged={asked.judged} sides={sides} />
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
      {asked !== undefined && ends !== undefined && ended !== undefined && ended.stopped !== null && (
        <NextLeg
          key={ended.order.id}
          client={asked.client}
          trade={ended}
          ends={ends}
          sides={sides}
          busy={take.isPending}
          choose={choose}
        />
      )}
    </>
  );
}

const ORDER = {
  input: 'Most output first: what the escrow enforces, or what a route of several orders expects.',
  output: 'Least input first.',
} as const;

const tradeRequest = ({ address }: Connected, { give, get, exact, amount }: Request) => ({
  taker: address,
  input: { asset: assetOf(give), ...(exact === 'input' && { amount }) },
  output: { asset: assetOf(get), ...(exact === 'output' && { amount }) },
});
