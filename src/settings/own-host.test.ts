import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOwnHost } from './own-host.ts';

test('loopback, private networks and names that only a private resolver knows are own hosts', () => {
  const hostOf = (url: string) => new URL(url).hostname;
  // `URL` writes every spelling of an address as one.
  const own = ['127.0.0.1', '2130706433', '0x7f.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '[::1]', '[fd00::1]'];
  const ownNames = ['localhost', 'alertmanager', 'a.internal', 'x.default.svc.cluster.local', '[::ffff:10.0.0.1]'];
  const foreign = ['example.com', '8.8.8.8', '172.32.0.1', 'internal.example.com', '[2001:db8::1]', '[::ffff:8.8.8.8]'];
  for (const host of [...own, ...ownNames]) assert.equal(isOwnHost(hostOf(`http://${host}/`)), true, host);
  for (const host of foreign) assert.equal(isOwnHost(hostOf(`http://${host}/`)), false, host);
});
