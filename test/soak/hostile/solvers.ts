/** Hostile solvers, to a venue: floods, announcements of many accounts, and answers without end. */

import type { Chain } from '../../../src/domain/chain.ts';
import { LINK_PATH, LINK_PROTOCOL_VERSION } from '../../../src/protocol/link/link.ts';
import { account } from '../../support/devnet.ts';
import { random32 } from '../../support/scripted-venue.ts';
import { type ScriptedSolver, type SolverSpec, startSolver } from '../../support/solver.ts';
import type { SolverKey, Targets } from './hostiles.ts';
import { closed, dial, each, FROM, hits, pause, PER_ROUND, RETURN_MS, ROUND_MS } from './strikes.ts';

/** Of each request; longer than a round may stay open. */
const REPEATS = 100;

let solvers: ScriptedSolver[] = [];
export const stopSolvers = () => Promise.all(solvers.map((solver) => solver.stop()));

async function join(
  url: string,
  chains: readonly Chain[],
  { id, apiKey, account: lp, operator }: SolverKey,
  answer: SolverSpec['answer'],
): Promise<ScriptedSolver> {
  const solver = await startSolver(url, {
    ...{ id, apiKey, chains, answer, from: FROM },
    lp: account(lp).address,
    operator: account(operator),
    corridors: chains.flatMap(({ slug }) => chains.map((to) => `${slug}-${to.slug}`)),
  });
  solvers.push(solver);
  void solver.closed.then(() => (solvers = solvers.filter((other) => other !== solver)));
  return solver;
}

/** Asks for resync and toggles its status as fast as it can. */
export async function floodVenue(url: string, { chains, flooder }: Targets): Promise<void> {
  const solver = await join(url, chains, flooder, () => undefined);
  let active = false;
  await each(ROUND_MS, solver.closed, () => {
    for (let n = 0; n < PER_ROUND / 2; n += 1) {
      solver.say('{"type":"resync"}');
      active = !active;
      solver.say(JSON.stringify({ type: 'status', status: active ? 'active' : 'standby', note: `${n}` }));
    }
    hits('frames to venues', PER_ROUND);
  });
  await pause(RETURN_MS);
}

/** Answers each request again and again with a quote and the promise of another. */
export async function repeatAnswers(url: string, { chains, repeater }: Targets): Promise<void> {
  const held: { solver?: ScriptedSolver } = {};
  held.solver = await join(url, chains, repeater, (rfq, make) => {
    // Far from the price, and without a balance behind it: it must never win.
    const quote = { ...make.quote(rfq, { input: BigInt(rfq.amount), output: 1n }), more: true };
    let left = REPEATS;
    const sending = setInterval(() => {
      held.solver?.say(quote);
      hits('repeated answers');
      if ((left -= 1) === 0) clearInterval(sending);
    }, ROUND_MS);
    void held.solver?.closed.then(() => clearInterval(sending));
    return quote;
  });
  await held.solver.closed;
  await pause(RETURN_MS);
}

/** Connects, announces many accounts that nobody onboarded, and hangs up. */
export async function announceAccounts(url: string, { chains, announcer }: Targets): Promise<void> {
  const socket = dial(`${url}${LINK_PATH}`, announcer.apiKey);
  socket.on('message', (data: Buffer) => {
    if ((JSON.parse(data.toString()) as { type: string }).type !== 'challenge') return;
    const accounts = Array.from({ length: 64 }, (_, n) => ({
      chainId: chains[n % chains.length]?.id,
      account: `0x${random32().slice(2, 42)}`,
      operator: `0x${random32().slice(2, 42)}`,
      signature: `0x${'11'.repeat(65)}`,
    }));
    const { id } = announcer;
    socket.send(
      JSON.stringify({
        type: 'hello',
        solverId: id,
        kind: 'lp',
        name: id,
        accounts,
        corridors: [],
        maxInFlight: 10,
        protocolVersion: LINK_PROTOCOL_VERSION,
      }),
    );
    hits('hellos with 64 accounts');
  });
  await closed(socket);
  await pause(ROUND_MS);
}
