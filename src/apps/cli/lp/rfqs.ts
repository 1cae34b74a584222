/** `firmquote lp rfqs`: prints recent requests for `firmquote sim replay`. */

import type { RecordedPage } from '../../../lp/quote-log/recorded-requests.ts';
import { type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';

export async function printRfqs(options: AdminClientOptions): Promise<void> {
  const client = await openAdminClient(options);
  for (let after: number | null = -1; after !== null;) {
    const { rfqs, next }: RecordedPage = await client.get('/rfqs', { query: `after=${after}` });
    for (const rfq of rfqs) console.log(JSON.stringify(rfq));
    after = next;
  }
}
