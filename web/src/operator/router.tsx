/** Maps addresses to pages, behind the sign-in. */

import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Frame } from './frame.tsx';
import { PAGES } from './navigation.ts';
import { AuditPage } from './pages/audit.tsx';
import { ChainsPage } from './pages/chains.tsx';
import { OrdersPage } from './pages/orders.tsx';
import { SolversPage } from './pages/solvers.tsx';

const root = createRootRoute({ component: Frame });

const COMPONENTS: Readonly<Record<(typeof PAGES)[number]['path'], () => React.ReactNode>> = {
  '/': OrdersPage,
  '/solvers': SolversPage,
  '/chains': ChainsPage,
  '/audit': AuditPage,
};

export const router = createRouter({
  routeTree: root.addChildren(
    PAGES.map(({ path }) => createRoute({ getParentRoute: () => root, path, component: COMPONENTS[path] })),
  ),
  basepath: '/console',
  scrollRestoration: true,
});
