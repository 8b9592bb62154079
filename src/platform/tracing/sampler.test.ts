import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedPerSecond, createSampler } from './sampler.ts';
import { newSpanId, newTraceId, type TraceParent } from './trace-context.ts';

function clockAt() {
  const clock = { ms: 5000, nowMs: () => clock.ms, steadyMs: () => clock.ms };
  return clock;
}

function asking(sampled = true): TraceParent {
  return { traceId: newTraceId(), spanId: newSpanId(), sampled };
}

function countOf(times: number, act: () => boolean): number {
  return Array.from({ length: times }, act).filter(Boolean).length;
}

test('without a parent the ratio decides', () => {
  const share = (ratio: number) => {
    const sampler = createSampler({ parentBased: true, ratio }, clockAt());
    return countOf(20_000, () => sampler.isSampled(undefined, 'app_1')) / 20_000;
  };
  assert.equal(share(0), 0);
  assert.equal(share(1), 1);
  assert.ok(Math.abs(share(0.1) - 0.1) < 0.02);
});

test('a caller may ask for ten traces a second, whatever others do', () => {
  const clock = clockAt();
  const sampler = createSampler({ parentBased: true, ratio: 0 }, clock);
  assert.equal(
    countOf(100, () => sampler.isSampled(asking(), 'app_1')),
    askedPerSecond,
  );
  assert.equal(
    countOf(100, () => sampler.isSampled(asking(), 'app_2')),
    askedPerSecond,
  );
  clock.ms += 1000;
  assert.equal(
    countOf(100, () => sampler.isSampled(asking(), 'app_1')),
    askedPerSecond,
  );
});

test('the processes that answer share what a caller may ask', () => {
  const clock = clockAt();
  let answering = 1;
  const sampler = createSampler({ parentBased: true, ratio: 0 }, clock, () => answering);
  for (const [processes, granted] of [
    [4, 2],
    [2, 5],
    [1, 10],
    [30, 1],
  ] as const) {
    answering = processes;
    clock.ms += 1000;
    assert.equal(
      countOf(100, () => sampler.isSampled(asking(), 'app_1')),
      granted,
    );
  }
});

test('a caller that says not sampled is not sampled', () => {
  const sampler = createSampler({ parentBased: true, ratio: 1 }, clockAt());
  assert.equal(sampler.isSampled(asking(false), 'app_1'), false);
});

test('beyond its ten the ratio decides by the trace id, as on every node', () => {
  const [one, other] = [0, 1].map(() => createSampler({ parentBased: true, ratio: 0.5 }, clockAt()));
  for (let index = 0; index < askedPerSecond; index++) {
    one?.isSampled(asking(), 'app_1');
    other?.isSampled(asking(), 'app_1');
  }
  for (let index = 0; index < 500; index++) {
    const parent = asking();
    assert.equal(one?.isSampled(parent, 'app_1'), other?.isSampled(parent, 'app_1'));
  }
});

test('a sampler that is not parent-based ignores the flag', () => {
  const clock = clockAt();
  assert.equal(createSampler({ parentBased: false, ratio: 0 }, clock).isSampled(asking(), 'app_1'), false);
  assert.equal(createSampler({ parentBased: false, ratio: 1 }, clock).isSampled(asking(false), 'app_1'), true);
});
