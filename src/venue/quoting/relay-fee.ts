/** The cost of sending a trade, and who pays: the trade (apiSubmit) or its taker (walletBroadcast). */

import { mulDivUp } from '../../domain/amount.ts';
import { ETHER, type TokenInfo } from '../../domain/chain.ts';
import type { ChainPort, RollupFees } from '../../ports/chain.ts';
import type { VenueDeps } from '../deps.ts';
import { CHAIN_DEFAULTS, type ChainSettings } from '../options.ts';
import type { Prices } from '../market/prices.ts';

/** Says who sends the transaction, and what that costs. */
export interface RelayTerms {
  executionMode: 'apiSubmit' | 'walletBroadcast';
  /** The fee in base units of the input; 0 on walletBroadcast. */
  relayFee: bigint;
  /** The taker's gas in wei; 0 on apiSubmit. */
  takerGasWei: bigint;
}

export interface Shape {
  crossChain: boolean;
  outputs: number;
  fillGas?: bigint;
  /** The chain on which the relayer later pays the outputs out of the ledger; undefined when it does not. */
  deferredOn?: number | undefined;
}

export interface RelayFees {
  /** Returns the settings of a chain, with defaults. */
  settings(chainId: number): typeof CHAIN_DEFAULTS;
  /** Returns the price of gas in wei; undefined before the first reading. */
  weiPerGas(chainId: number): bigint | undefined;
  terms(chainId: number, token: TokenInfo, shape: Shape): RelayTerms;
  /**
   * Returns the taker's gas in base units of the side that competes, rounded up; 0n on apiSubmit or without a
   * price.
   */
  takerGas(
    asked: {
      side: 'exactInput' | 'exactOutput';
      origin: { id: number };
      inputToken: TokenInfo;
      outputToken: TokenInfo;
    },
    relayTerms: RelayTerms,
  ): bigint;
  start(): Promise<void>;
  stop(): void;
}

const BPS = 10_000n;
/** Extra gas of a deferred delivery to an account that is new to the ledger. */
const DEFER_GAS = 60_000n;
/** Gas and unsigned bytes of paying it out. */
const PAYOUT_GAS = 60_000n;
const PAYOUT_BYTES = 600;
/**
 * Unsigned bytes of the trade's transaction, with the longest funding that a key signs; more for each further
 * output.
 */
const BYTES = { settle: 1_900, output: 720, open: 1_550, through: 2_000 };

export function createRelayFees(
  { chains, relayers, prices, log }: Pick<VenueDeps, 'chains' | 'relayers' | 'log'> & { prices: Prices },
  overrides: ReadonlyMap<number, Partial<ChainSettings>> = new Map(),
): RelayFees {
  const settings = new Map([...chains.keys()].map((id) => [id, { ...CHAIN_DEFAULTS, ...overrides.get(id) }]));
  const weiPerGas = new Map<number, bigint>();
  const rollupFees = new Map<number, RollupFees>();
  const reading = new Set<number>();
  let stops: (() => void)[] = [];

  const settingsOf = (chainId: number) => settings.get(chainId) ?? CHAIN_DEFAULTS;
  const nativeOf = (chainId: number) => chains.get(chainId)?.chain.native ?? ETHER;

  async function read(chainId: number, port: ChainPort) {
    if (reading.has(chainId)) return;
    reading.add(chainId);
    try {
      const [{ baseFee, priorityFee }, rollup] = await Promise.all([port.fees(), port.rollupFees()]);
      weiPerGas.set(chainId, baseFee + priorityFee);
      rollupFees.set(chainId, rollup);
    } catch (error) {
      log.warn({ chain: port.chain.slug, error }, 'gas prices could not be read; the last ones are used');
    } finally {
      reading.delete(chainId);
    }
  }

  /** Returns the size and gas of the trade's own transaction. */
  function transactionOf(
    chainId: number,
    { crossChain, outputs, fillGas, deferredOn }: Shape,
  ): { gas: bigint; unsignedBytes: number } {
    const of = settingsOf(chainId);
    if (crossChain) return { gas: of.openGas, unsignedBytes: BYTES.open };
    const deferral = deferredOn === chainId ? DEFER_GAS * BigInt(outputs) : 0n;
    return fillGas !== undefined
      ? { gas: of.throughGas + fillGas + deferral, unsignedBytes: BYTES.through }
      : {
          gas: of.settleGas + of.outputGas * BigInt(outputs - 1) + deferral,
          unsignedBytes: BYTES.settle + BYTES.output * (outputs - 1),
        };
  }

  /** Returns the cost in wei; undefined before the first reading of the chain. */
  function weiFor(chainId: number, transaction: { gas: bigint; unsignedBytes: number }): bigint | undefined {
    const [price, rollupFee] = [weiPerGas.get(chainId), rollupFees.get(chainId)];
    return price === undefined || rollupFee === undefined
      ? undefined
      : price * transaction.gas + rollupFee(transaction);
  }

  return {
    settings: settingsOf,
    weiPerGas: (chainId: number) => weiPerGas.get(chainId),
    terms(chainId: number, token: TokenInfo, shape: Shape): RelayTerms {
      const { outputs, deferredOn } = shape;
      const { executionMode, relayBufferBps } = settingsOf(chainId);
      const wei = weiFor(chainId, transactionOf(chainId, shape));
      const inTokens = (wanted: bigint | undefined, paidOn: number) =>
        wanted === undefined
          ? undefined
          : prices.tokenForNativeUp(
              token,
              nativeOf(paidOn),
              mulDivUp(wanted, BPS + BigInt(relayBufferBps), BPS),
            );
      const landed =
        executionMode === 'apiSubmit' && relayers.get(chainId)?.healthy()
          ? inTokens(wei, chainId)
          : undefined;
      const paidOut =
        deferredOn === undefined
          ? 0n
          : inTokens(
              weiFor(deferredOn, {
                gas: PAYOUT_GAS * BigInt(outputs),
                unsignedBytes: PAYOUT_BYTES * outputs,
              }),
              deferredOn,
            );
      const relayFee = landed === undefined || paidOut === undefined ? undefined : landed + paidOut;
      // The chain's setting, no healthy relayer, or a price that is not known: the taker sends it.
      return relayFee === undefined
        ? { executionMode: 'walletBroadcast', relayFee: 0n, takerGasWei: wei ?? 0n }
        : { executionMode: 'apiSubmit', relayFee, takerGasWei: 0n };
    },
    takerGas(
      {
        side,
        origin,
        inputToken,
        outputToken,
      }: {
        side: 'exactInput' | 'exactOutput';
        origin: { id: number };
        inputToken: TokenInfo;
        outputToken: TokenInfo;
      },
      { takerGasWei }: RelayTerms,
    ) {
      if (takerGasWei === 0n) return 0n;
      return (
        prices.tokenForNativeUp(
          side === 'exactInput' ? outputToken : inputToken,
          nativeOf(origin.id),
          takerGasWei,
        ) ?? 0n
      );
    },
    async start() {
      stops = [...chains].map(([id, port]) => port.onHead(() => void read(id, port)));
      await Promise.all([...chains].map(([id, port]) => read(id, port)));
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}
