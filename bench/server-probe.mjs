// Preloaded into every server under test (`node --import`): reports what only the process itself knows. Plain JavaScript,
// so that no translator runs in the measured process.
import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { isMainThread } from 'node:worker_threads';

const session = new Session();

const answers = {
  cpu: () => process.cpuUsage(),
  memory() {
    globalThis.gc();
    return process.memoryUsage();
  },
  async startProfile() {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 200 });
    await session.post('Profiler.start');
  },
  async stopProfile(file) {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    await writeFile(file, JSON.stringify(profile));
  },
};

// The delivery thread is started with the same options, and has no parent to answer.
if (isMainThread) {
  process.on('message', async ({ id, ask, argument }) => {
    process.send({ id, answer: (await answers[ask](argument)) ?? null });
  });
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
}
