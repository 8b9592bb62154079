import assert from 'node:assert/strict';
import { type BindState, writeBinds } from '../../src/delivery/carrier/bind-store.ts';
import { carrierKey, findCarrier, notifyCarriers } from '../../src/delivery/carrier/store.ts';
import type { KnownCarrier } from '../../src/delivery/routing/directory.ts';
import type { TestApp } from './app.ts';
import type { TestDeveloper } from './developer.ts';
import { eventually } from './eventually.ts';

const carriersPath = '/portal/v1/operator/carriers';
const routesPath = '/portal/v1/operator/routes';

/** Carriers whose states a test writes as a worker would, and the routes. Each call waits until the node knows it. */
export function createKnownCarriers(app: TestApp, operator: TestDeveloper) {
  const { database } = app.db;

  /** Waits until the node has read the rows; it reads them by itself within 2 s. */
  async function seen(holds: (carriers: Record<string, string>) => boolean): Promise<void> {
    await notifyCarriers(database);
    await eventually('the node knows the change', async () => {
      const { body } = await operator.send<{ carriers: KnownCarrier[] }>('GET', '/portal/v1/operator/health');
      const states = body.carriers.map(({ name, state, paused }) => [name, paused ? 'paused' : state]);
      return holds(Object.fromEntries(states));
    });
  }

  async function bind(name: string, state: BindState['state']): Promise<void> {
    const carrierId = (await findCarrier(database, name))?.id ?? 0;
    const sinceMs = app.clock.nowMs();
    const binds = [
      { slot: 1, state, mode: 'transceiver', host: null, sinceMs, error: null, nextTryAtMs: null } as const,
    ];
    await writeBinds(database, { carrierId, node: 'nod_a', binds }, app.clock.nowMs());
    await seen((carriers) => carriers[name] === (state === 'bound' ? 'up' : 'down'));
  }

  /** Returns the key of the new carrier. */
  async function connect(name: string, state?: BindState['state']): Promise<string> {
    const settings = { host: '127.0.0.1', system_id: 'me' };
    assert.equal((await operator.send('POST', carriersPath, { name, kind: 'smpp', settings })).status, 201);
    const row = await findCarrier(database, name);
    assert.ok(row, 'it was written');
    if (state !== undefined) await bind(name, state);
    else await seen((carriers) => carriers[name] === 'not_running');
    return carrierKey(row);
  }

  async function setPaused(name: string, paused: boolean): Promise<void> {
    await operator.send('POST', `${carriersPath}/${name}/${paused ? 'pause' : 'resume'}`);
    await seen((carriers) => (carriers[name] === 'paused') === paused);
  }

  async function putRoutes(routes: object[]): Promise<number> {
    const { body: before } = await operator.send<{ version: number }>('GET', routesPath);
    const { status, body } = await operator.send<{ version: number }>('PUT', routesPath, { ...before, routes });
    assert.equal(status, 200, JSON.stringify(body));
    await eventually('the node knows the routes', async () => {
      const { body: explained } = await operator.send<{ version: number }>('POST', `${routesPath}/explain`, {
        to: '+447700900123',
      });
      return explained.version === body.version;
    });
    return body.version;
  }

  async function clear(): Promise<void> {
    const { body } = await operator.send<{ routes: unknown[] }>('GET', routesPath);
    if (body.routes.length > 0) await putRoutes([]);
    await database.query('truncate carrier, carrier_bind, carrier_log, carrier_test');
    await seen((carriers) => Object.keys(carriers).length === 0);
  }

  return { seen, bind, connect, setPaused, putRoutes, clear };
}
