/**
 * Takes one defence out of a source file. The function or constant is renamed to `NAME__original`, and what
 * the list of faults gives in its place has its name, so that neither moving nor reformatting code breaks the
 * list.
 */

import type { Defence } from './fault.ts';

export const fileOf = ({ symbol }: Defence): string => symbol.split('#')[0] as string;
const nameOf = ({ symbol }: Defence): string => symbol.split('#')[1] as string;

/** Throws when the file does not declare the symbol. */
export function takeOut(source: string, defence: Defence): string {
  return fileOf(defence).endsWith('.sol')
    ? replaceBody(source, nameOf(defence), defence.becomes)
    : replaceDeclaration(source, nameOf(defence), defence.becomes);
}

/** The formatter ends a function of a contract with a brace that is indented by four spaces. */
function replaceBody(source: string, name: string, body: string): string {
  const found = new RegExp(`(\\n    function ${name}\\([^{]*\\{\\n)[\\s\\S]*?(\\n    \\}\\n)`).exec(source);
  if (!found) throw new Error(`There is no function ${name} in the contract.`);
  const [whole, head, foot] = found;
  return source.replace(whole, () => `${head}${body}${foot}`);
}

function replaceDeclaration(source: string, name: string, becomes: string): string {
  const hidden = `${name}__original`;
  const functions = new RegExp(`^(export )?(async )?function ${name}\\b`, 'gm');
  const [declared] = source.matchAll(functions);
  if (declared !== undefined) {
    const renamed = source.replace(functions, (_, _exported, isAsync = '') => `${isAsync}function ${hidden}`);
    // Declared with `function` and `var`, because other declarations of the file may use it before this line
    // runs.
    return `// @ts-nocheck\n${renamed}
var ${name}__becomes;
${declared[1] ?? ''}function ${name}(...args) {
  const original = ${hidden};
  ${name}__becomes ??= (${becomes});
  return ${name}__becomes(...args);
}
`;
  }
  // A statement ends where the next line is empty or begins in the first column without closing a bracket.
  const constant = new RegExp(`^(export )?const ${name}\\b[\\s\\S]*?;\\n(?=\\n|[^\\s)}\\]\`]|$)`, 'm').exec(
    source,
  );
  if (!constant) throw new Error(`The file declares no function or constant ${name}.`);
  const [statement, exported = ''] = constant;
  const renamed = statement.replace(`${exported}const ${name}`, `const ${hidden}`);
  const instead = `${exported}const ${name}: typeof ${hidden} = ((original) => (${becomes}))(${hidden});\n`;
  return `// @ts-nocheck\n${source.replace(statement, () => renamed + instead)}`;
}
