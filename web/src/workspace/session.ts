/** Tells the pages below the frame who is signed in. */

import { createContext, useContext } from 'react';
import type { KeyHolder } from '../../../src/protocol/admin/admin.ts';
import type { Session } from './api.ts';

export const SessionContext = createContext<Session>({});
export const useSession = (): Session => useContext(SessionContext);

/** Roles that see members, compliance and fees, and may change the workspace. */
export const mayManage = (holder: KeyHolder | undefined): boolean =>
  holder?.role === 'owner' || holder?.role === 'admin';
