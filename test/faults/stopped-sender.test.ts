// run: with crashes
// A worker that is stopped for longer than its texts may wait must not send them when it goes on: by then another worker may
// have their claim. A real process and SIGSTOP, so the time is real.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { compiledFile } from '../support/process.ts';
import { type Peer, startScriptedSmsc } from '../support/scripted-smsc.ts';

const texts = 20;
/** A part waits in a sender for 10 s. */
const stoppedMs = 10_500;
const processes: ChildProcess[] = [];
after(() => {
  for (const child of processes) child.kill('SIGKILL');
});

test('a process that is stopped past the time of its texts sends none of them when it goes on', async () => {
  const open: { sequence: number; peer: Peer }[] = [];
  const smsc = await startScriptedSmsc((pdu, peer) => {
    if (pdu.command === 'submit_sm') open.push({ sequence: pdu.sequence, peer });
    return pdu.command === 'submit_sm';
  });
  const env = { ...process.env, SENDER_PORT: String(smsc.port), SENDER_TEXTS: String(texts) };
  const child = fork(compiledFile('test/support/sender-process.ts'), { env, execArgv: [] });
  processes.push(child);
  await smsc.arrived('submit_sm');
  child.kill('SIGSTOP');
  // The answer makes room in the window: it waits in the socket for the process to go on.
  const { sequence, peer } = open[0] ?? assert.fail('nothing was submitted');
  peer.send({ command: 'submit_sm_resp', status: 0, sequence, messageId: 'm1', tlvs: [] });
  await new Promise((resolve) => setTimeout(resolve, stoppedMs));
  const told = once(child, 'message');
  child.kill('SIGCONT');
  const [outcomes] = await told;
  assert.deepEqual(outcomes, ['accepted', ...Array.from({ length: texts - 1 }, () => 'not_sent')]);
  assert.equal(smsc.ledger('submit_sm').length, 1);
  child.kill('SIGKILL');
  await smsc.close();
});
