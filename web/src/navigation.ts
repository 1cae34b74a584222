/** The pages in the order in which the header lists them. */

export const PAGES = [
  { path: '/', name: 'Now' },
  { path: '/quotes', name: 'Quotes' },
  { path: '/inventory', name: 'Inventory' },
  { path: '/profit', name: 'Profit' },
  { path: '/pricing', name: 'Pricing' },
  { path: '/risk', name: 'Risk' },
  { path: '/audit', name: 'Audit log' },
] as const;
