/** Interprets a node's answer to a raw transaction. Reverts first: a contract chooses its revert text. */

import type { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import { keccakHex } from '../../../domain/keccak.ts';
import type { SendOutcome } from '../../../ports/chain.ts';
import { type ChainRpc, RpcRefusal } from '../rpc/rpc.ts';

const CLASSES: readonly (readonly [
  RegExp,
  'sent' | 'nonce_too_low' | 'underpriced' | 'out_of_funds' | 'rejected',
])[] = [
  [/execution reverted/i, 'rejected'],
  [/already known|already imported|known transaction|already exists|alreadyknown/i, 'sent'],
  [/nonce too low|nonce is too low|invalid nonce|old nonce/i, 'nonce_too_low'],
  [
    /underpriced|replacement|fee too low|max fee per gas less than block base fee|feecap|tip (?:cap )?(?:too|less)|gas price too low/i,
    'underpriced',
  ],
  [/insufficient funds|insufficient balance|out of funds|overshot/i, 'out_of_funds'],
];

export function classifyRefusal(message: string): SendOutcome['kind'] {
  return CLASSES.find(([pattern]) => pattern.test(message))?.[1] ?? 'rejected';
}

/**
 * Sends to every endpoint, ejected ones too; resolves with the first acceptance. Silence counts as sent,
 * because the node may have the transaction.
 */
export async function sendRaw(rpc: ChainRpc, raw: Hex): Promise<SendOutcome> {
  const outcomes = rpc
    .requestEach<Hex>('eth_sendRawTransaction', [raw])
    .map(async (answer): Promise<SendOutcome> => meaningOf(await answer, raw));
  const taken = outcomes.map(async (outcome) =>
    (await outcome).kind === 'sent' ? outcome : Promise.reject(new Error('not taken')),
  );
  return Promise.any(taken).catch(async () => worst(await Promise.all(outcomes)));
}

function meaningOf(answer: Hex | RpcRefusal | UpstreamError, raw: Hex): SendOutcome {
  if (typeof answer === 'string') return { kind: 'sent', hash: keccakHex(raw) };
  if (!(answer instanceof RpcRefusal)) return { kind: 'indeterminate', message: answer.message };
  const kind = classifyRefusal(answer.message);
  return kind === 'sent' ? { kind, hash: keccakHex(raw) } : { kind, message: answer.message };
}

function worst(outcomes: readonly SendOutcome[]): SendOutcome {
  const best = (kind: SendOutcome['kind']) => outcomes.find((outcome) => outcome.kind === kind);
  return (
    best('nonce_too_low') ??
    best('indeterminate') ??
    best('underpriced') ??
    best('out_of_funds') ??
    (outcomes[0] as SendOutcome)
  );
}
