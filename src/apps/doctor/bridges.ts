/** Checks that the contracts and services of bridges are what the configuration says, and answer. */

import { cctpProblems } from '../../adapters/bridges/cctp/place.ts';
import { oftProblems } from '../../adapters/bridges/oft/place.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { type BridgeChain, cctpParts, oftOptions } from '../wiring/bridges.ts';
import type { BridgeTransports } from '../config/bridges.ts';
import { attempt, failure, type Finding, ok } from './finding.ts';

const CHECK = 'bridge';

export async function checkBridges(
  { cctp, oft }: BridgeTransports,
  sections: readonly BridgeChain[],
  chains: readonly ChainPort[],
): Promise<Finding[]> {
  const ofCctp = cctp === null ? [] : await checkCctp(cctp, sections, chains);
  const ofOfts = await Promise.all(oft.map((each) => checkOft(each, sections, chains)));
  return [...ofCctp, ...ofOfts.flat()];
}

async function checkOft(
  oft: BridgeTransports['oft'][number],
  sections: readonly BridgeChain[],
  chains: readonly ChainPort[],
): Promise<Finding[]> {
  const todo = 'Correct bridges.oft: take the addresses from the issuer';
  return attempt(
    CHECK,
    `OFT ${oft.asset}`,
    async () => {
      const { places, sharedDecimals } = oftOptions(oft, { sections, chains });
      return Promise.all(
        places.map(async (place): Promise<Finding> => {
          const subject = `OFT ${oft.asset} ${place.chain.chain.slug}`;
          const problems = await oftProblems(
            place,
            places.filter((other) => other !== place),
            sharedDecimals,
          );
          return problems.length === 0
            ? ok(CHECK, subject, `eid ${place.eid}; it knows the OFTs of the other chains`)
            : failure(CHECK, subject, problems.join('; '), todo);
        }),
      );
    },
    todo,
  );
}

async function checkCctp(
  cctp: NonNullable<BridgeTransports['cctp']>,
  sections: readonly BridgeChain[],
  chains: readonly ChainPort[],
): Promise<Finding[]> {
  return attempt(
    CHECK,
    'CCTP',
    async () => {
      const { options, attestations, close } = cctpParts(cctp, { sections, chains, clock: systemClock });
      const { places } = options;
      try {
        const rows = await Promise.all(
          places.map(async (place): Promise<Finding> => {
            const subject = `CCTP ${place.chain.chain.slug}`;
            const problems = await cctpProblems(
              place,
              places.filter((other) => other !== place),
            );
            return problems.length === 0
              ? ok(CHECK, subject, `domain ${place.domain}; its contracts know the other chains`)
              : failure(
                  CHECK,
                  subject,
                  problems.join('; '),
                  'Correct networks, cctp: take them from a preset',
                );
          }),
        );
        const [first, second] = places;
        const service = await attempt(
          CHECK,
          'CCTP attestations',
          async () => {
            const fees = await attestations.fees(first?.domain ?? 0, second?.domain ?? 0);
            const shown = [...fees].map(([finality, fee]) => `${Number(fee) / 1_000} bps at ${finality}`);
            return ok(CHECK, 'CCTP attestations', `the service answers: ${shown.join(', ') || 'no fees'}`);
          },
          'Correct bridges.cctp.attestationUrl, or let this host reach it',
        );
        return [...rows, ...service];
      } finally {
        close();
      }
    },
    'Correct bridges.cctp and networks, cctp',
  );
}
