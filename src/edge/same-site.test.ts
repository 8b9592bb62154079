import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseCrossSite } from './same-site.ts';

const own = 'https://sms.example';
const passes = (headers: Record<string, string>, method = 'POST') =>
  refuseCrossSite(method, headers, own) === undefined;

test('Sec-Fetch-Site decides where it is sent: same-origin and none pass, whatever Origin says', () => {
  assert.ok(passes({ 'sec-fetch-site': 'same-origin' }));
  assert.ok(passes({ 'sec-fetch-site': 'none', origin: 'https://evil.example' }));
  for (const site of ['cross-site', 'same-site', 'same-origin, cross-site', '']) {
    assert.ok(!passes({ 'sec-fetch-site': site, origin: own }), site);
  }
});

test('without it Origin decides: our own, by the public name or the one that was asked for', () => {
  assert.ok(passes({ origin: own, host: 'sms.example' }));
  assert.ok(passes({ origin: 'http://localhost:8080', host: 'localhost:8080' }));
  for (const origin of ['https://evil.example', 'http://localhost:8081', 'https://sms.example.evil.example', '', 'x']) {
    assert.ok(!passes({ origin, host: 'localhost:8080' }), origin);
  }
});

test('the origin of nowhere is foreign, also to a request that names no host', () => {
  assert.ok(!passes({ origin: 'null', host: 'localhost:8080' }));
  assert.ok(!passes({ origin: 'null' }));
});

test('with neither it is no browser, and what only reads is always allowed', () => {
  assert.ok(passes({ host: 'localhost:8080' }));
  for (const method of ['GET', 'HEAD', 'OPTIONS']) assert.ok(passes({ 'sec-fetch-site': 'cross-site' }, method));
  for (const method of ['POST', 'PATCH', 'DELETE', 'PUT', 'QUERY']) {
    assert.ok(!passes({ 'sec-fetch-site': 'cross-site' }, method), method);
  }
});
