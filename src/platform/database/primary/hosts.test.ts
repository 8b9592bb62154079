import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHosts, followsPrimary, readHosts } from './hosts.ts';

test('each host gets an address of its own, with the user, the database and the options of all', () => {
  assert.deepEqual(readHosts('postgres://me:pass@db1,db2:6432,[::1]:5433/texts?sslmode=require'), [
    { name: 'db1:5432', url: 'postgres://me:pass@db1/texts?sslmode=require' },
    { name: 'db2:6432', url: 'postgres://me:pass@db2:6432/texts?sslmode=require' },
    { name: '[::1]:5433', url: 'postgres://me:pass@[::1]:5433/texts?sslmode=require' },
  ]);
});

test('hosts may be options, as Postgres writes them: so may folders of sockets', () => {
  assert.deepEqual(readHosts('postgresql:///texts?host=/run/a,/run/b&port=5433,5434&user=me'), [
    { name: '/run/a:5433', url: 'postgresql:///texts?host=%2Frun%2Fa&port=5433&user=me' },
    { name: '/run/b:5434', url: 'postgresql:///texts?host=%2Frun%2Fb&port=5434&user=me' },
  ]);
  const [first, second] = readHosts('postgres://me@/texts?host=a,b&port=5433');
  assert.equal(first?.url, 'postgres://me@localhost/texts?host=a&port=5433');
  assert.equal(second?.name, 'b:5433');
});

test('what asks for the primary is not passed on to Postgres', () => {
  const [only] = readHosts('postgres://me@proxy:5000/texts?target_session_attrs=read-write&sslmode=require');
  assert.equal(only?.url, 'postgres://me@proxy:5000/texts?sslmode=require');
});

test('a single host is simply used, unless its address asks for the primary', () => {
  for (const url of ['postgres://me:a,b@db1/texts', 'postgres:///texts?host=/run/a', 'postgres://db1', 'postgres:///x'])
    assert.equal(followsPrimary(url), false, url);
  for (const url of [
    'postgres://me@db1,db2/texts',
    'postgres:///texts?host=/run/a,/run/b',
    'postgres://me@proxy/texts?target_session_attrs=read-write',
  ])
    assert.equal(followsPrimary(url), true, url);
});

test('a wrong address is refused, and says what would be right', () => {
  const wrong: [string, RegExp][] = [
    ['postgres://me@db1,/texts', /name hosts like/],
    ['postgres://me@db1,db 2/texts', /name hosts like/],
    ['postgres://me@db1,db2:x/texts', /name hosts like/],
    ['postgres://me@db1,db1:5432/texts', /each host once/],
    ['postgres:///texts?host=a,b,c&port=1,2', /one port, or one for each host/],
    [`postgres://me@${Array.from({ length: 10 }, (_, n) => `db${n}`).join(',')}/texts`, /at most 9 hosts/],
    ['postgres://me@db1,db2/texts?target_session_attrs=standby', /target_session_attrs=read-write/],
  ];
  for (const [url, why] of wrong) assert.throws(() => checkHosts(url), why, url);
});
