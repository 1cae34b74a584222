/**
 * CPU that the built program needs to start: a venue and an LP until their operations port answers, and two
 * commands until they end. `--against FILE` alternates with another build's `dist/apps/cli/main.js`, because
 * a shared machine changes its speed. Linux only: it reads /proc.
 */

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGE_FOLDER } from '../src/adapters/system/version.ts';
import type { Part } from '../test/faults/support/process.ts';
import { startWorld } from '../test/faults/support/world.ts';

const { values } = parseArgs({
  options: { against: { type: 'string' }, runs: { type: 'string', default: '5' } },
});
spawnSync(process.execPath, [join(PACKAGE_FOLDER, 'scripts/build.mjs')], { stdio: 'inherit' });
const programs: Record<string, string> = {
  program: join(PACKAGE_FOLDER, 'dist/apps/cli/main.js'),
  ...(values.against !== undefined && { against: resolve(values.against) }),
};
const COMMANDS: Record<string, readonly string[]> = {
  help: ['--help'],
  configCheck: ['config', 'check', join(PACKAGE_FOLDER, 'config/lp.example.json')],
};

const folder = await mkdtemp(join(tmpdir(), 'firmquote-start-'));
// The world starts one script; which build that is, each start says.
const script = join(folder, 'program.mjs');
await writeFile(script, 'await import(`file://${process.env.FIRMQUOTE_START}`);\n');
const world = await startWorld({ chainIds: [31_655], program: script });
const parts: Record<string, Part> = { venue: world.venue(), lp: world.lps[0]?.part as Part };

/** CPU in ms by what starts, then by build; a list holds one number of each run. */
const samples = new Map<string, Map<string, number[]>>();
const add = (what: string, build: string, ms: number): void => {
  const builds = samples.get(what) ?? new Map<string, number[]>();
  builds.set(build, [...(builds.get(build) ?? []), ms]);
  samples.set(what, builds);
};

for (let run = 0; run < Number(values.runs); run += 1)
  for (const [build, file] of Object.entries(programs)) {
    for (const [what, words] of Object.entries(COMMANDS)) add(what, build, await cpuOfCommand(file, words));
    for (const [what, part] of Object.entries(parts)) {
      await part.start({ FIRMQUOTE_START: file });
      add(what, build, cpuMs(readFileSync(`/proc/${part.pid()}/stat`, 'utf8'), 13));
      await part.kill();
    }
  }
await world.stop();
await rm(folder, { recursive: true });

const medians = Object.fromEntries(
  [...samples].map(([what, builds]) => [
    what,
    Object.fromEntries([...builds].map(([build, all]) => [build, median(all)])),
  ]),
);
console.log(JSON.stringify({ bench: 'start', runs: Number(values.runs), cpuMs: medians }));

/** Measures the CPU of the shell's children that have ended, which is this command alone. */
async function cpuOfCommand(file: string, words: readonly string[]): Promise<number> {
  const shell = spawn('sh', [
    '-c',
    '"$@" > /dev/null; cat /proc/$$/stat',
    'sh',
    process.execPath,
    file,
    ...words,
  ]);
  let stat = '';
  shell.stdout.on('data', (chunk: Buffer) => (stat += chunk.toString()));
  await new Promise((done) => shell.once('close', done));
  return cpuMs(stat, 15);
}

/** User and system time in /proc/PID/stat: neighbours, in ticks of 10 ms. `field`: as in proc(5), from 0. */
function cpuMs(stat: string, field: number): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[field - 2]) + Number(fields[field - 1])) * 10;
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
