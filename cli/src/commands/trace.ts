import type { RequestStoryRecord } from '../../../src/portal/developer/request-api.ts';
import type { Command } from '../command/command.ts';
import { exit, failure } from '../process/exit.ts';
import { createFinder, type Finder } from '../service/finder.ts';
import { openSession } from '../service/session.ts';
import { bold, dim, green, pad, red, type Text, wrap } from '../terminal/text.ts';
import { clockTime, stateText } from '../views/message.ts';
import { operatorOption, readText } from './find.ts';

export const trace: Command = {
  name: 'trace',
  topic: 'account',
  summary: 'Trace a request: limits, records, carriers, delivery',
  more: [
    'Every response of the service has a correlation id, and every error shows it. The id of a text or verification works too, and a number leads to its newest record. Operators trace in all accounts.',
  ],
  arguments: [
    {
      name: 'correlation id',
      many: true,
      summary: 'Like req_01…, the id of a text (msg_01…) or a verification (ver_01…), or a number',
    },
  ],
  options: [operatorOption],
  examples: [
    { summary: 'By the correlation id of a response', line: 'heliograph trace req_01m7jf8bxr000p4yw1dbjh6twz' },
    { summary: 'By the id of a text', line: 'heliograph trace msg_01m7jf89400004ebep147c97t8' },
    { summary: 'The newest of a number', line: 'heliograph trace +44 7700 900123' },
  ],
  async run(call) {
    const { output, values } = call;
    const given = readText(values.arguments).trim();
    const finder = await createFinder(openSession(call), values.flag('operator'));
    const id = /^req_\w+$/.test(given) ? given : await findNewest(finder, given);
    const story = await finder.readStory(id);
    if (story === undefined)
      throw failure(
        `No request ${whose(finder)} has the correlation id ${id}.`,
        'Requests that created no record are kept for 24 hours, at most 1,000 per application.',
      );
    if (output.isJson) output.json(story);
    else for (const line of drawStory(story, output.columns())) output.print(line);
    return exit.done;
  },
};

function whose({ isOperator }: Finder): string {
  return isOperator ? 'of this service' : 'of your applications';
}

/** The request that created the newest record found for this text. */
async function findNewest(finder: Finder, text: string): Promise<string> {
  const { data } = await finder.find(text, 1);
  const record = data.find(({ type }) => ['request', 'message', 'verification'].includes(type));
  const id = record && (await finder.findRequest(record));
  if (id === undefined)
    throw failure(`No record ${whose(finder)} matches ${text}.`, '`heliograph find` shows all records that match.');
  return id;
}

/** The timeline of the request. */
export function drawStory(story: RequestStoryRecord, columns: number): Text[] {
  const { method, path, status, duration_ms: duration, application_name: application, api, records, timeline } = story;
  const code = status < 400 ? green(String(status)) : red([String(status), story.code].filter(Boolean).join(' '));
  const beganMs = Date.parse(story.at);
  return [
    [bold(`${method} ${path ?? ''}`), '  ', code, duration === null ? '' : dim(`  ${duration} ms`)],
    dim(`${clockTime(story.at)}  ${application}  ${api}`),
    ...(story.trace_id === null ? [] : [dim(`trace ${story.trace_id}`)]),
    ...(story.message === null ? [] : wrap(story.message, columns).map((line) => red(line))),
    ...records.slice(0, 20).map(({ id, status: state }): Text => [id, '  ', stateText(state)]),
    ...(records.length > 20 ? [dim(`… and ${records.length - 20} more records`)] : []),
    '',
    ...timeline.flatMap(({ at, event, detail }, index) => {
      const isLast = index === timeline.length - 1;
      return drawEvent({ sinceMs: Date.parse(at) - beganMs, event, detail, isLast }, columns);
    }),
  ];
}

const timeWidth = 10;
const eventWidth = 12;

function drawEvent(
  given: { sinceMs: number; event: string; detail: string; isLast: boolean },
  columns: number,
): Text[] {
  const { sinceMs, event, detail, isLast } = given;
  const isNarrow = columns < 60;
  const left = timeWidth + 3 + (isNarrow ? 0 : eventWidth);
  const lines = wrap(detail, Math.max(10, columns - left));
  const head: Text = [pad(dim(sinceText(sinceMs)), timeWidth, 'right'), ' ', markOf(event), ' '];
  const bar: Text = [' '.repeat(timeWidth + 1), dim(isLast ? ' ' : '│'), ' '];
  if (isNarrow) return [[head, bold(event)], ...lines.map((line): Text => [bar, line])];
  const [first = '', ...rest] = lines;
  return [
    [head, pad(bold(event), eventWidth), first],
    ...rest.map((line): Text => [bar, ' '.repeat(eventWidth), line]),
  ];
}

function markOf(event: string): Text {
  if (/delivered|approved/.test(event) && !event.startsWith('un')) return green('●');
  return /refused|failed|undelivered|expired|blocked/.test(event) ? red('●') : '●';
}

function sinceText(ms: number): string {
  if (ms < 1000) return `+${Math.max(0, Math.round(ms))} ms`;
  return ms < 120_000 ? `+${(ms / 1000).toFixed(1)} s` : `+${Math.round(ms / 60_000)} min`;
}
