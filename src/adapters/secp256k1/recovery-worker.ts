/**
 * What the thread that recovers signers runs: answers in the order of the questions, sleeps when there are
 * none, and knows nothing else.
 */

import { workerData } from 'node:worker_threads';
import { bytesToHex } from '../../domain/hex.ts';
import { writeHex } from '../../domain/word.ts';
import { createRecovery } from './recovery.ts';
import { ANSWERED, ASKED, openSlots, READY } from './recovery-slots.ts';

const { counters, at } = openSlots(workerData as SharedArrayBuffer);
const recovery = createRecovery();
Atomics.store(counters, READY, 1);

for (let answered = 0; ;) {
  const asked = Atomics.load(counters, ASKED);
  if (asked === answered) {
    Atomics.notify(counters, ANSWERED);
    Atomics.wait(counters, ASKED, asked);
    continue;
  }
  const { digest, signature, length, signer, found } = at(answered);
  const address = recovery.recover(bytesToHex(digest), bytesToHex(signature.subarray(0, length[0])));
  found[0] = address === undefined ? 0 : 1;
  if (address !== undefined) writeHex(signer, 0, address);
  answered = (answered + 1) | 0;
  Atomics.store(counters, ANSWERED, answered);
}
