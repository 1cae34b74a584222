/** Maps addresses to pages, behind the login. */

import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Frame } from './frame.tsx';
import { PAGES } from './navigation.ts';
import { AuditPage } from './pages/audit.tsx';
import { InventoryPage } from './pages/inventory.tsx';
import { NowPage } from './pages/now.tsx';
import { PricingPage } from './pages/pricing.tsx';
import { ProfitPage } from './pages/profit.tsx';
import { QuotesPage } from './pages/quotes.tsx';
import { RiskPage } from './pages/risk.tsx';

const root = createRootRoute({ component: Frame });
const page = (path: string, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => root, path, component });

const COMPONENTS: Readonly<Record<(typeof PAGES)[number]['path'], () => React.ReactNode>> = {
  '/': NowPage,
  '/quotes': QuotesPage,
  '/inventory': InventoryPage,
  '/profit': ProfitPage,
  '/pricing': PricingPage,
  '/risk': RiskPage,
  '/audit': AuditPage,
};

export const router = createRouter({
  routeTree: root.addChildren(PAGES.map(({ path }) => page(path, COMPONENTS[path]))),
  basepath: '/console',
  scrollRestoration: true,
});
