/**
 * Shows the step between two legs of a route: what the taker holds, what comes next, and the quote of the
 * next leg.
 */

import { Button, Callout, Text } from '@radix-ui/themes';
import { useMutation } from '@tanstack/react-query';
import { assetId } from '../../../../src/domain/asset.ts';
import type { Client, Trade } from '../../../../src/client/client.ts';
import { Section } from '../../parts/section.tsx';
import { Candidates, type Ends } from './candidates.tsx';
import { failureText } from './failure.ts';
import { amountOfAsset, assetOf, type Side } from './side.ts';
import type { Judged } from './trader.ts';

export function NextLeg({
  client,
  trade: { checked },
  ends,
  sides,
  busy,
  choose,
}: {
  client: Client;
  /** The leg that has settled. */
  trade: Trade;
  ends: Ends;
  sides: readonly Side[];
  busy: boolean;
  choose(chosen: Judged): void;
}) {
  const { destChainId, outputToken, outputAmount } = checked;
  const held = assetId({ chainId: destChainId, token: outputToken });
  const middle = sides.find((side) => assetOf(side) === held);
  const look = useMutation({ mutationFn: () => client.nextLeg(checked) });
  return (
    <Section title="Next leg" note="The route is not over: its next leg is an order of its own.">
      <Text as="p" size="2" mb="2">
        This leg has settled, and delivered at least {amountOfAsset(String(outputAmount), held, sides)} to you
        on {middle?.chain.slug ?? `chain ${destChainId}`}. The venue quotes the rest of the route afresh; you
        see its price before you sign. Without your signature nothing more happens, and you keep what you
        hold.
      </Text>
      <Button
        className="rt-high-contrast"
        mb="3"
        loading={look.isPending}
        disabled={busy}
        onClick={() => look.mutate()}
      >
        Ask for the next leg
      </Button>
      {look.error !== null && (
        <Callout.Root color="red" size="1" role="alert">
          <Callout.Text className="breaks">{failureText(look.error)}</Callout.Text>
        </Callout.Root>
      )}
      {look.data !== undefined &&
        (look.data.kind === 'leg' ? (
          <Candidates
            judged={[{ candidate: look.data.checked.candidate, checked: look.data.checked }]}
            ends={{ ...ends, exact: 'input', ...(middle && { give: middle }) }}
            later
            busy={busy}
            choose={choose}
          />
        ) : (
          <Text as="p" size="2" role="status">
            {look.data.kind === 'no_quote'
              ? `Nobody quotes it now: ${look.data.message}`
              : SAID[look.data.kind]}
          </Text>
        ))}
    </Section>
  );
}

const SAID = {
  waiting: 'The venue does not see the delivery of this leg yet. Ask again in a moment.',
  done: 'Nothing is left to do: the route is over.',
};
