/** Checks what was signed. */

import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { commitmentDigest, signedPart } from '../../domain/commitment.ts';
import { decodeContext } from '../../domain/context.ts';
import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import { orderDigest, orderEnvelope, type StandardOrder } from '../../domain/order.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { decodeCommitments, parseSeal } from '../../protocol/seal-wire.ts';
import { orderFromMessage, zOrderMessage } from '../../protocol/wire.ts';
import { intentOf } from '../../settlement/intent.ts';
import { blockPhrase, type Case } from './case.ts';
import type { TradeClaim } from './claim.ts';

const recovery = createRecovery();

interface Signed {
  order: StandardOrder;
  domain: { chainId: number; escrow: Address };
  exact: boolean;
}

/** undefined when the envelope contains no order. */
export function readSigned({ intent }: TradeClaim): Signed | undefined {
  const message = zOrderMessage.safeParse(intent.typedData['message']);
  const shown = intent.typedData['domain'] as { chainId?: unknown; verifyingContract?: unknown } | undefined;
  if (!message.success || typeof shown?.chainId !== 'number' || typeof shown.verifyingContract !== 'string')
    return undefined;
  const order = orderFromMessage(message.data);
  const domain = { chainId: shown.chainId, escrow: shown.verifyingContract.toLowerCase() as Address };
  return {
    order,
    domain,
    exact:
      canonicalJson(orderEnvelope(domain, order)) === canonicalJson(intent.typedData) &&
      order.originChainId === BigInt(domain.chainId),
  };
}

export function checkEnvelope({ intent, order, domain, judge }: Case, exact: boolean): void {
  const { maxSpent, minReceived, fillInstructions, ...head } = intentOf(domain.escrow, order);
  const ours = { ...head, resolved: { maxSpent, minReceived, fillInstructions }, expires: order.expires };
  const shown = Object.fromEntries(Object.keys(ours).map((key) => [key, intent[key as keyof typeof ours]]));
  judge(
    'order.envelope',
    exact && canonicalJson(ours) === canonicalJson(shown),
    'The envelope is an exact escrow-v0 order, and the ERC-7683 intent matches it.',
    'The envelope and the ERC-7683 intent differ.',
  );
}

export async function checkTakerSignature(c: Case): Promise<void> {
  const { intent, proofs, order, domain, origin, opened, fail, judge, unasked } = c;
  const digest = orderDigest(domain, order);
  const { scheme, signer, signature, digest: shown } = proofs.takerSignature;
  const consistent =
    shown === digest &&
    signer === order.user &&
    intent.signatures.taker.signature === signature &&
    intent.signatures.taker.scheme === scheme;
  if (!consistent)
    return fail(
      'taker.signature',
      'The taker’s signature is for another digest or signer, or is shown in two versions.',
    );
  if (scheme === 'EIP712')
    return judge(
      'taker.signature',
      recovery.recover(digest, signature as Hex) === order.user,
      `${order.user} signed exactly these terms.`,
      `The signature is not that of ${order.user} over these terms.`,
    );
  if (!origin) return unasked('taker.signature', domain.chainId);
  const { value, newest } = await origin.asOf(opened && BigInt(opened.blockNumber), (at) =>
    origin.views.isValidSignature(order.user, digest, signature as Hex, at),
  );
  judge(
    'taker.signature',
    value,
    `The wallet contract ${order.user} accepts the signature over exactly these terms${blockPhrase(newest)}.`,
    `The wallet contract ${order.user} does not accept the signature over these terms${blockPhrase(newest)}.`,
  );
}

export async function checkCommitment(c: Case, index: number): Promise<void> {
  const { claim, intent, proofs, order, domain, id, origin, opened, note, fail, judge, unasked } = c;
  const name = `lp.${index}.commitment`;
  const shown = proofs.commitments.filter(({ outputIndex }) => outputIndex === index);
  const context = decodeContext(order.outputs[index]?.context ?? '0x');
  const [one] = shown;
  const filledFromElsewhere =
    claim.trade.orderKind.startsWith('route') &&
    proofs.commitments.length === 0 &&
    intent.signatures.commitments.length === 0;
  if (filledFromElsewhere)
    return note(name, 'held', 'No LP commitment is needed: a route venue fills this order.');
  const listed = intent.signatures.commitments[index];
  if (
    shown.length !== 1 ||
    !one ||
    !context ||
    listed?.signature !== one.signature ||
    listed.lp !== one.lp ||
    listed.deadline !== one.deadline
  )
    return fail(name, `Output ${index} does not have exactly one commitment.`);
  const commitment = {
    orderId: id,
    quoteId: one.quoteId as Bytes32,
    lp: one.lp as Address,
    deadline: one.deadline,
  };
  const digest = commitmentDigest(domain, commitment);
  const bound =
    one.digest === digest &&
    one.quoteId === intent.quoteId &&
    one.lp === context.exclusiveFor &&
    one.deadline === order.fillDeadline;
  if (!bound)
    return fail(name, `The commitment for output ${index} is for another order, quote, LP or deadline.`);
  const signed = signedPart(domain, commitment, one.signature as Hex);
  const signer = recovery.recover(signed.digest, signed.signature);
  if (signer === one.lp)
    return note(name, 'held', `LP ${one.lp} itself committed to pay output ${index} of this order.`);
  if (!origin) return unasked(name, domain.chainId);
  const { value, newest } = await origin.asOf(
    opened && BigInt(opened.blockNumber),
    async (at) =>
      (signer !== undefined && (await origin.views.isOperator(one.lp as Address, signer, at))) ||
      origin.views.isValidSignature(one.lp as Address, digest, one.signature as Hex, at),
  );
  judge(
    name,
    value,
    `An operator of LP ${one.lp} committed to pay output ${index} of this order${blockPhrase(newest)}.`,
    `No authorised signer of LP ${one.lp} signed the commitment for output ${index}${blockPhrase(newest)}.`,
  );
}

export function checkChecksum(c: Case): void {
  const { intent, proofs, judge } = c;
  if (!proofs.checksum) return;
  const seal = parseSeal(proofs.checksum.value);
  const inside = seal && decodeCommitments(seal.commitments);
  const same = inside !== undefined && canonicalJson(inside) === canonicalJson(intent.signatures.commitments);
  judge(
    'venue.checksum',
    same,
    'The checksum shown to the taker contains these commitments. Its MAC needs the venue’s secret and is not checked.',
    'The checksum shown to the taker contains other commitments than the dossier.',
  );
}
