/** Address and calldata of an LP account, by figures that other programs computed. */

import { readFileSync } from 'node:fs';
import { toFunctionSelector } from 'viem';
import { expect, test } from 'vitest';
import type { Address } from '../domain/hex.ts';
import { keccakHex } from '../domain/keccak.ts';
import { lpAccountDeployment } from '../adapters/evm/deploy/lp-account.ts';
import { accountCall, EVERYTHING, moverCall } from './lp-account.ts';
import { creationCodeOf } from '../adapters/evm/deploy/creation-code.ts';

const OWNER: Address = '0x00000000000000000000000000000000000a11ce';
const TOKEN: Address = '0x00000000000000000000000000000000000000aa';
const WORD = (value: bigint | number): string => value.toString(16).padStart(64, '0');
const vector = JSON.parse(
  readFileSync(new URL('../../test/vectors/lp-account.json', import.meta.url), 'utf8'),
);

test('the address is the one that Solidity computes, on every chain', () => {
  for (const { owner, salt, address } of vector.accounts)
    expect(lpAccountDeployment(owner, salt).address).toBe(address);
  expect(vector.codeHash).toBe(keccakHex(creationCodeOf('LpAccount')));
});

test('owner and salt decide the address, and nothing else is in the creation code', () => {
  const { address, data } = lpAccountDeployment(OWNER);
  expect(data).toBe(`0x${WORD(0)}${creationCodeOf('LpAccount').slice(2)}${WORD(BigInt(OWNER))}`);
  expect(lpAccountDeployment(OWNER, `0x${'01'.padStart(64, '0')}`).address).not.toBe(address);
  expect(lpAccountDeployment(TOKEN).address).not.toBe(address);
});

test('calls of the mover', () => {
  const selector = (signature: string) => toFunctionSelector(`function ${signature}`);
  expect(moverCall.requestWithdrawal(TOKEN, 7n)).toBe(
    `${selector('requestWithdrawal(address,uint256)')}${WORD(BigInt(TOKEN))}${WORD(7)}`,
  );
  expect(moverCall.withdraw(TOKEN)).toBe(`${selector('withdraw(address)')}${WORD(BigInt(TOKEN))}`);
  expect(moverCall.deposit(TOKEN, EVERYTHING)).toBe(
    `${selector('deposit(address,uint256)')}${WORD(BigInt(TOKEN))}${'f'.repeat(64)}`,
  );
  expect(moverCall.postBond(TOKEN, 7n)).toBe(
    `${selector('postBond(address,uint256)')}${WORD(BigInt(TOKEN))}${WORD(7)}`,
  );
  expect(moverCall.sendByCctp({ token: TOKEN, domain: 6, amount: 100n, maxFee: 1n, minFinality: 1000 })).toBe(
    `${selector('sendByCctp(address,uint32,uint256,uint256,uint32)')}${WORD(BigInt(TOKEN))}${WORD(6)}${WORD(100)}${WORD(1)}${WORD(1000)}`,
  );
  expect(moverCall.sendByOft({ oft: TOKEN, eid: 30184, amount: 100n, leastReceived: 99n })).toBe(
    `${selector('sendByOft(address,uint32,uint256,uint256)')}${WORD(BigInt(TOKEN))}${WORD(30184)}${WORD(100)}${WORD(99)}`,
  );
});

test('a change is scheduled by its calldata, and cancelled by the hash of it', () => {
  const change = accountCall.setMover(OWNER);
  expect(accountCall.schedule(change)).toContain(change.slice(2));
  expect(accountCall.cancel(change)).toBe(
    `${toFunctionSelector('function cancel(bytes32)')}${keccakHex(change).slice(2)}`,
  );
});
