/**
 * Stack traces of the built program name the files of src. Its maps are read when the first trace is printed:
 * Node's --enable-source-maps reads them all at the start, which costs 0.1 s of CPU.
 */

import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

/** The source map of each file of the program; null: it has none. */
const maps = new Map<string, SourceMap | null>();

export function mapStackTraces(): void {
  // From sources, Node names them itself.
  if (!import.meta.url.endsWith('.js')) return;
  Error.prepareStackTrace = (error, frames) =>
    [String(error), ...frames.map((frame) => `    at ${inSource(frame)}`)].join('\n');
}

function inSource(frame: NodeJS.CallSite): string {
  const shown = frame.toString();
  const [file, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()];
  if (!file?.startsWith('file:') || line === null || column === null) return shown;
  const entry = mapOf(file)?.findEntry(line - 1, column - 1);
  // Code of packages is in no map.
  if (entry === undefined || !('originalSource' in entry) || !entry.originalSource) return shown;
  const source = fileURLToPath(new URL(entry.originalSource, file));
  return shown.replace(
    `${file}:${line}:${column}`,
    `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`,
  );
}

function mapOf(file: string): SourceMap | null {
  let map = maps.get(file);
  if (map === undefined) {
    const path = `${fileURLToPath(file)}.map.br`;
    map = existsSync(path)
      ? new SourceMap(JSON.parse(brotliDecompressSync(readFileSync(path)).toString()) as SourceMapPayload)
      : null;
    maps.set(file, map);
  }
  return map;
}
