/** Deploys the LP's account contract on test chains, at one address, within its set-up. */

import { connectDev } from '../../src/adapters/evm/deploy/deploy.ts';
import type { Address, Bytes32, Hex } from '../../src/domain/hex.ts';
import { lpAccountDeployment } from '../../src/adapters/evm/deploy/lp-account.ts';
import { accountCall } from '../../src/settlement/lp-account.ts';
import { account, DEPLOYER, type TestAccount, type TestChain } from './devnet.ts';

interface LpAccountSide {
  chain: TestChain;
  /** The tokens that its mover may move, in any amount. */
  tokens: readonly Address[];
  /** Calls by the owner that list routes. */
  routes: readonly Hex[];
}

export interface TestLpAccount {
  address: Address;
  owner: TestAccount;
  mover: TestAccount;
}

const OWNER = account(8_400);
export const MOVER = account(8_401);
const ANY_AMOUNT = 2n ** 128n - 1n;

export async function startLpAccount(
  sides: readonly LpAccountSide[],
  salt?: Bytes32,
): Promise<TestLpAccount> {
  const { address, to, data } = lpAccountDeployment(OWNER.address, salt);
  await Promise.all(
    sides.map(async ({ chain, tokens, routes }) => {
      const dev = await connectDev({
        rpcUrl: chain.anvil.url,
        chainId: chain.chain.id,
        deployerPrivateKey: DEPLOYER.privateKey,
      });
      dev.send(to, data);
      await dev.settled();
      for (const one of [OWNER, MOVER]) await chain.fund(one.address, 0n);
      for (const call of [
        accountCall.initialize(chain.chain.escrow, chain.deployment.quoteBond),
        accountCall.setMover(MOVER.address),
        ...tokens.map((token) => accountCall.setMoverLimit(token, ANY_AMOUNT)),
        ...routes,
      ])
        await chain.send(OWNER.address, address, call);
    }),
  );
  return { address, owner: OWNER, mover: MOVER };
}
