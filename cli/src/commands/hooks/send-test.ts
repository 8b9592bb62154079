import { HeliographError } from '../../../../sdk/src/index.ts';
import { sleep } from '../../../../sdk/src/waiting.ts';
import type { HookTestRecord } from '../../../../src/portal/developer/hook-record.ts';
import type { Call, Command } from '../../command/command.ts';
import { exit } from '../../process/exit.ts';
import { type InboxItem, readInbox } from '../../service/inbox.ts';
import { dim } from '../../terminal/text.ts';
import { bubble } from '../../views/inbox.ts';
import { type FoundHook, findHook, hookArgument } from './hook.ts';
import { outcomeText } from './read.ts';

export const testHook: Command = {
  name: 'hooks test',
  topic: 'account',
  summary: 'Send a test code as if the server had called the hook',
  more: [
    'In a sandbox it shows the text. In production the text goes to a real phone. The exit code is 1 if it was not sent.',
  ],
  arguments: [hookArgument, { name: 'to', summary: 'The number, like +447700900123' }],
  options: [],
  examples: [{ summary: 'In a sandbox', line: 'heliograph hooks test supabase +15005550100' }],
  async run(call) {
    const { output, values } = call;
    const [, to = ''] = values.arguments;
    const found = await findHook(call);
    const result = await found.session.call<HookTestRecord>('POST', `${found.hookPath}/test`, { body: { to } });
    const { outcome, detail, subject } = result;
    const isSent = outcome === 'sent';
    const text = isSent ? await awaitText(call, found, to, subject) : undefined;
    if (output.isJson) output.json({ ...result, text: text?.text ?? null });
    else {
      output.print([outcomeText(outcome), subject === null ? '' : `  ${subject}`]);
      if (detail !== null) output.print(detail);
      if (text !== undefined) show(call, text);
      else if (isSent) output.say(dim(`To ${to}. \`heliograph trace ${subject}\` follows it.`));
    }
    return isSent || outcome === 'repeated' ? exit.done : exit.failed;
  },
};

function show({ output }: Call, item: InboxItem): void {
  if (output.isTerminal) for (const line of bubble(item, output.columns())) output.print(line);
  else output.print(item.text);
}

const patienceMs = 5000;
const pauseMs = 200;

/** The text on the virtual handset; undefined in production, and if it takes longer. */
async function awaitText(
  { caller, output, signal }: Call,
  { session, id }: FoundHook,
  to: string,
  subject: string | null,
): Promise<InboxItem | undefined> {
  const access = { url: caller.target().url, headers: { cookie: await session.cookie() }, applicationId: id };
  const progress = output.progress(`Waiting for the text to ${to}`);
  try {
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pauseMs) {
      const { data } = await readInbox(access, { to, signal, limit: 20 });
      const text = data.find((each) => each.verification_id === subject || each.message_id === subject);
      if (text !== undefined) return text;
      await sleep(pauseMs, signal);
    }
    return undefined;
  } catch (error) {
    if (error instanceof HeliographError && error.status === 404) return undefined;
    throw error;
  } finally {
    progress.end();
  }
}
