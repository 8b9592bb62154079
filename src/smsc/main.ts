import { StartError } from '../platform/errors.ts';
import { toRun } from '../platform/how-to-run.ts';
import { helpText, readArguments, type SmscArguments, seeHelp } from './arguments.ts';
import { startSmscPage } from './http.ts';
import { startSmsc } from './server.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

/** What to do next: a file for `npm run carriers`, ready to paste. */
function nextSteps(port: number, pagePort: number, password: string | undefined): string {
  const settings = { host: '127.0.0.1', port, system_id: 'heliograph', password: password ?? 'secret' };
  const file = JSON.stringify({ carriers: [{ name: 'smsc', kind: 'smpp', settings }] });
  return [
    '',
    `The virtual SMSC takes texts on 127.0.0.1:${port} (${password === undefined ? 'any system_id and password' : 'any system_id'}).`,
    `Texts that it has received: http://127.0.0.1:${pagePort}/`,
    '',
    'To send your texts through it, give Heliograph this carrier:',
    '',
    `  echo '${file}' > carriers.json`,
    `  ${toRun('carriers', 'apply carriers.json')}`,
    '',
    `Faults and receipts: on the page. ${seeHelp()} Ctrl-C stops it.`,
    '',
  ].join('\n');
}

async function run({ port, pagePort, password, behaviour }: SmscArguments): Promise<void> {
  const smsc = await startSmsc({ port, password, behaviour });
  const page = await startSmscPage(smsc, pagePort);
  say(nextSteps(smsc.port, page.port, password));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void Promise.all([smsc.close(), page.close()]).then(() => process.exit(0)));
  }
}

function explain(error: unknown): string {
  const { code, port, message } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Choose another one, like this: ${toRun('smsc', '--port 2776 --page-port 2781')}`;
  return error instanceof StartError ? error.message : `The virtual SMSC did not start: ${message}`;
}

process.stdout.on('error', () => {});
try {
  const found = readArguments(process.argv.slice(3));
  if (found === 'help') say(helpText());
  else await run(found);
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}
