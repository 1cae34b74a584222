/** Starts the console of an LP in the page. */

import '@radix-ui/themes/styles.css';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { mount } from './mount.tsx';
import { router } from './router.tsx';

mount(router);
