/** Checks what an LP has on a chain: its operator's rights and its deposits; and who attests there. */

import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { formatTokens } from '../../domain/amount.ts';
import { type AssumedInventory, assumeInventory } from '../../lp/shadow/assumed-inventory.ts';
import type { TokenInfo } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import { createProofs } from '../wiring/proofs.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { failure, ok, type Finding, warning } from './finding.ts';

/** Checks that the escrow lets the operator sign for the account. */
export async function checkOperator(
  chain: EvmChain,
  { account, operator, mayBeOwner }: { account: Address; operator: Address; mayBeOwner: boolean },
): Promise<Finding> {
  const { slug } = chain.chain;
  if (account === operator)
    return mayBeOwner
      ? warning(
          'operator',
          slug,
          `the key of the account ${account} itself signs here, and can withdraw everything`,
          'For production: firmquote keystore new FILE, and firmquote lp operator set',
        )
      : failure(
          'operator',
          slug,
          `the key is that of the account ${account} itself`,
          'Make another key (firmquote keystore new FILE) and allow it: firmquote lp operator set',
        );
  return (await chain.isOperator(account, operator))
    ? ok('operator', slug, `${operator} may sign for ${account}`)
    : failure(
        'operator',
        slug,
        `${operator} may not sign for ${account}`,
        'The owner allows it: firmquote lp operator set',
      );
}

/** Checks what the account has in the escrow, and what its operator may spend of it. */
export async function checkDeposit(
  chain: EvmChain,
  token: TokenInfo,
  { account, operator }: { account: Address; operator: Address | undefined },
): Promise<Finding> {
  const { slug } = chain.chain;
  const subject = `${slug} ${token.symbol}`;
  const [balance, deferred, leaving, limit] = await Promise.all([
    chain.ledgerBalance(account, token.address),
    chain.ledgerDeferred(account, token.address),
    chain.pendingWithdrawal(account, token.address),
    operator === undefined ? undefined : chain.operatorLimit(account, operator, token.address),
  ]);
  const usable = balance - deferred - leaving.amount;
  const text = (amount: bigint) => formatTokens(amount, token);
  const details = [
    ...(leaving.amount > 0n ? [`${text(leaving.amount)} on their way out`] : []),
    ...(limit === undefined
      ? []
      : [`the operator may spend ${text(limit.most)} in ${limit.windowSeconds} s`]),
  ];
  const found = [`${text(usable > 0n ? usable : 0n)} deposited`, ...details].join('; ');
  if (limit?.most === 0n)
    return failure('deposit', subject, found, 'The owner raises the limit: firmquote lp operator limit');
  return usable <= 0n
    ? warning(
        'deposit',
        subject,
        found,
        'It cannot be paid out in quotes. The owner deposits: firmquote lp deposit',
      )
    : ok('deposit', subject, found);
}

/** Reports what an LP in shadow mode is taken to have. */
export async function checkShadowInventory(
  chain: EvmChain,
  token: TokenInfo,
  account: Address,
  assumed: AssumedInventory,
): Promise<Finding> {
  const { slug } = chain.chain;
  const subject = `${slug} ${token.symbol}`;
  const deposited = await chain.ledgerBalance(account, token.address);
  const all = await assumeInventory(chain, assumed).ledgerBalance(account, token.address);
  const found = `${formatTokens(all, token)}: ${formatTokens(deposited, token)} deposited, the rest assumed`;
  return all > 0n
    ? ok('inventory', subject, found)
    : warning(
        'inventory',
        subject,
        found,
        `No shadow quote can pay it out. Name an amount in shadow.inventory.${slug}.${token.symbol}`,
      );
}

/** Checks that enough signers of a chain's oracle answer. */
export async function checkAttesters(
  { urls, timeoutMs }: { urls: readonly string[]; timeoutMs: number },
  chains: readonly EvmChain[],
  tools: { log: Log; metrics: Metrics },
): Promise<Finding[]> {
  if (urls.length === 0)
    return [
      warning(
        'attesters',
        'all chains',
        'none are configured',
        'Nothing trades across chains. List the URLs of the attesters in attesters.urls',
      ),
    ];
  const proofs = createProofs({ urls, timeoutMs }, { chains, ...tools });
  return Promise.all(
    chains.map(async ({ chain: { id, slug, oracle } }): Promise<Finding> => {
      await proofs.probe({ chainId: id, oracle });
      const found = proofs.presence({ chainId: id, oracle });
      if (found === undefined)
        return failure('attesters', slug, `the oracle ${oracle} cannot be read`, 'Correct its address');
      const words = `${found.present} of the oracle's signers answer, and ${found.needed} must sign`;
      return found.present >= found.needed
        ? ok('attesters', slug, words)
        : failure(
            'attesters',
            slug,
            words,
            'Start attesters, correct attesters.urls, or have the owner change signers',
          );
    }),
  );
}

/** Checks that the oracle takes this attester's signatures. */
export async function checkCommittee(chain: EvmChain, attester: Address): Promise<Finding> {
  const { slug, oracle } = chain.chain;
  const { signers, threshold } = await chain.committee(oracle);
  return signers.includes(attester)
    ? ok('attesters', slug, `${attester} is one of ${signers.length} signers, of whom ${threshold} must sign`)
    : failure(
        'attesters',
        slug,
        `${attester} is not one of the oracle's ${signers.length} signers`,
        'Its signatures do not count. The owner of the oracle adds it, or correct the key or the address',
      );
}
