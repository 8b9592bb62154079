import type { Event, EventType } from '../../../sdk/src/index.ts';
import type { EventsPage } from '../../../src/portal/developer/event-api.ts';
import type { Call, Command } from '../command/command.ts';
import { type ExitCode, exit, usageError } from '../process/exit.ts';
import { requireApplicationId } from '../service/application.ts';
import { type FeedState, followFeeds, openFeeds } from '../service/feeds.ts';
import { openSession } from '../service/session.ts';
import type { Option } from '../syntax/option.ts';
import { cut, dim, yellow } from '../terminal/text.ts';
import { eventText } from '../views/event.ts';

export const apiOption: Option = {
  name: 'api',
  value: '<api>',
  summary: 'Only events of this API; by default, of all APIs that you have credentials for',
  many: true,
  choices: ['sms', 'verify', 'messaging'],
};

const filterOptions: readonly Option[] = [
  { name: 'type', value: '<type>', summary: 'Only this type, like message.delivered or verification.approved' },
  { name: 'subject', value: '<id>', summary: 'Only about this record, like msg_01…' },
];

export const events: Command = {
  name: 'events',
  topic: 'texts',
  summary: 'List or follow the events of your texts and verifications',
  more: [
    'Without --follow it lists the latest events of the application, with your session. With --follow it shows each event as it happens, from now or after --cursor, and continues after lost connections without skipping any.',
    '--follow turns on the events of the application: from then on they are kept for 7 days.',
  ],
  arguments: [],
  options: [
    { name: 'follow', short: 'F', summary: 'Keep running and show each event as it happens' },
    apiOption,
    ...filterOptions,
    { name: 'cursor', value: '<id>', summary: 'With --follow: start after this event' },
    { name: 'limit', short: 'n', value: '<count>', summary: 'Without --follow: maximum number of events; default 20' },
  ],
  examples: [
    { summary: 'The latest events', line: 'heliograph events' },
    { summary: 'New events, for a program', line: 'heliograph events --follow --json' },
    { summary: 'Texts that people send to your numbers', line: 'heliograph events --follow --type message.received' },
  ],
  run: (call) => (call.values.flag('follow') ? follow(call) : list(call)),
};

async function list(call: Call): Promise<ExitCode> {
  const { output, values } = call;
  if (values.text('cursor') !== undefined) throw usageError('--cursor needs --follow.');
  const limit = values.text('limit') ?? '20';
  if (!/^[1-9][0-9]{0,2}$/.test(limit) || Number(limit) > 100)
    throw usageError('--limit must be a number from 1 to 100.');
  const session = openSession(call);
  const id = await requireApplicationId(call, session);
  const page = await session.call<EventsPage>('GET', `/portal/v1/applications/${encodeURIComponent(id)}/events`, {
    query: { limit, from: 'newest', type: values.text('type'), subject: values.text('subject') },
  });
  const apis = values.texts('api');
  const found = page.data.filter(({ api }) => apis.length === 0 || apis.includes(api ?? ''));
  if (output.isJson) output.json({ data: found, listening: page.listening });
  else for (const event of found.toReversed()) show(call, event as Event);
  if (!page.listening) output.say('Events are off for this application. `heliograph events --follow` turns them on.');
  else if (found.length === 0) output.say('No events yet.');
  return exit.done;
}

async function follow(call: Call): Promise<ExitCode> {
  const { output, signal, values } = call;
  const feeds = await openFeeds(call);
  await followFeeds(feeds, {
    cursorOf: () => values.text('cursor'),
    type: values.text('type') as EventType | undefined,
    subject: values.text('subject'),
    signal,
    onEvent: async (_api, event) => show(call, event),
    onPosition: () => {},
    onState: (state) => sayState(output, state, 'Waiting for events'),
  });
  return exit.done;
}

export function show({ output }: Pick<Call, 'output'>, event: Event): void {
  if (output.isJson) output.jsonLine(event);
  else if (output.isTerminal) output.print(cut(eventText(event), output.columns()));
  else output.table([], [[event.time, event.type, event.subject, event.id]]);
}

export function sayState(output: Call['output'], state: FeedState, waiting: string): void {
  if (state.kind === 'open') output.say(dim(`${waiting} of ${state.apis.join(', ')}. Press Ctrl-C to stop.`));
  else if (state.kind === 'left out') output.say(dim(`Without ${state.api}: ${state.why}`));
  else if (state.kind === 'back') output.say(dim(`${state.api}: reconnected.`));
  else output.say(yellow(`${state.api}: ${state.why} Retrying in ${Math.ceil(state.waitMs / 1000)} s.`));
}
