// Kannel as a gateway that sends through us. scripts/system-needs.ts gets it for the tests that import this file.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../smpp/kannel.ts';
import { eventually } from '../support/eventually.ts';

export interface KannelGateway {
  /** Sends a text by Kannel's own HTTP interface; receipts are posted to `dlrUrl`. */
  send(to: string, text: string, dlrUrl: string): Promise<number>;
  status(): Promise<string>;
  stop(): Promise<void>;
}

/** The settings that the guide shows, with this account and these ports. */
export function kannelSettings(port: number, account: { systemId: string; password: string }): string {
  const guide = fileURLToPath(new URL('../../docs/guides/smpp.md', import.meta.url));
  const block = /```ini kannel\.conf\n([\s\S]*?)```/.exec(readFileSync(guide, 'utf8'))?.[1] ?? '';
  return block
    .replace('smsc-username = "hg…"', `smsc-username = "${account.systemId}"`)
    .replace('smsc-password = "…"', `smsc-password = "${account.password}"`)
    .replace('host = sms.example.com', 'host = 127.0.0.1')
    .replace(/^port = \d+$/m, `port = ${port}`)
    .replace('use-ssl = true\n', '');
}

export async function startKannel(
  port: number,
  account: { systemId: string; password: string },
): Promise<KannelGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-kannel-'));
  const [admin, smsbox, sendsms] = [await freePort(), await freePort(), await freePort()];
  const settings = `group = core
admin-port = ${admin}
admin-interface = 127.0.0.1
smsbox-port = ${smsbox}
smsbox-interface = 127.0.0.1
admin-password = bar
box-allow-ip = "127.0.0.1"
log-level = 2
dlr-storage = internal

${kannelSettings(port, account)}
group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = ${smsbox}
sendsms-port = ${sendsms}
sendsms-interface = 127.0.0.1
global-sender = 12345

group = sendsms-user
username = tester
password = foobar
max-messages = 10
concatenation = true

group = sms-service
keyword = default
text = "No service"
`;
  writeFileSync(join(folder, 'kannel.conf'), settings);
  const children: ChildProcess[] = [];
  const run = (program: string) => {
    const child = spawn(program, ['-v', '4', 'kannel.conf'], { cwd: folder, stdio: 'ignore' });
    children.push(child);
  };
  const get = async (url: string) => (await fetch(url)).text();
  const status = () => get(`http://127.0.0.1:${admin}/status.txt?password=bar`).catch(() => '');
  run('/usr/sbin/bearerbox');
  await eventually('bearerbox runs', async () => /running/.test(await status()));
  run('/usr/sbin/smsbox');
  await eventually('Kannel is bound', async () => /online/.test(await status()));
  await eventually('smsbox runs', async () => /smsbox/.test(await status()));
  return {
    status,
    async send(to, text, dlrUrl) {
      const query = new URLSearchParams({
        ...{ username: 'tester', password: 'foobar', from: 'ACME', to, text, charset: 'UTF-8' },
        ...{ 'dlr-mask': '31', 'dlr-url': dlrUrl },
        ...(/^[\x20-\x7e]*$/.test(text) ? {} : { coding: '2' }),
      });
      const answer = await eventually('smsbox listens', () =>
        fetch(`http://127.0.0.1:${sendsms}/cgi-bin/sendsms?${query}`).catch(() => undefined),
      );
      await answer.text();
      return answer.status;
    },
    async stop() {
      await Promise.all(
        children.map((child) => {
          const ended = new Promise((resolve) => child.once('close', resolve));
          child.kill('SIGKILL');
          return child.exitCode === null ? ended : undefined;
        }),
      );
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
