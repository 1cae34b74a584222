/**
 * The quick way to read a quote request: most are spelled canonically and ask for nothing special. Like
 * `plainRfq`, it only ever says yes to what the schema would take, with what the schema would make of it;
 * everything else, and every refusal, is the schema's.
 */

import { fieldsOf, isAsset, isPlainAddress, isUnits } from './plain.ts';
import type { QuoteRequest } from '../api/quote.ts';

/** undefined: not certain, ask the schema. */
export function plainRequest(json: unknown): QuoteRequest | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { taker, receiver, input, output } = json as Partial<QuoteRequest>;
  const sure =
    fieldsOf(json) === (receiver === undefined ? 3 : 4) &&
    isPlainAddress(taker) &&
    (receiver === undefined || isPlainAddress(receiver)) &&
    isSide(input) &&
    isSide(output);
  if (
    !sure ||
    !input ||
    !output ||
    input.asset === output.asset ||
    (input.amount === undefined) === (output.amount === undefined)
  )
    return undefined;
  return { ...(json as QuoteRequest), maxCandidates: 5, splitFill: 'allow', settlement: 'wallet' };
}

const isSide = (side: Partial<QuoteRequest['input']> | undefined | null): boolean =>
  typeof side === 'object' &&
  side !== null &&
  isAsset(side.asset) &&
  (side.amount === undefined
    ? fieldsOf(side) === 1
    : fieldsOf(side) === 2 && isUnits(side.amount) && side.amount !== '0');
