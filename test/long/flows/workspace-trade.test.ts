/**
 * The page Trade of a workspace's console, with a browser wallet, beside a real venue on two chains: exact
 * input and output, routes, a contract wallet, and what stops a trade. `npm run docs` renews its pictures.
 */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deployContractWallets } from '../../../src/adapters/evm/deploy/deploy.ts';
import type { TokenInfo } from '../../../src/domain/chain.ts';
import type { Address, Hex } from '../../../src/domain/hex.ts';
import { type Config, startWorld, type World } from '../../faults/support/world.ts';
import { openBrowser, type Screen, screens } from '../../support/browser.ts';
import { CONNECT, installWallet } from '../../support/browser-wallet.ts';
import { PROGRAM } from '../../support/build.ts';
import { account, type TestAccount, type TestChain } from '../../support/devnet.ts';
import { startDex, type TestDex } from '../../support/dex.ts';
import {
  expectAccessible,
  type Keys,
  openConsole,
  photograph,
  visit,
} from '../../support/workspace-console.ts';

const SETTLES = { timeout: 90_000 };
const PATIENT = { timeout: 150_000 };
const DEX = 'uniswap-v2';
/** Deploys nothing else, so its contracts have no code at their addresses on the other chain. */
const PAYER = account(3_900);

let world: World;
let browser: Browser;
let here: TestChain;
let there: TestChain;
/** On the second chain, and only pools trade it. */
let third: TokenInfo;
let keys: Keys;
let taker: TestAccount;

beforeAll(async () => {
  let dex: TestDex | undefined;
  [world, browser] = await Promise.all([
    startWorld({
      chainIds: [31_771, 31_772],
      lps: ['alpha', 'beta'],
      moreTokens: 1,
      program: PROGRAM,
      configure: (part, config) => (part === 'venue' && dex ? tradingRoutes(config, dex) : config),
    }),
    openBrowser(),
  ]);
  [here, there] = world.devnet.chains as [TestChain, TestChain];
  third = there.deployment.tokens[2] as TokenInfo;
  dex = await startDex(there);
  await world.startAll();
  keys = { service: world.apiKey };
  taker = (await world.client()).wallet;
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

const tradingRoutes = (config: Config, { constantProduct, listed }: TestDex): Config => ({
  ...config,
  http: {
    ...(config['http'] as object),
    console: { rpcUrls: { [here.chain.id]: here.anvil.url, [there.chain.id]: there.anvil.url } },
  },
  router: { timeoutMs: 4_000, maxMiddles: 3 },
  dex: [
    {
      ...{ id: DEX, name: 'Uniswap', kind: 'constant_product', validSeconds: 60, timeoutMs: 5_000 },
      places: [
        {
          ...{ chainId: there.chain.id, ...constantProduct },
          pools: listed.filter(({ fee }) => fee === null).map(({ tokens, fee }) => ({ tokens, fee })),
        },
      ],
    },
  ],
});

const open = (screen: Screen, contract?: Address) =>
  openConsole(
    { browser, url: world.venueUrl(), nodes: [here.anvil.url, there.anvil.url] },
    screen,
    keys,
    (context) => installWallet(context, taker, world.devnet.chains, contract),
  );

interface Wanted {
  give?: string;
  get?: string;
  fixed?: 'I give exactly' | 'I get exactly';
  amount?: string;
  from?: 'LPs: firm quotes' | 'All routes';
}

/** Until an answer is there: candidates, or why there are none. */
async function ask(page: Page, wanted: Wanted = {}, owner: Address = taker.address): Promise<void> {
  await visit(page, 'Trade');
  await page.getByRole('button', { name: CONNECT }).click();
  await page.getByText(new RegExp(owner, 'i')).waitFor();
  await page.getByLabel('You give').selectOption({ label: wanted.give ?? 'USDC on chain1' });
  await page.getByLabel('You get').selectOption({ label: wanted.get ?? 'WETH on chain1' });
  await page.getByLabel('Fixed amount').selectOption({ label: wanted.fixed ?? 'I give exactly' });
  await page.getByLabel('Ask').selectOption({ label: wanted.from ?? 'LPs: firm quotes' });
  await page.getByLabel(/^Amount of/).fill(wanted.amount ?? '250');
  await askAgain(page);
}

async function askAgain(page: Page): Promise<void> {
  const alert = page.getByRole('alert');
  for (let times = 0; times < MOST_ASKED; times++) {
    await page.getByRole('button', { name: 'Ask for quotes' }).click();
    await page.getByRole('heading', { name: 'Candidates' }).or(alert).waitFor();
    if (!BUSY.test((await alert.allInnerTexts()).join())) return;
  }
}

/** On a busy machine nobody may answer in time, and the taker asks again. */
const BUSY = /did not answer in time|quoted this|overloaded/;
const MOST_ASKED = 6;

const takes = (page: Page, from = '') =>
  page.getByRole('button', { name: new RegExp(`^Sign and trade with ${from}`) });
const table = (page: Page, name: 'candidates' | 'legs') =>
  page.getByRole('region', { name: `Table: ${name}` }).first();
/** Of one row, in the order of the candidates. */
const cellsOf = (page: Page, name: string) =>
  table(page, 'candidates')
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: true }) })
    .getByRole('cell')
    .allInnerTexts();
const settled = (page: Page) => page.getByText('Settled, and confirmed by reading the chain');
const signatures = (asked: readonly string[]) => asked.filter((each) => each === 'eth_signTypedData_v4');
const held = (chain: TestChain, token: TokenInfo, owner: Address = taker.address) =>
  chain.port.tokenBalance(owner, token.address);

describe('quotes of LPs', () => {
  test.each(screens)('the taker compares candidates side by side: %s', async (screen) => {
    const { page, context, faults } = await open(screen);
    await ask(page);
    const lps = page.getByRole('columnheader', { name: /alpha|beta/ });
    // On a busy machine one of them may answer too late.
    for (let times = 0; times < MOST_ASKED && (await lps.count()) < 2; times++) await askAgain(page);
    expect(await lps.count()).toBe(2);
    expect(await cellsOf(page, 'Check')).toEqual(['every byte checked', 'every byte checked']);
    await expectAccessible(page);
    await photograph(page, 'candidates', screen);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the taker signs, and the order is submitted and followed to the settlement', PATIENT, async () => {
    const { page, context, wallet } = await open('light');
    await ask(page);
    await takes(page).first().click();
    await settled(page).waitFor(SETTLES);
    expect(signatures(wallet.asked)).toHaveLength(2);
    expect(wallet.asked).not.toContain('eth_sendTransaction');
    await page.getByRole('heading', { name: 'Progress' }).scrollIntoViewIfNeeded();
    await photograph(page, 'traded', 'light');
    const [, order = ''] = /the order (0x[0-9a-f]{64})/.exec(await page.getByRole('main').innerText()) ?? [];
    expect((await world.store.order(order as Hex))?.order.user).toBe(taker.address.toLowerCase());
    await context.close();
  });

  test(
    'exact output: the least input is first, and the receiver gets exactly the amount',
    PATIENT,
    async () => {
      const { page, context } = await open('light');
      const before = [await held(here, here.usdc), await held(here, here.weth)] as const;
      await ask(page, { fixed: 'I get exactly', amount: '0.123456789012345678' });
      const most = (await cellsOf(page, 'You give, at most')).map((text) => Number.parseFloat(text));
      expect(most).toEqual(most.toSorted((a, b) => a - b));
      expect(new Set(await cellsOf(page, 'You get'))).toEqual(new Set(['0.12345678 WETH']));
      await takes(page).first().click();
      await settled(page).waitFor(SETTLES);
      expect((await held(here, here.weth)) - before[1]).toBe(123_456_789_012_345_678n);
      expect(Number(before[0] - (await held(here, here.usdc))) / 1e6).toBe(most[0]);
      await context.close();
    },
  );

  test('across two chains: the output arrives on the other chain', PATIENT, async () => {
    const { page, context, faults } = await open('light');
    const before = await held(there, there.weth);
    await ask(page, { get: 'WETH on chain2' });
    await page.getByText('the oracles that prove a delivery').waitFor();
    const [least = ''] = await cellsOf(page, 'At least');
    await takes(page).first().click();
    await settled(page).waitFor(SETTLES);
    const got = Number((await held(there, there.weth)) - before) / 1e18;
    expect(got).toBeCloseTo(Number.parseFloat(least), 7);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a refusal in the wallet stops the trade in words, and it can be tried again', async () => {
    const { page, context, wallet } = await open('light');
    await ask(page);
    wallet.refuseNext();
    await takes(page).first().click();
    await page
      .getByRole('alert')
      .getByText(/rejected/)
      .waitFor();
    expect(await takes(page).first().isDisabled()).toBe(false);
    await context.close();
  });

  test('an answer that was changed on the way is refused, and the wallet is not asked', async () => {
    const { page, context, wallet } = await open('light');
    await page.route('**/api/v1/rfq/quotes', async (route) => {
      const answer = await route.fetch();
      const lies = (await answer.json()) as { quotes: { preview: { outputs: { amount: string }[] } }[] };
      for (const output of lies.quotes.flatMap(({ preview }) => preview.outputs))
        output.amount = String(BigInt(output.amount) + 1n);
      await route.fulfill({ response: answer, json: lies });
    });
    await ask(page);
    expect(await page.getByText(/^Refused: /).count()).toBe(2);
    for (const button of await takes(page).all()) expect(await button.isDisabled()).toBe(true);
    expect(wallet.asked).not.toContain('eth_signTypedData_v4');
    await context.close();
  });

  test('an amount with more decimals than the token is not asked for', async () => {
    const { page, context } = await open('light');
    await ask(page);
    await page.getByLabel(/^Amount of/).fill('1.0000001');
    await page.getByText('at most 6 decimals').waitFor();
    expect(await page.getByRole('button', { name: 'Ask for quotes' }).isDisabled()).toBe(true);
    await context.close();
  });
});

describe('all routes', () => {
  test('a pool on one chain: its leg, fee and least output are shown, and it settles', PATIENT, async () => {
    const { page, context } = await open('light');
    const before = await held(there, there.weth);
    await ask(page, { give: 'USDC on chain2', get: 'WETH on chain2', from: 'All routes' });
    const leg = table(page, 'legs').getByRole('row').filter({ hasText: DEX });
    for (const cell of ['dex', 'chain2', '250 USDC', /^0\.7\d* USDC$/, 'at once'])
      await leg.getByRole('cell', { name: cell, exact: true }).first().waitFor();
    expect((await cellsOf(page, 'Warnings')).join()).toContain(`The amount of leg 0 (dex, ${DEX})`);
    await takes(page, DEX).click();
    await settled(page).waitFor(SETTLES);
    expect((await held(there, there.weth)) - before).toBeGreaterThan(0n);
    await context.close();
  });

  test.each(screens)('a route of two legs is shown in order, with what is firm: %s', async (screen) => {
    const { page, context, faults } = await open(screen);
    await ask(page, { get: 'T0 on chain2', from: 'All routes' });
    expect(await cellsOf(page, 'Route')).toContain('an order for each part, one after the other');
    expect(await cellsOf(page, 'At least')).toContain('open until the last leg is quoted');
    expect((await cellsOf(page, 'Warnings')).join()).toMatch(/Only leg 0 \(rfq, \w+\) is firm/);
    const second = table(page, 'legs').getByRole('row').filter({ hasText: 'leg 0' }).first();
    for (const cell of ['1', 'dex', DEX, 'not enforced'])
      await second.getByRole('cell', { name: cell, exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole('heading', { name: 'Legs' }).scrollIntoViewIfNeeded();
    await photograph(page, 'legs', screen);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a route of two legs: the taker sees and signs each of them, and it settles', PATIENT, async () => {
    const { page, context, wallet, faults } = await open('light');
    const before = await held(there, third);
    await ask(page, { get: 'T0 on chain2', from: 'All routes' });
    await takes(page, `\\w+, then ${DEX}`).first().click();
    await page.getByRole('heading', { name: 'Next leg' }).waitFor(SETTLES);
    await page.getByText(/delivered at least 0\.0\d+ WETH to you on chain2/).waitFor();
    const signed = signatures(wallet.asked).length;
    expect(await held(there, third)).toBe(before);

    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'Ask for the next leg' }).click();
        await page
          .getByText(/does not see the delivery/)
          .or(takes(page, DEX).last())
          .first()
          .waitFor();
        return takes(page, DEX).count();
      })
      .toBeGreaterThan(0);
    expect(signatures(wallet.asked)).toHaveLength(signed);
    await expectAccessible(page);
    await takes(page, DEX).last().scrollIntoViewIfNeeded();
    await photograph(page, 'next-leg', 'light');
    await takes(page, DEX).last().click();
    await settled(page).nth(1).waitFor(SETTLES);
    expect((await held(there, third)) - before).toBeGreaterThan(0n);
    expect(await page.getByRole('heading', { name: 'Next leg' }).count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe('a contract wallet', () => {
  let contract: Address;
  beforeAll(async () => {
    [contract] = (await deployContractWallets({
      ...{ rpcUrl: here.anvil.url, chainId: here.chain.id, deployerPrivateKey: PAYER.privateKey },
      owners: [taker.address],
    })) as [Address];
    await here.fund(contract, 10_000n);
  });

  test('signs by ERC-1271, sends its approval itself, and the trade settles', PATIENT, async () => {
    const { page, context, wallet } = await open('light', contract);
    const before = await held(here, here.weth, contract);
    await ask(page, {}, contract);
    await page.getByText('Your account is a contract').waitFor();
    await takes(page).first().click();
    await settled(page).waitFor(SETTLES);
    expect(wallet.asked).toContain('eth_sendTransaction');
    expect((await held(here, here.weth, contract)) - before).toBeGreaterThan(0n);
    await context.close();
  });

  test('whose address has no code on the other chain is stopped before anything is asked', async () => {
    const { page, context, wallet } = await open('light', contract);
    await ask(page, { get: 'WETH on chain2' }, contract);
    await page.getByRole('alert').getByText('there is no contract at its address on chain2').waitFor();
    expect(wallet.asked).not.toContain('eth_signTypedData_v4');
    await context.close();
  });
});
