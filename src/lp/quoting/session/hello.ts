/** The handshake with a venue: proves that we own the operator key of each account. */

import type { Address } from '../../../domain/hex.ts';
import type { Signer } from '../../../ports/signer.ts';
import { type FromVenue, LINK_PROTOCOL_VERSION, type LinkMessage } from '../../../protocol/link/link.ts';
import { type LinkProof, linkProofMessage } from '../../../protocol/link/link-proof.ts';
import { sendToVenue, type SessionDeps } from './session-state.ts';

type Challenge = LinkMessage<'challenge', FromVenue>;

/** Our account on a chain that the venue serves too. */
interface CommonChain {
  chainId: number;
  escrow: Address;
  account: Address;
}

/** Answers a challenge with a hello, or reconnects when there is no common ground. */
export async function sendHello(
  deps: SessionDeps,
  { nonce, venueId, protocolVersion, chains }: Challenge,
): Promise<void> {
  const { link, log, signer, solver } = deps;
  if (protocolVersion !== LINK_PROTOCOL_VERSION)
    return link.reconnect(`the venue speaks protocol ${protocolVersion}, we speak ${LINK_PROTOCOL_VERSION}`);
  // A proof for another venue could be used there in our name.
  if (link.venueId !== undefined && venueId !== link.venueId) {
    log.error(
      { venueId, expected: link.venueId },
      'the venue names another id than our configuration: no proof is signed',
    );
    return link.reconnect('the venue names another id than our configuration');
  }
  const common = commonChains(deps, chains);
  if (common.length === 0) return link.reconnect('the venue and this LP have no chain in common');
  const accounts =
    signer === undefined ? [] : await proofs(signer, common, { nonce, venueId, solverId: solver.id });
  const { routes, config } = deps.quoting();
  sendToVenue(deps, {
    type: 'hello',
    solverId: solver.id,
    ...(deps.replica !== undefined && { replica: deps.replica }),
    ...(signer === undefined && { shadow: true }),
    kind: solver.kind,
    name: solver.name,
    accounts,
    corridors: [...routes.corridors],
    maxInFlight: config.quoting.maxInFlight,
    protocolVersion: LINK_PROTOCOL_VERSION,
  });
}

/** Leaves out a chain whose contracts differ: quotes for another escrow would not be backed by inventory. */
const commonChains = (deps: SessionDeps, chains: Challenge['chains']): CommonChain[] =>
  chains.flatMap(({ chainId, escrow, oracle }) => {
    const own = deps.chains.get(chainId);
    if (own === undefined) return [];
    if (own.chain.escrow === escrow && own.chain.oracle === oracle)
      return [{ chainId, escrow, account: own.config.account }];
    deps.log.error(
      { chainId, escrow, oracle },
      'the venue names another escrow or oracle than our configuration: this chain is left out',
    );
    return [];
  });

const proofs = (by: Signer, common: readonly CommonChain[], of: Omit<LinkProof, 'account'>) =>
  Promise.all(
    common.map(async ({ chainId, escrow, account }) => ({
      chainId,
      account,
      operator: by.address,
      signature: await by.sign(linkProofMessage({ chainId, escrow }, { ...of, account })),
    })),
  );
