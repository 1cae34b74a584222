/** Configuration sections that several apps share. */

import * as z from 'zod';
import { QUORUM } from '../../adapters/evm/chain/deciding.ts';
import { HEALTH } from '../../adapters/evm/rpc/health.ts';
import { LOG_LEVELS } from '../../adapters/pino/log.ts';
import { ETHER, FINALITY_TAGS } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import { zAddress } from '../../protocol/wire.ts';
import { withDeployment } from './deployment.ts';
import { ConfigError } from './load.ts';
import { withPreset } from './presets.ts';
import { keysAt } from './schema-paths.ts';

export const PERMIT2: Address = '0x000000000022d473030f116ddee9f6b43ac78ba3';
/** Arachnid's, which has the same address on every chain. */
export const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c';

/** May be left out: every option has a default. The type refuses an option without one. */
export const zSection = <S extends Record<string, z.ZodDefault | z.ZodPrefault>>(shape: S) =>
  z.strictObject(shape).prefault({} as never);

export const zSecretText = z.string().min(1);

export const zLogSection = zSection({ level: z.enum(LOG_LEVELS).default('info') });

/** Traces of OpenTelemetry. */
export const zTracing = zSection({
  /** Takes OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces. null: no traces. */
  url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  /** Share of requests and orders that are traced. */
  sampleRatio: z.number().min(0).max(1).default(1),
});

/** Configures how secret files are found. */
export const zSecretsSection = zSection({
  /**
   * Docker or Kubernetes mounts them, with a mode such as 0440 that cannot be changed: others may read them.
   * false: mode 0600 is demanded.
   */
  mounted: z.boolean().default(false),
});

export const zServer = (port: number) =>
  zSection({ host: z.string().default('127.0.0.1'), port: z.int().min(0).max(65_535).default(port) });

/**
 * Keystore with its password in a secret file or variable; or, for development, the key in a variable.
 */
const zLocalKeySource = z.union([
  z.strictObject({ keystore: z.string().min(1), passwordFile: z.string().min(1) }),
  z.strictObject({ keystore: z.string().min(1), passwordEnv: z.string().min(1) }),
  z.strictObject({ env: z.string().min(1), development: z.literal(true) }),
]);
export type LocalKeySource = z.infer<typeof zLocalKeySource>;

/** The limits that every key service has. */
const REMOTE_LIMITS = {
  /** Requests in flight; more wait. */
  maxConcurrent: z.int().min(1).max(1_000).default(32),
  /** The timeout of one request. */
  timeoutMs: z.int().min(50).max(60_000).default(1_000),
  /** Limits one signature with its retries. A quote waits no longer than its taker. */
  deadlineMs: z.int().min(50).max(120_000).default(5_000),
};
/** The key must have this address; null: whatever key the service has. */
const zExpectedAddress = zAddress.nullable().default(null);

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** Plain HTTP would let anybody on the way have signatures. */
const zServiceUrl = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
}, 'must be an https:// URL (http:// only on this machine)');

const zRemoteKeySource = z.union([
  z.strictObject({
    awsKms: z.strictObject({
      /** Key id, ARN, `alias/NAME` or the ARN of an alias. */
      keyId: z.string().min(1),
      /** null: the environment names the region, as in all AWS tools. */
      region: z.string().min(1).nullable().default(null),
      /** null: AWS's own endpoint for the region. */
      endpoint: zServiceUrl.nullable().default(null),
      address: zExpectedAddress,
      ...REMOTE_LIMITS,
    }),
  }),
  z.strictObject({
    googleKms: z.strictObject({
      keyVersion: z
        .string()
        .regex(
          /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+\/cryptoKeyVersions\/\d+$/,
          'must be projects/P/locations/L/keyRings/R/cryptoKeys/K/cryptoKeyVersions/N',
        ),
      endpoint: zServiceUrl.default('https://cloudkms.googleapis.com'),
      address: zExpectedAddress,
      ...REMOTE_LIMITS,
    }),
  }),
  z.strictObject({
    web3signer: z
      .strictObject({
        url: zServiceUrl,
        address: zAddress,
        /** PEM: who signed the service's certificate. null: a public authority. */
        caFile: z.string().min(1).nullable().default(null),
        /** PEM: our client certificate. null: none. */
        certFile: z.string().min(1).nullable().default(null),
        /** PEM: its key, a secret file. */
        keyFile: z.string().min(1).nullable().default(null),
        ...REMOTE_LIMITS,
      })
      .refine(
        ({ certFile, keyFile }) => (certFile === null) === (keyFile === null),
        'certFile and keyFile belong together: give both or neither',
      ),
  }),
]);
export type RemoteKeySource = z.infer<typeof zRemoteKeySource>;

export const zKeySource = z.union([zLocalKeySource, zRemoteKeySource]);
export type KeySource = z.infer<typeof zKeySource>;

/** A secret file or a variable. */
export const zSecretSource = z.union([
  z.strictObject({ file: z.string().min(1) }),
  z.strictObject({ env: z.string().min(1) }),
]);
export type SecretSource = z.infer<typeof zSecretSource>;

/** `DATABASE_URL` overrides `url`; without either an embedded server runs in `embeddedDir`. */
export const zDatabase = (name: string) =>
  zSection({
    url: zSecretText.nullable().default(null),
    embeddedDir: z.string().default('./data'),
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,62}$/)
      .default(name),
    maxConnections: z.int().min(1).max(500).default(10),
  });

const zToken = z.strictObject({
  address: zAddress,
  symbol: z.string().min(1).max(20),
  name: z.string().min(1).max(80),
  decimals: z.int().min(0).max(36),
  eip3009: z.strictObject({ name: z.string(), version: z.string() }).nullable().default(null),
  priceSymbol: z.string().nullable().default(null),
});

/**
 * The currency that pays for gas. `token`: the ERC-20 contract that shows and moves the same balance (USDC on
 * Arc).
 */
const zNative = zSection({
  symbol: z.string().min(1).max(20).default(ETHER.symbol),
  priceSymbol: z.string().min(1).default(ETHER.priceSymbol),
  token: z
    .strictObject({ address: zAddress, decimals: z.int().min(0).max(18) })
    .nullable()
    .default(ETHER.token),
});

const zCctpPlace = z.strictObject({
  /** Native USDC. */
  token: zAddress,
  messenger: zAddress,
  transmitter: zAddress,
  /** null: Circle offers no fast transfers from this chain. */
  fastSeconds: z.int().min(1).max(86_400).nullable().default(null),
  standardSeconds: z.int().min(1).max(86_400),
});

const isAscending = (steps: readonly { aboveUsd: number }[]): boolean =>
  steps.every(({ aboveUsd }, at) => aboveUsd > (steps[at - 1]?.aboveUsd ?? 0));

export const zChain = z.strictObject({
  id: z.int().min(1),
  slug: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be lower-case words joined by hyphens'),
  sandbox: z.boolean().default(false),
  /**
   * File that `firmquote deploy run` wrote. It gives escrow, oracle, quoteBond, proofWindowSeconds,
   * startBlock and, in a venue, batch, where they are not set. null: they are set here.
   */
  deployment: z.string().min(1).nullable().default(null),
  escrow: zAddress,
  oracle: zAddress,
  permit2: zAddress.default(PERMIT2),
  /** The QuoteBond of this escrow. null: bonds are neither demanded nor read here. */
  quoteBond: zAddress.nullable().default(null),
  /** CREATE2 deployer of the chain, through which `firmquote deploy` makes the contracts. */
  create2Deployer: zAddress.default(CREATE2_DEPLOYER),
  /** Domain of the chain in Circle's CCTP. null: USDC does not travel there. */
  cctpDomain: z.int().min(0).nullable().default(null),
  /** Contracts of Circle's CCTP V2, and how long a burn waits for its attestation, as a rule. */
  cctp: zCctpPlace.nullable().default(null),
  /** Block explorer. null: none. */
  explorer: z.url().nullable().default(null),
  /**
   * Computes what a transaction costs beyond its gas. opStack: data and operator fees of the chain's
   * GasPriceOracle, which must be there; plain: nothing; auto: as the chain has that contract or not.
   */
  feeModel: z.enum(['auto', 'plain', 'opStack']).default('auto'),
  /** The chain's base fee never falls below it. */
  minBaseFeeGwei: z.number().min(0).default(0),
  /** Blocks on top until a fact is final. */
  depth: z.int().min(0).max(10_000).default(3),
  /** Stricter finality for orders from a value on, ascending: more blocks, or a tag of the nodes. */
  finality: z
    .array(
      z.union([
        z.strictObject({ aboveUsd: z.number().positive(), depth: z.int().min(1).max(10_000) }),
        z.strictObject({
          aboveUsd: z.number().positive(),
          tag: z.enum(FINALITY_TAGS),
          /** The usual time until the tag covers a block. */
          seconds: z.int().min(1).max(86_400),
        }),
      ]),
    )
    .refine(isAscending, 'must be ordered by aboveUsd, each above the one before')
    .default([]),
  blockTimeMs: z.int().min(50).default(2_000),
  native: zNative,
  landingMarginSeconds: z.int().min(1).default(30),
  proofWindowSeconds: z.int().min(1).default(1_800),
  tokens: z.array(zToken).min(1),
  /** Endpoints, best first. `${NAME}` takes one from the environment. */
  rpcUrls: z.array(zSecretText).min(1),
  startBlock: z.int().min(0).default(0),
  timeoutMs: z.int().min(100).default(5_000),
  endpoints: zSection({
    tryTimeoutMs: z.int().min(50).default(2_000),
    maxLagBlocks: z.int().min(1).default(HEALTH.maxLagBlocks),
    readmitAfterSeconds: z
      .int()
      .min(1)
      .default(HEALTH.readmitAfterMs / 1_000),
  }),
  /** From `aboveUsd` on, `agree` endpoints must agree before money is released. */
  quorum: zSection({
    aboveUsd: z.number().min(0).default(QUORUM.aboveUsd),
    agree: z.int().min(2).max(10).default(QUORUM.agree),
  }),
  /** The most that the clocks may differ; beyond it nothing is quoted. */
  maxClockSkewMs: z.int().min(1_000).default(5_000),
  /**
   * A reorganisation deeper than `depth` stops everything on the chain. false, for test chains: it is logged
   * and followed.
   */
  stopOnDeepReorg: z.boolean().default(true),
});
export type ChainSection = z.infer<typeof zChain>;

/** An entry may be, or name, a preset of `config/chains`, and name a record of `deployments`. */
export function zChainEntry<S extends z.ZodType>(zEach: S) {
  const options = keysAt(zEach, []);
  return z.preprocess((entry, context) => {
    try {
      return withDeployment(withPreset(entry, options), options);
    } catch (error) {
      if (!(error instanceof RangeError) && !(error instanceof ConfigError)) throw error;
      const message =
        error instanceof ConfigError ? `${error.file}: ${error.problems.join('; ')}` : error.message;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  }, zEach);
}

/** A list of chains, each a preset or written out, with its own id, slug, token symbols and addresses. */
export const zChains = <S extends z.ZodType<ChainSection>>(zEach: S) =>
  z
    .array(zChainEntry(zEach))
    .min(1)
    .superRefine((chains, context) => {
      const unique = (path: (string | number)[], values: readonly (string | number)[], name: string) => {
        for (const [at, value] of values.entries())
          if (values.indexOf(value) !== at)
            context.addIssue({
              code: 'custom',
              path: [...path, at, name],
              message: `is ${value}, which entry ${values.indexOf(value)} is already: correct or remove one`,
            });
      };
      for (const name of ['id', 'slug'] as const)
        unique(
          [],
          chains.map((chain) => chain[name]),
          name,
        );
      for (const [at, { tokens }] of chains.entries())
        for (const name of ['symbol', 'address'] as const)
          unique(
            [at, 'tokens'],
            tokens.map((token) => token[name].toLowerCase()),
            name,
          );
    });
