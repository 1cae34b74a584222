/** Checks the keys of a process: each signs, its address is the expected one, and its gas lasts. */

import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { firstFees } from '../../adapters/evm/transactor/fees.ts';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { formatUnits } from '../../domain/amount.ts';
import { type Address, bytesToHex } from '../../domain/hex.ts';
import { keccakHex } from '../../domain/keccak.ts';
import type { Log } from '../../ports/log.ts';
import type { KeySource } from '../config/parts.ts';
import type { SecretContext } from '../wiring/keys.ts';
import { withSigner } from '../wiring/signers.ts';
import { attempt, failure, messageOf, ok, type Finding, warning } from './finding.ts';

/** Gas for fewer transactions is a warning, as in the alert GasLow. */
const FEW_TRANSACTIONS = 20n;
const MESSAGE = new TextEncoder().encode('firmquote doctor: this message is no order and no transaction');

/** The row, and the address when the key can be used. */
export async function checkSigner(
  name: string,
  source: KeySource,
  tools: { log: Log; secrets: SecretContext },
): Promise<{ row: Finding; address: Address | undefined }> {
  try {
    const { address, signature } = await withSigner(source, tools, async (signer) => ({
      address: signer.address,
      signature: await signer.sign(MESSAGE),
    }));
    const recovered = createRecovery().recover(keccakHex(bytesToHex(MESSAGE)), signature);
    if (recovered === address) return { row: ok('key', name, `signs as ${address}`), address };
    return {
      row: failure(
        'key',
        name,
        `says that it is ${address} and signs as ${recovered ?? 'nobody'}`,
        'The key service uses another key than the one it names. Correct its configuration',
      ),
      address: undefined,
    };
  } catch (error) {
    return {
      row: failure(
        'key',
        name,
        messageOf(error),
        'Correct the path, the password or the key service in the configuration',
      ),
      address: undefined,
    };
  }
}

/** `gas` and `bytes` are of one transaction as the process sends most. */
export async function checkGas(
  chain: EvmChain,
  name: string,
  address: Address,
  { gas, bytes, feeCap, least }: { gas: bigint; bytes: number; feeCap: bigint; least: bigint | undefined },
): Promise<Finding> {
  const { slug, native } = chain.chain;
  const subject = `${slug} ${name}`;
  const [balance, fees, rollupFee] = await Promise.all([
    chain.nativeBalance(address),
    chain.fees(),
    chain.rollupFees(),
  ]);
  const each = firstFees(fees, feeCap).maxFeePerGas * gas + rollupFee({ unsignedBytes: bytes, gas });
  const left = each === 0n ? FEW_TRANSACTIONS : balance / each;
  const held = `${formatUnits(balance, 18)} ${native.symbol}, which pays for ${left} transactions at the fees of now`;
  const todo = `Send ${native.symbol} to ${address}`;
  if (left === 0n || (least !== undefined && balance < least))
    return failure(
      'gas',
      subject,
      least !== undefined && balance < least ? `${held}; less than minGas` : held,
      `${todo}: it sends nothing, and the process does not work there`,
    );
  return left < FEW_TRANSACTIONS ? warning('gas', subject, held, todo) : ok('gas', subject, held);
}

/** Gas and bytes of one transaction. */
export interface GasOf {
  gas: bigint;
  bytes: number;
}

/** The rows of a key that sends transactions, and its address when it can be used. */
export async function checkSenderKey(
  name: string,
  source: KeySource,
  tools: { log: Log; secrets: SecretContext },
  { chains, feeCap, of }: { chains: readonly EvmChain[]; feeCap(chainId: number): bigint; of: GasOf },
): Promise<{ rows: Finding[]; address: Address | undefined }> {
  const { row, address } = await checkSigner(name, source, tools);
  if (address === undefined) return { rows: [row], address };
  const gas = await Promise.all(
    chains.map((chain) =>
      attempt(
        'gas',
        `${chain.chain.slug} ${name}`,
        () => checkGas(chain, name, address, { ...of, feeCap: feeCap(chain.chain.id), least: undefined }),
        'Repair the endpoints of the chain first',
      ),
    ),
  );
  return { rows: [row, ...gas.flat()], address };
}
