/** The pages in the order in which the header lists them, and the key that each needs. */

export const PAGES = [
  { path: '/', name: 'History', needs: 'workspace' },
  { path: '/trade', name: 'Trade', needs: 'service' },
  { path: '/solvers', name: 'Solvers', needs: 'service' },
  { path: '/workspace', name: 'Workspace', needs: 'workspace' },
] as const;
