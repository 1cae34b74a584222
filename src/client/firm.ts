/** Checks through the caller's own endpoints that a quote is backed by money. */

import { erc20Abi, parseAbi } from 'viem';
import { max } from '../domain/amount.ts';
import type { Asset } from '../domain/asset.ts';
import { latestPaid } from '../domain/bond.ts';
import { commitmentDigest, type SignedCommitment, signedPart } from '../domain/commitment.ts';
import type { Address, Bytes32 } from '../domain/hex.ts';
import { DistrustError } from './errors.ts';
import { DEFAULT_LIMITS, type Limits } from './request.ts';
import { signerOf } from './signature.ts';
import { requireBond } from './bond.ts';
import type { Terms } from './terms.ts';
import { asked, readEscrow, type Trust, type TrustedChain } from './trust.ts';

export interface ReadAt {
  now: number;
  originBlock: bigint;
  destBlock: bigint;
}

const ERC1271_ABI = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
const ERC1271_MAGIC = '0x1626ba7e';

/** Throws `DistrustError`, or `UnreachableError` when an endpoint does not answer. */
export async function requireFirm(
  trust: Trust,
  terms: Terms,
  { maxLockUpSeconds = DEFAULT_LIMITS.maxLockUpSeconds, bond }: Limits,
  shown: { input: number | null; output: number | null; end: Asset },
): Promise<ReadAt> {
  const { domain, destChainId, order } = terms;
  const origin = trust.chain(domain.chainId);
  const dest = trust.chain(destChainId);
  const settler = settlerOf(terms);
  const { originBlock, destBlock } = await latestBlocks(trust, terms);
  const atDest = { blockNumber: destBlock.number };
  const now = Number(originBlock.timestamp);
  if (now >= terms.validUntil)
    throw new DistrustError(
      'expired',
      `The quote lapsed at ${terms.validUntil}; the chain's time is ${now}.`,
    );
  if (order.expires - now > maxLockUpSeconds)
    throw new DistrustError(
      'lock_up',
      `Undelivered, the input is locked for ${order.expires - now} s; at most ${maxLockUpSeconds} s was expected.`,
    );

  const answers = await Promise.allSettled([
    requireUnused(),
    requireDecimals('input', terms.inputToken, domain.chainId, shown.input),
    requireDecimals('output', shown.end.token, shown.end.chainId, shown.output),
    requireDelay(),
    ...terms.commitments.map(requireSigner),
    ...[...promisedBy(terms)].map(([lp, amount]) => requireBalance(lp, amount)),
    ...(bond === 'required' ? [requireBond(trust, terms, originBlock)] : []),
  ]);
  // The first in this order, so that the same fault always has the same code.
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed) throw failed.reason;
  return { now, originBlock: originBlock.number, destBlock: destBlock.number };

  async function requireUnused(): Promise<void> {
    const at = { blockNumber: originBlock.number };
    const [used, status] = await Promise.all([
      readEscrow(origin.rpc, domain.escrow, 'isNonceUsed', [order.user, order.nonce], at),
      readEscrow(origin.rpc, domain.escrow, 'orderStatus', [terms.orderId], at),
    ]);
    if (used || status !== 0)
      throw new DistrustError('nonce_used', 'The order or its nonce was already used on the chain.');
  }

  /** Wrong decimals would misstate the amount by powers of ten. */
  async function requireDecimals(
    side: string,
    token: Address,
    chainId: number,
    shown: number | null,
  ): Promise<void> {
    if (shown === null) return;
    const actual = await asked(
      trust.chain(chainId).rpc.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' }),
    );
    if (actual !== shown)
      throw new DistrustError(
        'decimals',
        `The ${side} token has ${actual} decimals; the preview shows ${shown}.`,
      );
  }

  /** The LP must not be able to withdraw what backs the quote before the fill deadline. */
  async function requireDelay(): Promise<void> {
    if (terms.commitments.length === 0) return;
    const delay = await readEscrow(dest.rpc, settler, 'WITHDRAWAL_DELAY', []);
    const delays = { withdrawalSeconds: Number(delay), takeBackSeconds: undefined };
    if (order.fillDeadline > latestPaid({ now: Number(destBlock.timestamp), delays }))
      throw new DistrustError(
        'withdrawal_delay',
        `An LP can withdraw (in ${delay} s) before the fill deadline ${order.fillDeadline}.`,
      );
  }

  async function requireSigner({ lp, deadline, signature }: SignedCommitment): Promise<void> {
    const commitment = { orderId: terms.orderId, quoteId: terms.quoteId, lp, deadline };
    const signed = signedPart(domain, commitment, signature);
    const signer = await signerOf(signed.digest, signed.signature);
    if (signer === lp) return;
    const named =
      signer !== undefined && (await readEscrow(dest.rpc, settler, 'isOperator', [lp, signer], atDest));
    if (named) return requireLimit(lp, signer);
    if (await contractSigned(lp, commitmentDigest(domain, commitment), signature)) return;
    if (signer === undefined)
      throw new DistrustError('commitment_signature', `The commitment of ${lp} is not signed.`, { lp });
    // A signature over another order recovers an unrelated address.
    throw new DistrustError('operator', `${signer} may not sign for ${lp}, or signed another order.`, {
      lp,
      signer,
    });
  }

  /** The escrow would refuse to pay more than the LP lets its operator spend. */
  async function requireLimit(lp: Address, operator: Address): Promise<void> {
    const amount = promisedBy(terms).get(lp) ?? 0n;
    const [limited, most, window, since, spent] = await readEscrow(
      dest.rpc,
      settler,
      'operatorLimit',
      [lp, operator, terms.outputToken],
      atDest,
    );
    if (!limited) return;
    const over = destBlock.timestamp >= since + window;
    const left = max(0n, over ? most : most - spent);
    if (left < amount)
      throw new DistrustError(
        'operator_limit',
        `${lp} lets its operator ${operator} spend ${left} more in this window, and ${amount} is committed.`,
        { lp, operator, left, amount },
      );
  }

  async function contractSigned(lp: Address, digest: Bytes32, signature: `0x${string}`): Promise<boolean> {
    const code = await asked(dest.rpc.getCode({ address: lp, ...atDest }));
    if (!code || code === '0x') return false;
    // A contract that reverts has not signed.
    return dest.rpc
      .readContract({
        address: lp,
        abi: ERC1271_ABI,
        functionName: 'isValidSignature',
        args: [digest, signature],
        ...atDest,
      })
      .then(
        (magic) => magic === ERC1271_MAGIC,
        () => false,
      );
  }

  async function requireBalance(lp: Address, amount: bigint): Promise<void> {
    const args = [lp, terms.outputToken] as const;
    const [balance, [pending, , lapsesAt], deferred] = await Promise.all([
      readEscrow(dest.rpc, settler, 'balanceOf', args, atDest),
      readEscrow(dest.rpc, settler, 'pendingWithdrawal', args, atDest),
      readEscrow(dest.rpc, settler, 'deferredOf', args, atDest),
    ]);
    const leaving = (lapsesAt >= destBlock.timestamp ? pending : 0n) + deferred;
    if (balance - leaving < amount)
      throw new DistrustError(
        'ledger_balance',
        `${lp} has ${balance} in the ledger, ${leaving} of it leaving, and commits ${amount}.`,
        { lp, balance, leaving, amount },
      );
  }
}

export async function readNow(trust: Trust, terms: Terms): Promise<ReadAt> {
  const { originBlock, destBlock } = await latestBlocks(trust, terms);
  const now = Number(originBlock.timestamp);
  return { now, originBlock: originBlock.number, destBlock: destBlock.number };
}

const settlerOf = ({ order }: Terms): Address => `0x${(order.outputs[0]?.settler ?? '').slice(26)}`;

/** Reads the latest block of both chains, whose escrows are verified first. */
async function latestBlocks(trust: Trust, terms: Terms) {
  const { domain, destChainId } = terms;
  await Promise.all([
    trust.verifyEscrow(domain.chainId, domain.escrow),
    trust.verifyEscrow(destChainId, settlerOf(terms)),
  ]);
  const originBlock = await latestBlock(trust.chain(domain.chainId));
  const destBlock =
    destChainId === domain.chainId ? originBlock : await latestBlock(trust.chain(destChainId));
  return { originBlock, destBlock };
}

async function latestBlock({ rpc }: TrustedChain): Promise<{ number: bigint; timestamp: bigint }> {
  const { number, timestamp } = await asked(rpc.getBlock());
  return { number: number ?? 0n, timestamp };
}

function promisedBy({ commitments, order }: Terms): Map<Address, bigint> {
  const promised = new Map<Address, bigint>();
  commitments.forEach(({ lp }, index) =>
    promised.set(lp, (promised.get(lp) ?? 0n) + (order.outputs[index]?.amount ?? 0n)),
  );
  return promised;
}
