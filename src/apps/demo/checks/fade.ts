/** An LP that moves its money away after it has quoted pays the taker out of its bond. */

import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { systemRandom } from '../../../adapters/system/random.ts';
import { addressToBytes32, type Address, type Hex, ZERO_ADDRESS } from '../../../domain/hex.ts';
import type { MandateOutput } from '../../../domain/order.ts';
import { fillCall } from '../../../settlement/call.ts';
import { zFirmness } from '../../../protocol/api/firmness.ts';
import { verifyFade } from '../../verify/fade.ts';
import { openWitness } from '../../verify/witness.ts';
import { type DemoChainView, readerFor, trustlessTaker, viewChain } from '../world.ts';
import { type DemoCheck, eventually, expect, expectEqual } from './check.ts';
import { inTokens } from './trade.ts';

const FAR_SECONDS = 86_400;

export const fadeCheck: DemoCheck = {
  name: 'an LP that moves its money away pays its taker',
  async run(world) {
    const base = viewChain(world.manifest, 'base');
    const lp = world.lps.find(({ id }) => id === 'beta');
    if (!lp) throw new Error('The demo has no LP "beta".');
    const { client, taker, wallet } = trustlessTaker(world, 'rfq');
    const request = {
      taker,
      input: { asset: base.asset('USDC'), amount: base.units('USDC', '500') },
      output: { asset: base.asset('WETH') },
      splitFill: 'never' as const,
      solvers: { include: [lp.id] },
    };
    const quote = async () => (await client.requestQuotes(request)).quotes[0];
    const candidate = await quote();
    expect(candidate !== undefined, `${lp.id} does not quote`);
    const checked = await client.check(candidate, { request, bond: 'required' });
    const signature = await client.sign(checked, wallet(base.chain.id));
    expectEqual(
      (await client.fades(checked, signature)).length,
      0,
      'claims against an LP that has the money',
    );

    const send = senderOf(base, lp.ownerKey);
    const moved = await base.ledger(lp.account, 'WETH');
    await send(base.chain.escrow, await fillOfMadeUpOrder(base, lp.account, 'WETH', moved));
    const before = await base.balance(taker, 'WETH');
    const [claimed] = await client.claim(checked, signature, wallet(base.chain.id));
    const paid = claimed?.paid[0]?.amount ?? 0n;
    expectEqual(paid, checked.outputAmount / 200n, 'half a per cent of what was promised');
    expectEqual((await base.balance(taker, 'WETH')) - before, paid, 'received by the taker');
    expectEqual((await client.fades(checked, signature)).length, 0, 'claims after the first');

    const proofs = await verified(base, claimed?.txHash ?? '0x');
    await eventually('the claim is in the firmness view', 30_000, async () => {
      const { json } = await readerFor(world.manifest).call('GET', `/api/v1/solvers/${lp.id}/firmness`);
      return zFirmness.parse(json).fades.some(({ orderId }) => orderId === checked.orderId);
    });
    return `${lp.id} promised ${inTokens(base, 'WETH', checked.outputAmount)} and moved its balance away; the taker claimed ${inTokens(base, 'WETH', paid)} of its bond, once; ${proofs} checks of the claim held by chains alone, and the firmness view lists it`;
  },
};

/** Counts the checks that held. */
async function verified({ chain }: DemoChainView, txHash: Hex): Promise<number> {
  const witness = await openWitness(chain.id, chain.rpcUrl, chain.escrow);
  try {
    const witnesses = new Map([[chain.id, witness]]);
    const place = { chainId: chain.id, bond: chain.quoteBond ?? ZERO_ADDRESS, escrow: chain.escrow };
    const checks = await verifyFade({ txHash, witnesses, ...place });
    const wrong = checks.filter(({ result }) => result !== 'held');
    expect(wrong.length === 0, `the claim: ${wrong.map(({ says }) => says).join(' ')}`);
    return checks.length;
  } finally {
    witness.close();
  }
}

export function senderOf(view: DemoChainView, ownerKey: Hex) {
  const owner = createWalletClient({
    account: privateKeyToAccount(ownerKey),
    transport: http(view.chain.rpcUrl),
  });
  return async (to: Address, data: Hex): Promise<void> => {
    const hash = await owner.sendTransaction({ chain: null, to, data });
    const { status } = await view.client.waitForTransactionReceipt({ hash, timeout: 30_000 });
    expectEqual(status, 'success', 'a transaction of the owner');
  };
}

/** Pays the account's ledger balance out to its own wallet, without the withdrawal delay. */
export async function fillOfMadeUpOrder(
  { chain, client, token }: DemoChainView,
  account: Address,
  symbol: string,
  amount: bigint,
): Promise<Hex> {
  const { timestamp } = await client.getBlock();
  const output: MandateOutput = {
    oracle: addressToBytes32(chain.oracle),
    settler: addressToBytes32(chain.escrow),
    chainId: BigInt(chain.id),
    token: addressToBytes32(token(symbol).address),
    amount,
    recipient: addressToBytes32(account),
    callbackData: '0x',
    context: '0x',
  };
  return fillCall(systemRandom.bytes32(), output, Number(timestamp) + FAR_SECONDS, account);
}
