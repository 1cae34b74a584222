/** Makes one trade with the client package: it recomputes and reads everything before the wallet is asked. */

import type { ConsoleChain } from '../../../../src/apps/venue/console.ts';
import {
  type Candidate,
  type Checked,
  type Client,
  createClient,
  DistrustError,
  ranked,
  type Trade,
  type TradeRequest,
} from '../../../../src/client/client.ts';
import { trustedChains } from './chains.ts';
import { type Connected, contractAt, switchTo, walletOf } from './wallets.ts';

export interface Judged {
  candidate: Candidate;
  /** Passed every check; only then can it be signed. */
  checked?: Checked;
  /** The client's reason to refuse it. */
  refused?: string;
}

/** "rfq": firm quotes of LPs. "router": all routes. */
export type Namespace = 'rfq' | 'router';

export interface Wanted {
  key: string;
  wallet: Connected;
  namespace: Namespace;
  chains: readonly ConsoleChain[];
  source: ConsoleChain;
  dest: ConsoleChain;
  request: TradeRequest;
}

export interface Asked {
  client: Client;
  wallet: Connected;
  request: TradeRequest;
  /** The account is a contract, which signs by ERC-1271. */
  byContract: boolean;
  judged: Judged[];
}

/** Asks for quotes, best first. Throws `NoQuote` texts, refusals of the venue, and what the wallet says. */
export async function askQuotes(wanted: Wanted): Promise<Asked> {
  const { key, wallet, namespace, chains, source, dest, request } = wanted;
  await switchTo(wallet, source.id);
  const trusted = trustedChains(wallet, chains, source);
  const there = trusted[dest.id];
  if (there === undefined)
    throw new Error(
      `The venue lists no node for ${dest.slug}, so this page cannot check what arrives there.`,
    );
  const byContract = await contractAt(wallet);
  if (byContract && dest.id !== source.id && !(await there.rpc.getCode({ address: wallet.address })))
    throw new Error(
      `Your account is a contract on ${source.slug}, and there is no contract at its address on ${dest.slug}: ` +
        'what arrives there could be lost. Deploy it there first, or trade on one chain.',
    );
  const client = createClient({ url: location.origin, key, namespace, chains: trusted });
  const { quotes, productUnavailable } = await client.requestQuotes(request);
  if (productUnavailable || quotes.length === 0)
    throw new Error(productUnavailable?.message ?? 'Nobody quoted this.');
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
  return { client, wallet, request, byContract, judged };
}

const STEPS: Readonly<Record<string, string>> = {
  permit2Lock: 'Sign the lock of the input (Permit2) in the wallet.',
  eip3009Authorization: 'Sign the transfer of the input (EIP-3009) in the wallet.',
  tokenApproval: 'Send the approval of the input token in the wallet.',
  permit2Grant: 'Send the grant of Permit2 in the wallet.',
  resourceLockDeposit: 'Send the deposit into the escrow in the wallet.',
};

/** Tells what happens, in order. Resolves when the order of this leg is final; throws what stopped it. */
export async function takeCandidate(
  { client, wallet }: Pick<Asked, 'client' | 'wallet'>,
  checked: Checked,
  tell: (what: string) => void,
): Promise<Trade> {
  await switchTo(wallet, checked.domain.chainId);
  tell('Checked again: the plan of the venue is read, and each call and signature is recomputed.');
  const trade = await client.take(checked, {
    wallet: walletOf(wallet),
    oneLeg: true,
    ...((await contractAt(wallet)) && { signScheme: 'EIP1271' as const }),
    onStep: (step) => tell(STEPS[step.kind === 'transaction' ? step.purpose : step.kind] ?? step.kind),
    onSent: ({ purpose, txHash }) => tell(`Mined: ${purpose}, ${txHash}.`),
    onSigned: () => tell('The order is signed.'),
    onOrder: ({ id }) => tell(`Submitted: the venue has the order ${id}.`),
    onStage: ({ stage }) => tell(`Stage: ${stage.replaceAll('_', ' ')}.`),
  });
  const { status, failure } = trade.status;
  tell(
    status === 'settled'
      ? `Settled, and confirmed by reading the chain: the output ${checked.sequential ? 'of this leg ' : ''}was delivered.`
      : `Failed: ${failure?.message ?? 'the order could not settle'} The input goes back to you.`,
  );
  return trade;
}
