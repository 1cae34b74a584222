/** Configuration of the bridges that carry a token between accounts of one owner. */

import * as z from 'zod';
import { zAddress } from '../../protocol/wire.ts';
import { zSection } from './parts.ts';

/** Circle's CCTP V2, between the chains that have `cctp` and `cctpDomain` set. */
const zCctp = z.strictObject({
  /** Circle's attestation service. null: its public one, for real money or for test chains. */
  attestationUrl: z.url().nullable().default(null),
  /** Allows http and private addresses, for development. */
  allowPrivate: z.boolean().default(false),
  /** Prefers fast transfers, which cost a fee. false: standard transfers only. */
  fast: z.boolean().default(true),
  /** The most that a fast transfer may cost, basis points of the amount; dearer ones become standard ones. */
  maxFeeBps: z.number().min(0).max(1_000).default(2),
  timeoutMs: z.int().min(100).max(60_000).default(5_000),
});

/** Describes one OFT of LayerZero V2, such as USDT0. */
const zOft = z.strictObject({
  /** The bridge is named `oft-` and this in lower case, in the database too: do not rename it. */
  asset: z.string().regex(/^[A-Za-z0-9]{1,20}$/, 'must be 1 to 20 letters and digits, such as "USDT0"'),
  /** Decimals of the amounts in its messages. */
  sharedDecimals: z.int().min(0).max(18).default(6),
  /** The most that the OFT may take in tokens, basis points of the amount. */
  maxFeeBps: z.number().min(0).max(1_000).default(0),
  /** LayerZero's executor has so much longer than `seconds`; then the LP delivers itself. */
  patienceSeconds: z.int().min(0).max(86_400).default(600),
  chains: z
    .array(
      z.strictObject({
        chainId: z.int().positive(),
        /** LayerZero's number of the chain. */
        eid: z.int().positive(),
        endpoint: zAddress,
        /** The OFT, or the adapter that locks the token. */
        oft: zAddress,
        token: zAddress,
        /** The usual time from a send here until it has arrived. */
        seconds: z.int().min(1).max(86_400),
        /** The most native currency that one send from here may cost beside its gas. */
        maxNativeFee: z
          .string()
          .regex(/^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?$/, 'must be decimal text, such as "0.002"'),
      }),
    )
    .min(2),
});

/** Configures the bridges; null or empty: not used. */
export const zBridgeTransports = zSection({
  cctp: zCctp.nullable().default(null),
  oft: z.array(zOft).default([]),
});
export type BridgeTransports = z.infer<typeof zBridgeTransports>;
