/** Shows which contracts a trade relies on and how the page reads them, for the taker to compare. */

import { Callout } from '@radix-ui/themes';
import type { Side } from './side.ts';

export function TrustNote({ give, get }: { give: Side; get: Side }) {
  const [source, dest] = [give.chain, get.chain];
  return (
    <Callout.Root color="blue" size="1" mb="3">
      <Callout.Text>
        Before your wallet is asked, the client in this page recomputes the order, its id, and every call and
        signature from your own request, and reads the escrow through your wallet. What differs by one byte is
        refused. The escrow on {source.slug} is <Contract at={source.escrow} />: compare it with the address
        that you know.
        {dest.id !== source.id && (
          <>
            {' '}
            Compare also the escrow on {dest.slug}, <Contract at={dest.escrow} />, and the oracles that prove
            a delivery: <Contract at={source.oracle} /> on {source.slug}, <Contract at={dest.oracle} /> on{' '}
            {dest.slug}.{' '}
            {dest.rpcUrl === null
              ? `The venue lists no node for ${dest.slug}: this page cannot trade to it.`
              : `The page reads ${dest.slug} through the node that the venue lists.`}
          </>
        )}
      </Callout.Text>
    </Callout.Root>
  );
}

const Contract = ({ at }: { at: string }) => <span className="breaks">{at}</span>;
