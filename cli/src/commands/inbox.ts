import { HeliographError } from '../../../sdk/src/index.ts';
import type { Call, Command } from '../command/command.ts';
import { type ExitCode, exit, failure, usageError } from '../process/exit.ts';
import { requireApplicationId } from '../service/application.ts';
import { followInbox, type InboxAccess, type InboxItem, readInbox } from '../service/inbox.ts';
import { openSession } from '../service/session.ts';
import { dim, yellow } from '../terminal/text.ts';
import { bubble } from '../views/inbox.ts';

export const inbox: Command = {
  name: 'inbox',
  topic: 'texts',
  summary: 'Show the texts that arrived on the virtual handsets of a sandbox',
  more: [
    'Every text that an application of a sandbox sends arrives here, codes too. With --follow it shows each text as it arrives, until Ctrl-C.',
    'With --json: {"data": […]}, newest first; with --follow, one text per line, and earlier texts only if --limit is given.',
  ],
  arguments: [],
  options: [
    { name: 'follow', short: 'F', summary: 'Keep running and show each text as it arrives' },
    { name: 'to', value: '<number>', summary: 'Only the texts of this handset' },
    { name: 'limit', short: 'n', value: '<count>', summary: 'Maximum number of texts; default 10, or 3 with --follow' },
  ],
  examples: [
    { summary: 'The latest texts', line: 'heliograph inbox' },
    { summary: 'Watch the handset while you work', line: 'heliograph inbox --follow' },
    {
      summary: 'The latest code of a number, in a script',
      line: "heliograph inbox --to +15005550100 --limit 1 --json | jq -r '.data[0].text'",
    },
  ],
  run: runInbox,
};

async function runInbox(call: Call): Promise<ExitCode> {
  const { values } = call;
  const follows = values.flag('follow');
  const limit = readLimit(values.text('limit'), follows ? (call.output.isJson ? 0 : 3) : 10);
  try {
    const access = await openAccess(call);
    return follows ? await follow(call, access, limit) : await list(call, access, limit);
  } catch (error) {
    if (error instanceof HeliographError && error.status === 404)
      throw failure(
        `${call.caller.target().url} has no virtual handsets for you: it is not a sandbox, or the application is not yours.`,
        'For texts that people sent to your numbers: `heliograph events --type message.received`.',
      );
    throw error;
  }
}

/** Uses the API key if there is one, otherwise the portal's session. */
async function openAccess(call: Call): Promise<InboxAccess> {
  const { caller } = call;
  const { url } = caller.target();
  const key = await caller.findApiKey();
  if (key !== undefined) return { url, headers: { apikey: key.value }, applicationId: undefined };
  const session = openSession(call);
  const applicationId = await requireApplicationId(call, session);
  return { url, headers: { cookie: await session.cookie() }, applicationId };
}

function readLimit(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[0-9]{1,3}$/.test(text) || Number(text) > 100) throw usageError('--limit must be a number from 0 to 100.');
  return Number(text);
}

async function list({ values, output, signal }: Call, access: InboxAccess, limit: number): Promise<ExitCode> {
  const page = limit === 0 ? { data: [] } : await readInbox(access, { to: values.text('to'), signal, limit });
  if (output.isJson) output.json({ data: page.data });
  // The newest stands at the bottom, where the eyes are.
  else for (const item of page.data.toReversed()) show(output, item);
  if (page.data.length === 0)
    output.say('No texts have arrived yet. `heliograph send +15005550100 "Hello"` sends one.');
  return exit.done;
}

async function follow({ values, output, signal }: Call, access: InboxAccess, limit: number): Promise<ExitCode> {
  const filter = { to: values.text('to'), signal };
  let shown = Promise.resolve(new Set<string>());
  let isFirst = true;
  const texts = followInbox(access, {
    ...filter,
    onState: (state) => {
      if (state !== 'open') {
        output.say(yellow(`The connection is lost. Retrying in ${Math.ceil(state.waitMs / 1000)} s.`));
        return;
      }
      output.say(dim(isFirst ? 'Waiting for texts. Press Ctrl-C to stop.' : 'Reconnected.'));
      // The stream is already open, so no text is missed between the list and the stream.
      if (isFirst) shown = showLatest().catch(() => new Set<string>());
      isFirst = false;
    },
  });

  async function showLatest(): Promise<Set<string>> {
    if (limit === 0) return new Set();
    const { data } = await readInbox(access, { ...filter, limit });
    for (const item of data.toReversed()) show(output, item);
    return new Set(data.map(nameOf));
  }

  for await (const item of texts) if (!(await shown).has(nameOf(item))) show(output, item);
  return exit.done;
}

/** A text that was submitted twice arrives twice, and both are shown. */
function nameOf({ message_id, received_at }: InboxItem): string {
  return `${message_id} ${received_at}`;
}

function show(output: Call['output'], item: InboxItem): void {
  if (output.isJson) output.jsonLine(item);
  else if (output.isTerminal) for (const line of bubble(item, output.columns())) output.print(line);
  else output.table([], [[item.received_at, item.from, item.to, item.text]]);
}
