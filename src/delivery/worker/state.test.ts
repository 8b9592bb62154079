import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkerStates, isRecovering, transitions, type WorkerEvent, type WorkerState } from './state.ts';

const allStates = Object.keys(transitions) as WorkerState[];

test('a worker recovers before it works, and an outage is noted once', () => {
  const states = createWorkerStates('recovering');
  assert.deepEqual(
    (['failed', 'failed', 'empty', 'released', 'failed', 'failed', 'released', 'empty'] as WorkerEvent[]).map(
      (event) => [states.note(event), states.current],
    ),
    [
      [true, 'recovery_failing'],
      [false, 'recovery_failing'],
      [false, 'recovery_failing'],
      [true, 'working'],
      [true, 'failing'],
      [false, 'failing'],
      [false, 'failing'],
      [true, 'working'],
    ],
  );
});

test('a worker rests after ten polls without a text, until it claims one', () => {
  const states = createWorkerStates('working');
  for (let poll = 0; poll < 9; poll++) states.notePoll();
  states.note('claimed');
  for (let poll = 0; poll < 9; poll++) states.notePoll();
  assert.equal(states.current, 'working');
  states.notePoll();
  assert.equal(states.current, 'resting');
  states.note('empty');
  assert.equal(states.current, 'resting');
  states.note('claimed');
  assert.equal(states.current, 'working');
});

test('every state can be stopped, none can be left after it, and only a release ends the recovery', () => {
  for (const state of allStates.filter((each) => each !== 'stopped')) {
    assert.equal(transitions[state].stopped, 'stopped', state);
    for (const [event, next] of Object.entries(transitions[state]))
      if (isRecovering(state) && !isRecovering(next) && next !== 'stopped') assert.equal(event, 'released');
  }
  assert.deepEqual(transitions.stopped, {});
});
