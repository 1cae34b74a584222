/** Roles of keys and members, lowest first, as the venue ranks them. */

import type { KeyHolder } from '../../../../src/protocol/admin/admin.ts';

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
type Role = (typeof ROLES)[number];

const rankOf = (role: string | null): number => ROLES.findIndex((each) => each === role);

/** Returns the roles that a key holder may give to others: at most its own. */
export const rolesUpTo = ({ role }: KeyHolder): readonly (readonly [Role, Role])[] =>
  ROLES.slice(0, rankOf(role) + 1).map((each) => [each, each] as const);

export const reaches = ({ role }: KeyHolder, other: Role): boolean => rankOf(other) <= rankOf(role);
