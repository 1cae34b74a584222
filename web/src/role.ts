/** Tells the pages below the frame who is logged in. */

import { createContext, useContext } from 'react';
import type { Role } from './api.ts';

export const RoleContext = createContext<Role>('viewer');
export const useRole = (): Role => useContext(RoleContext);
