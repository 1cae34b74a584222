/** Asks an OFT and LayerZero what they would carry and take, and refuses what cannot be sent now. */

import { divUp, formatUnits, max, min } from '../../../domain/amount.ts';
import { addressToBytes32, type Bytes32, type Hex } from '../../../domain/hex.ts';
import type { BridgeEstimate, BridgeMove, BridgeRefusal } from '../../../ports/bridge.ts';
import { tryReadContract } from '../../evm/chain/read-contract.ts';
import { bridgeUnavailable, type Ends } from '../message-bridge.ts';
import { oftAbi } from './contracts.ts';
import { type OftOptions, type OftPlace, oftProblems, toDestination, messageUnit } from './place.ts';

const MOST_SHARED = 2n ** 64n - 1n;

interface SendParam {
  dstEid: number;
  to: Bytes32;
  amountLD: bigint;
  minAmountLD: bigint;
  extraOptions: Hex;
  composeMsg: Hex;
  oftCmd: Hex;
}

export async function estimateOft(
  options: OftOptions,
  move: BridgeMove,
  ends: Ends<OftPlace>,
): Promise<BridgeEstimate | BridgeRefusal> {
  const { sharedDecimals, maxFeeBps } = options;
  const { source, destination } = ends;
  const { slug } = source.chain.chain;
  const wrong = await misconfiguration(options, ends);
  if (wrong !== undefined) return bridgeUnavailable(wrong);
  const unit = messageUnit(source, sharedDecimals);
  // An OFT may refuse to quote an amount outside its limits, and still say what they are.
  const asked = await quoteAmounts(source, paramsOf(move, destination));
  const shown = asked ?? (await quoteAmounts(source, { ...paramsOf(move, destination), amountLD: unit }));
  if (shown === undefined) return bridgeUnavailable(`The OFT on ${slug} gives no quote now.`);
  const [limit, , receipt] = shown;
  const least = max(divUp(limit.minAmountLD, unit) * unit, unit);
  const most = min(limit.maxAmountLD / unit, MOST_SHARED) * unit;
  if (most < least) return bridgeUnavailable(`The OFT on ${slug} has no capacity now.`);
  if (move.amount < least)
    return { refused: 'too_little', minAmount: least, detail: `It carries at least ${least} base units.` };
  if (move.amount > most) return tooMuch(most, `It carries at most ${most} base units at once.`);
  const whole = move.amount - (move.amount % unit);
  if (whole !== move.amount)
    return tooMuch(
      whole,
      `It carries multiples of ${unit} base units: the token has ${source.decimals} decimals, its messages have ${sharedDecimals}.`,
    );
  if (asked === undefined) return bridgeUnavailable(`The OFT on ${slug} gives no quote for this amount now.`);
  if (receipt.amountSentLD < move.amount)
    return tooMuch(
      receipt.amountSentLD,
      `The OFT on ${slug} would send only ${receipt.amountSentLD} base units of it.`,
    );
  if (receipt.amountReceivedLD === 0n)
    return { refused: 'too_little', minAmount: 2n * least, detail: 'The fee would be all of it.' };
  const fee = move.amount - receipt.amountReceivedLD;
  if (fee * 10_000_000n > move.amount * BigInt(Math.round(maxFeeBps * 1_000)))
    return bridgeUnavailable(
      `The OFT takes a fee of ${Number((fee * 1_000_000n) / move.amount) / 100} bps; maxFeeBps of bridges.oft allows ${maxFeeBps}.`,
    );
  return priced(options, move, ends, receipt.amountReceivedLD);
}

/** Explains why money must not be sent between these contracts, as the chains show them. */
async function misconfiguration(
  { asset, sharedDecimals }: OftOptions,
  { source, destination }: Ends<OftPlace>,
): Promise<string | undefined> {
  for (const [here, there] of [
    [source, destination],
    [destination, source],
  ] as const) {
    const [problem] = await oftProblems(here, [there], sharedDecimals);
    if (problem !== undefined)
      return `bridges.oft is wrong about ${asset} on ${here.chain.chain.slug}: ${problem}.`;
  }
  return undefined;
}

/** The parameters name no options: the OFT's owner sets the gas of a delivery for everybody. */
const paramsOf = ({ account, amount }: BridgeMove, { eid }: OftPlace): SendParam => ({
  ...{ dstEid: eid, to: addressToBytes32(account), amountLD: amount, minAmountLD: 0n },
  ...{ extraOptions: '0x', composeMsg: '0x', oftCmd: '0x' },
});

const quoteAmounts = ({ chain, oft }: OftPlace, params: SendParam) =>
  tryReadContract(chain.read, { abi: oftAbi, address: oft, functionName: 'quoteOFT', args: [params] });

const tooMuch = (maxAmount: bigint, detail: string): BridgeRefusal => ({
  refused: 'too_much',
  maxAmount,
  detail,
});

async function priced(
  { sharedDecimals }: OftOptions,
  move: BridgeMove,
  ends: Ends<OftPlace>,
  received: bigint,
): Promise<BridgeEstimate | BridgeRefusal> {
  const { source, destination } = ends;
  const fee = await tryReadContract(source.chain.read, {
    abi: oftAbi,
    address: source.oft,
    functionName: 'quoteSend',
    args: [{ ...paramsOf(move, destination), minAmountLD: received }, false],
  });
  if (fee === undefined)
    return bridgeUnavailable(
      `LayerZero quotes no message from ${source.chain.chain.slug} to ${destination.chain.chain.slug} now.`,
    );
  if (fee.nativeFee > source.maxNativeFee)
    return bridgeUnavailable(
      `LayerZero asks for ${formatUnits(fee.nativeFee, 18)} of native currency on ${source.chain.chain.slug}; maxNativeFee of bridges.oft allows ${formatUnits(source.maxNativeFee, 18)}.`,
    );
  return {
    leastReceived: toDestination(received, ends, sharedDecimals),
    seconds: source.seconds,
    nativeFee: fee.nativeFee,
  };
}
