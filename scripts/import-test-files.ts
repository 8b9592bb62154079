// Runs test files in one process, each as a suite of its own, so that its hooks stay its own.
import { after, before, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { stopFollowingPromises } from './lighter-tracking.ts';
import { cpuSecondsSoFar } from './report-cpu.ts';
import { endShared } from './shared-by-files.ts';
import { cpuLineOf } from './test-report.ts';

const files = process.argv.slice(2);
let waiting = files.length;
for (const file of files) {
  const name = nameOf(file);
  describe(name, () => {
    let beganAt = 0;
    before(() => {
      beganAt = cpuSecondsSoFar();
    });
    after(() => console.log(cpuLineOf(name, cpuSecondsSoFar() - beganAt)));
    return load(file);
  });
}

// A test may wait for what keeps no process alive, such as a worker thread. Without this, Node would end here.
const keepAlive = setInterval(() => {}, 60_000);

after(async () => {
  clearInterval(keepAlive);
  await endShared();
  // A test that failed may have left a server open, which would keep the process until its time limit.
  setTimeout(() => process.exit(), 3000).unref();
});

// Where a socket has left a request open, Node 20 never ends by itself: its clean-up spins. This leaves the clean-up out.
process.on('exit', () => process.exit());

async function load(file: string): Promise<void> {
  await import(pathToFileURL(file).href).finally(() => {
    waiting -= 1;
    if (waiting === 0) stopFollowingPromises();
  });
}

function nameOf(file: string): string {
  return file.replace(/^.*\/compiled\//, '').replace(/\.js$/, '.ts');
}
