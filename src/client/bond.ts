/** An LP's bond: checked before the taker signs, and claimed when the LP's promise fails. */

import { encodeFunctionData, parseAbi } from 'viem';
import { bondNeededFor, firmBond, latestBonded } from '../domain/bond.ts';
import { type SignedCommitment, signedPart } from '../domain/commitment.ts';
import { type Address, bytes32ToAddress, type Hex } from '../domain/hex.ts';
import { DistrustError, UnreachableError, WalletError } from './errors.ts';
import { signerOf } from './signature.ts';
import type { Terms } from './terms.ts';
import { asked, readEscrow, type Trust } from './trust.ts';
import { requireAccount, send, type Wallet } from './wallet.ts';

/** A claim that the bond contract would pay now; found by a call that changes nothing. */
export interface Fade {
  lp: Address;
  /** The index of the first output that the LP promised. One claim is for all of its outputs. */
  output: number;
  /** The payment by token, in base units: each token that it promised once. */
  paid: { token: Address; amount: bigint }[];
}

export interface Claimed extends Fade {
  txHash: Hex;
}

/** Claims are declared as views, so that a call shows what they would pay. */
const BOND_ABI = parseAbi([
  'struct MandateOutput { bytes32 oracle; bytes32 settler; uint256 chainId; bytes32 token; uint256 amount; bytes32 recipient; bytes callbackData; bytes context; }',
  'struct StandardOrder { address user; uint256 nonce; uint256 originChainId; uint32 expires; uint32 fillDeadline; address inputOracle; uint256[2][] inputs; MandateOutput[] outputs; }',
  'struct Commitment { bytes32 quoteId; address lp; uint32 deadline; bytes signature; }',
  'function ESCROW() view returns (address)',
  'function SHARE_BPS() view returns (uint256)',
  'function TAKE_BACK_DELAY() view returns (uint256)',
  'function bondOf(address lp, address token) view returns (uint256 amount, uint256 leaving, uint256 availableAt)',
  'function termsOf(address lp) view returns (uint32 fillWindow, bool wallets)',
  'function claim(StandardOrder order, bytes signature, Commitment commitment) view returns (uint256[] paid)',
  'function claimUnfilled(StandardOrder order, Commitment commitment) view returns (uint256[] paid)',
  'error ClaimedBefore(address user, uint256 nonce, address lp)',
  'error NotAccepted(address user)',
  'error NotCommitted(address lp)',
  'error NotCovered(address lp)',
  'error NothingToPay(address lp)',
  'error OrderEnded(bytes32 orderId)',
  'error PromiseStands(address lp)',
  'error TooEarly(uint256 from, uint256 timestamp)',
  'error WrongOrder(bytes32 orderId)',
]);

/** Throws "bond" unless every LP of the quote would pay its taker the whole share. */
export async function requireBond(
  trust: Trust,
  terms: Terms,
  { number: blockNumber, timestamp }: { number: bigint; timestamp: bigint },
): Promise<void> {
  const { domain, order } = terms;
  if (terms.commitments.length === 0)
    throw new DistrustError('bond', 'No LP committed to this quote, so no bond stands behind it.');
  const quoteBond = trust.quoteBond(domain.chainId);
  const { rpc } = trust.chain(domain.chainId);
  const at = { address: quoteBond, abi: BOND_ABI, blockNumber } as const;
  const [escrow, shareBps] = await asked(
    Promise.all([
      rpc.readContract({ ...at, functionName: 'ESCROW' }),
      rpc.readContract({ ...at, functionName: 'SHARE_BPS' }),
    ]),
  );
  if (escrow.toLowerCase() !== domain.escrow)
    throw new DistrustError(
      'bond',
      `${quoteBond} holds the bonds of the escrow ${escrow}, not ${domain.escrow}.`,
    );
  await Promise.all(
    terms.commitments.map(async (commitment) => {
      const { lp } = commitment;
      if (acrossChains(terms)) await requireCover(commitment);
      const promised = acrossChains(terms) ? terms.inputAmount : promisedBy(terms, lp);
      const token = acrossChains(terms) ? terms.inputToken : terms.outputToken;
      const [amount, leaving] = await asked(
        rpc.readContract({ ...at, functionName: 'bondOf', args: [lp, token] }),
      );
      const [firm, needed] = [firmBond({ amount, leaving }), bondNeededFor(promised, shareBps)];
      if (firm < needed)
        throw new DistrustError(
          'bond',
          `${lp} answers with ${firm} base units of ${token}; a promise of ${promised} needs ${needed}.`,
          { lp, firm, needed },
        );
    }),
  );

  /** Refuses an order across chains that the bond contract would not pay for. */
  async function requireCover(commitment: SignedCommitment): Promise<void> {
    const { lp } = commitment;
    const refuse = (why: string): never => {
      throw new DistrustError('bond', `The bond of ${lp} does not cover this order: ${why}.`, { lp });
    };
    if (order.outputs.length !== 1) refuse('several LPs have to deliver it');
    const [output] = order.outputs;
    const [fillWindow, wallets] = await asked(
      rpc.readContract({ ...at, functionName: 'termsOf', args: [lp] }),
    );
    if (fillWindow === 0) refuse('it covers no orders across chains');
    const intoLedger = output?.recipient === output?.settler;
    if (!intoLedger && !wallets) refuse('it covers deliveries into the ledger only');
    if (!intoLedger && output?.callbackData !== '0x') refuse('its recipient is called');
    if (timestamp + BigInt(fillWindow) > BigInt(order.fillDeadline))
      refuse(`it must be open ${fillWindow} s before ${order.fillDeadline}`);
    const [takeBack, withdrawal] = await Promise.all([
      asked(rpc.readContract({ ...at, functionName: 'TAKE_BACK_DELAY' })),
      readEscrow(rpc, domain.escrow, 'WITHDRAWAL_DELAY', []),
    ]);
    const delays = { withdrawalSeconds: Number(withdrawal), takeBackSeconds: Number(takeBack) };
    const { fillDeadline, expires } = order;
    if (fillDeadline > latestBonded({ now: Number(timestamp), delays }, expires - fillDeadline))
      refuse('by the refund it could be taken back, or the signature be void by a revocation');
    const { orderId, quoteId } = terms;
    const signed = signedPart(domain, { ...commitment, orderId, quoteId }, commitment.signature);
    const signer = await signerOf(signed.digest, signed.signature);
    const named =
      signer === lp ||
      (signer !== undefined &&
        (await readEscrow(rpc, domain.escrow, 'isOperator', [lp, signer], { blockNumber })));
    if (!named) refuse('on the origin its signer may not sign for it');
  }
}

/**
 * Finds the LPs of a signed order that can be claimed against now. On one chain: while the quote could still
 * be settled, by its fill deadline; across chains: with the refund.
 */
export async function findFades(trust: Trust, terms: Terms, signature: Hex): Promise<Fade[]> {
  const quoteBond = trust.quoteBond(terms.domain.chainId);
  const { rpc } = trust.chain(terms.domain.chainId);
  const found = await Promise.all(
    firstOutputs(terms).map(async (index): Promise<Fade[]> => {
      const call = {
        address: quoteBond,
        abi: BOND_ABI,
        account: terms.order.user,
        ...claimOf(terms, signature, index),
      };
      try {
        const answer = await rpc.readContract(call as never);
        return [
          {
            lp: (terms.commitments[index] as SignedCommitment).lp,
            output: index,
            paid: paidBy(terms, answer),
          },
        ];
      } catch (error) {
        if (refused(error)) return [];
        throw new UnreachableError('The RPC endpoint of the caller', error);
      }
    }),
  );
  return found.flat();
}

/** Sends the claim of each fade; the taker pays the gas. Throws "would_revert" when there is none. */
export async function claimFades(
  trust: Trust,
  terms: Terms,
  signature: Hex,
  wallet: Wallet,
): Promise<Claimed[]> {
  requireAccount(wallet, terms);
  const fades = await findFades(trust, terms, signature);
  if (fades.length === 0)
    throw new WalletError(
      'would_revert',
      'No claim would be paid now: every LP of this order could keep its promise, was claimed against before, or its order has ended.',
    );
  const to = trust.quoteBond(terms.domain.chainId);
  const { rpc } = trust.chain(terms.domain.chainId);
  const claimed: Claimed[] = [];
  // One after the other: a wallet has one nonce.
  for (const fade of fades) {
    const data = encodeFunctionData({ abi: BOND_ABI, ...claimOf(terms, signature, fade.output) } as never);
    claimed.push({ ...fade, txHash: await send({ purpose: 'claim', to, data }, terms, wallet, rpc) });
  }
  return claimed;
}

/** The index of the first output of each LP. */
const firstOutputs = ({ commitments }: Terms): number[] =>
  commitments.flatMap(({ lp }, index) =>
    commitments.findIndex((other) => other.lp === lp) === index ? [index] : [],
  );

/** All that an LP promised of an order on one chain, whose outputs are of one token. */
const promisedBy = ({ commitments, order }: Terms, lp: Address): bigint =>
  order.outputs.reduce((sum, { amount }, index) => (commitments[index]?.lp === lp ? sum + amount : sum), 0n);

const acrossChains = ({ domain, destChainId }: Terms): boolean => destChainId !== domain.chainId;

function claimOf(terms: Terms, signature: Hex, output: number) {
  const commitment = { quoteId: terms.quoteId, ...(terms.commitments[output] as SignedCommitment) };
  return acrossChains(terms)
    ? ({ functionName: 'claimUnfilled', args: [terms.order, commitment] } as const)
    : ({ functionName: 'claim', args: [terms.order, signature, commitment] } as const);
}

/** `answer`: by output on one chain, by input across chains; 0 where another entry pays. */
function paidBy(terms: Terms, answer: unknown): Fade['paid'] {
  const { order } = terms;
  const tokens = acrossChains(terms)
    ? order.inputs.map(([token]): Address => `0x${token.toString(16).padStart(40, '0')}`)
    : order.outputs.map(({ token }) => bytes32ToAddress(token));
  return tokens
    .map((token, index) => ({ token, amount: (answer as readonly bigint[])[index] ?? 0n }))
    .filter(({ amount }) => acrossChains(terms) || amount > 0n);
}

/** Returns true for an error of the contract or of the escrow. Anything else is trouble with the endpoint. */
function refused(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { raw, data } = at as { raw?: Hex; data?: unknown };
    const bytes = raw ?? (typeof data === 'string' ? (data as Hex) : undefined);
    if (bytes !== undefined && bytes.length >= 10) return true;
    if (at.name === 'ContractFunctionRevertedError') return true;
  }
  return false;
}
