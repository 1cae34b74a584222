/**
 * The table of the alert rules: each with the real fault that it is there for. Faults of one list follow one
 * another; lists run together, and no list spoils what another one needs.
 */

import { SPARE_GAS } from '../../src/adapters/evm/transactor/transactor.ts';
import { rm, writeFile } from 'node:fs/promises';
import type { Address, Bytes32, Hex } from '../../src/domain/hex.ts';
import { keccakHex } from '../../src/domain/keccak.ts';
import type { SignedCommitment } from '../../src/domain/commitment.ts';
import { postBondCall } from '../../src/settlement/bond-call.ts';
import { limitOperatorCall } from '../../src/settlement/call.ts';
import { accountCall, moverCall } from '../../src/settlement/lp-account.ts';
import { claimCall } from '../support/bond-claims.ts';
import { makeTrade } from '../support/trade.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { lieAbout } from '../faults/support/lies.ts';
import { type Client, patiently } from '../faults/support/client.ts';
import type { Labels } from './prometheus.ts';
import { FLOAT_MOVER, LIAR, type LpId, type Stage } from './stage.ts';
import { order, quotesOf } from './trades.ts';

export interface Cause {
  /** What is done, in one clause. */
  fault: string;
  /** The rules that it fires, each with the labels that name what is at fault. */
  fires: Readonly<Record<string, Labels>>;
  bring(stage: Stage, client: Client): Promise<void>;
  heal?(stage: Stage, client: Client): Promise<void>;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const SLICE_MS = 300;
/** Wei that the world gives to each account. */
const GAS = 10n ** 20n;
/** WETH, worth about 125 USDC here. */
const LIMIT = 10n ** 18n / 20n;
/** The state of an order that does not exist. */
const NONE: Hex = `0x${'00'.repeat(32)}`;

const give = async ({ anvil }: TestChain, from: Address, to: Address, wei: bigint): Promise<void> =>
  void (await anvil.rpc('eth_sendTransaction', [{ from, to, value: `0x${wei.toString(16)}` }]));

const metricsOf = async ({ targets }: Stage, id: string): Promise<string> =>
  (await fetch(`${targets.find(({ instance }) => instance === id)?.opsUrl ?? ''}/metrics`)).text();

const shows = (stage: Stage, id: string, line: string): Promise<true> =>
  patiently(async () => (await metricsOf(stage, id)).includes(`\n${line}\n`) || undefined);

/** A control that an earlier fault tripped may hold for a minute. */
const quotesAgain = (stage: Stage, id: LpId, pair: string): Promise<true> =>
  shows(stage, id, `firmquote_lp_pair_quoting{pair="${pair}"} 1`);

const VENUE: readonly Cause[] = [
  {
    fault: 'somebody breaks the deny list file',
    fires: { DenyListStale: {} },
    bring: ({ denyList }) => writeFile(denyList, '{'),
    heal: ({ denyList }) => writeFile(denyList, '[]'),
  },
  {
    fault: 'the screening service answers 500 to every question',
    fires: { ScreeningDown: {} },
    async bring({ screening, home }, client) {
      screening.fail = true;
      for (let n = 0; n < 20; n += 1) {
        await quotesOf(client, { lp: 'alpha', from: home, to: home, usdc: 100n }).catch(() => {});
        await pause(SLICE_MS);
      }
    },
    async heal({ screening }) {
      screening.fail = false;
    },
  },
  {
    fault: 'the receiver of travel-rule records refuses one in every attempt',
    fires: { TravelRuleGivenUp: {} },
    async bring({ travelRule, home }, client) {
      travelRule.fail = true;
      await client.ended(await order(client, { lp: 'alpha', from: home, to: home, usdc: 120n }));
    },
    async heal({ travelRule }) {
      travelRule.fail = false;
    },
  },
  {
    fault: "the worker's RPC provider takes transactions and passes none on",
    fires: { TransactionsStuck: { job: 'venue', chain: 'chain1' } },
    async bring({ relay, home }, client) {
      relay.fault('eth_sendRawTransaction', { do: 'drop', answer: ([raw]) => keccakHex(raw as Hex) });
      await order(client, { lp: 'alpha', from: home, to: home, usdc: 130n });
    },
    heal: async ({ relay }) => relay.heal(),
  },
  {
    fault: 'a solver signs with the wrong key',
    fires: { InvalidAnswers: { solver: LIAR } },
    async bring({ liar, home }, client) {
      const solver = await liar();
      for (let n = 0; n < 40; n += 1) {
        await quotesOf(client, { lp: LIAR, from: home, to: home, usdc: 100n }).catch(() => {});
        await pause(SLICE_MS / 2);
      }
      await solver.stop();
    },
  },
  {
    fault: "somebody kills the Redis of the venue's queue",
    fires: { QueueDown: { job: 'venue', instance: 'worker', kind: 'redis' } },
    bring: ({ queueServer }) => queueServer.kill(),
    async heal(stage) {
      await stage.queueServer.start();
      await shows(stage, 'worker', 'firmquote_queue_up{kind="redis"} 1');
    },
  },
  {
    fault: 'the receiver of webhooks takes requests and answers none',
    fires: { WebhooksOverdue: {} },
    async bring({ receiver, addWebhook, home }, client) {
      receiver.answer('/hangs', () => {});
      await addWebhook('/hangs');
      for (let n = 0; n < 4; n += 1)
        await client.ended(await order(client, { lp: 'alpha', from: home, to: home, usdc: 131n }));
    },
    heal: async ({ receiver }) => receiver.answer('/hangs', undefined),
  },
];

const PROOFS: readonly Cause[] = [
  {
    fault: 'two of three attesters lose sight of a chain while a fill there waits for its proof',
    fires: {
      AttesterBlind: { instance: 'attester-1', chain: 'chain2' },
      ProofsIncomplete: { job: 'lp', instance: 'alpha', chain: 'chain1' },
      LpCannotProve: { instance: 'alpha' },
      LpReceivableOverdue: { instance: 'alpha' },
      ChainHeadOld: { job: 'attester', instance: 'attester-1', chain: 'chain2' },
    },
    async bring({ blinkers, home, away }, client) {
      await order(client, { lp: 'alpha', from: home, to: away, usdc: 140n });
      for (const node of blinkers) node.fault('*', { do: 'swallow', how: 'hang_up' });
    },
    async heal({ blinkers }) {
      for (const node of blinkers) node.heal();
    },
  },
  {
    fault: 'two of three attesters are killed',
    fires: {
      ProcessDown: { job: 'attester', instance: 'attester-2' },
      AttesterQuorumLost: { job: 'venue', chain: 'chain1' },
    },
    bring: async ({ world }) => void (await Promise.all(world.attesters.slice(1).map((each) => each.kill()))),
    heal: async ({ world }) => void (await Promise.all(world.attesters.slice(1).map((each) => each.start()))),
  },
  {
    fault: 'the machine gives an attester the CPU for a twentieth of the time',
    fires: { EventLoopBlocked: { instance: 'attester-3' } },
    async bring({ world }) {
      const attester = world.attesters[2];
      for (let n = 0; n < 30; n += 1) {
        attester?.freeze();
        await pause(350);
        attester?.thaw();
        await pause(30);
      }
    },
  },
];

/** Before all others: the LP goes on with a pair that needs every attester. */
export const FIRST: readonly Cause[] = [
  {
    fault: 'the operator paused one pair, and forgot it',
    fires: { LpPairDark: { instance: 'priced', pair: 'WETH-USDC' } },
    bring: ({ admin }) => admin('priced', 'POST', '/pause?pair=WETH-USDC'),
    heal: ({ admin }) => admin('priced', 'POST', '/resume?pair=WETH-USDC'),
  },
];

const PRICES: readonly Cause[] = [
  {
    fault: 'every exchange is offline',
    fires: {
      MidMissing: { instance: 'priced', pair: 'WETH-USDC' },
      SourceUnused: { instance: 'priced', price: 'ETH' },
    },
    bring: async ({ exchanges }) => void (await Promise.all(exchanges.map((each) => each.gone()))),
    heal: async ({ exchanges }) => void (await Promise.all(exchanges.map((each) => each.back()))),
  },
  {
    fault: 'an exchange changes its format',
    fires: { FeedRefused: { instance: 'priced', feed: 'binance' } },
    bring: async ({ exchanges }) => exchanges[0]?.garble(true),
    heal: async ({ exchanges }) => exchanges[0]?.garble(false),
  },
  {
    fault: 'a reference is three per cent away from the exchanges',
    fires: { MidDoubted: { instance: 'priced', pair: 'WETH-USDC' } },
    bring: async ({ web }) => void web.prices.set('ETH-1', 2_575),
    heal: async ({ web }) => void web.prices.set('ETH-1', 2_500),
  },
  {
    fault: 'a reference leaves the exchanges and comes back, again and again',
    fires: { LpOftenStopped: { instance: 'priced', control: 'deviation' } },
    async bring({ web }) {
      for (let n = 0; n < 45; n += 1) {
        web.prices.set('ETH-1', 2_575);
        await pause(SLICE_MS);
        web.prices.set('ETH-1', 2_500);
        await pause(SLICE_MS);
      }
    },
  },
  {
    fault: 'the dollar token trades at 0.97',
    fires: { PegBroken: { instance: 'priced', pair: 'WETH-USDC' } },
    bring: async ({ web }) => void web.prices.set('USDC', 0.97),
    heal: async ({ web }) => void web.prices.set('USDC', 1),
  },
  {
    fault: 'a price service fails for all of its symbols',
    fires: { FeedUnsteady: { instance: 'priced', feed: 'web' } },
    async bring({ web }) {
      web.fail = true;
    },
    async heal({ web }) {
      web.fail = false;
    },
  },
  {
    fault: "the rollup's sequencer is down",
    fires: { SequencerDown: { instance: 'priced', chain: 'chain2' } },
    bring: ({ sequencer }) => sequencer(false),
    heal: ({ sequencer }) => sequencer(true),
  },
  {
    fault: 'the operator reloads a file with a mistake',
    fires: { LpReloadRefused: { instance: 'priced' } },
    async bring(stage) {
      await stage.edit('priced', (config) => {
        (config['lp'] as Record<string, unknown>)['pairs'] = [];
      });
      await stage.admin('priced', 'POST', '/reload');
    },
    heal: (stage) =>
      stage.edit('priced', (config) => {
        (config['lp'] as Record<string, unknown>)['pairs'] = [
          { base: 'WETH', quote: 'USDC', params: { maxSpreadBps: 1_000 } },
          { base: 'USDC', quote: 'USDC' },
        ];
      }),
  },
  {
    fault: 'a new pricing plug-in of the operator charges four per cent',
    fires: { LpRefusesItsOwnPrice: { instance: 'priced', control: 'fat_finger' } },
    async bring(stage, client) {
      await quotesAgain(stage, 'priced', 'WETH-USDC');
      await writeFile(
        stage.plugin,
        "export default { name: 'dear', pricer: () => ({ edge: 400, uncertainty: 0, firmness: 0, skew: 0 }) };",
      );
      await stage.edit('priced', (config) => {
        (config['lp'] as Record<string, unknown>)['pricing'] = { module: stage.plugin };
      });
      await stage.admin('priced', 'POST', '/reload');
      const { home } = stage;
      for (let n = 0; n < 30; n += 1) {
        await quotesOf(client, { lp: 'priced', from: home, to: home, usdc: 150n }).catch(() => {});
        await pause(SLICE_MS);
      }
    },
    async heal(stage) {
      await stage.edit('priced', (config) => {
        (config['lp'] as Record<string, unknown>)['pricing'] = {};
      });
      await stage.admin('priced', 'POST', '/reload');
    },
  },
  {
    fault: 'the market falls by two per cent while the LP holds ether',
    fires: { LpLosing: { instance: 'priced' } },
    async bring({ exchanges, web }) {
      for (const exchange of exchanges) exchange.say(2_450);
      for (const symbol of ['ETH-1', 'ETH-2', 'ETH-3']) web.prices.set(symbol, 2_450);
    },
  },
  {
    fault: 'somebody creates the kill file',
    fires: { LpKilled: { instance: 'priced' } },
    bring: ({ killFile }) => writeFile(killFile, ''),
    heal: ({ killFile }) => rm(killFile),
  },
];

const BOOKS: readonly Cause[] = [
  {
    fault: 'two of three RPC endpoints are offline while a promised order is decided',
    fires: {
      EndpointOut: { instance: 'booked', chain: 'chain1' },
      EndpointsTooFew: { instance: 'booked', chain: 'chain1' },
    },
    async bring({ nodes, home, away }, client) {
      await order(client, { lp: 'booked', from: home, to: away, usdc: 160n, take: 'usdc' });
      await Promise.all(nodes.slice(1).map((node) => node.down()));
    },
    heal: async ({ nodes }) => void (await Promise.all(nodes.slice(1).map((node) => node.up()))),
  },
  {
    fault: 'one of three RPC endpoints lies about a promised order',
    fires: { EndpointsContradict: { job: 'lp', instance: 'booked', chain: 'chain1' } },
    async bring({ nodes, home, away }, client) {
      const id = await order(client, { lp: 'booked', from: home, to: away, usdc: 165n, take: 'usdc' });
      nodes[1].fault('eth_call', lieAbout(home.chain.escrow, 'orderStatus', id as Bytes32, NONE));
    },
    async heal({ nodes }) {
      for (const node of nodes) node.heal();
    },
  },
  {
    fault: 'the RPC provider of an LP takes its fill and never passes it on',
    fires: {
      LpFaded: { instance: 'booked', outcome: 'faded' },
      FirmnessBroken: { job: 'venue', code: 'expired_unfilled' },
    },
    async bring({ farNode, home, away }, client) {
      farNode.fault('eth_sendRawTransaction', { do: 'drop', answer: ([raw]) => keccakHex(raw as Hex) });
      await order(client, { lp: 'booked', from: home, to: away, usdc: 168n, take: 'usdc' });
    },
    heal: async ({ farNode }) => farNode.heal(),
  },
  {
    fault: 'an operator spends nearly all that its account lets it spend',
    fires: { LpOperatorLimitLow: { instance: 'booked', token: 'WETH', chain: 'chain1' } },
    async bring({ home, lp }, client) {
      const { owner, operator } = lp('booked');
      await home.send(
        owner.address,
        home.chain.escrow,
        limitOperatorCall(operator.address, home.weth.address, LIMIT, 3_600),
      );
      await client.ended(await order(client, { lp: 'booked', from: home, to: home, usdc: 110n }));
    },
    heal: ({ home, lp }) => home.setOperator(lp('booked').owner.address, lp('booked').operator.address),
  },
  {
    fault: 'the owner has a withdrawal open, and the LP is to move the same token',
    fires: { LpTransferStuck: { instance: 'idle' } },
    async bring({ home, away, cctp, admin }) {
      const request = moverCall.requestWithdrawal(home.usdc.address, 1n);
      await home.send(cctp.owner.address, cctp.account, request);
      const wanted = {
        asset: 'USDC',
        from: home.chain.slug,
        to: away.chain.slug,
        amount: '1',
        note: 'a test',
      };
      await admin('idle', 'POST', '/transfers', wanted);
    },
    heal: ({ home, cctp }) =>
      home
        .send(cctp.owner.address, cctp.account, moverCall.requestWithdrawal(home.usdc.address, 0n))
        .then(() => {}),
  },
  {
    fault: 'another party has the key of an operator, signs more than the account holds, and claims its bond',
    fires: { LpBondClaimed: { job: 'lp', instance: 'booked' } },
    async bring({ home, lp }) {
      const { owner, operator } = lp('booked');
      const { quoteBond } = home.deployment;
      const taker = account(4_801);
      await home.fund(owner.address, 1n);
      await home.fund(taker.address, 0n);
      await home.approve(owner.address, home.weth.address, quoteBond, LIMIT);
      await home.send(owner.address, quoteBond, postBondCall(owner.address, home.weth.address, LIMIT));
      const { order, signature, quoteId, commitments } = makeTrade({
        ...{ origin: home, taker, lps: [{ account: owner, operator }], outputAmount: 10n ** 30n },
      });
      const data = claimCall(order, signature, quoteId, commitments[0] as SignedCommitment);
      await home.send(taker.address, quoteBond, data);
    },
  },
  {
    fault: 'takers hold quotes for all of a token',
    fires: { LpInventoryLow: { instance: 'booked', token: 'WETH', chain: 'chain1' } },
    async bring({ home }, client) {
      for (let usdc = 1_000_000n; usdc > 5_000n;) {
        const found = await quotesOf(client, { lp: 'booked', from: home, to: home, usdc }).catch(() => []);
        if (found.length === 0) usdc = (usdc * 2n) / 3n;
      }
    },
  },
  {
    fault: 'another party has the key of an operator and takes its gas',
    fires: {
      LpNativeLeft: { instance: 'booked', chain: 'chain1' },
      GasLow: { job: 'lp', instance: 'booked', chain: 'chain1' },
    },
    async bring({ home, lp }) {
      const operator = lp('booked').operator.address;
      const { baseFee, priorityFee } = await home.port.fees();
      // Enough for a few transactions: the LP may go on.
      const left = 4n * SPARE_GAS * (2n * baseFee + priorityFee);
      await give(home, operator, account(3_991).address, (await home.port.nativeBalance(operator)) - left);
    },
  },
  {
    fault: 'somebody tops an operator up and books nothing',
    fires: { LpNativeUnbooked: { instance: 'booked', chain: 'chain2' } },
    bring: ({ away, lp }) =>
      give(away, lp('booked').owner.address, lp('booked').operator.address, GAS / 100n),
  },
  {
    fault: 'every RPC provider of an LP loses the logs of a deposit',
    fires: {
      LpLedgerDrift: { instance: 'booked', chain: 'chain1', token: 'USDC' },
      LpBooksDiffer: { instance: 'booked', chain: 'chain1', token: 'USDC' },
    },
    async bring({ nodes, home, lp }) {
      for (const node of nodes) node.fault('eth_getLogs', { do: 'drop_logs' });
      const { address } = lp('booked').owner;
      await home.fund(address, 10n);
      await home.deposit(address, home.usdc.address, 5_000_000n);
    },
    async heal({ nodes }) {
      for (const node of nodes) node.heal();
    },
  },
  {
    fault: "the owner revokes the LP's operator",
    fires: { LpNotQuoting: { instance: 'booked' } },
    async bring({ home, away, lp }) {
      const { owner, operator } = lp('booked');
      for (const chain of [home, away]) await chain.setOperator(owner.address, operator.address, false);
    },
    async heal({ home, away, lp }) {
      const { owner, operator } = lp('booked');
      for (const chain of [home, away]) await chain.setOperator(owner.address, operator.address);
    },
  },
];

const FLOAT: readonly Cause[] = [
  {
    fault: 'the owner of a float takes most of it from one chain, and lets the mover move nothing',
    fires: {
      BridgeFloatLow: { venue: 'float', chain: 'chain1' },
      BridgeRefillBlocked: { venue: 'float', chain: 'chain1' },
    },
    async bring({ home, away, float }) {
      await away.send(float.owner.address, float.account, accountCall.setMoverLimit(away.usdc.address, 0n));
      const request = moverCall.requestWithdrawal(home.usdc.address, 900_000_000n);
      await home.send(float.owner.address, float.account, request);
    },
  },
  {
    fault: 'the mover of a bridge venue cannot pay for the transfer that it begins',
    fires: {
      BridgeTransferStuck: { venue: 'float' },
      GasLow: { job: 'venue', chain: 'chain2', lane: 'float-mover' },
    },
    async bring({ away, float }) {
      await away.anvil.rpc('anvil_setBalance', [FLOAT_MOVER.address, '0x1']);
      await away.send(
        float.owner.address,
        float.account,
        accountCall.setMoverLimit(away.usdc.address, 2n ** 128n - 1n),
      );
    },
    heal: ({ away }) => away.fund(FLOAT_MOVER.address, 0n),
  },
];

/** Ends the lock of the cause below. */
let unlock = async (): Promise<void> => {};

const IDLE: readonly Cause[] = [
  {
    fault: 'an administrator of the database holds a lock that statements of an LP wait for',
    fires: { DatabaseBusy: { job: 'lp', instance: 'idle' } },
    async bring({ lockTable }) {
      const { release } = await lockTable('lp', 'lp_idle');
      unlock = release;
    },
    heal: () => unlock(),
  },
  {
    fault: 'the network between an LP and PostgreSQL is cut',
    fires: { DatabaseDown: { job: 'lp', instance: 'idle' } },
    bring: async ({ idleDatabase }) => idleDatabase.set({ kind: 'reset' }),
    async heal(stage) {
      stage.idleDatabase.set({ kind: 'pass' });
      await shows(stage, 'idle', 'firmquote_postgres_up 1');
    },
  },
  {
    fault: 'the operator paused the LP for a drain, and forgot it',
    fires: { LpPausedLong: { instance: 'idle' } },
    bring: async () => {},
    heal: ({ admin }) => admin('idle', 'POST', '/resume'),
  },
];

/** After all others, one after another: the world does not survive them. */
export const LAST: readonly Cause[] = [
  {
    fault: 'the only worker hangs while orders come in',
    fires: {
      QueueBehind: { job: 'venue', topic: 'orders' },
      OrderStuck: { job: 'venue', flow: 'same_chain' },
    },
    async bring({ world, home }, client) {
      world.venue('worker').freeze();
      await order(client, { lp: 'alpha', from: home, to: home, usdc: 132n });
    },
    heal: async ({ world }) => world.venue('worker').thaw(),
  },
  {
    fault: 'every LP is killed',
    fires: {
      NobodyQuotes: {},
      SloBurnsFast: { slo: 'quote_availability' },
      SloBurnsSlowly: { slo: 'quote_availability' },
    },
    async bring({ world, home }, client) {
      await Promise.all(world.lps.map(({ part }) => part.kill()));
      for (let n = 0; n < 25; n += 1) {
        await quotesOf(client, { lp: 'alpha', from: home, to: home, usdc: 100n }).catch(() => undefined);
        await pause(SLICE_MS / 2);
      }
    },
    async heal({ world }) {
      await Promise.all(world.lps.map(({ part }) => part.start()));
      await world.quoting('api');
    },
  },
  {
    fault: 'a chain reorganises below its depth',
    fires: { ChainTookBackFinal: { job: 'lp', instance: 'alpha', chain: 'chain2' } },
    async bring({ away, lp }) {
      // Without it the new blocks are the old ones.
      await give(away, lp('idle').owner.address, account(3_991).address, 1n);
      await pause(4_000);
      await away.anvil.rpc('anvil_reorg', [8, []]);
    },
  },
  {
    fault: "a chain's clock runs away while the relayer has no gas and an RPC provider refuses to give logs",
    fires: {
      PayoutsOverdue: { chain: 'chain1' },
      ClocksDiffer: { instance: 'alpha', chain: 'chain1' },
      LpBooksBehind: { instance: 'booked', chain: 'chain1' },
    },
    async bring({ world, nodes, home }, client) {
      const wanted = {
        lp: 'alpha',
        from: home,
        to: home,
        usdc: 170n,
        settlement: 'ledger_auto_withdraw',
      } as const;
      await client.ended(await order(client, wanted));
      for (const node of nodes)
        node.fault('eth_getLogs', { do: 'reject', code: -32_005, message: 'limit exceeded' });
      await home.anvil.rpc('anvil_setBalance', [world.relayer.address, '0x1']);
      // In steps that a node which catches up could make: larger ones are not believed for a minute.
      for (let n = 0; n < 26; n += 1) {
        await home.anvil.rpc('evm_increaseTime', [30]);
        await home.anvil.rpc('anvil_mine', ['0x10', '0x1']);
        await pause(SLICE_MS * 1.5);
      }
    },
  },
];

/** Lists that run together. */
export const CAUSES: readonly (readonly Cause[])[] = [VENUE, PROOFS, PRICES, BOOKS, IDLE, FLOAT];
