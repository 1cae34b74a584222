/** `firmquote verify ORDER_ID`. */

import { toAddress } from '../../domain/address.ts';
import { type Address, isAddress, isBytes32, type Bytes32, ZERO_ADDRESS } from '../../domain/hex.ts';
import { type VerifyCheck, verifyClaim } from './checks.ts';
import { type TradeClaim, claimFromFile, claimFromVenue } from './claim.ts';
import { escrowOfBond, verifyFade } from './fade.ts';
import { openWitness, type Witness } from './witness.ts';
import { badRequest } from '../wiring/bad-request.ts';

interface VerifyOptions {
  file?: string;
  url?: string;
  key?: string;
  workspace?: string;
  rpc: readonly string[];
  escrow: readonly string[];
  bond?: readonly string[];
  json?: boolean;
}

/** Verifies an order. Exit code 0: all held; 1: something failed; 2: some checks could not be made. */
export async function runVerify(order: string, options: VerifyOptions): Promise<void> {
  if (!isBytes32(order)) throw badRequest('An order id is 0x and 64 hex digits, as in the venue’s answers.');
  const orderId = order.toLowerCase() as Bytes32;
  const claim = await claimOf(orderId, options);
  const escrows = addressesOf(options.escrow, '--escrow');
  const bonds = addressesOf(options.bond ?? [], '--bond');
  const witnesses = new Map<number, Witness>();
  try {
    for (const [id, url] of options.rpc.map((text) => pair(text, '--rpc', '8453=https://…')))
      witnesses.set(id, await openWitness(id, url, escrowOn(id, claim)));
    const checks = await verifyClaim({ orderId, claim, witnesses, knownEscrows: escrows, knownBonds: bonds });
    console.log(options.json ? JSON.stringify(report(orderId, checks)) : page(orderId, checks));
    process.exitCode = exitCode(checks);
  } finally {
    for (const witness of witnesses.values()) witness.close();
  }
}

async function claimOf(
  orderId: Bytes32,
  { file, url, key = process.env['FIRMQUOTE_KEY'], workspace }: VerifyOptions,
): Promise<TradeClaim> {
  if (file !== undefined) return claimFromFile(file);
  if (url === undefined || workspace === undefined || key === undefined) {
    throw badRequest(
      'Give a saved dossier (--file FILE), or the venue (--url URL --workspace ID, with an admin key in FIRMQUOTE_KEY or --key).',
    );
  }
  return claimFromVenue({ url, key, workspace, orderId });
}

function escrowOn(chainId: number, { intent }: TradeClaim): Address {
  const word =
    intent.originChainId === chainId
      ? intent.originSettler
      : intent.resolved.fillInstructions.find(({ destinationChainId }) => destinationChainId === chainId)
          ?.destinationSettler;
  return `0x${(word ?? '0x').slice(-40).padStart(40, '0')}`;
}

function addressesOf(texts: readonly string[], option: string): Map<number, Address> {
  const pairs = texts.map((text) => pair(text, option, '8453=0x…'));
  for (const [id, text] of pairs)
    if (!isAddress(text)) throw badRequest(`${option} ${id}=${text}: this is not an address.`);
  return new Map(pairs.map(([id, text]) => [id, toAddress(text)]));
}

function pair(text: string, option: string, example: string): [number, string] {
  const [, id, value] = /^(\d{1,15})=(\S+)$/.exec(text) ?? [];
  if (id === undefined || value === undefined)
    throw badRequest(`${option} needs a chain id and a value, such as ${option} ${example}`);
  return [Number(id), value];
}

export const exitCode = (checks: readonly VerifyCheck[]): 0 | 1 | 2 =>
  checks.some(({ result }) => result === 'failed')
    ? 1
    : checks.some(({ result }) => result === 'unchecked')
      ? 2
      : 0;

const report = (orderId: Bytes32, checks: readonly VerifyCheck[]) => ({ orderId, ...verdictOf(checks) });

interface VerifyFadeOptions {
  chain: string;
  bond: string;
  rpc: readonly string[];
  json?: boolean;
}

/** `firmquote verify-fade TRANSACTION`: the same exit codes. */
export async function runVerifyFade(transaction: string, options: VerifyFadeOptions): Promise<void> {
  if (!isBytes32(transaction)) throw badRequest('A transaction hash is 0x and 64 hex digits.');
  if (!isAddress(options.bond)) throw badRequest(`--bond ${options.bond}: this is not an address.`);
  const [txHash, bond, chainId] = [
    transaction.toLowerCase() as Bytes32,
    toAddress(options.bond),
    Number(options.chain),
  ];
  const urls = new Map(options.rpc.map((text) => pair(text, '--rpc', '8453=https://…')));
  const url = urls.get(chainId);
  if (url === undefined)
    throw badRequest(`Give a node of the chain of the claim: --rpc ${options.chain}=https://…`);
  const witnesses = new Map<number, Witness>();
  try {
    const first = await openWitness(chainId, url, ZERO_ADDRESS);
    const escrow = await escrowOfBond(first, bond);
    first.close();
    if (escrow === undefined) throw badRequest(`There is no bond contract at ${bond} on chain ${chainId}.`);
    for (const [id, node] of urls) witnesses.set(id, await openWitness(id, node, escrow));
    const checks = await verifyFade({ txHash, chainId, bond, escrow, witnesses });
    const subject = `claim ${txHash} on the bond contract of escrow ${escrow}`;
    console.log(
      options.json
        ? JSON.stringify({ txHash, escrow, ...verdictOf(checks) })
        : pageOf(checks, `The ${subject}`, subject),
    );
    process.exitCode = exitCode(checks);
  } finally {
    for (const witness of witnesses.values()) witness.close();
  }
}

const verdictOf = (checks: readonly VerifyCheck[]) => ({
  verified: exitCode(checks) === 0,
  failed: checks.filter(({ result }) => result === 'failed').map(({ id }) => id),
  checks,
});

const MARKS = { held: 'ok  ', failed: 'NO  ', unchecked: '?   ' } as const;

const page = (orderId: Bytes32, checks: readonly VerifyCheck[]): string =>
  pageOf(checks, `The dossier of ${orderId}`, orderId);

function pageOf(checks: readonly VerifyCheck[], subject: string, short: string): string {
  const wide = Math.max(...checks.map(({ id }) => id.length));
  const lines = checks.map(({ id, result, says }) => `${MARKS[result]}${id.padEnd(wide)}  ${says}`);
  const count = (result: VerifyCheck['result']) => checks.filter((check) => check.result === result).length;
  const [failed, unchecked] = [count('failed'), count('unchecked')];
  const verdict =
    failed > 0
      ? `${subject} is wrong: ${failed} of ${checks.length} checks failed.`
      : unchecked > 0
        ? `No check failed for ${short}, but ${unchecked} of ${checks.length} checks could not be made.`
        : `All ${checks.length} checks held for ${short}, by signatures and chains alone.`;
  return [...lines, '', verdict].join('\n');
}
