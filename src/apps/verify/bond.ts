/** Checks that the LP of each output answered for it with a bond when the order was opened. */

import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { bondNeededFor, claimedIn, firmBond } from '../../domain/bond.ts';
import { decodeContext } from '../../domain/context.ts';
import { type Address, bytes32ToAddress } from '../../domain/hex.ts';
import { quoteBondAbi } from '../../settlement/abi/quote-bond.ts';
import { blockPhrase, type Case } from './case.ts';
import type { Witness } from './witness.ts';

/** Checks the bond. `bond`: the bond contract of the origin's escrow, as the caller knows it. */
export async function checkBond(c: Case, index: number, bond: Address): Promise<void> {
  const { order, domain, origin, opened, judge, unasked, note } = c;
  const name = `lp.${index}.bond`;
  const output = order.outputs[index];
  const lp = decodeContext(output?.context ?? '0x')?.exclusiveFor;
  const [input] = order.inputs;
  if (output === undefined || input === undefined || lp === undefined)
    return note(name, 'held', 'No LP promised this output, so none answers for it.');
  if (!origin) return unasked(name, domain.chainId);
  const inputToken: Address = `0x${input[0].toString(16).padStart(40, '0')}`;
  const { chainId, token } = claimedIn({
    origin: { id: domain.chainId },
    dest: { id: Number(output.chainId) },
    inputToken: { address: inputToken },
    outputToken: { address: bytes32ToAddress(output.token) },
  });
  const promised = chainId === Number(output.chainId) ? output.amount : input[1];
  const { value, newest } = await origin.asOf(opened && BigInt(opened.blockNumber), (at) =>
    bondAt(origin, { bond, lp, token, at }),
  );
  const needed = bondNeededFor(promised, value.shareBps);
  judge(
    name,
    value.firm >= needed && value.shareBps > 0n,
    `LP ${lp} answered for ${await c.inTokens(promised, chainId, token)} with a bond of ${await c.inTokens(value.firm, chainId, token)}${blockPhrase(newest)}.`,
    `LP ${lp} had a bond of ${await c.inTokens(value.firm, chainId, token)}${blockPhrase(newest)}; the whole share of this promise needs ${await c.inTokens(needed, chainId, token)}.`,
  );
}

/** Reads the bond; nothing at all where there is no bond contract. */
async function bondAt(
  { views }: Witness,
  { bond, lp, token, at }: { bond: Address; lp: Address; token: Address; at: bigint | undefined },
): Promise<{ firm: bigint; shareBps: bigint }> {
  const [share, held] = await Promise.all([
    views.read(bond, encodeFunctionData({ abi: quoteBondAbi, functionName: 'SHARE_BPS' }), at),
    views.read(
      bond,
      encodeFunctionData({ abi: quoteBondAbi, functionName: 'bondOf', args: [lp, token] }),
      at,
    ),
  ]);
  if (share?.length !== 66 || held?.length !== 194) return { firm: 0n, shareBps: 0n };
  const [amount, leaving] = decodeFunctionResult({ abi: quoteBondAbi, functionName: 'bondOf', data: held });
  return { firm: firmBond({ amount, leaving }), shareBps: BigInt(share) };
}
