import type { Event, EventType } from '../../../sdk/src/index.ts';
import { sleep } from '../../../sdk/src/waiting.ts';
import type { Call, Command } from '../command/command.ts';
import { type Forwarded, forward, isTaken } from '../listen/forward.ts';
import { type ListenPosition, openPosition, requireSecret } from '../listen/listen-state.ts';
import { type ExitCode, exit, usageError } from '../process/exit.ts';
import type { Api } from '../profile/caller.ts';
import { followFeeds, openFeeds } from '../service/feeds.ts';
import { pauseMs } from '../service/patience.ts';
import { bold, cut, dim, green, red, type Text, yellow } from '../terminal/text.ts';
import { eventText } from '../views/event.ts';
import { apiOption, sayState } from './events.ts';

export const listen: Command = {
  name: 'listen',
  topic: 'texts',
  summary: 'Forward signed webhooks to a program on your machine',
  more: [
    'It reads the events of the application and posts each to the address like a webhook: with the headers of Standard Webhooks, signed with a secret that it shows. The secret stays the same on this machine.',
    'It forwards in order, retries until the program answers 2xx, continues after lost connections, and resumes after the last forwarded event at the next run: no event is skipped. --from-now skips the events since the last run.',
  ],
  arguments: [],
  options: [
    {
      name: 'forward-to',
      short: 't',
      value: '<address>',
      summary: 'The address to post to, like http://localhost:3000/webhooks',
    },
    apiOption,
    { name: 'type', value: '<type>', summary: 'Only this type, like message.delivered' },
    { name: 'from-now', summary: 'Skip the events since the last run' },
    { name: 'print-secret', summary: 'Only print the secret' },
  ],
  examples: [
    {
      summary: 'Forward to your program',
      line: 'heliograph listen --forward-to http://localhost:3000/webhooks',
    },
    { summary: 'Set the secret for your program', line: 'export WEBHOOK_SECRET=$(heliograph listen --print-secret)' },
  ],
  run: runListen,
};

async function runListen(call: Call): Promise<ExitCode> {
  const { caller, environment, output, signal, values } = call;
  const secret = await requireSecret(environment);
  if (values.flag('print-secret')) {
    if (output.isJson) output.json({ secret });
    else output.print(secret);
    return exit.done;
  }
  const url = readAddress(values.text('forward-to'));
  const feeds = await openFeeds(call);
  const positions = new Map<Api, ListenPosition>();
  for (const api of feeds.apis)
    positions.set(api, openPosition(environment, caller.target().url, await ownerOf(call, api), api, url));
  output.say(['Events go to ', bold(url), ', signed with this secret:']);
  output.say(['  ', bold(secret)]);
  await followFeeds(feeds, {
    cursorOf: (api) => (values.flag('from-now') ? undefined : positions.get(api)?.read()),
    type: values.text('type') as EventType | undefined,
    subject: undefined,
    signal,
    onEvent: (_api, event) => deliver(call, url, secret, event),
    onPosition: (api, cursor) => positions.get(api)?.write(cursor),
    onState: (state) => sayState(output, state, 'Waiting for events'),
  });
  return exit.done;
}

/** A feed belongs to an application, which its key or client identifies. Only a hash of it is stored. */
async function ownerOf({ caller }: Call, api: Api): Promise<string> {
  return (api === 'sms' ? (await caller.findApiKey())?.value : caller.findClient()?.clientId) ?? '';
}

function readAddress(text: string | undefined): string {
  if (text === undefined)
    throw usageError('--forward-to is missing: the address to post to, like http://localhost:3000/webhooks.');
  const url = text.length <= 2048 && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '')
    throw usageError('--forward-to must be an address like http://localhost:3000/webhooks.');
  return url.href;
}

/** Retries until the program accepts it. */
async function deliver(call: Call, url: string, secret: string, event: Event): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await forward(url, secret, event, call.signal);
    const waitMs = isTaken(outcome) ? undefined : pauseMs(attempt);
    show(call, event, outcome, attempt, waitMs);
    if (waitMs === undefined) return;
    await sleep(waitMs, call.signal);
  }
}

function show({ output }: Call, event: Event, outcome: Forwarded, attempt: number, waitMs: number | undefined): void {
  if (output.isJson) {
    const { id, type, subject, api } = event;
    output.jsonLine({ event_id: id, type, subject, api, attempt, ...outcome, forwarded: waitMs === undefined });
    return;
  }
  const { status, error, ms } = outcome;
  const answer = status === null ? (error ?? '') : String(status);
  const again: Text = waitMs === undefined ? '' : yellow(`, retrying in ${(waitMs / 1000).toFixed(1)} s`);
  const line: Text = ['→ ', isTaken(outcome) ? green(answer) : red(answer), dim(` in ${ms} ms`), again];
  // On a terminal the event is on the same line if it fits.
  output.print(
    output.isTerminal
      ? cut([line, '  ', eventText(event)], Math.max(40, output.columns()))
      : [line, `  ${event.type}  ${event.subject}`],
  );
}
