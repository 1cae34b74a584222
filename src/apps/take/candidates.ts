/** The candidates of an answer: each checked by the client, and explained in a table. */

import {
  type Candidate,
  type Checked,
  type Client,
  DistrustError,
  type Expectations,
  type QuoteAnswer,
  ranked,
} from '../../client/client.ts';
import type { RouterCandidate } from '../../protocol/api/router.ts';
import { formatUnits, isAmount } from '../../domain/amount.ts';
import { CUT_NOTE, shortUnits, table } from '../terminal/table.ts';
import type { TakerToken } from './assets.ts';
import type { Report } from './report.ts';

export interface CandidateRow {
  candidate: Candidate;
  /** Undefined when the client refuses it. */
  checked: Checked | undefined;
  refusal: DistrustError | undefined;
}

/** Decimals of a native currency's base unit, on every EVM chain. */
const WEI = 18;

/** Checks all candidates, best first by what the escrow enforces. */
export function checkAll(
  client: Client,
  answer: QuoteAnswer,
  expectations: Expectations,
): Promise<CandidateRow[]> {
  return Promise.all(
    ranked(answer.quotes, expectations.request).map(async (candidate): Promise<CandidateRow> => {
      try {
        return { candidate, checked: await client.check(candidate, expectations), refusal: undefined };
      } catch (refusal) {
        if (!(refusal instanceof DistrustError)) throw refusal;
        return { candidate, checked: undefined, refusal };
      }
    }),
  );
}

export function explainCandidates(
  report: Report,
  rows: readonly CandidateRow[],
  { sell, buy }: { sell: TakerToken; buy: TakerToken },
): void {
  const lines = table(
    ['#', 'solver', 'pay', 'get', 'at least', 'vs mid', 'fees', 'gas', 'eta', 'firm for', 'check'],
    rows.map(({ candidate, checked, refusal }, index) => {
      const { preview, eta, platformFeeBps, lpSpreadBps, gas } = candidate;
      const [input, output] = [preview.inputs[0], preview.outputs[0]];
      const delta = output && 'deltaFromMid' in output ? output.deltaFromMid : undefined;
      return [
        String(index + 1),
        candidate.solverId,
        amount(input?.amount, sell),
        amount(output?.amount, buy),
        amount(output?.minimumAmount, buy),
        typeof delta === 'number' ? `${(delta * 100).toFixed(3)} %` : '-',
        `venue ${bps(platformFeeBps)}, LP ${bps(lpSpreadBps)}`,
        gas && isAmount(gas.native)
          ? gas.native === '0'
            ? 'none'
            : formatUnits(BigInt(gas.native), WEI)
          : '-',
        typeof eta === 'number' ? `${eta} s` : '-',
        checked ? `${checked.validUntil - checked.readAt.now} s` : '-',
        refusal?.code ?? 'ok',
      ];
    }),
  );
  const notes = rows.flatMap(({ candidate: { warnings = [], ...candidate }, refusal }, index) => [
    ...legLines(candidate as Partial<RouterCandidate>).map((line) => `  ${index + 1}: ${line}`),
    ...warnings.map(({ code, message }) => `  ${index + 1}: warning ${code}: ${message}`),
    ...(refusal ? [`  ${index + 1}: refused, ${refusal.code}: ${refusal.message}`] : []),
  ]);
  report.say(
    'quotes',
    {
      candidates: rows.map(({ candidate, checked, refusal }, index) => ({
        number: index + 1,
        ok: checked !== undefined,
        orderId: checked?.orderId ?? null,
        refusal: refusal ? { code: refusal.code, message: refusal.message } : null,
        ...shownOf(candidate),
      })),
    },
    ...lines,
    ...notes,
    ...(lines.some((line) => line.includes('…')) ? [CUT_NOTE] : []),
  );
}

/** Prints one line for each leg of a candidate with several, as the venue claims them. */
export function legLines({ composite }: Pick<RouterCandidate, 'composite'>): string[] {
  const legs = composite?.legs ?? [];
  if (legs.length < 2) return [];
  return legs.map(({ index, kind, solverId, chainId, input, output, eta }) => {
    const least = output.minimumAmount === null ? 'no minimum yet' : `at least ${output.minimumAmount}`;
    return `leg ${index}: ${kind}, ${solverId}, chain ${chainId}: ${input.amount} of ${input.asset} to ${output.amount} (${least}) of ${output.asset}${eta === null ? '' : `, ${eta} s`}`;
  });
}

/** Leaves out the signed payload, which is long. */
const shownOf = ({ order: _order, integrityChecksum: _seal, ...shown }: Candidate) => shown;

/** Prints an amount; what an unchecked candidate claims may be no amount at all. */
const amount = (text: string | null | undefined, token: TakerToken): string =>
  isAmount(text ?? '') ? `${shortUnits(BigInt(text as string), token.decimals)} ${token.symbol}` : '-';

const bps = (value: number | null | undefined): string => (typeof value === 'number' ? `${value} bps` : '?');
