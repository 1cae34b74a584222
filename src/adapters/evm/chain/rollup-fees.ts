/**
 * Computes what an OP-stack chain charges for a transaction beyond its gas: publishing its bytes, and since
 * Isthmus the chain's operator. The chain itself says whether it is one: its GasPriceOracle is a predeploy.
 * Not with viem/op-stack, whose `estimateTotalFee` asks a node for every transaction, while a quote may ask
 * none: four calls a block give the fee of any size here. Loading it takes 48 ms of CPU.
 */

import { divUp } from '../../../domain/amount.ts';
import type { Address } from '../../../domain/hex.ts';
import type { RollupFees } from '../../../ports/chain.ts';
import type { ViewCaller } from './multicall.ts';
import { gasPriceOracleAbi, readContract, tryReadContract } from './read-contract.ts';

/** A predeploy of every OP-stack chain. */
export const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000f';

/** Both fees are straight lines for transactions of this size and more, so two points give each. */
const FEW_BYTES = 1_000;
const MANY_BYTES = 5_000;
const MUCH_GAS = 1_000_000n;
const oracle = { abi: gasPriceOracleAbi, address: GAS_PRICE_ORACLE } as const;

const NONE: RollupFees = () => 0n;

/** `auto`: the model follows from whether the chain has the oracle. */
export type FeeModel = 'auto' | 'plain' | 'opStack';

export function createRollupFees(
  call: ViewCaller,
  hasCode: (address: Address) => Promise<boolean>,
  model: FeeModel,
): (at?: bigint) => Promise<RollupFees> {
  let isRollup = model === 'auto' ? undefined : model === 'opStack';

  async function dataFee(unsignedBytes: number, at: bigint | undefined): Promise<bigint> {
    const bound = await tryReadContract(
      call,
      { ...oracle, functionName: 'getL1FeeUpperBound', args: [BigInt(unsignedBytes)] },
      at,
    );
    // Before the Fjord upgrade only getL1Fee exists. Bytes that do not compress cost the most.
    return (
      bound ??
      readContract(
        call,
        { ...oracle, functionName: 'getL1Fee', args: [`0x${'ff'.repeat(unsignedBytes)}`] },
        at,
      )
    );
  }

  /** Computes the operator's fee; zero before the Isthmus upgrade. */
  const operatorFee = async (gas: bigint, at: bigint | undefined): Promise<bigint> =>
    (await tryReadContract(call, { ...oracle, functionName: 'getOperatorFee', args: [gas] }, at)) ?? 0n;

  return async (at) => {
    isRollup ??= await hasCode(GAS_PRICE_ORACLE);
    if (!isRollup) return NONE;
    const [few, many, constant, much] = await Promise.all([
      dataFee(FEW_BYTES, at),
      dataFee(MANY_BYTES, at),
      operatorFee(0n, at),
      operatorFee(MUCH_GAS, at),
    ]);
    const perByte = divUp(many - few, BigInt(MANY_BYTES - FEW_BYTES));
    return ({ unsignedBytes, gas }) => {
      const data = few + BigInt(unsignedBytes - FEW_BYTES) * perByte;
      return (data > 0n ? data : 0n) + constant + divUp((much - constant) * gas, MUCH_GAS);
    };
  };
}
