/**
 * An LP that answers every request with one whole signed quote and remembers nothing: over the link that our
 * own LP has, at its price in CPU.
 */

import { createLinkClient } from '../src/adapters/ws/link-client.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import type { Chain } from '../src/domain/chain.ts';
import type { Address } from '../src/domain/hex.ts';
import type { Link } from '../src/ports/link.ts';
import {
  type FromSolver,
  LINK_PROTOCOL_VERSION,
  readFromVenue,
  type Rfq,
} from '../src/protocol/link/link.ts';
import { linkProofDigest } from '../src/protocol/link/link-proof.ts';
import type { TestAccount } from '../test/support/devnet.ts';
import { silentLog } from '../test/support/silent.ts';
import { createMaker } from '../test/support/solver.ts';

export interface QuoteMaker {
  id: string;
  apiKey: string;
  lp: Address;
  operator: TestAccount;
  chain: Chain;
  corridors: string[];
  /** Output base units for a request. */
  output: (rfq: Rfq) => bigint;
  validSeconds: number;
}

/** Opens a link to each of the venue's replicas; resolves when all of them have said welcome. */
export async function startQuoteMaker(
  urls: readonly string[],
  { id, apiKey, lp, operator, chain, corridors, output, validSeconds }: QuoteMaker,
): Promise<void> {
  const maker = createMaker({ lp, operator }, new Map([[chain.id, chain]]));
  await Promise.all(
    urls.map(
      (url) =>
        new Promise<void>((resolve) => {
          const link: Link = createLinkClient(
            { clock: systemClock, log: silentLog },
            { name: id, url, apiKey },
          );
          const say = (message: FromSolver) => link.send(JSON.stringify(message));
          link.start({
            opened() {},
            closed(reason) {
              throw new Error(`${id} lost its venue: ${reason}`);
            },
            frame(text) {
              const read = readFromVenue(text);
              if (!read.ok) throw new Error(`the venue broke the protocol: ${read.detail}`);
              const { message } = read;
              switch (message.type) {
                case 'rfq':
                  // As our own LP does, it says when it has said all.
                  return void link.send(
                    JSON.stringify({
                      ...maker.quote(message, { output: output(message) }, { validSeconds }),
                      more: false,
                    }),
                  );
                case 'ping':
                  return void say({ type: 'pong' });
                case 'refused':
                  throw new Error(`refused: ${message.code} ${message.message}`);
                case 'challenge': {
                  const digest = linkProofDigest(
                    { chainId: chain.id, escrow: chain.escrow },
                    { nonce: message.nonce, venueId: message.venueId, solverId: id, account: lp },
                  );
                  const proof = {
                    chainId: chain.id,
                    account: lp,
                    operator: operator.address,
                    signature: operator.sign(digest),
                  };
                  return void say({
                    type: 'hello',
                    solverId: id,
                    kind: 'lp',
                    name: id,
                    accounts: [proof],
                    corridors,
                    maxInFlight: 1_000,
                    protocolVersion: LINK_PROTOCOL_VERSION,
                  });
                }
                case 'welcome':
                  say({ type: 'status', status: 'active', note: null });
                  return resolve();
              }
            },
          });
        }),
    ),
  );
}
