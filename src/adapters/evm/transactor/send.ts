/** Sends raw transactions and says what became of them. */

import type { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import { keccakHex } from '../../../domain/keccak.ts';
import type { SendOutcome } from '../../../ports/chain.ts';
import type { Meaning } from '../rpc/refusals.ts';
import { type ChainRpc, RpcRefusal } from '../rpc/rpc.ts';

/**
 * Every outcome that is not final is tried again: an unknown answer must not cost a nonce or a settlement.
 */
const OUTCOMES: Readonly<Record<Meaning, SendOutcome['kind']>> = {
  known: 'sent',
  nonce_used: 'nonce_too_low',
  underpriced: 'underpriced',
  out_of_funds: 'out_of_funds',
  reverted: 'rejected',
  invalid: 'rejected',
  not_now: 'not_now',
  behind: 'not_now',
  elsewhere: 'not_now',
  smaller: 'not_now',
  smaller_batch: 'not_now',
  unknown: 'not_now',
};

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
  const kind = OUTCOMES[answer.meaning];
  return kind === 'sent' ? { kind, hash: keccakHex(raw) } : { kind, message: answer.message };
}

function worst(outcomes: readonly SendOutcome[]): SendOutcome {
  const best = (kind: SendOutcome['kind']) => outcomes.find((outcome) => outcome.kind === kind);
  return (
    best('nonce_too_low') ??
    best('indeterminate') ??
    best('underpriced') ??
    best('not_now') ??
    best('out_of_funds') ??
    (outcomes[0] as SendOutcome)
  );
}
