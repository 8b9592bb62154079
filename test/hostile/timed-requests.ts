import { type ConnectionAnswer, type HostileConnection, openHostileConnection } from './hostile-connection.ts';
import type { HostileRequest, World } from './world.ts';

const longestHoldMs = 50;
const idleMs = 10;
const tries = 3;

interface Connections {
  hostile: HostileConnection;
  neighbour: HostileConnection;
}

const connectionsOf = new WeakMap<World, Connections>();

/** Requests after a long wait that could not be timed, because the machine stayed busy. They prove nothing. */
export const untimed: string[] = [];

export interface TimedAnswer extends ConnectionAnswer {
  /** Another caller waited too long in every try, though nothing else kept the machine busy before any of them. */
  held: boolean;
}

export async function sendTimed(request: HostileRequest, world: World): Promise<TimedAnswer> {
  const connections = connectionsOf.get(world) ?? {
    hostile: openHostileConnection(world.port),
    neighbour: openHostileConnection(world.port),
  };
  connectionsOf.set(world, connections);
  let { answer, longestMs } = await sendBeside(request, world, connections);
  // A first long wait may have any cause, so it only asks for tries that are watched.
  for (let attempt = 1; attempt <= tries && longestMs > longestHoldMs; attempt++) {
    if (!(await isIdle(connections, world, answer.ms))) {
      untimed.push(`${request.method} ${request.path.slice(0, 80)}`);
      return { ...answer, held: false };
    }
    ({ answer, longestMs } = await sendBeside(request, world, connections));
  }
  return { ...answer, held: longestMs > longestHoldMs };
}

/** Sends it, and returns the longest time that another caller waited for one of the answers it asked for meanwhile. */
async function sendBeside(request: HostileRequest, world: World, { hostile, neighbour }: Connections) {
  let answered = false;
  const sent = hostile.send(request).finally(() => {
    answered = true;
  });
  let longestMs = 0;
  do longestMs = Math.max(longestMs, (await neighbour.send(world.neighbour)).ms);
  while (!answered);
  return { answer: await sent, longestMs };
}

/**
 * Whether the other caller is always answered quickly for as long as the request takes, when nothing else is asked. On a
 * machine that is busy with other things for ten seconds on end, nothing can be timed.
 */
async function isIdle({ neighbour }: Connections, world: World, spanMs: number): Promise<boolean> {
  const giveUpMs = performance.now() + 10_000;
  for (let sinceMs = performance.now(); performance.now() - sinceMs < spanMs; ) {
    if ((await neighbour.send(world.neighbour)).ms >= idleMs) sinceMs = performance.now();
    if (performance.now() > giveUpMs) return false;
  }
  return true;
}
