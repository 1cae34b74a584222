/** Shows the pages of a router in the page, with one cache of the server's answers. */

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api.ts';

export function mount(router: AnyRouter): void {
  // Dialogs lock the scroll bar by a style element, which the page's policy lets in by this number alone.
  setNonce(document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? '');
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (count, error) => count < 1 && !(error instanceof ApiError && error.status < 500),
        refetchOnWindowFocus: true,
      },
    },
  });
  const root = document.getElementById('root');
  if (root !== null)
    createRoot(root).render(
      <StrictMode>
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </StrictMode>,
    );
}
