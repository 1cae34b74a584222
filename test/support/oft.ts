/**
 * Sets up OFTs between test chains, on the devnets' endpoint or on LayerZero's own. The tests play the
 * verifiers; the executor is any account that sends what the bridge calls deliverable.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type Abi,
  decodeEventLog,
  encodeFunctionData,
  getContractAddress,
  parseAbi,
  type EncodeDeployDataParameters,
} from 'viem';
import { createOftBridge } from '../../src/adapters/bridges/oft/bridge.ts';
import type { OftOptions, OftPlace } from '../../src/adapters/bridges/oft/place.ts';
import { decodePacket, payloadHash } from '../../src/adapters/bridges/oft/packet.ts';
import { connectDev } from '../../src/adapters/evm/deploy/deploy.ts';
import { deployOft, linkOft, type OftDeployment } from './deploy-oft.ts';
import { bytes32ToAddress, type Address, type Hex, ZERO_BYTES32 } from '../../src/domain/hex.ts';
import type { Bridge } from '../../src/ports/bridge.ts';
import { devLzEndpointAbi } from './abi/dev-lz-endpoint.ts';
import { devOftAbi } from './abi/dev-oft.ts';
import { account, DEPLOYER, type TestChain } from './devnet.ts';
import { creationCodeOf } from '../../src/adapters/evm/deploy/creation-code.ts';

export interface OftSide {
  chain: TestChain;
  eid: number;
  /** The token that an adapter locks; null: the OFT is a token itself. */
  token: { address: Address; decimals: number } | null;
}

/** Faults of the simulated verifiers. */
interface VerifierFaults {
  silent?: boolean;
  /** True: they verify another message under the packet's nonce. */
  forge?: boolean;
  /** The packets that they leave out. */
  omit?: readonly Hex[];
}

export interface TestOft {
  deployments: readonly OftDeployment[];
  /** The account at one address on all chains; anyone sends from it. */
  account: Address;
  /** A new adapter, as a process that starts again makes it. */
  open(change?: Partial<Omit<OftOptions, 'places'>>, place?: Partial<OftPlace>): Bridge;
  setFaults(faults: VerifierFaults): void;
  /** Verifies on each chain what the others have sent to it until now. */
  verify(): Promise<void>;
  /** Sets the fee of each message from every chain, wei. */
  setFee(wei: bigint): Promise<void>;
  /** Calls as the owner of the OFTs, who is their delegate at the endpoints. */
  own(chain: TestChain, to: Address, data: Hex): Promise<Hex>;
  setPaused(side: number, paused: boolean): Promise<void>;
  /** The owner takes back the verification of the newest packet to this side, and verifies it before. */
  nilifyNewest(side: number): Promise<void>;
}

export const NATIVE_FEE = 50_000_000_000_000n;
const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
const VERIFIER = account(8_300);

const realEndpointAbi = parseAbi([
  'function registerLibrary(address)',
  'function setDefaultSendLibrary(uint32, address)',
  'function setDefaultReceiveLibrary(uint32, address, uint256)',
]);
const messageLibAbi = parseAbi([
  'function validatePacket(bytes)',
  'function setMessagingFee(uint256 nativeFee, uint256 lzTokenFee)',
]);

const protocolFolder = dirname(
  createRequire(import.meta.url).resolve('@layerzerolabs/lz-evm-protocol-v2/package.json'),
);
/** Reads a contract as LayerZero compiled it. */
export const layerZeroArtifact = (name: string): { abi: Abi; bytecode: Hex } =>
  JSON.parse(readFileSync(join(protocolFolder, `artifacts/contracts/${name}`), 'utf8')) as never;

const access = ({ anvil, chain }: TestChain) => ({
  rpcUrl: anvil.url,
  chainId: chain.id,
  deployerPrivateKey: DEPLOYER.privateKey,
});

/** EndpointV2 itself, with the library of LayerZero's own tests for the fee and the verification. */
async function deployLayerZero({ chain, eid }: OftSide, remoteEids: readonly number[]) {
  const dev = await connectDev(access(chain));
  const create = (name: string, args: readonly unknown[]) =>
    dev.create({ ...layerZeroArtifact(name), args } as EncodeDeployDataParameters);
  const endpoint = create('EndpointV2.sol/EndpointV2.json', [eid, dev.address]);
  const library = create('messagelib/SimpleMessageLib.sol/SimpleMessageLib.json', [endpoint, dev.address]);
  const set = (functionName: 'registerLibrary' | 'setDefaultSendLibrary', args: readonly unknown[]) =>
    dev.send(endpoint, encodeFunctionData({ abi: realEndpointAbi, functionName, args } as never));
  set('registerLibrary', [library]);
  for (const remote of remoteEids) {
    set('setDefaultSendLibrary', [remote, library]);
    dev.send(
      endpoint,
      encodeFunctionData({
        abi: realEndpointAbi,
        functionName: 'setDefaultReceiveLibrary',
        args: [remote, library, 0n],
      }),
    );
  }
  dev.send(
    library,
    encodeFunctionData({ abi: messageLibAbi, functionName: 'setMessagingFee', args: [NATIVE_FEE, 0n] }),
  );
  await dev.settled();
  return { endpoint, library };
}

export async function startOft(
  sides: readonly [OftSide, OftSide],
  { isReal = false }: { isReal?: boolean } = {},
): Promise<TestOft> {
  let faults: VerifierFaults = {};
  const grounds = await Promise.all(
    sides.map((side) =>
      isReal
        ? deployLayerZero(
            side,
            sides.map(({ eid }) => eid).filter((eid) => eid !== side.eid),
          )
        : null,
    ),
  );
  const deployments = await Promise.all(
    sides.map(({ chain, eid, token }, index) =>
      deployOft({
        ...access(chain),
        ...{ eid, nativeFee: NATIVE_FEE, name: 'Test OFT', symbol: 'OFT' },
        token: token?.address ?? null,
        endpoint: grounds[index]?.endpoint ?? null,
      }),
    ),
  );
  const bridgeAccount = getContractAddress({
    opcode: 'CREATE2',
    from: CREATE2_DEPLOYER,
    salt: ZERO_BYTES32,
    bytecode: creationCodeOf('test/DevBridgeAccount'),
  }).toLowerCase() as Address;
  const each = <T>(work: (side: OftSide, deployment: OftDeployment, index: number) => Promise<T>) =>
    Promise.all(sides.map((side, index) => work(side, deployments[index] as OftDeployment, index)));
  await each(async ({ chain, eid }, { oft }) => {
    await linkOft({ ...access(chain), oft, remotes: deployments.filter((other) => other.eid !== eid) });
    await chain.fund(VERIFIER.address, 0n);
    if (await chain.port.hasCode(bridgeAccount)) return;
    await chain.send(
      VERIFIER.address,
      CREATE2_DEPLOYER,
      `${ZERO_BYTES32}${creationCodeOf('test/DevBridgeAccount').slice(2)}`,
    );
  });

  /** Whole packets that a chain has sent, oldest first. */
  async function sentBy({ chain }: OftSide, { endpoint }: OftDeployment): Promise<Hex[]> {
    const logs = await chain.anvil.rpc<{ topics: Hex[]; data: Hex }[]>('eth_getLogs', [
      { address: endpoint, fromBlock: '0x0', toBlock: 'latest' },
    ]);
    return logs.flatMap(({ topics, data }) => {
      try {
        const { args, eventName } = decodeEventLog({
          abi: devLzEndpointAbi,
          topics: topics as [Hex, ...Hex[]],
          data,
        });
        return eventName === 'PacketSent' ? [args.encodedPayload] : [];
      } catch {
        return [];
      }
    });
  }

  async function verifyOne(encoded: Hex): Promise<void> {
    const packet = decodePacket(encoded);
    if (!packet) throw new Error('no packet');
    const index = sides.findIndex(({ eid }) => eid === packet.dstEid);
    const [{ chain }, { endpoint }] = [sides[index] as OftSide, deployments[index] as OftDeployment];
    if (faults.omit?.includes(packet.guid)) return;
    const receiver = bytes32ToAddress(packet.receiver);
    const view = (data: Hex) => chain.anvil.rpc<Hex>('eth_call', [{ to: endpoint, data }, 'latest']);
    const path = [receiver, packet.srcEid, packet.sender] as const;
    const [stored, lazyNonce] = await Promise.all([
      view(
        encodeFunctionData({
          abi: devLzEndpointAbi,
          functionName: 'inboundPayloadHash',
          args: [...path, packet.nonce],
        }),
      ),
      view(encodeFunctionData({ abi: devLzEndpointAbi, functionName: 'lazyInboundNonce', args: path })),
    ]);
    const shown = faults.forge ? { ...packet, message: `${packet.message.slice(0, -2)}ff` as Hex } : packet;
    if (stored === payloadHash(shown) || (stored === ZERO_BYTES32 && packet.nonce <= BigInt(lazyNonce)))
      return;
    const library = grounds[index]?.library;
    await (library
      ? chain.send(
          VERIFIER.address,
          library,
          encodeFunctionData({
            abi: messageLibAbi,
            functionName: 'validatePacket',
            args: [`${encoded.slice(0, -shown.message.length + 2)}${shown.message.slice(2)}` as Hex],
          }),
        )
      : chain.send(
          VERIFIER.address,
          endpoint,
          encodeFunctionData({
            abi: devLzEndpointAbi,
            functionName: 'verify',
            args: [
              { srcEid: packet.srcEid, sender: packet.sender, nonce: packet.nonce },
              receiver,
              payloadHash(shown),
            ],
          }),
        ));
  }

  async function verify(): Promise<void> {
    if (faults.silent) return;
    for (const [index, side] of sides.entries())
      for (const packet of await sentBy(side, deployments[index] as OftDeployment)) await verifyOne(packet);
  }

  const own = (chain: TestChain, to: Address, data: Hex) => chain.send(DEPLOYER.address, to, data);
  return {
    deployments,
    account: bridgeAccount,
    open: (change = {}, place = {}) =>
      createOftBridge({
        ...{ asset: 'OFT', sharedDecimals: 6, maxFeeBps: 5, patienceSeconds: 0 },
        places: sides.map(({ chain, token }, index): OftPlace => {
          const { eid, endpoint, oft, token: address } = deployments[index] as OftDeployment;
          return {
            ...{ chain: chain.port, eid, endpoint, oft, token: address, decimals: token?.decimals ?? 18 },
            ...{ seconds: 0, maxNativeFee: 2n * NATIVE_FEE },
            ...place,
          };
        }),
        ...change,
      }),
    setFaults: (next) => {
      faults = next;
    },
    verify,
    async setFee(wei) {
      await each(async ({ chain }, { endpoint }, index) => {
        const library = grounds[index]?.library;
        await (library
          ? own(
              chain,
              library,
              encodeFunctionData({ abi: messageLibAbi, functionName: 'setMessagingFee', args: [wei, 0n] }),
            )
          : own(
              chain,
              endpoint,
              encodeFunctionData({ abi: devLzEndpointAbi, functionName: 'setFee', args: [wei] }),
            ));
      });
    },
    own,
    async setPaused(side, paused) {
      await own(
        (sides[side] as OftSide).chain,
        (deployments[side] as OftDeployment).oft,
        encodeFunctionData({ abi: devOftAbi, functionName: 'setPaused', args: [paused] }),
      );
    },
    async nilifyNewest(side) {
      await verify();
      const other = 1 - side;
      const sent = await sentBy(sides[other] as OftSide, deployments[other] as OftDeployment);
      const packet = decodePacket(sent.at(-1) ?? '0x');
      if (!packet) throw new Error('nothing was sent');
      const { endpoint, oft } = deployments[side] as OftDeployment;
      await own(
        (sides[side] as OftSide).chain,
        endpoint,
        encodeFunctionData({
          abi: devLzEndpointAbi,
          functionName: 'nilify',
          args: [oft, packet.srcEid, packet.sender, packet.nonce, payloadHash(packet)],
        }),
      );
    },
  };
}
