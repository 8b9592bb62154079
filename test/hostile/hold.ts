import { type HostileLine, openHostileLine } from './line.ts';
import type { HostileRequest, World } from './world.ts';

const longestHoldMs = 50;
const idleMs = 10;
const tries = 3;

interface Lines {
  hostile: HostileLine;
  neighbour: HostileLine;
}

const linesOf = new WeakMap<World, Lines>();

/** Whether another caller waits too long while a request is answered: in every try, though it is quick before each. */
export async function holdsOthersUp(request: HostileRequest, world: World): Promise<boolean> {
  const lines = linesOf.get(world) ?? { hostile: openHostileLine(world.port), neighbour: openHostileLine(world.port) };
  linesOf.set(world, lines);
  for (let held = 0; held < tries; ) {
    await idle(lines, world);
    if ((await longestWait(request, world, lines)) <= longestHoldMs) return false;
    held++;
  }
  return true;
}

/** A try counts only on a machine that is not busy with other things. */
async function idle({ neighbour }: Lines, world: World): Promise<void> {
  const giveUpMs = performance.now() + 60_000;
  while ((await neighbour.send(world.neighbour)).ms >= idleMs) {
    if (performance.now() > giveUpMs) throw new Error('this machine is too busy to time anything');
  }
}

/** The longest that the other caller waited for one of the answers it asked for meanwhile. */
async function longestWait(request: HostileRequest, world: World, { hostile, neighbour }: Lines): Promise<number> {
  let answered = false;
  const answer = hostile.send(request).finally(() => {
    answered = true;
  });
  let longest = 0;
  do longest = Math.max(longest, (await neighbour.send(world.neighbour)).ms);
  while (!answered);
  await answer;
  return longest;
}
