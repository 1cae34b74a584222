/** The balances of all accounts sum to what was minted, and the escrow holds what it owes. */

import { viewChain, type DemoWorld } from '../world.ts';
import { type DemoCheck, expectEqual } from './check.ts';

async function conserved(world: DemoWorld): Promise<string> {
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  const accounts = world.accounts();
  let tokens = 0;
  for (const { slug, escrow, quoteBond, tokens: listed, shares } of world.manifest.chains) {
    const view = viewChain(world.manifest, slug);
    for (const { symbol } of [...listed, ...shares]) {
      const [supply, held, escrowed, ledger, inBonds, bonds] = await Promise.all([
        view.supply(symbol),
        Promise.all(accounts.map((account) => view.balance(account, symbol))).then(sum),
        view.balance(escrow, symbol),
        Promise.all(
          accounts.flatMap((account) => [view.ledger(account, symbol), view.fees(account, symbol)]),
        ).then(sum),
        quoteBond === null ? 0n : view.balance(quoteBond, symbol),
        Promise.all(accounts.map((account) => view.bond(account, symbol))).then(sum),
      ]);
      expectEqual(held + escrowed, supply, `${symbol} on ${slug} over all accounts`);
      // A vault mints and burns its shares.
      if (!shares.some((share) => share.symbol === symbol))
        expectEqual(supply, world.minted(slug, symbol), `${symbol} minted on ${slug}`);
      expectEqual(ledger, escrowed, `${symbol} in the escrow on ${slug} against its ledger`);
      expectEqual(bonds, inBonds, `bonds in ${symbol} on ${slug} against what the bond contract holds`);
      tokens += 1;
    }
  }
  return `${tokens} tokens over ${accounts.length} accounts: supply unchanged, and each escrow holds what its ledger owes, each bond contract its bonds`;
}

export const conservationCheck: DemoCheck = {
  name: 'conservation of all tokens',
  run: (world) => conserved(world),
};
