/** What an order takes and delivers, and to whom: as requested, and by contracts that the caller trusts. */

import { toAddress } from '../../domain/address.ts';
import { assetId, parseAssetId } from '../../domain/asset.ts';
import { type Delivery, readDelivery } from '../../domain/delivery.ts';
import type { EscrowDomain } from '../../domain/escrow-domain.ts';
import { type Address, addressToBytes32, type Bytes32 } from '../../domain/hex.ts';
import type { MandateOutput, StandardOrder } from '../../domain/order.ts';
import type { ReadCandidate } from '../candidate.ts';
import { DistrustError } from '../errors.ts';
import type { TradeRequest } from '../request.ts';
import type { Trust } from '../trust.ts';
import { must } from './must.ts';

export interface Sides {
  destChainId: number;
  inputToken: Address;
  inputAmount: bigint;
  outputToken: Address;
  /** Base units enforced by the escrow; of the first leg of a sequential route. */
  outputAmount: bigint;
  receiver: Address;
}

/** Matches the assets, amounts and receiver of the order with the request. Throws `DistrustError`. */
export function matchSides(
  shown: ReadCandidate,
  request: TradeRequest,
  order: StandardOrder,
  domain: EscrowDomain,
  trust: Trust,
): Sides {
  const taker = toAddress(request.taker);
  const receiver = toAddress(request.receiver ?? request.taker);
  const wanted = { input: parseAssetId(request.input.asset), output: parseAssetId(request.output.asset) };
  must(
    wanted.input !== undefined && wanted.output !== undefined,
    'malformed_answer',
    'The request itself names no assets.',
  );
  must(order.user === taker, 'taker', `The order's taker is ${order.user}, not ${taker}.`);

  const [row, ...rows] = order.inputs;
  const [first] = order.outputs;
  must(row !== undefined && rows.length === 0, 'input_asset', 'The order takes more than one input.');
  must(first !== undefined, 'output_asset', 'The order delivers nothing.');
  must(
    domain.chainId === wanted.input.chainId && row[0] === BigInt(wanted.input.token),
    'input_asset',
    `The order takes 0x${row[0].toString(16)} on chain ${domain.chainId}, not ${request.input.asset}.`,
  );
  const inputAmount = row[1];
  must(
    request.input.amount === undefined || inputAmount === request.input.amount,
    'input_amount',
    `The order takes ${inputAmount}, not ${request.input.amount}.`,
  );

  // The first leg of a sequential route delivers the intermediate asset to the taker.
  const middle = shown.sequential ? parseAssetId(shown.composite?.legs[0]?.output.asset ?? '') : undefined;
  must(!shown.sequential || middle !== undefined, 'composite', 'The first leg of the route gives no asset.');
  const delivery: Delivery = middle
    ? { account: taker, settlement: 'wallet' }
    : { account: receiver, settlement: request.settlement ?? 'wallet' };
  const target = middle ?? wanted.output;
  for (const output of order.outputs)
    matchOutput(output, { ...target, delivery, domain, inputOracle: order.inputOracle }, trust);
  const outputAmount = order.outputs.reduce((sum, { amount }) => sum + amount, 0n);
  must(outputAmount > 0n && inputAmount > 0n, 'output_amount', 'The order moves nothing.');

  const { preview } = shown;
  const [shownIn, ...moreIn] = preview.inputs;
  const [shownOut, ...moreOut] = preview.outputs;
  const one = shownIn !== undefined && shownOut !== undefined && moreIn.length === 0 && moreOut.length === 0;
  must(
    one && shownIn.asset === assetId(wanted.input) && shownOut.asset === assetId(wanted.output),
    'preview',
    'The preview shows other assets than the order.',
  );
  must(
    shownIn.amount === inputAmount.toString(),
    'preview',
    `The preview takes ${shownIn.amount}, the order ${inputAmount}.`,
  );
  must(
    shownOut.receiver === undefined ||
      shownOut.receiver === null ||
      shownOut.receiver.toLowerCase() === receiver,
    'preview',
    `The preview pays ${shownOut.receiver}, the order ${receiver}.`,
  );
  return {
    destChainId: target.chainId,
    inputToken: wanted.input.token,
    inputAmount,
    outputToken: target.token,
    outputAmount,
    receiver: delivery.account,
  };
}

interface WantedOutput {
  chainId: number;
  token: Address;
  delivery: Delivery;
  domain: EscrowDomain;
  inputOracle: Address;
}

function matchOutput(
  output: MandateOutput,
  { chainId: wantedChain, token: wantedToken, delivery, domain, inputOracle }: WantedOutput,
  trust: Trust,
): void {
  const { oracle, settler, chainId, token } = output;
  must(
    chainId === BigInt(wantedChain) && token === addressToBytes32(wantedToken),
    'output_asset',
    `The order delivers ${token} on chain ${chainId}, not ${assetId({ chainId: wantedChain, token: wantedToken })}.`,
  );
  const actual = readDelivery(output);
  must(actual !== undefined, 'callback', 'The order calls a contract upon delivery.');
  must(
    actual.account === delivery.account && actual.settlement === delivery.settlement,
    'receiver',
    `The order pays ${actual.account} (${actual.settlement}), not ${delivery.account} (${delivery.settlement}).`,
  );
  const [settlerAddress, oracleAddress] = [lastBytes(settler), lastBytes(oracle)];
  must(
    settlerAddress !== undefined && oracleAddress !== undefined,
    'settler',
    'Settler or oracle of an output is no address.',
  );
  if (wantedChain === domain.chainId) {
    must(
      settlerAddress === domain.escrow,
      'settler',
      `The output's settler is ${settlerAddress}, not the escrow.`,
    );
    must(
      oracleAddress === domain.escrow && inputOracle === domain.escrow,
      'oracle',
      `On one chain the escrow is the oracle, not ${oracleAddress === domain.escrow ? inputOracle : oracleAddress}.`,
    );
    return;
  }
  try {
    trust.requireEscrow(wantedChain, settlerAddress);
  } catch (error) {
    throw error instanceof DistrustError && error.code === 'escrow'
      ? new DistrustError('settler', error.message, error.facts)
      : error;
  }
  trust.requireOracle(domain.chainId, inputOracle);
  trust.requireOracle(wantedChain, oracleAddress);
}

function lastBytes(word: Bytes32): Address | undefined {
  return word.startsWith(`0x${'0'.repeat(24)}`) ? `0x${word.slice(26)}` : undefined;
}
