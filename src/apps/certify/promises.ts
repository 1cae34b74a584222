/** Tracks what the solver has signed and can still be made to pay, by account and token. */

import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { backing, type CertifiedChain, chainTime } from './world.ts';

interface Signed {
  quoteId: Bytes32;
  /** The nonce group; at most one of its quotes executes. */
  group: string;
  chainId: number;
  account: Address;
  token: Address;
  amount: bigint;
  until: UnixSeconds;
}

export interface Promises {
  add(signed: Signed): void;
  /** Removes a quote after it was executed, or its nonce was used. */
  end(quoteId: Bytes32): void;
  /** Returns the quotes of this token that are still executable. */
  live(chain: CertifiedChain, account: Address, token: Address): Promise<readonly Signed[]>;
  /** Ledger balance less what is promised; negative when more is promised than there is. */
  room(chain: CertifiedChain, account: Address, token: Address): Promise<bigint>;
}

export function createPromises(): Promises {
  const all = new Map<Bytes32, Signed>();

  async function live(chain: CertifiedChain, account: Address, token: Address): Promise<readonly Signed[]> {
    const now = await chainTime(chain);
    return [...all.values()].filter(
      (one) =>
        one.chainId === chain.chain.id && one.account === account && one.token === token && one.until >= now,
    );
  }

  return {
    add: (signed) => void all.set(signed.quoteId, signed),
    end: (quoteId) => void all.delete(quoteId),
    live,
    async room(chain, account, token) {
      const [held, signed] = await Promise.all([backing(chain, account, token), live(chain, account, token)]);
      return held - exposure(signed);
    },
  };
}

/** Sums the exposure; each nonce group counts with its largest quote. */
function exposure(signed: readonly Pick<Signed, 'group' | 'amount'>[]): bigint {
  const groups = new Map<string, bigint>();
  for (const { group, amount } of signed) {
    const before = groups.get(group) ?? 0n;
    if (amount > before) groups.set(group, amount);
    else groups.set(group, before);
  }
  return [...groups.values()].reduce((sum, amount) => sum + amount, 0n);
}
