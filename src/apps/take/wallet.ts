/** Makes a viem wallet over the signer of a configured key: the key stays in the signer. */

import {
  createPublicClient,
  createWalletClient,
  fallback,
  getTypesForEIP712Domain,
  hashDomain,
  hashStruct,
  http,
  parseSignature,
  type PublicClient,
  serializeTransaction,
  type TypedDataDomain,
} from 'viem';
import { toAccount } from 'viem/accounts';
import type { TrustedChains, Wallet } from '../../client/client.ts';
import { InvariantError } from '../../domain/errors.ts';
import { hexToBytes } from '../../domain/hex.ts';
import type { Signer } from '../../ports/signer.ts';
import { expand, type SecretContext } from '../wiring/keys.ts';
import type { TakerChain } from './config.ts';

const LONGEST_POLL_MS = 2_000;

export interface Nodes {
  rpcOf(chain: TakerChain): PublicClient;
  trusted: TrustedChains;
  walletOf(signer: Signer, chainId: number): Wallet;
}

export function openNodes(chains: readonly TakerChain[], secrets: SecretContext): Nodes {
  const nodes = new Map(
    chains.map((chain) => {
      const transport = fallback(
        chain.rpcUrls.map((url) => http(expand(url, secrets), { timeout: chain.timeoutMs })),
      );
      const pollingInterval = Math.min(Math.ceil(chain.blockTimeMs / 4), LONGEST_POLL_MS);
      const rpc = createPublicClient({ transport, cacheTime: 0, pollingInterval });
      return [chain.id, { chain, transport, rpc }] as const;
    }),
  );
  const nodeOf = (chainId: number) => {
    const node = nodes.get(chainId);
    if (!node) throw new InvariantError(`The client asked for chain ${chainId}, which it does not have.`);
    return node;
  };
  return {
    rpcOf: ({ id }) => nodeOf(id).rpc,
    trusted: Object.fromEntries(
      [...nodes].map(
        ([
          id,
          {
            rpc,
            chain: { escrow, oracle, permit2, quoteBond },
          },
        ]) => [id, { rpc, escrow, oracles: [oracle], permit2, ...(quoteBond !== null && { quoteBond }) }],
      ),
    ),
    walletOf: (signer, chainId) =>
      createWalletClient({ account: accountOf(signer), transport: nodeOf(chainId).transport }),
  };
}

/** viem infers a type for each field, which says nothing where the typed data is not a literal. */
interface OrdinaryTypedData {
  domain: TypedDataDomain;
  types: Record<string, { name: string; type: string }[]>;
  primaryType: string;
  message: Record<string, unknown>;
}

/** A signer takes the message whose keccak-256 it signs, so this builds what viem would hash. */
const accountOf = (signer: Signer) =>
  toAccount({
    address: signer.address,
    signMessage: () => Promise.reject(new InvariantError('A taker signs no plain messages.')),
    async signTransaction(transaction, { serializer = serializeTransaction } = {}) {
      const unsigned = await serializer(transaction);
      return serializer(transaction, parseSignature(await signer.sign(hexToBytes(unsigned))));
    },
    async signTypedData(typed) {
      const { domain, types, primaryType, message } = typed as unknown as OrdinaryTypedData;
      const all = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
      const words = [
        hashDomain({ domain, types: all } as never),
        hashStruct({ data: message, primaryType, types: all } as never),
      ];
      return signer.sign(hexToBytes(`0x1901${words.map((word) => word.slice(2)).join('')}`));
    },
  });
