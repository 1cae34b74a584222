/**
 * Sets up CCTP between test chains: our stand-ins for Circle's contracts, and a simulated attestation
 * service.
 */

import { createAttestationService } from '../../src/adapters/bridges/cctp/attestation-service.ts';
import { createCctpBridge } from '../../src/adapters/bridges/cctp/bridge.ts';
import type { CctpOptions, CctpPlace } from '../../src/adapters/bridges/cctp/place.ts';
import { type CctpDeployment, deployCctp, linkCctp } from './deploy-cctp.ts';
import { createOutbound } from '../../src/adapters/outbound/request.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import type { Address, Bytes32 } from '../../src/domain/hex.ts';
import type { Bridge } from '../../src/ports/bridge.ts';
import { accountCall } from '../../src/settlement/lp-account.ts';
import { type Circle, startCircle } from './circle.ts';
import { account, ATTESTERS, DEPLOYER, type TestAccount, type TestChain } from './devnet.ts';
import { startLpAccount } from './lp-account.ts';

export interface TestCctp {
  circle: Circle;
  deployments: readonly CctpDeployment[];
  /** An `LpAccount` at one address on all chains. */
  account: Address;
  owner: TestAccount;
  mover: TestAccount;
  feeRecipient: Address;
  /** A new adapter, as a process that starts again makes it. */
  open(change?: Partial<Pick<CctpOptions, 'fast' | 'maxFeeBps'>>): Bridge;
  stop(): Promise<void>;
}

interface CctpSide {
  chain: TestChain;
  domain: number;
  /** Every burn is final and attested immediately, as on Arc. */
  isFinalAtOnce?: boolean;
}

const ANY_FEE_BPS = 10_000;
const FEE_RECIPIENT = account(8_101);
const FAST_BLOCKS = 1;
const STANDARD_BLOCKS = 4;

/** Starts the bridge. `salt`: for a further account on the same chains. */
export async function startCctp(sides: readonly CctpSide[], salt?: Bytes32): Promise<TestCctp> {
  const access = ({ anvil, chain }: TestChain) => ({
    rpcUrl: anvil.url,
    chainId: chain.id,
    deployerPrivateKey: DEPLOYER.privateKey,
  });
  const deployments = await Promise.all(
    sides.map(({ chain, domain }) =>
      deployCctp({
        ...access(chain),
        domain,
        token: chain.usdc.address,
        attesters: ATTESTERS.map(({ address }) => address),
        threshold: 2,
        feeRecipient: FEE_RECIPIENT.address,
      }),
    ),
  );
  await Promise.all(
    sides.map(({ chain }, index) =>
      linkCctp({
        ...access(chain),
        messenger: (deployments[index] as CctpDeployment).messenger,
        remotes: deployments.filter((_, at) => at !== index),
      }),
    ),
  );
  const lp = await startLpAccount(
    sides.map(({ chain }, index) => {
      const { token, messenger } = deployments[index] as CctpDeployment;
      return {
        chain,
        tokens: [token],
        routes: deployments
          .filter((_, at) => at !== index)
          .map(({ domain }) => accountCall.setCctpRoute(token, domain, messenger, ANY_FEE_BPS)),
      };
    }),
    salt,
  );
  const circle = await startCircle({
    port: 0,
    chains: sides.map(({ chain, domain, isFinalAtOnce = false }, index) => ({
      domain,
      rpcUrl: chain.anvil.url,
      transmitter: (deployments[index] as CctpDeployment).transmitter,
      blocks: isFinalAtOnce ? { fast: null, standard: 0 } : { fast: FAST_BLOCKS, standard: STANDARD_BLOCKS },
    })),
    attesters: ATTESTERS.map(({ privateKey }) => privateKey),
    threshold: 2,
    feeBps: { fast: 1.3, standard: 0 },
    expiryBlocks: 1_000,
  });
  const places = sides.map(({ chain, isFinalAtOnce = false }, index): CctpPlace => {
    const { domain, token, messenger, transmitter } = deployments[index] as CctpDeployment;
    const seconds = isFinalAtOnce ? { fast: null, standard: 1 } : { fast: 20, standard: 1_140 };
    return { chain: chain.port, domain, token, messenger, transmitter, seconds };
  });
  const outbound = createOutbound({ allowPrivate: true });
  return {
    circle,
    deployments,
    account: lp.address,
    owner: lp.owner,
    mover: lp.mover,
    feeRecipient: FEE_RECIPIENT.address,
    open: (change = {}) =>
      createCctpBridge(
        {
          clock: systemClock,
          attestations: createAttestationService(
            { outbound, clock: systemClock },
            { url: circle.url, timeoutMs: 1_000, spacingMs: 1 },
          ),
        },
        { places, fast: true, maxFeeBps: 20, ...change },
      ),
    async stop() {
      outbound.close();
      await circle.close();
    },
  };
}
