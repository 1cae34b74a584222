/** Makes a call of an `LpAccount`'s owner, or schedules it when the account demands that it waits. */

import { SettlementError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import { keccakHex } from '../../../domain/keccak.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import { readContract } from '../../../adapters/evm/chain/read-contract.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import { lpAccountAbi } from '../../../settlement/abi/lp-account.ts';
import { accountCall } from '../../../settlement/lp-account.ts';
import { decodeRevert } from '../../../settlement/revert.ts';
import type { OwnerStep, Sender } from './sender.ts';

export const dateOf = (seconds: UnixSeconds): string => new Date(seconds * 1000).toISOString();

/**
 * The account itself decides what waits. A change that was scheduled before is made when its time has come;
 * until then nothing is sent. Run again, the command goes on where it stopped.
 */
export async function makeChange(
  port: ChainPort,
  sender: Sender,
  account: Address,
  what: string,
  data: Hex,
): Promise<OwnerStep[]> {
  const tried = await sender.try(account, data);
  const refusal = tried.ok ? undefined : decodeRevert(tried.data).name;
  const view = { abi: lpAccountAbi, address: account } as const;
  if (refusal === 'NotScheduled') {
    const step = await sender.run(`schedule: ${what}`, account, accountCall.schedule(data));
    const block = step.blockNumber === null ? undefined : await port.block(step.blockNumber);
    const [delay, window] = await Promise.all([
      readContract(port.read, { ...view, functionName: 'CHANGE_DELAY' }),
      readContract(port.read, { ...view, functionName: 'CHANGE_WINDOW' }),
    ]);
    const from = (block?.timestamp ?? sender.now()) + Number(delay);
    sender.report(
      `This widens what somebody may do, so it waits. Run the same command again from ${dateOf(from)} until ${dateOf(from + Number(window))}: it then takes effect.`,
    );
    return [{ ...step, scheduledFor: from }];
  }
  if (refusal === 'TooEarly') {
    const from = await readContract(port.read, {
      ...{ ...view, functionName: 'availableAt' },
      args: [keccakHex(data)],
    });
    sender.report(`${what}: scheduled before; run the same command again from ${dateOf(Number(from))} on`);
    return [];
  }
  if (refusal === 'AccountClosed')
    throw new SettlementError(
      `The account ${account} is closed on ${port.chain.slug}, so nothing widens any more: not done is: ${what}. Its money can be brought to the treasury: firmquote lp withdraw, and firmquote lp account take. ${sender.soFar()}`,
      { code: 'closed' },
    );
  return [await sender.run(what, account, data)];
}
