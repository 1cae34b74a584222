/**
 * A plugin of vite that leaves out what no page uses of Radix's styles. All components, colours and widths of
 * screens are 0.8 MB.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMatchingGrayColor } from '@radix-ui/themes/helpers';
import type { accentColors } from '@radix-ui/themes/props';
import { build } from 'esbuild';
import type { Plugin } from 'vite';

const ROOT = join(import.meta.dirname, '..');
const THEMES = join(ROOT, 'node_modules/@radix-ui/themes');
const COLORS = readdirSync(join(THEMES, 'tokens/colors')).map((file) => file.replace('.css', ''));
const WIDTHS = ['xs', 'sm', 'md', 'lg', 'xl'];

interface Used {
  /** Class names of components, and how the others begin: `rt-r-p` stands for `rt-r-p-4` too. */
  classes: ReadonlySet<string>;
  unusedColors: readonly string[];
  /** Widths of screens from which no page looks different. */
  unusedWidths: readonly string[];
}

/** `entries`: the scripts of the pages. */
export function usedStyles(entries: readonly string[]): Plugin {
  let used: Promise<Used> | undefined;
  return {
    name: 'used-styles',
    enforce: 'pre',
    async transform(css, id) {
      if (!/@radix-ui\/themes\/.*\.css/.test(id)) return undefined;
      used ??= findUsed(entries);
      return { code: prune(css.replaceAll(/\/\*[\s\S]*?\*\//g, ''), await used), map: null };
    },
  };
}

/** The bundled scripts name the classes of the components in them; our sources name colours and widths. */
async function findUsed(entries: readonly string[]): Promise<Used> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [...entries],
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.css': 'empty' },
    logLevel: 'error',
  });
  const script = outputFiles.map(({ text }) => text).join('\n');
  const sources = Object.keys(metafile.inputs).filter((path) => path.startsWith('web/'));
  const text = sources.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
  const named = COLORS.filter((color) => new RegExp(`\\b${color}\\b`).test(text));
  const grays = named.map((color) => getMatchingGrayColor(color as (typeof accentColors)[number]));
  const colors = new Set<string>(['gray', ...named, ...grays]);
  return {
    classes: new Set(script.match(/-?\brt-[A-Za-z0-9-]*[A-Za-z0-9]/g)),
    unusedColors: COLORS.filter((color) => !colors.has(color)),
    unusedWidths: WIDTHS.filter((width) => !new RegExp(`\\b${width}: `).test(text)),
  };
}

/** Returns the rules that can match, without the custom properties of colours that no page uses. */
function prune(css: string, used: Used): string {
  const unusedProperties = new RegExp(`--(?:${used.unusedColors.join('|')})-[^;{}]*(?:;|$)`, 'g');
  let kept = '';
  for (let at = 0; at < css.length;) {
    const open = css.indexOf('{', at);
    if (open === -1) return kept + css.slice(at);
    const end = endOfBlock(css, open);
    const [selectors, body] = [css.slice(at, open).trim(), css.slice(open + 1, end - 1)];
    at = end;
    if (/^@(?:media|supports)/.test(selectors)) {
      const rules = prune(body, used);
      if (rules.trim() !== '') kept += `${selectors} {${rules}}\n`;
    } else if (selectors.startsWith('@')) kept += `${selectors} {${body}}\n`;
    else {
      const matching = selectorsOf(selectors).filter((selector) => canMatch(selector, used));
      const properties = body.replaceAll(unusedProperties, '');
      if (matching.length > 0 && properties.trim() !== '') kept += `${matching.join(', ')} {${properties}}\n`;
    }
  }
  return kept;
}

function endOfBlock(css: string, open: number): number {
  let at = open + 1;
  for (let depth = 1; depth > 0 && at < css.length; at += 1) {
    if (css[at] === '{') depth += 1;
    if (css[at] === '}') depth -= 1;
  }
  return at;
}

/** Splits at commas outside parentheses. */
function selectorsOf(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

/** False when the selector asks for a class, colour or width that no element of a page has. */
function canMatch(selector: string, { classes, unusedColors, unusedWidths }: Used): boolean {
  // `:not()` and lists of alternatives ask for none of their classes.
  const asked = selector.replaceAll(/:not\((?:[^()]|\([^()]*\))*\)|\((?:[^()]|\([^()]*\))*,[^)]*\)/g, '');
  if (unusedColors.some((color) => new RegExp(`data-(?:accent|gray)-color=['"]?${color}\\b`).test(asked)))
    return false;
  return [...asked.matchAll(/\.((?:[\w-]|\\.)+)/g)].every(([, escaped = '']) => {
    const [, width, name = ''] = /^(?:(\w\w):)?(.*)$/.exec(escaped.replaceAll('\\', '')) ?? [];
    if (width !== undefined && unusedWidths.includes(width)) return false;
    if (!/^-?rt-/.test(name)) return true;
    const words = name.split('-');
    return words.some((_, index) => classes.has(words.slice(0, words.length - index).join('-')));
  });
}
