/** Candidates sealed on the way out and opened on the way in: nothing of a quote is stored in between. */

import type { Sealer } from '../auction/seal.ts';
import type { Chain, TokenInfo } from '../domain/chain.ts';
import { tokenOf } from '../domain/chain.ts';
import { assetId } from '../domain/asset.ts';
import type { SignedCommitment } from '../domain/commitment.ts';
import { decodeContext } from '../domain/context.ts';
import { type Address, bytes32ToAddress, type Bytes32 } from '../domain/hex.ts';
import { orderDigest, orderId, type StandardOrder } from '../domain/order.ts';
import type { UnixSeconds } from '../domain/time.ts';
import { canonicalJson } from '../protocol/canonical-json.ts';
import type { QuoteCandidate, Terms } from '../protocol/candidate.ts';
import { ORDER_TYPE } from '../protocol/candidate.ts';
import { invalid, type InvalidError } from '../protocol/errors.ts';
import { decodeCommitments, encodeCommitments, formatSeal, parseSeal } from '../protocol/seal-wire.ts';
import { inputToken as inputTokenAddress } from '../settlement/funding.ts';
import { orderFromMessage, zOrderMessage } from '../protocol/wire.ts';

export interface SealOwner {
  account: string;
  namespace: 'rfq' | 'router';
  mode: 'test' | 'live';
}

/** A candidate that is ours, unchanged, with its order read back. Whether it is still executable is another question. */
export interface Opened {
  quoteId: Bytes32;
  executionMode: 'apiSubmit' | 'walletBroadcast';
  validUntil: UnixSeconds;
  order: StandardOrder;
  orderId: Bytes32;
  digest: Bytes32;
  commitments: SignedCommitment[];
  /** One per output. */
  solverIds: string[];
  origin: Chain;
  dest: Chain;
  inputToken: TokenInfo;
  inputAmount: bigint;
  /** JSON as it was sealed, checksum included. */
  text: string;
}

export interface Sealing {
  /** The candidate as JSON text, checksum and all: serialised this once. */
  seal(owner: SealOwner, terms: Terms, commitments: readonly SignedCommitment[]): string;
  /** Throws a 422 unless this very candidate was sealed for this very owner. */
  open(owner: SealOwner, candidate: QuoteCandidate, now: UnixSeconds): Opened;
}

const LOC = ['body', 'quoteResponse'] as const;
const mismatch = (...at: (string | number)[]): InvalidError =>
  invalid('integrity_mismatch', [...LOC, ...at], 'The candidate is not the one that was quoted. Pass it back exactly as it was received, from the account and namespace that asked for it.');

export function createSealing(sealer: Sealer, chains: ReadonlyMap<number, Chain>): Sealing {
  return {
    seal(owner, terms, signed) {
      const commitments = encodeCommitments(signed);
      const candidate = canonicalJson(terms);
      return sealedText(candidate, formatSeal({ kid: sealer.kid, mac: sealer.mac({ ...owner, commitments, candidate }), commitments }));
    },
    open(owner, sealed, now) {
      const { integrityChecksum, ...rest } = sealed;
      const seal = parseSeal(integrityChecksum);
      if (!seal) throw mismatch('integrityChecksum');
      const candidate = canonicalJson(rest);
      const holds = (namespace: SealOwner['namespace']) => sealer.verify(seal.kid, seal.mac, { ...owner, namespace, commitments: seal.commitments, candidate }, now);
      if (!holds(owner.namespace)) {
        const other = owner.namespace === 'rfq' ? 'router' : 'rfq';
        if (holds(other)) throw invalid('namespace_mismatch', LOC, `This candidate was quoted in the ${other} namespace; submit it there.`);
        throw mismatch('integrityChecksum');
      }
      return read(sealed, seal.commitments, sealedText(candidate, integrityChecksum));
    },
  };

  /** What the seal vouches for, read back and held against itself once more: the shown terms are the signed terms. */
  function read(candidate: QuoteCandidate, commitmentsText: string, text: string): Opened {
    const commitments = decodeCommitments(commitmentsText);
    const payload = candidate.order?.payload;
    const message = zOrderMessage.safeParse(payload?.['message']);
    if (!commitments || candidate.order?.type !== ORDER_TYPE || !message.success) throw mismatch('order');
    const order = orderFromMessage(message.data);
    const origin = chains.get(Number(order.originChainId));
    const dest = chains.get(Number(order.outputs[0]?.chainId));
    const domain = payload?.['domain'] as { chainId?: unknown; verifyingContract?: unknown } | undefined;
    if (!origin || !dest || domain?.chainId !== origin.id || domain.verifyingContract !== origin.escrow) throw mismatch('order', 'payload', 'domain');

    const [input] = order.inputs as [readonly [bigint, bigint]];
    const inputToken = tokenOf(origin, inputTokenAddress(input[0]));
    const output = previewOf(order, dest);
    const shownIn = candidate.preview.inputs[0];
    const shownOut = candidate.preview.outputs[0];
    if (!inputToken || shownIn?.asset !== assetId({ chainId: origin.id, token: inputToken.address }) || shownIn.amount !== input[1].toString()) throw mismatch('preview', 'inputs', 0);
    if (!output || shownOut?.asset !== output.asset || shownOut.amount !== output.amount || shownOut.minimumAmount !== output.amount || shownOut.receiver !== output.receiver) throw mismatch('preview', 'outputs', 0);
    if (order.fillDeadline !== candidate.validUntil + origin.landingMarginSeconds || commitments.length !== order.outputs.length) throw mismatch('validUntil');

    const escrow = { chainId: origin.id, escrow: origin.escrow };
    return {
      quoteId: candidate.quoteId as Bytes32,
      executionMode: candidate.executionMode,
      validUntil: candidate.validUntil,
      order,
      orderId: orderId(escrow, order),
      digest: orderDigest(escrow, order),
      commitments,
      solverIds: candidate.splitFill ? candidate.splitFill.fills.map(({ solverId }) => solverId) : [candidate.solverId],
      origin,
      dest,
      inputToken,
      inputAmount: input[1],
      text,
    };
  }
}

const sealedText = (candidate: string, checksum: string): string => `${candidate.slice(0, -1)},"integrityChecksum":${JSON.stringify(checksum)}}`;

/** All outputs of an order of ours are slices of one delivery. undefined when these are not. */
function previewOf(order: StandardOrder, dest: Chain): { asset: string; amount: string; receiver: Address } | undefined {
  const [first] = order.outputs;
  if (!first || order.outputs.some(({ chainId, token, recipient, context }) => chainId !== first.chainId || token !== first.token || recipient !== first.recipient || !decodeContext(context))) return undefined;
  const amount = order.outputs.reduce((sum, output) => sum + output.amount, 0n);
  return { asset: assetId({ chainId: dest.id, token: bytes32ToAddress(first.token) }), amount: amount.toString(), receiver: bytes32ToAddress(first.recipient) };
}
