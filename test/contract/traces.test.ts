// run: on both lanes
// One trace from the request to the webhook, as a collector gets it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { hookWorldOf } from '../hooks/world.ts';
import { type Double, startDouble } from '../providers/provider.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { type Answer, send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../support/http-carrier-world.ts';
import type { ReceivedSpan } from '../support/otlp-decoder.ts';
import { createSender, type Sender, text } from '../support/texts.ts';
import { createVerifyCaller } from '../support/verify-caller.ts';
import { createWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { createTwilioAccount } from '../twilio/caller.ts';
import { createStatusReceiver } from '../twilio/status-receiver.ts';

let collector: Collector;
let world: HttpCarrierWorld;
let receiver: WebhookReceiver;
let provider: Double;
let sender: Sender;

const headers = { authorization: 'Bearer collector-secret' };

before(async () => {
  collector = await startCollector();
  world = await createHttpCarrierWorld({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-secret',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,team=caf%C3%A9',
    // Nothing but what an identified caller asks for.
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
  });
  sender = await createSender(world.app);
  receiver = await createWebhookReceiver();
  await sender.developer.send('POST', `/portal/v1/applications/${sender.id}/webhooks`, { url: receiver.url });
  provider = await startDouble(({ body }) => ({ status: 200, body: { id: JSON.parse(body).id } }));
});
after(async () => {
  await world.close();
  await receiver.close();
  await provider.close();
  await collector.close();
});

let traces = 0;

/** A caller's own trace. */
function newTrace(sampled = true) {
  const number = ++traces;
  const id = `${'ab'.repeat(12)}${String(number).padStart(8, '0')}`;
  return { id, traceparent: `00-${id}-00f067aa0ba902b7-0${sampled ? 1 : 0}` };
}

/** The spans of a trace, once these and their parents are there. */
function untilSpans(traceId: string, ...names: string[]): Promise<ReceivedSpan[]> {
  return eventually(`${names.join(', ')} of ${traceId}, with their parents`, () => {
    const spans = collector.trace(traceId);
    return spans !== undefined && names.every((name) => spans.some((span) => span.name === name)) && spans;
  });
}

function tree(spans: ReceivedSpan[]): Record<string, string | undefined> {
  const nameOf = (spanId: string) => spans.find((span) => span.spanId === spanId)?.name;
  return Object.fromEntries(spans.map(({ name, parentId }) => [name, nameOf(parentId)]));
}

function byName(spans: ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.find((span) => span.name === name);
  assert.ok(found, name);
  return found;
}

const idOf = (answer: Answer) => answer.headers.get('x-correlation-id') ?? '';

describe('a sampled text', () => {
  test('has one trace from the request to the webhook', async () => {
    const { id, traceparent } = newTrace();
    const sent = await sender.sms({}, { traceparent });
    assert.equal(sent.status, 201);
    const root = 'POST /sms/v1/messages';
    const spans = await untilSpans(id, root, 'submit', 'receipt', 'webhook');
    const parents = tree(spans);
    assert.deepEqual(parents, {
      ...{ edge: root, service: root, batch: 'service', claim: root, submit: 'claim', receipt: root, webhook: root },
      [root]: undefined,
    });
    const request = byName(spans, root);
    assert.equal(request.parentId, '00f067aa0ba902b7');
    assert.equal(request.isRemote, true);
    assert.deepEqual(request.attributes, {
      'http.request.method': 'POST',
      'http.route': '/sms/v1/messages',
      'http.response.status_code': 201,
      'heliograph.correlation_id': idOf(sent as never),
      'heliograph.application_id': sender.id,
      'heliograph.api': 'sms',
    });
    assert.deepEqual(byName(spans, 'submit').attributes, {
      'heliograph.message_id': sent.body.id,
      'heliograph.carrier': 'sandbox',
      'heliograph.attempt': 1,
      'heliograph.segments': 1,
      'heliograph.outcome': 'accepted',
    });
    assert.equal(byName(spans, 'receipt').attributes['heliograph.status'], 'delivered');
    for (const span of spans) {
      assert.equal(span.resource['service.name'], 'heliograph');
      assert.equal(span.resource['deployment.environment.name'], 'test');
      assert.equal(span.resource.team, 'café');
      assert.ok(span.endNs >= span.startNs);
      assert.ok(Math.abs(Number(span.startNs / 1_000_000n) - Date.now()) < 120_000);
    }
    const [call] = collector.requests;
    assert.equal(call?.path, '/v1/traces');
    assert.equal(call?.headers.authorization, headers.authorization);
    assert.equal(call?.headers['content-type'], 'application/x-protobuf');
  });

  test('its webhooks carry the trace on, with the span of their attempt', async () => {
    const { id, traceparent } = newTrace();
    const { body } = await sender.sms({}, { traceparent });
    const calls = await eventually('both events', () => {
      const found = receiver.calls.filter(({ event }) => event.subject === body.id);
      return found.length === 2 && found;
    });
    const spans = await eventually('both spans', () => {
      const found = collector.spans().filter((span) => span.traceId === id && span.name === 'webhook');
      return found.length === 2 && found;
    });
    for (const { headers, event } of calls) {
      const span = spans.find(({ attributes }) => attributes['heliograph.event_id'] === event.id);
      assert.equal(headers.traceparent, `00-${id}-${span?.spanId}-01`);
      assert.equal(headers.tracestate, undefined);
      assert.equal(headers.baggage, undefined);
      assert.equal(span?.attributes['http.response.status_code'], 200);
    }
  });

  test('an attempt of a webhook that fails is a failed span', async () => {
    const { id, traceparent } = newTrace();
    receiver.respond = (_, response) => void response.writeHead(500).end('+447700900123');
    await sender.sms({}, { traceparent });
    const spans = await untilSpans(id, 'webhook');
    receiver.respond = (_, response) => void response.writeHead(200).end();
    const span = byName(spans, 'webhook');
    assert.equal(span.failed, true);
    assert.equal(span.attributes['http.response.status_code'], 500);
    assert.equal(span.attributes['heliograph.outcome'], 'failed');
  });

  test('an HTTP carrier gets the trace with the span of the submit', async () => {
    const describe = {
      url: '{{base}}/send',
      json: { to: '{{to|digits}}', text: '{{text}}', id: '{{id}}' },
      accepted: [{ status: [200] }],
      id: 'id',
    };
    await world.connect({ base: provider.url, describe });
    const route = { name: 'abroad', match: { countries: ['DE'] }, carriers: [{ carrier: 'provider', weight: 1 }] };
    const { body: before } = await world.operator.send<{ version: number }>('GET', '/portal/v1/operator/routes');
    const rest = { name: 'rest', match: {}, carriers: [{ carrier: 'sandbox', weight: 1 }] };
    await world.operator.send('PUT', '/portal/v1/operator/routes', { version: before.version, routes: [route, rest] });
    const { id, traceparent } = newTrace();
    await eventually('the route to be known', async () => {
      const { body } = await sender.sms({ to: '+4915112345678' }, { traceparent });
      return eventually('it left', () => provider.requests.some((got) => got.body.includes(body.id)), {
        withinMs: 5000,
      }).catch(() => false);
    });
    const got = provider.requests.find(({ headers }) => headers.traceparent !== undefined);
    const spans = await untilSpans(id, 'submit');
    const submits = spans.filter(({ name, attributes }) => {
      return name === 'submit' && attributes['heliograph.carrier'] === 'provider';
    });
    assert.ok(submits.some(({ spanId }) => got?.headers.traceparent === `00-${id}-${spanId}-01`));
  });

  test('the log line and the story have its trace id', async () => {
    const { id, traceparent } = newTrace();
    const sent = await sender.sms({}, { traceparent });
    const line = world.app.logLines.find((each) => each.includes(idOf(sent as never)));
    assert.equal(JSON.parse(line ?? '{}').trace_id, id);
    const path = `/portal/v1/requests/${idOf(sent as never)}`;
    const { body } = await sender.developer.send<{ trace_id: string | null }>('GET', path);
    assert.equal(body.trace_id, id);
    // What is left when the request itself is forgotten.
    await world.app.db.database.query('delete from request_trace');
    assert.equal((await sender.developer.send<{ trace_id: string }>('GET', path)).body.trace_id, id);
    const other = await sender.sms();
    const { body: untraced } = await sender.developer.send<{ trace_id: string | null }>(
      'GET',
      `/portal/v1/requests/${idOf(other as never)}`,
    );
    assert.equal(untraced.trace_id, null);
  });
});

describe('who may ask', () => {
  const decided = async (caller: Sender, traceparents: string[]) => {
    const lines: string[] = [];
    for (const traceparent of traceparents) {
      const answer = await caller.sms({}, { traceparent });
      assert.equal(answer.status, 201);
      lines.push(world.app.logLines.find((line) => line.includes(idOf(answer as never))) ?? '');
    }
    return lines.map((line) => JSON.parse(line).trace_id as string | undefined);
  };

  test('an identified caller, ten times a second', async () => {
    const caller = await createSender(world.app);
    const asked = Array.from({ length: 40 }, () => newTrace());
    const answers = await Promise.all(asked.map(({ traceparent }) => caller.sms({}, { traceparent })));
    const sampled = answers.filter((answer) => {
      const line = world.app.logLines.find((each) => each.includes(idOf(answer as never)));
      return JSON.parse(line ?? '{}').trace_id !== undefined;
    });
    assert.ok(sampled.length >= 10 && sampled.length < 40, `${sampled.length} of 40`);
  });

  test('one that does not ask is not sampled', async () => {
    const caller = await createSender(world.app);
    assert.deepEqual(await decided(caller, [newTrace(false).traceparent]), [undefined]);
  });

  test('a header that is not well-formed is as if it was not sent', async () => {
    const caller = await createSender(world.app);
    const { id } = newTrace();
    const hostile = [
      `00-${id}-00f067aa0ba902b7-01-x`,
      `ff-${id}-00f067aa0ba902b7-01`,
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      `00-${id.toUpperCase()}-00f067aa0ba902b7-01`,
      '"};drop table message;--',
      '+447700900123',
      'a'.repeat(8000),
      `00-${id}-00f067aa0ba902b7-01, 00-${id}-00f067aa0ba902b7-01`,
    ];
    assert.deepEqual(
      await decided(caller, hostile),
      hostile.map(() => undefined),
    );
  });

  test('no caller that is not identified: no trace, whatever it sends', async () => {
    const { id, traceparent } = newTrace();
    const bodies = { body: text, headers: { traceparent } };
    assert.equal((await send(world.app, 'POST', '/sms/v1/messages', bodies)).status, 401);
    assert.equal((await send(world.app, 'GET', '/healthz', { headers: { traceparent } })).status, 200);
    const after = newTrace();
    await sender.sms({}, { traceparent: after.traceparent });
    await untilSpans(after.id, 'receipt');
    assert.equal(collector.spans().filter((span) => span.traceId === id).length, 0);
  });

  test('a hook, once its proof was right', async () => {
    const hooks = hookWorldOf(world.app, sender);
    const hook = await hooks.create({ kind: 'logto' });
    const { id, traceparent } = newTrace();
    const payload = JSON.stringify({ to: hooks.newNumber(), type: 'SignIn', payload: { code: '482913' } });
    const call = (authorization: string, header: string) =>
      hooks.post(hook, payload, { authorization, traceparent: header });
    const stranger = newTrace();
    assert.equal((await call('wrong', stranger.traceparent)).status, 401);
    assert.equal((await call(hook.secret ?? '', traceparent)).status, 200);
    const root = 'POST /hooks/v1/{kind}/{hook_id}';
    const spans = await untilSpans(id, root, 'submit');
    assert.equal(tree(spans).batch, 'service');
    assert.equal(collector.spans().filter((span) => span.traceId === stranger.id).length, 0);
  });
});

test('no span holds a number, a text, a code or a secret', async () => {
  const began = collector.requests.length;
  const caller = await createVerifyCaller(world.app);
  const { id, traceparent } = newTrace();
  const traced = { traceparent };
  const secrets = ['447700900', 'Bournemouth', sender.apiKey, caller.clientSecret, 'collector-secret'];
  const to = '+447700900456';
  const sent = await sender.sms({ to, message: 'Meet me in Bournemouth', reference: 'Bournemouth-7' }, traced);
  assert.equal(sent.status, 201);
  // A method, a path and a number that are the caller's own.
  await send(world.app, 'GET', `/sms/v1/messages/${encodeURIComponent(to)}?to=${encodeURIComponent(to)}`, {
    headers: { ...sender.key, ...traced },
  });
  await send(world.app, 'GET', `/sms/v1/${to}`, { headers: { ...sender.key, ...traced } });
  await send(world.app, 'PATCH', '/sms/v1/messages', { headers: { ...sender.key, ...traced }, body: { to } });
  await send(world.app, 'POST', '/sms/v1/messages', {
    headers: { ...sender.key, ...traced },
    body: { to: 'x', from: 'Bournemouth' },
  });
  const batch = { messages: [{ ...text, to }, { ...text, to: '+447700900457' }, { to: 'Bournemouth' }] };
  await send(world.app, 'POST', '/messaging/v1/messages/batch', {
    headers: { ...sender.token, ...traced },
    body: batch,
  });
  const started = await caller.send<{ id: string }>(
    'POST',
    '/verify/v1/verifications',
    { to, channel: 'sms' },
    newTrace(),
  );
  assert.equal(started.status, 200);
  const [arrived] = await caller.texts(to, 1);
  const code = caller.codeIn(arrived?.text ?? '');
  secrets.push(code);
  const checking = newTrace();
  await caller.send('POST', `/verify/v1/verifications/${started.body.id}`, { code }, checking);
  const { account, basic } = await createTwilioAccount(sender);
  secrets.push(account.auth_token);
  const statuses = await createStatusReceiver();
  const twilio = newTrace();
  await fetch(`${world.app.url}/twilio/2010-04-01/Accounts/${account.account_sid}/Messages.json`, {
    method: 'POST',
    headers: { authorization: basic, ...twilio },
    body: new URLSearchParams({ To: to, From: 'ACME', Body: 'Bournemouth', StatusCallback: statuses.url }),
  });
  await untilSpans(id, 'receipt', 'webhook');
  await untilSpans(checking.id, 'POST /verify/v1/verifications/{id}');
  const calls = await untilSpans(twilio.id, 'callback');
  assert.ok(statuses.requests.some(({ headers }) => String(headers.traceparent).startsWith(`00-${twilio.id}-`)));
  assert.equal(tree(calls).callback, 'POST /twilio/2010-04-01/Accounts/{account_sid}/Messages.json');
  await statuses.close();

  const exported = collector.requests.slice(began);
  assert.ok(exported.flatMap(({ spans }) => spans).length > 30);
  for (const secret of secrets) {
    assert.ok(secret.length > 3);
    for (const { body, spans } of exported) {
      // Six digits may be in an id by chance, so the search for a code leaves ids out.
      const said = secret === code ? JSON.stringify(withoutIds(spans)) : body.toString('latin1');
      assert.ok(!said.includes(secret), `a span holds ${secret}`);
    }
  }
});

/** Names and attributes, without our own ids and times. */
function withoutIds(spans: ReceivedSpan[]): unknown {
  return spans.map(({ name, attributes }) => {
    const told = Object.entries(attributes).filter(([, value]) => !/^[a-z]{3}_[0-9a-z]{26,}$/.test(String(value)));
    return [name, told];
  });
}
