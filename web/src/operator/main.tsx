/** Starts the console of a venue's administrators in the page. */

import '@radix-ui/themes/styles.css';
import '../style.css';
import { config } from 'zod';
import { mount } from '../mount.tsx';
import { router } from './router.tsx';

// The page's policy forbids making functions out of text.
config({ jitless: true });
mount(router);
