/** Makes the bridges that a configuration names. */

import { createAttestationService } from '../../adapters/bridges/cctp/attestation-service.ts';
import { createCctpBridge } from '../../adapters/bridges/cctp/bridge.ts';
import type { CctpPlace } from '../../adapters/bridges/cctp/place.ts';
import { createOftBridge } from '../../adapters/bridges/oft/bridge.ts';
import type { OftOptions } from '../../adapters/bridges/oft/place.ts';
import { createOutbound } from '../../adapters/outbound/request.ts';
import { parseUnits } from '../../domain/amount.ts';
import type { TokenInfo } from '../../domain/chain.ts';
import type { Bridge } from '../../ports/bridge.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import { badConfig } from './bad-request.ts';
import type { BridgeTransports } from '../config/bridges.ts';
import type { ChainSection } from '../config/parts.ts';

export type BridgeChain = Pick<ChainSection, 'id' | 'slug' | 'sandbox' | 'cctp' | 'cctpDomain'> & {
  tokens: readonly Pick<TokenInfo, 'address' | 'decimals'>[];
};

interface BridgeTools {
  sections: readonly BridgeChain[];
  chains: readonly ChainPort[];
  clock: Clock;
}

const ATTESTATION_URL = 'https://iris-api.circle.com';
const SANDBOX_ATTESTATION_URL = 'https://iris-api-sandbox.circle.com';

/**
 * Opens the bridges; call `close` at the end. Throws `RequestError` for a contradiction in the configuration.
 */
export function openBridges(transports: BridgeTransports, tools: BridgeTools) {
  const cctp = transports.cctp === null ? undefined : cctpParts(transports.cctp, tools);
  const bridges: Bridge[] = [];
  if (cctp) bridges.push(createCctpBridge({ ...cctp, clock: tools.clock }, cctp.options));
  for (const oft of transports.oft) bridges.push(createOftBridge(oftOptions(oft, tools)));
  return { bridges, close: () => cctp?.close() };
}

/** Makes the same parts for the bridge and for a check of them. */
export function cctpParts(
  { attestationUrl, allowPrivate, fast, maxFeeBps, timeoutMs }: NonNullable<BridgeTransports['cctp']>,
  { sections, chains, clock }: BridgeTools,
) {
  const used = sections.flatMap(({ id, slug, sandbox, cctp, cctpDomain }) => {
    if (cctp === null) return [];
    if (cctpDomain === null)
      throw badConfig(`The chain ${slug} has cctp and no cctpDomain. Set both, as its preset does.`);
    const chain = chains.find((each) => each.chain.id === id);
    return chain ? [{ chain, sandbox, cctp, domain: cctpDomain }] : [];
  });
  if (used.length < 2)
    throw badConfig(
      'bridges.cctp needs two chains with cctp set: use presets such as base and arc, or remove bridges.cctp.',
    );
  const sandbox = used.every((each) => each.sandbox);
  if (!sandbox && used.some((each) => each.sandbox))
    throw badConfig(
      "bridges.cctp joins chains of real money with test chains, which Circle's CCTP does not. Set cctp to null on one kind.",
    );
  const outbound = createOutbound({ allowPrivate, section: 'bridges.cctp' });
  const attestations = createAttestationService(
    { outbound, clock },
    { url: attestationUrl ?? (sandbox ? SANDBOX_ATTESTATION_URL : ATTESTATION_URL), timeoutMs },
  );
  const places = used.map(({ chain, domain, cctp }): CctpPlace => ({
    chain,
    domain,
    token: cctp.token,
    messenger: cctp.messenger,
    transmitter: cctp.transmitter,
    seconds: { fast: cctp.fastSeconds, standard: cctp.standardSeconds },
  }));
  return { attestations, options: { places, fast, maxFeeBps }, close: () => outbound.close() };
}

/**
 * Makes the same options for the bridge and for a check of them. Leaves out chains that are not configured.
 */
export function oftOptions(
  { asset, sharedDecimals, maxFeeBps, patienceSeconds, chains: configured }: BridgeTransports['oft'][number],
  { sections, chains }: Pick<BridgeTools, 'sections' | 'chains'>,
): OftOptions {
  const used = configured.flatMap((entry) => {
    const section = sections.find(({ id }) => id === entry.chainId);
    const chain = chains.find((each) => each.chain.id === entry.chainId);
    return section && chain ? [{ ...entry, section, chain }] : [];
  });
  if (new Set(used.map(({ chainId }) => chainId)).size !== used.length)
    throw badConfig(`bridges.oft, ${asset}: a chain is there twice. Remove one.`);
  if (used.length < 2)
    throw badConfig(
      `bridges.oft, ${asset}: fewer than two of its chains are in networks. Add them there, or remove ${asset}.`,
    );
  if (new Set(used.map(({ section }) => section.sandbox)).size > 1)
    throw badConfig(
      `bridges.oft, ${asset}: it joins chains of real money with test chains. Remove one kind from its chains.`,
    );
  const places = used.map(({ section, chain, eid, endpoint, oft, token, seconds, maxNativeFee }) => {
    const decimals = section.tokens.find(({ address }) => address === token)?.decimals;
    if (decimals === undefined)
      throw badConfig(
        `bridges.oft, ${asset}: the chain ${section.slug} has no token ${token}. Add it to networks, tokens.`,
      );
    if (decimals < sharedDecimals)
      throw badConfig(
        `bridges.oft, ${asset}: sharedDecimals is ${sharedDecimals}, and its token on ${section.slug} has only ${decimals} decimals. Take what the OFT says of itself.`,
      );
    return {
      ...{ chain, eid, endpoint, oft, token, decimals, seconds },
      maxNativeFee: parseUnits(maxNativeFee, 18),
    };
  });
  return { asset, places, sharedDecimals, maxFeeBps, patienceSeconds };
}
