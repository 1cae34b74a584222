/**
 * Adds to package-lock.json the optional platform packages that the registry at hand did not carry when the
 * lock was written. Without them `npm ci` refuses the lock everywhere. Each is locked to the version its
 * parent names; its own os and cpu keep it from being fetched elsewhere.
 */

import { readFileSync, writeFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const OS = {
  darwin: 'darwin',
  linux: 'linux',
  linuxmusl: 'linux',
  win32: 'win32',
  windows: 'win32',
  android: 'android',
  freebsd: 'freebsd',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  aix: 'aix',
  wasm32: 'wasi',
};
const CPU = {
  x64: 'x64',
  amd64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  ia32: 'ia32',
  x86: 'ia32',
  ppc64: 'ppc64',
  s390x: 's390x',
  riscv64: 'riscv64',
  loong64: 'loong64',
  mips64el: 'mips64el',
  wasm32: 'wasm32',
};

const added = [];
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (resolves(place, name)) continue;
    const words = name.split('/').at(-1).split(/[-_]/);
    const os = words.map((word) => OS[word]).find(Boolean);
    const cpu = words.map((word) => CPU[word]).find(Boolean);
    if (!os)
      throw new Error(
        `${name}, an optional dependency of ${place || 'the project'}, is not in the lock and its name says no platform: look at it.`,
      );
    // The version of the package that wants it, when the range fits no single one.
    const version = range.replace(/^[~^]/, '');
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(cpu && { cpu: [cpu] }),
      ...(entry.dev && { dev: true }),
      optional: true,
      os: [os],
      ...(os === 'linux' && /musl|gnu/.test(name) && { libc: [/musl/.test(name) ? 'musl' : 'glibc'] }),
    };
    added.push(`${name}@${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'The lock is complete.' : `Added ${added.length}: ${added.join(', ')}`);

function resolves(place, name) {
  for (let at = place; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]) return true;
    if (at === '') return false;
  }
}
