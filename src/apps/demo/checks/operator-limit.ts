/** A stolen operator key takes what its limit allows, and nothing once the account revokes it. */

import { BaseError, ContractFunctionRevertedError } from 'viem';
import { systemRandom } from '../../../adapters/system/random.ts';
import { addressToBytes32 } from '../../../domain/hex.ts';
import type { MandateOutput } from '../../../domain/order.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import {
  approveCall,
  depositCall,
  fillCall,
  limitOperatorCall,
  setOperatorCall,
} from '../../../settlement/call.ts';
import { type DemoCheck, expect, expectEqual } from './check.ts';
import { freshTrade, inTokens } from './trade.ts';

const WINDOW_SECONDS = 3_600;
const FAR_SECONDS = 86_400;

export const operatorLimitCheck: DemoCheck = {
  name: 'stopped by its limit: a stolen operator key',
  async run(world) {
    const { taker: owner, source: view } = freshTrade(world);
    const { taker: thief } = freshTrade(world);
    const { chain, client } = view;
    const usdc = view.token('USDC').address;
    const units = (dollars: string) => view.units('USDC', dollars);
    const send = (who: typeof owner, to: string, data: `0x${string}`) =>
      who.send({ to, value: '0', data, chainId: chain.id });
    await send(owner, usdc, approveCall(chain.escrow, units('1000')));
    await send(owner, chain.escrow, depositCall(usdc, units('1000')));
    await send(owner, chain.escrow, limitOperatorCall(thief.address, usdc, units('400'), WINDOW_SECONDS));

    const { timestamp } = await client.getBlock();
    const deadline = Number(timestamp) + FAR_SECONDS;
    /** Makes a fill of an order that nobody placed. */
    const made = (dollars: string) => {
      const output: MandateOutput = {
        oracle: addressToBytes32(chain.oracle),
        settler: addressToBytes32(chain.escrow),
        chainId: BigInt(chain.id),
        token: addressToBytes32(usdc),
        amount: units(dollars),
        recipient: addressToBytes32(thief.address),
        callbackData: '0x',
        context: '0x',
      };
      return { orderId: systemRandom.bytes32(), output };
    };
    const steal = (dollars: string) => {
      const { orderId, output } = made(dollars);
      return send(thief, chain.escrow, fillCall(orderId, output, deadline, owner.address));
    };
    /** The name of the error, or its selector when it is the token's. */
    const refusal = async (dollars: string): Promise<string | undefined> => {
      const { orderId, output } = made(dollars);
      try {
        await client.simulateContract({
          account: thief.address,
          address: chain.escrow,
          abi: escrowAbi,
          functionName: 'fill',
          args: [orderId, output, deadline, addressToBytes32(owner.address)],
        });
        return undefined;
      } catch (error) {
        const reverted =
          error instanceof BaseError
            ? error.walk((one) => one instanceof ContractFunctionRevertedError)
            : null;
        if (reverted instanceof ContractFunctionRevertedError)
          return reverted.data?.errorName ?? reverted.signature;
        throw error;
      }
    };

    const before = await view.balance(thief.address, 'USDC');
    await steal('300');
    expectEqual(await refusal('101'), 'OperatorLimitExceeded', 'more than is left of the limit');
    await send(owner, chain.escrow, setOperatorCall(thief.address, false));
    expect((await refusal('1')) !== undefined, 'a fill by the revoked operator passes');
    const stolen = (await view.balance(thief.address, 'USDC')) - before;
    expectEqual(stolen, units('300'), 'stolen');
    expectEqual(await view.ledger(owner.address, 'USDC'), units('700'), 'left to the account');
    return `of ${inTokens(view, 'USDC', units('1000'))} a thief with a limit of 400 in an hour took 300, was refused 101 more, and nothing passed after the revocation`;
  },
};
