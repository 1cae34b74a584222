/** The handshake: a solver proves which operator it is, and joins the roster. */

import { parseCorridor } from '../../domain/corridor.ts';
import {
  type Hello,
  LINK_HEARTBEAT_SECONDS,
  LINK_MISSED_HEARTBEATS,
  LINK_PROTOCOL_VERSION,
} from '../../protocol/link/link.ts';
import { linkProofDigest } from '../../protocol/link/link-proof.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';
import {
  type LinkConnection,
  type LinkDoor,
  type LinkDeps,
  type LinkOptions,
  push,
  refuse,
  say,
  unfollow,
} from './connection.ts';

/** A solver with this many unsent bytes is not asked, because it would read a request after its deadline. */
const BUSY_BYTES = 128 * 1024;
/** Each frame to the solver allows this many answers more. */
const ANSWERS_PER_REQUEST = 16;
const MAX_SPARE_ANSWERS = 20_000;

/** Checks the identity that a hello proves, and lets the solver join the roster. */
export async function greet(
  deps: LinkDeps,
  options: LinkOptions,
  door: LinkDoor,
  connection: LinkConnection,
  hello: Hello,
): Promise<void> {
  if (hello.solverId !== connection.solverId)
    return refuse(deps, connection, 'wrong_solver', 'This key belongs to another solver.');
  if (hello.protocolVersion !== LINK_PROTOCOL_VERSION)
    return refuse(
      deps,
      connection,
      'protocol_version',
      `This venue speaks version ${LINK_PROTOCOL_VERSION} of the link.`,
    );
  if (new Set(hello.accounts.map(({ chainId }) => chainId)).size < hello.accounts.length)
    return refuse(
      deps,
      connection,
      'duplicate_chain',
      'A hello names one account per chain, and this one names several.',
    );
  const shadow = hello.shadow === true;
  if (shadow && !door.shadows)
    return refuse(
      deps,
      connection,
      'no_shadows',
      'This venue shows its requests to no solver that signs nothing. Say hello without shadow.',
    );
  for (const { chainId, account, operator, signature } of shadow ? [] : hello.accounts) {
    const port = connection.ours.find(({ chain }) => chain.id === chainId);
    if (!port) continue;
    const digest = linkProofDigest(
      { chainId, escrow: port.chain.escrow },
      { nonce: connection.nonce, venueId: options.venueId, solverId: connection.solverId, account },
    );
    if (deps.recovery.recover(digest, signature) !== operator)
      return refuse(
        deps,
        connection,
        'bad_proof',
        `The proof for chain ${chainId} is not signed by the operator it names.`,
      );
    if (await deps.liquidity.watch(chainId, account, operator))
      connection.accounts.set(chainId, { account, operator });
    if (connection.closed) return unfollow(deps, connection);
  }
  if (connection.accounts.size === 0 && !shadow)
    return refuse(
      deps,
      connection,
      'not_operator',
      'This operator may sign for its account on no chain of this key. Register it with setOperator on the escrow.',
    );
  const session = sessionOf(connection, hello, shadow);
  connection.session = session;
  if (!deps.roster.join(session))
    return refuse(
      deps,
      connection,
      'not_on_roster',
      'This solver is not on the roster, or has been disabled by the venue.',
    );
  connection.cancelTimer();
  if (!shadow)
    deps.store
      .putSolverAccounts(
        connection.solverId,
        [...connection.accounts].map(([chainId, { account }]) => ({ chainId, account })),
      )
      .catch((error: unknown) =>
        deps.log.warn({ solver: connection.solverId, error }, "a solver's accounts could not be stored"),
      );
  say(connection, {
    type: 'welcome',
    sessionId: deps.random.bytes32().slice(2, 34),
    heartbeatSeconds: LINK_HEARTBEAT_SECONDS,
    ...(deps.bondDemands.length > 0 && {
      minBond: deps.bondDemands.map(({ amount, ...where }) => ({ ...where, amount: amount.toString() })),
    }),
  });
  connection.cancelTimer = deps.clock.after(LINK_HEARTBEAT_SECONDS * 1_000, () => beat(deps, connection));
}

/** The session of a solver that has proven its identity. */
function sessionOf(connection: LinkConnection, hello: Hello, shadow: boolean): SolverSession {
  return {
    solverId: connection.solverId,
    replica: hello.replica,
    shadow,
    mode: connection.key.mode,
    accounts: connection.accounts,
    corridors: hello.corridors.filter(
      (corridor) =>
        parseCorridor(
          corridor,
          connection.ours.map(({ chain }) => chain),
        ) !== undefined,
    ),
    maxInFlight: hello.maxInFlight,
    // It is asked only after it reported `active`.
    status: 'standby',
    note: null,
    inFlight: 0,
    readsInTime: () => connection.socket.bufferedBytes() < BUSY_BYTES,
    send(text) {
      connection.spareAnswers = Math.min(connection.spareAnswers + ANSWERS_PER_REQUEST, MAX_SPARE_ANSWERS);
      push(connection, text);
    },
    notify: (text) => push(connection, text),
    end: (code, reason) => connection.socket.close(code, reason),
  };
}

/** Pings the solver; after `LINK_MISSED_HEARTBEATS` without any frame it is disconnected. */
function beat(deps: LinkDeps, connection: LinkConnection): void {
  if (connection.closed) return;
  if (connection.missed >= LINK_MISSED_HEARTBEATS) {
    if (connection.session) deps.roster.leave(connection.session, 'heartbeat lost');
    connection.socket.terminate();
    return;
  }
  connection.missed++;
  say(connection, { type: 'ping' });
  connection.cancelTimer = deps.clock.after(LINK_HEARTBEAT_SECONDS * 1_000, () => beat(deps, connection));
}
