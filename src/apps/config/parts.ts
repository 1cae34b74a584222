/** Pieces that the configurations of several apps share: doors, logs, keys, databases, chains. */

import { z } from 'zod';
import { QUORUM } from '../../adapters/evm/chain/chain.ts';
import { HEALTH } from '../../adapters/evm/rpc/health.ts';
import { LOG_LEVELS } from '../../adapters/pino/log.ts';
import type { Address } from '../../domain/hex.ts';
import { zAddress } from '../../protocol/wire.ts';

const PERMIT2: Address = '0x000000000022d473030f116ddee9f6b43ac78ba3';

/**
 * `${NAME}` in place of the value takes it from the environment, so that what is secret need not stand in the
 * file.
 */
export const zSecretText = z.string().min(1);

export const zLogSection = z.strictObject({ level: z.enum(LOG_LEVELS).default('info') });

/** The operator's door: /healthz, /readyz, /metrics. */
export const zDoor = (port: number) =>
  z.strictObject({ host: z.string().default('127.0.0.1'), port: z.int().min(0).max(65_535).default(port) });

/**
 * A private key: an encrypted keystore file with its password in another file (mode 0600) or a variable; or,
 * for development only and said aloud, the key itself in a variable.
 */
export const zKeySource = z.union([
  z.strictObject({ keystore: z.string().min(1), passwordFile: z.string().min(1) }),
  z.strictObject({ keystore: z.string().min(1), passwordEnv: z.string().min(1) }),
  z.strictObject({ env: z.string().min(1), development: z.literal(true) }),
]);
export type KeySource = z.infer<typeof zKeySource>;

/** A secret of text, such as the key of the candidates' seal: a file (mode 0600), or a variable. */
export const zSecretSource = z.union([
  z.strictObject({ file: z.string().min(1) }),
  z.strictObject({ env: z.string().min(1) }),
]);
export type SecretSource = z.infer<typeof zSecretSource>;

/**
 * PostgreSQL: `DATABASE_URL` wins, then `url`; without either an embedded server is started with its data in
 * `embeddedDir`.
 */
export const zDatabase = (name: string) =>
  z.strictObject({
    url: zSecretText.nullable().default(null),
    embeddedDir: z.string().default('./data'),
    /** Database on the embedded server. */
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,62}$/)
      .default(name),
    maxConnections: z.int().min(1).max(500).default(10),
  });

export const zToken = z.strictObject({
  address: zAddress,
  symbol: z.string().min(1).max(20),
  name: z.string().min(1).max(80),
  decimals: z.int().min(0).max(36),
  /** EIP-712 domain of `receiveWithAuthorization`; null: the token has none. */
  eip3009: z.strictObject({ name: z.string(), version: z.string() }).nullable().default(null),
  /** Reference price symbol; null: none. */
  priceSymbol: z.string().nullable().default(null),
});

/** One chain as every process of an operator sees it. */
export const zChain = z.strictObject({
  id: z.int().min(1),
  slug: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be lower-case words joined by hyphens'),
  sandbox: z.boolean().default(false),
  escrow: zAddress,
  oracle: zAddress,
  permit2: zAddress.default(PERMIT2),
  /** Blocks on top before a fact counts as final. */
  depth: z.int().min(0).max(10_000).default(3),
  blockTimeMs: z.int().min(50).default(2_000),
  landingMarginSeconds: z.int().min(1).default(30),
  proofWindowSeconds: z.int().min(1).default(1_800),
  tokens: z.array(zToken).min(1),
  /** Endpoints, best first. `${NAME}` takes one from the environment. */
  rpcUrls: z.array(zSecretText).min(1),
  /** First block that can hold events of the escrow. */
  startBlock: z.int().min(0).default(0),
  timeoutMs: z.int().min(100).default(5_000),
  /** Of several endpoints one that errs is left out until it has behaved for a while. */
  endpoints: z
    .strictObject({
      /** How long one may take while another can be asked. */
      tryTimeoutMs: z.int().min(50).default(2_000),
      /** So many blocks behind or ahead of the others is too far. */
      maxLagBlocks: z.int().min(1).default(HEALTH.maxLagBlocks),
      readmitAfterSeconds: z
        .int()
        .min(1)
        .default(HEALTH.readmitAfterMs / 1_000),
    })
    .prefault({}),
  /** What releases money, from this worth on, needs so many endpoints to say the same of one block. */
  quorum: z
    .strictObject({
      aboveUsd: z.number().min(0).default(QUORUM.aboveUsd),
      agree: z.int().min(2).max(10).default(QUORUM.agree),
    })
    .prefault({}),
  /** Further than this from the chain's clock ours is not trusted: nothing is quoted. */
  maxClockSkewMs: z.int().min(1_000).default(5_000),
  /**
   * A reorganisation deeper than `depth` stops everything on the chain. false: it is logged and followed, for
   * chains that are played.
   */
  stopOnDeepReorg: z.boolean().default(true),
});
export type ChainSection = z.infer<typeof zChain>;
