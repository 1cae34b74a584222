/** Who is logged in, for the pages below the frame. */

import { createContext, useContext } from 'react';
import type { Role } from './api.ts';

export const RoleContext = createContext<Role>('viewer');
export const useRole = (): Role => useContext(RoleContext);
