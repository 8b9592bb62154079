// run: with services
// An error that no code expected ends the process in order, and says so.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { makeFolder, waitUntilGone } from '../support/process.ts';
import { buildService, endServices, postmasterOf, startService } from '../support/service.ts';

before(buildService);
after(endServices);

/** Loaded into the service before its own code: a signal makes it fail. */
function writeFault(statement: string): string {
  const file = join(makeFolder('fault'), 'fault.mjs');
  writeFileSync(file, `process.on('SIGUSR2', () => { ${statement} });`);
  return pathToFileURL(file).href;
}

/** One after the other on the same folder, so that the next start after such an end is tried too. */
const dataDir = makeFolder('crash');

const faults = {
  uncaughtException: "throw new Error('the expected unexpected error');",
  unhandledRejection: "void Promise.reject(new Error('the expected unexpected error'));",
};

for (const [kind, statement] of Object.entries(faults)) {
  test(`${kind}: it is logged, what is in flight is finished, the process ends with 1 and leaves no Postgres`, async () => {
    const service = await startService({ dataDir, env: { NODE_OPTIONS: `--import=${writeFault(statement)}` } });
    await service.ready;
    const postmaster = postmasterOf(service.dataDir);
    assert.ok(postmaster !== undefined);
    service.kill('SIGUSR2');
    const { code } = await service.ended;
    assert.equal(code, 1, service.output());
    const line = service
      .output()
      .split('\n')
      .find((each) => each.includes('unexpected error: the service stops'));
    assert.ok(line !== undefined, service.output());
    assert.match(line, /the expected unexpected error/);
    assert.match(line, new RegExp(kind));
    assert.ok(await waitUntilGone(postmaster, 5000), 'Postgres is still running');
  });
}
