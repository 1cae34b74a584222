/** Property tests mean the lengths they name: without this fast-check draws at most ten of "at most 300". */

import fc from 'fast-check';

fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
