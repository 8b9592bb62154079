import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { type Route, route } from '../../src/http/route.ts';

export interface SocketRoutes {
  routes: Route[];
  /** What reached a handler, in order. */
  handled: string[];
  /** Lets `POST /slow` answer. */
  release(): void;
  /** What `GET /stream` has opened. */
  streams: Readable[];
}

/** Routes to be rude to: each notes that it was reached. */
export function createSocketRoutes(): SocketRoutes {
  const handled: string[] = [];
  const streams: Readable[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const common = { auth: { kind: 'none' }, tag: 'Test', summary: 'For tests', answers: {} } as const;
  const body = Type.Object({ text: Type.String() });
  const routes = [
    route({
      ...common,
      method: 'GET',
      path: '/ok',
      handler: () => {
        handled.push('ok');
        return { status: 200, body: { ok: true } };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/echo',
      body,
      handler: (call) => {
        handled.push('echo');
        return { status: 200, body: { text: call.body.text } };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/slow',
      body,
      handler: async (call) => {
        handled.push('slow');
        await released;
        return { status: 200, body: { text: call.body.text, gone: call.signal.aborted } };
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: '/things/{id}',
      params: Type.Object({ id: Type.String() }),
      handler: (call) => ({ status: 200, body: { id: call.params.id } }),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/stream',
      handler: () => {
        const data = new Readable({ read: () => {} });
        data.push('data: first\n\n');
        streams.push(data);
        return { status: 200, content: { type: 'text/event-stream', data } };
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: '/page',
      handler: () => ({ status: 200, content: { type: 'text/html', data: 'x'.repeat(1_000_000) } }),
    }),
  ];
  return { routes, handled, streams, release: () => release() };
}
