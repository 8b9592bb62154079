// The service as a process of its own: `keep-running.mjs` starts it. It stops with that process.
import { endWithParent } from './stop-with-parent.mjs';

const [program] = process.argv.splice(2, 1);
endWithParent();
await import(program);
