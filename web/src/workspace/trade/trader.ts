/** One trade with the client package: it recomputes and reads everything before the wallet is asked. */

import { createPublicClient, custom, http } from 'viem';
import type { ConsoleChain } from '../../../../src/apps/venue/console.ts';
import {
  type Candidate,
  type Checked,
  type Client,
  createClient,
  DistrustError,
  ranked,
  type TradeRequest,
  type TrustedChains,
} from '../../../../src/client/client.ts';
import { type Connected, switchTo, walletOf } from './wallets.ts';

export interface Judged {
  candidate: Candidate;
  /** Passed every check; only then can it be signed. */
  checked?: Checked;
  /** Why the client refuses it. */
  refused?: string;
}

/** The wallet reads its own chain; another chain is read through the node that the venue lists. */
function trustedChains(wallet: Connected, source: ConsoleChain, dest: ConsoleChain): TrustedChains {
  const trusted = ({ id, escrow, oracle, permit2, quoteBond, rpcUrl }: ConsoleChain) => ({
    rpc: createPublicClient({
      transport: id === source.id ? custom(wallet.provider) : http(rpcUrl ?? undefined),
      cacheTime: 0,
    }),
    escrow,
    oracles: [oracle],
    permit2,
    ...(quoteBond !== null && { quoteBond }),
  });
  return {
    [source.id]: trusted(source),
    ...(dest.id !== source.id && dest.rpcUrl !== null && { [dest.id]: trusted(dest) }),
  };
}

export interface Asked {
  client: Client;
  wallet: Connected;
  judged: Judged[];
}

/** Best first. Throws `NoQuote` texts, refusals of the venue, and what the wallet says. */
export async function askQuotes(
  key: string,
  wallet: Connected,
  { source, dest }: { source: ConsoleChain; dest: ConsoleChain },
  request: TradeRequest,
): Promise<Asked> {
  await switchTo(wallet, source.id);
  const client = createClient({ url: location.origin, key, chains: trustedChains(wallet, source, dest) });
  const { quotes, productUnavailable } = await client.requestQuotes(request);
  if (productUnavailable || quotes.length === 0)
    throw new Error(productUnavailable?.message ?? 'No LP quoted this.');
  const judged = await Promise.all(
    ranked(quotes, request).map(async (candidate): Promise<Judged> => {
      try {
        return { candidate, checked: await client.check(candidate, { request }) };
      } catch (error) {
        if (error instanceof DistrustError) return { candidate, refused: error.message };
        throw error;
      }
    }),
  );
  return { client, wallet, judged };
}

const STEPS: Readonly<Record<string, string>> = {
  permit2Lock: 'Sign the lock of the input (Permit2) in the wallet.',
  eip3009Authorization: 'Sign the transfer of the input (EIP-3009) in the wallet.',
  tokenApproval: 'Send the approval of the input token in the wallet.',
  permit2Grant: 'Send the grant of Permit2 in the wallet.',
  resourceLockDeposit: 'Send the deposit into the escrow in the wallet.',
};

/** Tells what happens, in order. Resolves when the order is final; throws what stopped it. */
export async function takeCandidate(
  { client, wallet }: Asked,
  checked: Checked,
  tell: (what: string) => void,
): Promise<void> {
  await switchTo(wallet, checked.domain.chainId);
  tell('Checked again: the plan of the venue is read, and each call and signature is recomputed.');
  const { status } = await client.take(checked, {
    wallet: walletOf(wallet),
    onStep: (step) => tell(STEPS[step.kind === 'transaction' ? step.purpose : step.kind] ?? step.kind),
    onSent: ({ purpose, txHash }) => tell(`Mined: ${purpose}, ${txHash}.`),
    onSigned: async () => tell('The order is signed.'),
    onOrder: ({ id }) => tell(`Submitted: the venue has the order ${id}.`),
    onStage: ({ stage }) => tell(`Stage: ${stage.replaceAll('_', ' ')}.`),
  });
  tell(
    status.status === 'settled'
      ? 'Settled, and confirmed by reading the chain: the output was delivered.'
      : `Failed: ${status.failure?.message ?? 'the order could not settle'} The input goes back to you.`,
  );
}
