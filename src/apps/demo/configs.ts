/** Writes the configuration files of the demo's processes. */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { encryptKey } from '../../adapters/keystore/keystore.ts';
import { writeSecretFile } from '../../adapters/keystore/file.ts';
import { symbolAt } from '../../adapters/feeds/formats.ts';
import { PEG } from './chains/set-up.ts';
import { partnerSigningKey, publicKeyText } from '../../protocol/partner/signature.ts';
import type { Layout } from './layout.ts';
import type { DemoState } from './state.ts';
import { partnerConfig } from './partner-config.ts';
import type { KeyPair } from './key-pair.ts';

const VENUE_ID = 'firmquote-demo';

/** The scrypt cost is low: seven processes start together, and the password is random. */
const SCRYPT_N = 1 << 12;

const DENY_LIST = `# version: demo\n0x${'de'.repeat(20)}\n`;
export const TRAVEL_RULE_USD = 1_000;

export const PARTNER = 'partner';
export const lpProcess = (id: string): string => `lp-${id}`;
export const attesterProcess = (index: number): string => `attester-${index + 1}`;
const BRIDGE_KEY = 'bridge';
export const chainProcess = (slug: string): string => `chain-${slug}`;

export async function writeConfigs(state: DemoState, layout: Layout): Promise<void> {
  await writeKeys(state, layout);
  await writeFile(layout.denyList, DENY_LIST);
  const files: [string, object][] = [
    ['venue', venueConfig(state, layout)],
    [PARTNER, partnerConfig(state, layout)],
    ...state.lps.map(({ id }, index): [string, object] => [lpProcess(id), lpConfig(state, layout, index)]),
    ...state.attesters.map((_, index): [string, object] => [
      attesterProcess(index),
      attesterConfig(state, layout, index),
    ]),
  ];
  for (const [name, config] of files) {
    await mkdir(dirname(layout.config(name)), { recursive: true });
    await writeFile(layout.config(name), `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  }
}

async function writeKeys(state: DemoState, layout: Layout): Promise<void> {
  await rm(dirname(layout.passwordFile), { recursive: true, force: true });
  await writeSecretFile(layout.passwordFile, state.keystorePassword);
  const save = async (name: string, wallet: KeyPair) =>
    writeSecretFile(layout.keystore(name), await encryptKey(wallet, state.keystorePassword, { n: SCRYPT_N }));
  await save('relayer', state.relayer);
  for (const { id, operator } of state.lps) {
    await save(lpProcess(id), operator);
    await writeSecretFile(layout.secret(lpProcess(id)), state.apiKeys.solvers[id] ?? '');
  }
  await save(BRIDGE_KEY, state.bridge.operator);
  for (const [index, wallet] of state.attesters.entries()) await save(attesterProcess(index), wallet);
  await writeSecretFile(layout.secret('seal'), state.sealSecret);
  await writeSecretFile(layout.secret('admin'), state.adminSecret);
  await writeSecretFile(layout.secret('partners'), state.partner.venuePem);
}

const keyOf = (layout: Layout, name: string) => ({
  keystore: layout.keystore(name),
  passwordFile: layout.passwordFile,
});
const localPort = (port: number) => ({ host: '127.0.0.1', port });
const database = (name: string) => ({ url: `\${FIRMQUOTE_DEMO_POSTGRES}/${name}`, maxConnections: 8 });

function chainsOf(state: DemoState) {
  return state.chains.map(({ id, slug, escrow, oracle, permit2, quoteBond, tokens, rpcUrl, startBlock }) => {
    const chain = state.config.chains.find((one) => one.id === id);
    return {
      id,
      slug,
      sandbox: true,
      escrow,
      oracle,
      permit2,
      quoteBond: quoteBond ?? null,
      depth: chain?.depth,
      blockTimeMs: (chain?.blockSeconds ?? 1) * 1000,
      landingMarginSeconds: chain?.landingMarginSeconds,
      proofWindowSeconds: chain?.proofWindowSeconds,
      tokens: tokens.map((token) => {
        const described = state.config.tokens.find(({ symbol }) => symbol === token.symbol);
        return { ...token, name: described?.name, priceSymbol: described?.price };
      }),
      rpcUrls: [rpcUrl],
      startBlock,
      timeoutMs: 3_000,
      // After a pause the chain mines the missed blocks together, with timestamps one second apart.
      maxClockSkewMs: 120_000,
      // A killed chain restarts from its last saved block.
      stopOnDeepReorg: false,
    };
  });
}

const feedsOf = (state: DemoState, layout: Layout) =>
  Object.fromEntries(
    state.config.exchange.sources.map(({ name, kind }) => [
      name,
      { kind, url: `ws://127.0.0.1:${layout.ports.exchange}/${name}` },
    ]),
  );
const attesterUrls = (state: DemoState, layout: Layout) =>
  state.attesters.map((_, index) => `http://127.0.0.1:${layout.ports.attester(index)}`);

function venueConfig(state: DemoState, layout: Layout): object {
  const { config } = state;
  const [source] = config.exchange.sources;
  if (!source) throw new Error('The demo has no price source.');
  return {
    app: 'venue',
    venueId: VENUE_ID,
    http: {
      ...localPort(layout.ports.venue),
      console: { rpcUrls: Object.fromEntries(state.chains.map(({ id, rpcUrl }) => [id, rpcUrl])) },
    },
    ops: localPort(layout.ports.venueOps),
    admin: {
      ...localPort(layout.ports.venueAdmin),
      keys: [{ id: 'demo', secret: { file: layout.secret('admin') } }],
    },
    database: database('venue'),
    keys: {
      relayer: keyOf(layout, 'relayer'),
      seals: [{ id: 'demo', secret: { file: layout.secret('seal') } }],
      webhooks: [{ id: 'demo', secret: { file: layout.secret('seal') } }],
      partners: [{ file: layout.secret('partners') }],
    },
    chains: chainsOf(state).map((chain) => ({
      ...chain,
      tokens: [...chain.tokens, ...sharesOf(state, chain.id)],
      executionMode: config.chains.find(({ id }) => id === chain.id)?.executionMode,
      batch: state.chains.find(({ id }) => id === chain.id)?.batch ?? null,
    })),
    listedChains: config.listedChains,
    // Receivers of a demo run on the same machine.
    webhooks: { allowPrivate: true, allowHttp: true },
    attesters: { urls: attesterUrls(state, layout) },
    feeds: feedsOf(state, layout),
    prices: {
      USD: { fixed: '1' },
      ...Object.fromEntries(
        config.exchange.symbols
          .filter(({ price }) => price !== PEG)
          .map(({ price, ...pair }) => [price, { feed: source.name, symbol: symbolAt(source.kind, pair) }]),
      ),
    },
    screening: { denyListFile: layout.denyList },
    travelRule: { file: layout.travelRule },
    workspaces: [
      {
        id: 'demo',
        name: 'Demo workspace',
        platformFeeBps: config.venue.platformFeeBps,
        travelRuleThresholdUsd: TRAVEL_RULE_USD,
      },
      { id: 'other', name: 'Another workspace', platformFeeBps: config.venue.platformFeeBps },
    ],
    solvers: [...config.lps, config.spareLp].map(({ id, name }) => ({ id, name })),
    dex: dexes(state),
    issuers: issuersOf(state),
    bridges: [bridgeSection(state, layout)],
    outbound: { allowPrivate: true },
    partners: [
      {
        id: config.partner.id,
        name: config.partner.name,
        kind: 'fiat',
        url: `http://127.0.0.1:${layout.ports.partner}`,
        publicKeys: [publicKeyText(partnerSigningKey(state.partner.partnerPem))],
        timeoutMs: 1_000,
        termsSeconds: 1,
      },
    ],
    router: { timeoutMs: 2_000 },
    fanOut: { timeoutMs: config.venue.quoteTimeoutMs, sliceTimeoutMs: config.venue.sliceTimeoutMs },
  };
}

/** Lists vault shares, which only the venue knows: no LP quotes one. */
function sharesOf({ chains, config }: DemoState, chainId: number) {
  const issuers = chains.find(({ id }) => id === chainId)?.issuers;
  const price = config.tokens.find(({ symbol }) => symbol === issuers?.asset.symbol)?.price;
  return issuers ? [{ ...issuers.share, priceSymbol: price }] : [];
}

function issuersOf({ chains }: DemoState): object[] {
  const on = chains.flatMap(({ id: chainId, issuers }) => (issuers ? [{ chainId, ...issuers }] : []));
  if (on.length === 0) return [];
  const savings = on.map(({ chainId, vault, asset, share }) => ({
    ...{ chainId, filler: vault.filler },
    products: [{ tokens: [asset.address, share.address] }],
  }));
  const peg = on.map(({ chainId, psm, gem, dai }) => ({
    ...{ chainId, filler: psm.filler },
    products: [{ tokens: [gem, dai], psm: psm.address }],
  }));
  const timeoutMs = 1_500;
  return [
    { id: 'savings', name: 'Savings vault', kind: 'vault', places: savings, toleranceBps: 2, timeoutMs },
    { id: 'peg', name: 'Peg-stability module', kind: 'peg', places: peg, toleranceBps: 0, timeoutMs },
  ];
}

function dexes({ chains }: DemoState): object[] {
  return (['constantProduct', 'concentrated'] as const).flatMap((kind) => {
    const places = chains.flatMap(({ id, dex }) => {
      const pools = dex.pools
        .filter(({ fee }) => (fee === null) === (kind === 'constantProduct'))
        .map(({ tokens, fee }) => ({ tokens, fee }));
      return pools.length === 0 ? [] : [{ chainId: id, ...dex[kind], pools }];
    });
    if (places.length === 0) return [];
    return [
      kind === 'constantProduct'
        ? { id: 'uniswap-v2', name: 'Uniswap v2', kind: 'constant_product', places, timeoutMs: 1_500 }
        : { id: 'uniswap-v3', name: 'Uniswap v3', kind: 'concentrated', places, timeoutMs: 1_500 },
    ];
  });
}

function bridgeSection({ bridge, config, chains }: DemoState, layout: Layout): object {
  const { id, name } = config.bridge;
  const on = chains.flatMap(({ id: chainId, tokens }) =>
    tokens.flatMap(({ symbol, address: token }) => (symbol === 'USDC' ? [{ chainId, token }] : [])),
  );
  return {
    ...{ id, name, account: bridge.owner.address, operator: keyOf(layout, BRIDGE_KEY) },
    assets: [{ on }],
    refill: { costBps: 1, seconds: 900 },
    // A refund waits until the order has expired.
    validSeconds: 12,
    timeoutMs: 1_500,
  };
}

export function lpSections(state: DemoState, layout: Layout) {
  const { exchange, tokens } = state.config;
  const keeper = state.chains.find(({ oracles: kept }) => Object.keys(kept).length > 0);
  const oracles = keeper && {
    chainlink: {
      kind: 'chainlink',
      chainId: keeper.id,
      aggregators: Object.fromEntries(
        Object.entries(keeper.oracles).map(([price, address]) => [`${price}/USD`, address]),
      ),
    },
  };
  const guards = exchange.symbols.filter(({ price }) => price === PEG);
  const sequencerOf = (chainId: number) => {
    const address = state.chains.find(({ id }) => id === chainId)?.sequencer ?? null;
    return address && { address, graceSeconds: 2 };
  };
  const referencesOf = (price: string) =>
    keeper && price in keeper.oracles
      ? [{ feed: 'chainlink', symbol: `${price}/USD`, deviationBps: 25, maxAgeMs: 120_000 }]
      : [];
  return {
    networks: chainsOf(state).map((chain) => ({ ...chain, sequencer: sequencerOf(chain.id) })),
    attesters: { urls: attesterUrls(state, layout) },
    feeds: { ...feedsOf(state, layout), ...oracles },
    prices: {
      USD: {
        fixed: '1',
        guards: guards.flatMap((pair) =>
          exchange.sources.map(({ name, kind }) => ({ feed: name, symbol: symbolAt(kind, pair) })),
        ),
      },
      ...Object.fromEntries(
        exchange.symbols
          .filter(({ price }) => price !== PEG)
          .map(({ price, ...pair }) => [
            price,
            {
              sources: exchange.sources.map(({ name, kind }) => ({
                feed: name,
                symbol: symbolAt(kind, pair),
              })),
              maxAgeMs: 2_000,
              references: referencesOf(price),
            },
          ]),
      ),
    },
    assets: Object.fromEntries(tokens.map(({ symbol, price }) => [symbol, { price }])),
    chain: { maxHeadAgeMs: 8_000, graceSeconds: 4 },
  };
}

function lpConfig(state: DemoState, layout: Layout, index: number): object {
  const { config } = state;
  const [lp, keys] = [config.lps[index], state.lps[index]];
  if (!lp || !keys) throw new Error(`The demo has no LP number ${index + 1}.`);
  const symbols = new Set(lp.pairs.flatMap(({ base, quote }) => [base, quote]));
  const { prices, assets, chain, ...sections } = lpSections(state, layout);
  return {
    app: 'lp',
    ops: localPort(layout.ports.lpOps(index)),
    // Any local program may take part in the demo.
    admin: {
      port: layout.ports.lpAdmin(index),
      tokenFile: null,
      console: { port: layout.ports.lpConsole(index), tokenFile: layout.secret('admin') },
    },
    database: database(`lp_${lp.id}`),
    keys: { operator: keyOf(layout, lpProcess(lp.id)) },
    venues: [
      {
        name: 'demo',
        url: `ws://127.0.0.1:${layout.ports.venue}`,
        venueId: VENUE_ID,
        apiKey: { file: layout.secret(lpProcess(lp.id)) },
      },
    ],
    ...sections,
    lp: {
      solver: { id: lp.id, name: lp.name },
      chains: state.chains.map(({ id }) => ({ chainId: id, account: keys.owner.address, ...chain })),
      prices,
      assets: Object.fromEntries(Object.entries(assets).filter(([symbol]) => symbols.has(symbol))),
      pairs: lp.pairs,
      quoting: lp.quoting,
      limits: lp.limits,
      risk: { ...lp.risk, killFile: layout.killFile(lp.id) },
      lease: { aheadSeconds: 8 },
      reconcileSeconds: 5,
    },
  };
}

function attesterConfig(state: DemoState, layout: Layout, index: number): object {
  return {
    app: 'attester',
    http: localPort(layout.ports.attester(index)),
    ops: localPort(layout.ports.attesterOps(index)),
    keys: { attester: keyOf(layout, attesterProcess(index)) },
    chains: chainsOf(state),
  };
}
