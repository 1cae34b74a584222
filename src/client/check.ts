/** Only a checked candidate can be planned, signed or submitted. */

import { parseAssetId } from '../domain/asset.ts';
import type { Candidate } from './candidate.ts';
import { DistrustError } from './errors.ts';
import { type ReadAt, readNow, requireFirm } from './firm.ts';
import type { Limits, TradeRequest } from './request.ts';
import { readTerms, type Terms } from './terms.ts';
import type { Trust } from './trust.ts';

export interface Checked extends Terms {
  candidate: Candidate;
  expectations: Expectations;
  readAt: ReadAt;
}

export interface Expectations extends Limits {
  request: TradeRequest;
}

export function createChecker(trust: Trust, namespace: 'rfq' | 'router') {
  const passed = new WeakSet<Checked>();
  const reopened = new WeakSet<Checked>();
  return {
    /** Throws `DistrustError`, or `UnreachableError` when the caller's own endpoint does not answer. */
    async check(candidate: Candidate, expectations: Expectations): Promise<Checked> {
      const { request, ...limits } = expectations;
      const terms = readTerms(candidate, request, limits, trust, namespace);
      const readAt = await requireFirm(trust, terms, limits, {
        input: candidate.preview.inputs[0]?.decimals ?? null,
        output: candidate.preview.outputs[0]?.decimals ?? null,
        // Of a route of several legs its end, which the order of the first leg does not name.
        end: parseAssetId(request.output.asset) ?? { chainId: terms.destChainId, token: terms.outputToken },
      });
      const checked = frozen(terms, candidate, expectations, readAt);
      passed.add(checked);
      return checked;
    },
    /**
     * A candidate that was signed before, perhaps by another process. Its terms are checked again; whether
     * the quote is still firm is not, because by now it may have been executed or have lapsed. It can be
     * submitted and claimed for, but not signed.
     */
    async reopen(candidate: Candidate, expectations: Expectations): Promise<Checked> {
      const { request, ...limits } = expectations;
      const terms = readTerms(candidate, request, limits, trust, namespace);
      const checked = frozen(terms, candidate, expectations, await readNow(trust, terms));
      reopened.add(checked);
      return checked;
    },
    requireChecked(checked: Checked): void {
      if (!passed.has(checked))
        throw new DistrustError(
          'not_checked',
          'This candidate has not passed `check` of this client. Check it first and pass on what `check` returned.',
        );
    },
    /**
     * Requires a known candidate, for calls that sign nothing over the order: `check` or `reopen` will do.
     */
    requireKnown(checked: Checked): void {
      if (!reopened.has(checked)) this.requireChecked(checked);
    },
  };
}

/** A frozen copy cannot change between the check and the signature. */
const frozen = (terms: Terms, candidate: Candidate, expectations: Expectations, readAt: ReadAt): Checked =>
  deepFreeze<Checked>({
    ...structuredClone(terms),
    candidate: structuredClone(candidate),
    expectations: structuredClone(expectations),
    readAt,
  });

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
