// run: with hostile callers
// Whatever stands in any place of any request, it is never a 500, the answer stays small, and other callers are answered.
// The places come from the OpenAPI document of the running service. `npm run test:hostile` tries every shape in every
// place and size, and times another caller's requests meanwhile.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inShort } from '../support/effort.ts';
import { tellFigure } from '../support/figures.ts';
import { buildService } from '../support/service.ts';
import { type HostileConnection, openHostileConnection } from './hostile-connection.ts';
import { crowds, type Shape, shapes } from './shapes.ts';
import { type Slot, type Target, targetsOf } from './slots.ts';
import { sendTimed, untimed } from './timed-requests.ts';
import { createWorld, type HostileRequest, type World } from './world.ts';

/** The rest of a body needs a little. Above 64 KiB it is a 413. */
const largest = 64_000;
/** Within the bounds of a text, just above them, and as large as it can be. */
const sizes = inShort([2900, largest], [250, 2900, 6000, largest]);
/** A request line and its headers have 16 KiB. */
const largestInPath = 12_000;
const lines = inShort(2, 1);
/** Timed limits are for the long form, which has the machine for itself. */
const timed = inShort(false, true);

/** All the refusals of a hundred fields, and a page of a list, are smaller. */
const largestRefusal = 32 * 1024;

let world: World;
let targets: Target[];
before(async () => {
  await buildService();
  world = await createWorld();
  targets = targetsOf(world.document);
});
after(() => {
  if (untimed.length > 0) tellFigure(`NOT TIMED, the machine was busy: ${untimed.length}\n${untimed.join('\n')}`);
  else tellFigure('every long wait was timed');
});
after(() => world?.close());

interface Case {
  name: string;
  request: HostileRequest;
}

/** In short a place meets every 96th shape, in one size; the next place meets the next ones, in the other size. */
const shapeStep = inShort(96, 1);

function* casesOf(target: Target, slot: Slot, slotIndex: number): Generator<Case> {
  for (let index = slotIndex % shapeStep; index < shapes.length; index += shapeStep) {
    const shape = shapes[index];
    if (shape === undefined) continue;
    const all = shape.grows ? sizes : [largest];
    const one = [all[(index + Math.floor(slotIndex / shapeStep)) % all.length] ?? largest];
    for (const size of inShort(one, all)) {
      const raw = rawFor(shape, slot, size);
      if (raw === undefined) continue;
      const name = `${target.method} ${target.path}: ${slot.location} ${slot.steps.join('.')}: ${shape.name} (${size})`;
      yield { name, request: world.requestFor(target, slot, raw) };
    }
  }
}

function rawFor(shape: Shape, { location }: Slot, size: number): string | undefined {
  if (location === 'json') return shape.json(size);
  if (shape.text === undefined) return undefined;
  if (location === 'form') return shape.text(size / 3);
  // Percent encoding makes up to three bytes of one.
  return shape.text(Math.min(size, largestInPath / 3));
}

/** One at a time, because all of them together are gigabytes. */
function* casesFor(target: Target): Generator<Case> {
  const before = targets.slice(0, targets.indexOf(target)).reduce((count, { slots }) => count + slots.length, 0);
  for (const [index, slot] of target.slots.entries()) yield* casesOf(target, slot, before + index);
  // Lists that are full of the most that each item may hold.
  const list = target.slots.find(({ location, schema }) => location === 'json' && schema.items !== undefined);
  for (const [name, items] of list === undefined ? [] : Object.entries(crowds)) {
    const crowded = world.requestFor(target, list as Slot, JSON.stringify(items));
    yield { name: `${target.method} ${target.path}: ${name}`, request: crowded };
  }
}

/** What is wrong with the answer to a hostile request. */
async function tryCase({ name, request }: Case, connection: HostileConnection): Promise<string | undefined> {
  const { status, bytes, held } = timed
    ? await sendTimed(request, world)
    : { ...(await connection.send(request)), held: false };
  if (held) return `${name}: another caller waited`;
  if (status >= 500 || status === 0) return `${name}: ${status}`;
  // The place was never reached: the request has to be mended.
  if (status === 401 && !isIdentity(request) && !isSignIn(request)) return `${name}: 401`;
  return status >= 400 && bytes > largestRefusal ? `${name}: ${bytes} bytes of refusal` : undefined;
}

/** A wrong password or challenge is a 401 of the handler. */
function isSignIn({ path }: HostileRequest): boolean {
  return path.startsWith('/portal/v1/sessions');
}

function isIdentity({ path }: HostileRequest): boolean {
  return path.startsWith('/realms/');
}

test('the attack has enough shapes, and a slot in every kind of request', () => {
  assert.ok(shapes.filter(({ text, grows }) => text !== undefined && grows).length >= 30);
  const places = new Set(targets.flatMap(({ slots }) => slots.map(({ location }) => location)));
  assert.deepEqual([...places].sort(), ['form', 'json', 'path', 'query']);
});

test('never a 500, never a large refusal, and another caller is answered', async (t) => {
  for (const target of targets) {
    await t.test(`${target.method} ${target.path}`, async (each) => {
      const cases = casesFor(target);
      const wrong: string[] = [];
      let count = 0;
      const work = Array.from({ length: lines }, async () => {
        const connection = openHostileConnection(world.port);
        // The lines share one generator: each takes the next case.
        for (let next = cases.next(); !next.done; next = cases.next()) {
          const problem = await tryCase(next.value, connection);
          if (problem !== undefined) wrong.push(problem);
          count++;
        }
        const { status } = await connection.send(world.neighbour);
        assert.equal(status, 200, 'another caller');
        connection.close();
      });
      await Promise.all(work);
      each.diagnostic(`${count} requests`);
      assert.deepEqual(wrong, [], world.service.output().slice(-2000));
    });
  }
});
