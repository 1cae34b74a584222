/** Checks what an LP needs: oracles, operator, deposits, venues, attesters, bridges and its account. */

import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { parseUnits } from '../../domain/amount.ts';
import type { Address } from '../../domain/hex.ts';
import { wantedOf } from '../../lp/market/market.ts';
import type { ChainSection } from '../config/parts.ts';
import type { LpAppConfig } from '../lp/config.ts';
import { LP_SCHEMA, LP_TABLES } from '../lp/schema.ts';
import { SHADOW_DATABASE } from '../lp/shadow.ts';
import { feeCapWei } from '../wiring/networks.ts';
import { checkAttesters, checkDeposit, checkOperator, checkShadowInventory } from './accounts.ts';
import { checkBridges } from './bridges.ts';
import type { Expected } from './contracts.ts';
import { attempt, type Finding, ok } from './finding.ts';
import { MOVER_CALL } from './floats.ts';
import { checkLpAccount } from './lp-account.ts';
import { CHAIN_TODO, LOOK_BACK_SECONDS, type Needs, onEach, withNode } from './needs.ts';
import { checkVenue } from './reach.ts';
import { checkGas, checkSenderKey, checkSigner } from './signers.ts';

export function lpNeeds(config: LpAppConfig): Needs {
  const { database, networks, keys, feeds, venues, attesters, replicas, lp } = config;
  const { gasUnits, txBytes } = lp.quoting;
  const oracles = (chainId: number): Expected[] => [
    ...Object.entries(feeds).flatMap(([name, feed]): Expected[] => {
      if (feed.kind === 'chainlink' && feed.chainId === chainId)
        return Object.entries(feed.aggregators).map(([symbol, address]) => ({
          option: `${name} ${symbol}`,
          address,
        }));
      if (feed.kind === 'uniswapV3Twap' && feed.chainId === chainId)
        return Object.entries(feed.pools).map(([symbol, { address }]) => ({
          option: `${name} ${symbol}`,
          address,
        }));
      return [];
    }),
    ...networks.flatMap(({ id, sequencer }): Expected[] =>
      id === chainId && sequencer !== null ? [{ option: 'sequencer', address: sequencer.address }] : [],
    ),
  ];
  return {
    chains: networks,
    lookBackSeconds: LOOK_BACK_SECONDS,
    database: { section: database, schema: LP_SCHEMA, tables: LP_TABLES },
    redis: replicas.redisUrl === null ? [] : [{ url: replicas.redisUrl, use: 'replicas' }],
    feeds: {
      sections: feeds,
      wanted: wantedOf(lp.prices),
      groups: Object.entries(lp.prices).map(([price, options]) =>
        'fixed' in options
          ? { price, sources: options.guards, maxDeviationBps: options.depegBps }
          : { price, sources: options.sources, maxDeviationBps: options.maxDeviationBps },
      ),
    },
    contracts: oracles,
    async more(tools, opened) {
      const { row, address: operator } = await checkSigner('operator', keys.operator, tools);
      const accounts = await onEach(opened, 'deposit', async (chain) => {
        const place = lp.chains.find(({ chainId }) => chainId === chain.chain.id);
        if (place === undefined) return [];
        const { account, minGas } = place;
        const rows: Finding[] = [];
        if (operator !== undefined) {
          rows.push(
            await checkOperator(chain, { account, operator, mayBeOwner: keys.operatorMayBeOwner }),
            await checkGas(chain, 'operator', operator, {
              gas: BigInt(gasUnits.fill),
              bytes: txBytes.fill,
              feeCap: feeCapWei(networks.find(({ id }) => id === chain.chain.id)),
              least: minGas === null ? undefined : parseUnits(minGas, 18),
            }),
          );
        }
        for (const token of chain.chain.tokens)
          if (lp.assets[token.symbol] !== undefined)
            rows.push(await checkDeposit(chain, token, { account, operator }));
        return rows;
      });
      const links = await Promise.all(venues.map(({ name, url }) => checkVenue(name, url)));
      const proofs = await attempt(
        'attesters',
        'all chains',
        () => checkAttesters(attesters, opened, { log: tools.log, metrics: createMetrics() }),
        CHAIN_TODO,
      );
      const bridges = await checkBridges(config.bridges, networks, opened);
      const account = lp.chains[0]?.account as Address;
      const mover =
        keys.mover === null
          ? undefined
          : await checkSenderKey('mover', keys.mover, tools, {
              chains: opened,
              feeCap: (chainId) => feeCapWei(networks.find(({ id }) => id === chainId)),
              of: MOVER_CALL,
            });
      const contract = await checkLpAccount(
        opened.filter(({ chain }) => lp.chains.some(({ chainId }) => chainId === chain.id)),
        {
          ...{ account, operator, mover: mover?.address, transfers: config.transfers.mode !== 'off' },
          ...{ bridges: config.bridges, sections: networks },
          async codeOn(chainId) {
            const section = networks.find(({ id }) => id === chainId) as ChainSection;
            return withNode(section, tools, async (node) => node.code(account, await node.headNumber()));
          },
        },
      );
      return [row, ...accounts, ...(mover?.rows ?? []), ...contract, ...links, ...proofs, ...bridges];
    },
  };
}

/** Lists the needs of an LP that prices and signs nothing: no key, gas, deposit or bridge. */
export function shadowNeeds(config: LpAppConfig): Needs {
  const { database: section, venues, attesters, lp, shadow } = config;
  const { schema, migrations: tables } = SHADOW_DATABASE;
  return {
    ...lpNeeds(config),
    database: { section, schema, tables },
    async more({ log }, opened) {
      const inventory = await onEach(opened, 'inventory', (chain) => {
        const account = lp.chains.find(({ chainId }) => chainId === chain.chain.id)?.account;
        return account === undefined
          ? []
          : Promise.all(
              chain.chain.tokens
                .filter(({ symbol }) => lp.assets[symbol] !== undefined)
                .map((token) => checkShadowInventory(chain, token, account, shadow.inventory)),
            );
      });
      return [
        ok('operator', 'all chains', 'shadow mode opens no key and signs nothing'),
        ...inventory,
        ...(await Promise.all(venues.map(({ name, url }) => checkVenue(name, url)))),
        ...(await attempt(
          'attesters',
          'all chains',
          () => checkAttesters(attesters, opened, { log, metrics: createMetrics() }),
          CHAIN_TODO,
        )),
      ];
    },
  };
}
