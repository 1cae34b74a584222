/** Deploys a vault, a peg-stability module and our fillers of issuers on a development chain. */

import { encodeFunctionData, erc20Abi } from 'viem';
import { MAX_UINT256 } from '../../../domain/amount.ts';
import type { Address } from '../../../domain/hex.ts';
import { devPsmAbi } from './abi/dev-psm.ts';
import { devTokenAbi } from './abi/dev-token.ts';
import { devVaultAbi } from './abi/dev-vault.ts';
import { pegFillerAbi } from '../../../settlement/abi/peg-filler.ts';
import { vaultFillerAbi } from '../../../settlement/abi/vault-filler.ts';
import { wrapFillerAbi } from '../../../settlement/abi/wrap-filler.ts';
import { connectDev, type DevAccess } from './deploy.ts';
import { creationCodeOf } from './creation-code.ts';

/** Base units of the asset. `deposited`: by the deployer. `earned`: yield on it. `cap`: the most it holds. */
interface DevVaultOptions {
  asset: Address;
  name: string;
  symbol: string;
  deposited: bigint;
  earned: bigint;
  cap: bigint;
}

/** `amounts`: what the module holds of gem and dai. Fees in 1e18. */
interface DevPsmOptions {
  gem: Address;
  dai: Address;
  amounts: readonly [bigint, bigint];
  tin: bigint;
  tout: bigint;
}

export interface IssuersDeployment {
  vault: { address: Address; filler: Address };
  psm: { address: Address; filler: Address };
  wrapFiller: Address;
}

export async function deployIssuers({
  escrow,
  vault: { asset, name, symbol, deposited, earned, cap },
  psm: { gem, dai, amounts, tin, tout },
  ...access
}: DevAccess & { escrow: Address; vault: DevVaultOptions; psm: DevPsmOptions }): Promise<IssuersDeployment> {
  const dev = await connectDev(access);
  const vault = dev.create({
    abi: devVaultAbi,
    bytecode: creationCodeOf('devnet/DevVault'),
    args: [asset, name, symbol],
  });
  const psm = dev.create({ abi: devPsmAbi, bytecode: creationCodeOf('devnet/DevPsm'), args: [gem, dai] });
  const deployment = {
    vault: {
      address: vault,
      filler: dev.create({ abi: vaultFillerAbi, bytecode: creationCodeOf('VaultFiller'), args: [escrow] }),
    },
    psm: {
      address: psm,
      filler: dev.create({ abi: pegFillerAbi, bytecode: creationCodeOf('PegFiller'), args: [escrow, psm] }),
    },
    wrapFiller: dev.create({ abi: wrapFillerAbi, bytecode: creationCodeOf('WrapFiller'), args: [escrow] }),
  };
  const mint = (token: Address, to: Address, amount: bigint) =>
    dev.send(token, encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [to, amount] }));
  mint(asset, dev.address, deposited);
  dev.send(asset, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [vault, deposited] }));
  dev.send(
    vault,
    encodeFunctionData({ abi: devVaultAbi, functionName: 'deposit', args: [deposited, dev.address] }),
  );
  mint(asset, vault, earned);
  dev.send(vault, encodeFunctionData({ abi: devVaultAbi, functionName: 'limit', args: [cap, MAX_UINT256] }));
  mint(gem, psm, amounts[0]);
  mint(dai, psm, amounts[1]);
  dev.send(psm, encodeFunctionData({ abi: devPsmAbi, functionName: 'setFees', args: [tin, tout] }));
  await dev.settled();
  return deployment;
}
