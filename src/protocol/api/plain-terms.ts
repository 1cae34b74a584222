/**
 * The quick way to write a candidate: the RFC 8785 text of `Terms`, with its keys in their canonical order as
 * they stand here instead of sorted anew for each one. Only names and sentences are looked through for what
 * must be escaped; all else is digits and hex of ours.
 */

import { InvariantError } from '../../domain/errors.ts';
import { type OrderEnvelope, ORDER_TYPES } from '../../domain/order.ts';
import { canonicalJson } from '../canonical-json.ts';
import type { Terms } from './candidate.ts';

const TYPES = canonicalJson(ORDER_TYPES);

/** What `canonicalJson` would write. Throws `InvariantError` for a number that is not finite. */
export function plainTerms({
  eta,
  executionMode,
  gas,
  lpSpreadBps,
  order,
  platformFeeBps,
  preview,
  quoteId,
  routingPath,
  solverId,
  splitFill,
  validUntil,
  validity,
  warnings,
}: Terms): string {
  let inputs = '';
  for (const { amount, asset, decimals, priceUsd, symbol } of preview.inputs) {
    inputs += `${inputs === '' ? '' : ','}{"amount":"${amount}","asset":"${asset}","decimals":${decimals},"priceUsd":${finite(priceUsd)},"symbol":${JSON.stringify(symbol)}}`;
  }
  let outputs = '';
  for (const {
    amount,
    amountBeforeFees,
    asset,
    decimals,
    deltaFromMid,
    minimumAmount,
    priceUsd,
    receiver,
    symbol,
  } of preview.outputs) {
    outputs +=
      `${outputs === '' ? '' : ','}{"amount":"${amount}","amountBeforeFees":${amountBeforeFees === null ? null : `"${amountBeforeFees}"`},"asset":"${asset}","decimals":${decimals},` +
      `"deltaFromMid":${finite(deltaFromMid)},"minimumAmount":"${minimumAmount}","priceUsd":${finite(priceUsd)},"receiver":"${receiver}","symbol":${JSON.stringify(symbol)}}`;
  }
  return (
    `{"eta":${eta},"executionMode":"${executionMode}","gas":{"native":"${gas.native}","usd":${finite(gas.usd)}},"lpSpreadBps":${lpSpreadBps},` +
    `"order":{"payload":${envelope(order.payload)},"type":"${order.type}"},"platformFeeBps":${platformFeeBps},"preview":{"inputs":[${inputs}],"outputs":[${outputs}]},` +
    `"quoteId":"${quoteId}","routingPath":"${routingPath}","solverId":${JSON.stringify(solverId)},"splitFill":${splitFill === null ? null : canonicalJson(splitFill)},` +
    `"validUntil":${validUntil},"validity":{"minValidUntil":${validity.minValidUntil},"validUntil":${validity.validUntil}},"warnings":${warnings.length === 0 ? '[]' : canonicalJson(warnings)}}`
  );
}

function envelope({ domain, message, primaryType }: OrderEnvelope): string {
  let inputs = '';
  for (const [token, amount] of message.inputs)
    inputs += `${inputs === '' ? '' : ','}["${token}","${amount}"]`;
  let outputs = '';
  for (const {
    amount,
    callbackData,
    chainId,
    context,
    oracle,
    recipient,
    settler,
    token,
  } of message.outputs) {
    outputs += `${outputs === '' ? '' : ','}{"amount":"${amount}","callbackData":"${callbackData}","chainId":"${chainId}","context":"${context}","oracle":"${oracle}","recipient":"${recipient}","settler":"${settler}","token":"${token}"}`;
  }
  return (
    `{"domain":{"chainId":${domain.chainId},"name":"${domain.name}","verifyingContract":"${domain.verifyingContract}","version":"${domain.version}"},` +
    `"message":{"expires":${message.expires},"fillDeadline":${message.fillDeadline},"inputOracle":"${message.inputOracle}","inputs":[${inputs}],"nonce":"${message.nonce}","originChainId":"${message.originChainId}","outputs":[${outputs}],"user":"${message.user}"},` +
    `"primaryType":"${primaryType}","types":${TYPES}}`
  );
}

function finite(value: number | null): number | null {
  if (value !== null && !Number.isFinite(value))
    throw new InvariantError('JSON has no spelling for a number that is not finite.');
  return value;
}
