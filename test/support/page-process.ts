// A program of a page, in a process of its own, which keeps cookies as a browser does. It calls the functions that the
// program exports.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const cookies = fileURLToPath(new URL('browser-cookies.ts', import.meta.url));

/** The driver of a module, to be compiled beside it. */
export const pageDriver = (module: string) => `
import { createInterface } from 'node:readline';
import { createCookies } from ${JSON.stringify(cookies)};
const origin = process.env.PAGE_ORIGIN;
const browse = createCookies(globalThis.fetch);
globalThis.fetch = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('origin', origin);
  return browse(new URL(String(input), origin), { ...init, headers });
};
const page = await import(${JSON.stringify(module)});
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [name, given] = JSON.parse(line);
  const { data = null, error = null } = await page[name](...given);
  console.log(JSON.stringify({ data, error }));
}
`;

export interface PageAnswer<Data = Record<string, unknown>> {
  data: Data | null;
  error: { status: number; message?: string; code?: string } | null;
}

export interface PageProcess {
  call<Data>(name: string, ...given: unknown[]): Promise<PageAnswer<Data>>;
  stop(): void;
}

/** Starts a compiled driver. Calls one function at a time. */
export async function openPage(folder: string, driver: string, env: Record<string, string>): Promise<PageProcess> {
  const child = spawn(process.execPath, [driver], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the page ended');
    return value;
  };
  await read();
  return {
    async call(name, ...given) {
      child.stdin.write(`${JSON.stringify([name, given])}\n`);
      return JSON.parse(await read());
    },
    stop: () => void child.kill('SIGKILL'),
  };
}
