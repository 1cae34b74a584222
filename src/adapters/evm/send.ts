/** What a node's answer to raw bytes means. Revert text comes first: a contract can make it look like any other answer. */

import { UpstreamError } from '../../domain/errors.ts';
import type { Hex } from '../../domain/hex.ts';
import { keccakHex } from '../../domain/keccak.ts';
import type { SendOutcome } from '../../ports/chain.ts';
import { type Rpc, RpcRefusal } from './rpc.ts';

const CLASSES: readonly (readonly [RegExp, 'sent' | 'nonce_too_low' | 'underpriced' | 'out_of_funds' | 'rejected'])[] = [
  [/execution reverted/i, 'rejected'],
  [/already known|already imported|known transaction|already exists|alreadyknown/i, 'sent'],
  [/nonce too low|nonce is too low|invalid nonce|old nonce/i, 'nonce_too_low'],
  [/underpriced|replacement|fee too low|max fee per gas less than block base fee|feecap|tip (?:cap )?(?:too|less)|gas price too low/i, 'underpriced'],
  [/insufficient funds|insufficient balance|out of funds|overshot/i, 'out_of_funds'],
];

export function classifyRefusal(message: string): SendOutcome['kind'] {
  return CLASSES.find(([pattern]) => pattern.test(message))?.[1] ?? 'rejected';
}

/** Sends to every endpoint; one that took it is enough. No answer at all counts as sent, because it may be. */
export async function sendRaw(rpc: Rpc, raw: Hex): Promise<SendOutcome> {
  const answers = await rpc.requestAll<Hex>('eth_sendRawTransaction', [raw]);
  const outcomes = answers.map((answer): SendOutcome => {
    if (typeof answer === 'string') return { kind: 'sent', hash: keccakHex(raw) };
    if (!(answer instanceof RpcRefusal)) return { kind: 'indeterminate', message: answer instanceof UpstreamError ? answer.message : 'no answer' };
    const kind = classifyRefusal(answer.message);
    return kind === 'sent' ? { kind, hash: keccakHex(raw) } : { kind, message: answer.message };
  });
  const best = (kind: SendOutcome['kind']) => outcomes.find((outcome) => outcome.kind === kind);
  return best('sent') ?? best('nonce_too_low') ?? best('indeterminate') ?? best('underpriced') ?? best('out_of_funds') ?? (outcomes[0] as SendOutcome);
}
