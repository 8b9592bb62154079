import type { Event, EventType } from '../../../sdk/src/index.ts';
import { sleep } from '../../../sdk/src/waiting.ts';
import type { Call, Command } from '../command/command.ts';
import { type Forwarded, forward, isTaken } from '../listen/forward.ts';
import { type ListenPlace, openPlace, requireSecret } from '../listen/listen-state.ts';
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
  summary: 'Bring webhooks to a program on your machine, signed',
  more: [
    'It reads the events of the application and posts each to the address, as a webhook comes: with the headers of Standard Webhooks, signed with a secret that it shows. The secret stays the same on this machine.',
    'It forwards in order, tries again until the program answers 2xx, goes on after lost connections, and the next time where it ended: no event is skipped. --from-now leaves out what happened meanwhile.',
  ],
  arguments: [],
  options: [
    { name: 'forward-to', short: 't', value: '<address>', summary: 'Where to post: http://localhost:3000/webhooks' },
    apiOption,
    { name: 'type', value: '<type>', summary: 'Only this type, like message.delivered' },
    { name: 'from-now', summary: 'Leave out what happened since the last time' },
    { name: 'print-secret', summary: 'Print the secret, and do nothing else' },
  ],
  examples: [
    {
      summary: 'To a program that you are writing',
      line: 'heliograph listen --forward-to http://localhost:3000/webhooks',
    },
    { summary: 'The secret for its settings', line: 'export WEBHOOK_SECRET=$(heliograph listen --print-secret)' },
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
  const places = new Map<Api, ListenPlace>();
  for (const api of feeds.apis)
    places.set(api, openPlace(environment, caller.place().url, await ownerOf(call, api), api, url));
  output.say(['Events go to ', bold(url), ', signed with this secret:']);
  output.say(['  ', bold(secret)]);
  await followFeeds(feeds, {
    cursorOf: (api) => (values.flag('from-now') ? undefined : places.get(api)?.read()),
    type: values.text('type') as EventType | undefined,
    subject: undefined,
    signal,
    onEvent: (_api, event) => deliver(call, url, secret, event),
    onPlace: (api, cursor) => places.get(api)?.write(cursor),
    onState: (state) => sayState(output, state, 'Waiting for events'),
  });
  return exit.done;
}

/** A feed belongs to an application: the key, or the client, stands for it. Only a hash of it is kept. */
async function ownerOf({ caller }: Call, api: Api): Promise<string> {
  return (api === 'sms' ? (await caller.findApiKey())?.value : caller.findClient()?.clientId) ?? '';
}

function readAddress(text: string | undefined): string {
  if (text === undefined)
    throw usageError('--forward-to is missing: where to post, like http://localhost:3000/webhooks.');
  const url = text.length <= 2048 && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '')
    throw usageError('--forward-to must be an address like http://localhost:3000/webhooks.');
  return url.href;
}

/** Tries until the program takes it. */
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
  const again: Text = waitMs === undefined ? '' : yellow(`, again in ${(waitMs / 1000).toFixed(1)} s`);
  const line: Text = ['→ ', isTaken(outcome) ? green(answer) : red(answer), dim(` in ${ms} ms`), again];
  // On a terminal the event stands on the same line if there is room.
  output.print(
    output.isTerminal
      ? cut([line, '  ', eventText(event)], Math.max(40, output.columns()))
      : [line, `  ${event.type}  ${event.subject}`],
  );
}
