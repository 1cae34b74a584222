/** The pages in the order in which the header lists them. */

export const PAGES = [
  { path: '/', name: 'Orders' },
  { path: '/solvers', name: 'Solvers' },
  { path: '/chains', name: 'Chains and queues' },
  { path: '/audit', name: 'Audit log' },
] as const;
