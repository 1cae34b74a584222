/** Tests that a client is one address, whatever its spelling, port or place in its network. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bareAddress, clientOf } from './client-address.ts';

test.each([
  ['198.51.100.9', '198.51.100.9'],
  ['198.51.100.9:40001', '198.51.100.9'],
  [' 198.51.100.9:40002 ', '198.51.100.9'],
  ['::ffff:198.51.100.9', '198.51.100.9'],
  ['[::ffff:198.51.100.9]:443', '198.51.100.9'],
  ['::FFFF:C633:6409', '198.51.100.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::9]:40001', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['not an address', 'not an address'],
  ['', ''],
])('%s is %s', (text, client) => {
  expect(clientOf(text)).toBe(client);
});

test.each([
  ['10.1.2.3:8080', '10.1.2.3'],
  ['[2001:db8::1]:8080', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
])('%s without its port is %s', (text, bare) => {
  expect(bareAddress(text)).toBe(bare);
});

test('law: all addresses of a /64 are one client, and those of another are another', () => {
  const group = fc.nat(0xffff).map((n) => n.toString(16));
  const four = fc.tuple(group, group, group, group).map((groups) => groups.join(':'));
  fc.assert(
    fc.property(four, four, four, (network, one, other) => {
      fc.pre(!network.startsWith('0:0:0:0'));
      expect(clientOf(`${network}:${one}`)).toBe(clientOf(`[${network}:${other}]:1`));
      const [first, ...rest] = network.split(':');
      const near = [((Number.parseInt(first as string, 16) ^ 1) & 0xffff).toString(16), ...rest].join(':');
      expect(clientOf(`${near}:${one}`)).not.toBe(clientOf(`${network}:${one}`));
    }),
  );
});

test('law: clientOf of a client that is an address is itself, and no text makes it throw', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(clientOf(address)).toBe(address);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(typeof clientOf(text)).toBe('string');
    }),
  );
});
