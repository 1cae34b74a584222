/** Maps addresses to pages, behind the sign-in. */

import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Frame } from './frame.tsx';
import { PAGES } from './navigation.ts';
import { HistoryPage } from './pages/history.tsx';
import { SolversPage } from './pages/solvers.tsx';
import { TradePage } from './pages/trade.tsx';
import { WorkspacePage } from './pages/workspace.tsx';
import { Needs } from './parts/needs.tsx';

const root = createRootRoute({ component: Frame });

const COMPONENTS: Readonly<Record<(typeof PAGES)[number]['path'], () => React.ReactNode>> = {
  '/': HistoryPage,
  '/trade': TradePage,
  '/solvers': SolversPage,
  '/workspace': WorkspacePage,
};

const pages = PAGES.map(({ path, name, needs }) => {
  const Page = COMPONENTS[path];
  return createRoute({
    getParentRoute: () => root,
    path,
    component: () => (
      <Needs name={name} kind={needs}>
        <Page />
      </Needs>
    ),
  });
});

export const router = createRouter({
  routeTree: root.addChildren(pages),
  basepath: '/console',
  scrollRestoration: true,
});
