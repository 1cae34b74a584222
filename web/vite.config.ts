/** Builds the console into files that a process serves itself: no other host is asked for anything. */

import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // A file beside the page instead of data in it: the policy of the page allows nothing else.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_500,
    // The LP's pages, those of a venue's workspaces, and those of its administrators.
    rolldownOptions: {
      input: ['index.html', 'workspace.html', 'operator.html'].map((page) => join(import.meta.dirname, page)),
    },
  },
});
