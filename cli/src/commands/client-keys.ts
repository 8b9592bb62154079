import { open } from 'node:fs/promises';
import type { ClientKeyRecord } from '../../../src/portal/developer/client-keys/client-key-api.ts';
import type { Call, Command } from '../command/command.ts';
import { exit, failure, usageError } from '../process/exit.ts';
import { type OpenedApplication, openApplication } from '../service/application.ts';
import { bold, dim, green } from '../terminal/text.ts';

const algs = ['ES256', 'RS256', 'PS256', 'EdDSA'];
/** The service's maximum. One more byte is read, to notice a file that is too long. */
const mostBytes = 4000;

export const addClientKey: Command = {
  name: 'keys add',
  topic: 'account',
  summary: 'Add a public key of the client, which then gets tokens without a secret',
  more: [
    'The client signs with the private key (private_key_jwt), which never leaves your machine. Deleting a public key, by `keys revoke`, also revokes all tokens of the client.',
  ],
  arguments: [{ name: 'file', summary: 'The public key in PEM, or as a JWK; - reads it from stdin' }],
  options: [
    { name: 'name', value: '<name>', summary: 'A name for the key, 1 to 64 characters' },
    { name: 'alg', value: '<alg>', summary: 'PS256 for an RSA key that does not sign by RS256', choices: algs },
  ],
  examples: [
    {
      summary: 'A new key',
      line: 'openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout -out public.pem',
    },
    { summary: 'Its public half', line: 'heliograph keys add public.pem --name "Billing server"' },
  ],
  async run(call) {
    const { output, values } = call;
    const [file = ''] = values.arguments;
    const public_key = await readPublicKey(call, file);
    const { session, path } = await openApplication(call);
    const [name, alg] = [values.text('name') ?? null, values.text('alg')];
    const body = { name, public_key, ...(alg !== undefined && { alg }) };
    const added = await session.call<ClientKeyRecord>('POST', `${path}/client-keys`, { body });
    if (output.isJson) {
      output.json(added);
      return exit.done;
    }
    output.print([green('✓ '), bold(added.alg), `  ${added.id}`]);
    output.print(['kid  ', bold(added.kid)]);
    output.say(dim('Sign assertions with the private key, and name this kid or none.'));
    return exit.done;
  },
};

async function readPublicKey({ prompt }: Call, file: string): Promise<string> {
  if (file === '-') return prompt.readPiped('public key', mostBytes);
  const text = await readBeginning(file);
  if (text.length > mostBytes)
    throw failure(`The file ${file} is longer than ${mostBytes} bytes, so it is no public key.`);
  if (/PRIVATE KEY/.test(text))
    throw usageError(
      `${file} is a private key. Keep it, and send its public half.`,
      'openssl pkey -in key.pem -pubout',
    );
  return text;
}

async function readBeginning(file: string): Promise<string> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostBytes + 1), 0, mostBytes + 1, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw failure(`The file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

export async function listClientKeys({ session, path }: Pick<OpenedApplication, 'session' | 'path'>) {
  const { data } = await session.call<{ data: ClientKeyRecord[] }>('GET', `${path}/client-keys`);
  return data;
}

export function nameOfClientKey({ name, alg, kid }: ClientKeyRecord): string {
  return `${name === null ? '' : `${name} `}public key ${alg} ${kid}`;
}
