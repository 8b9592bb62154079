import { HeliographError } from '../../../sdk/src/index.ts';
import type { RequestStoryRecord } from '../../../src/portal/developer/request-api.ts';
import type { Command } from '../command/command.ts';
import { exit, failure, usageError } from '../process/exit.ts';
import { listApplications } from '../service/application.ts';
import { openSession, type Session } from '../service/session.ts';
import { bold, dim, green, pad, red, type Text, wrap } from '../terminal/text.ts';
import { clockTime, stateText } from '../views/message.ts';

export const trace: Command = {
  name: 'trace',
  topic: 'account',
  summary: 'Trace a request: limits, records, carriers, delivery',
  more: [
    'Every response of the service has a correlation id, and every error shows it. The id of a text or verification works too.',
  ],
  arguments: [
    { name: 'correlation id', summary: 'Like req_01…, or the id of a text (msg_01…) or a verification (ver_01…)' },
  ],
  options: [],
  examples: [
    { summary: 'By the correlation id of a response', line: 'heliograph trace req_01m7jf8bxr000p4yw1dbjh6twz' },
    { summary: 'By the id of a text', line: 'heliograph trace msg_01m7jf89400004ebep147c97t8' },
  ],
  async run(call) {
    const { output, values } = call;
    const [given = ''] = values.arguments;
    if (!/^[A-Za-z0-9._-]{1,128}$/.test(given))
      throw usageError(`${given} is not a correlation id like req_01m7jf8bxr000p4yw1dbjh6twz.`);
    const session = openSession(call);
    const id = /^(msg|ver)_/.test(given) ? await findRequest(session, given) : given;
    const story = await readStory(session, id);
    if (output.isJson) output.json(story);
    else for (const line of drawStory(story, output.columns())) output.print(line);
    return exit.done;
  },
};

async function readStory(session: Session, id: string): Promise<RequestStoryRecord> {
  try {
    return await session.call<RequestStoryRecord>('GET', `/portal/v1/requests/${encodeURIComponent(id)}`);
  } catch (error) {
    if (!(error instanceof HeliographError) || error.status !== 404) throw error;
    throw failure(
      `No request of your applications has the correlation id ${id}.`,
      'Requests that created no record are kept for 24 hours, at most 1,000 per application.',
    );
  }
}

/** Finds the request that created a record, among the account's applications. */
async function findRequest(session: Session, id: string): Promise<string> {
  const kind = id.startsWith('msg_') ? 'messages' : 'verifications';
  for (const application of await listApplications(session)) {
    try {
      const path = `/portal/v1/applications/${application.id}/${kind}/${encodeURIComponent(id)}`;
      return (await session.call<{ correlation_id: string }>('GET', path)).correlation_id;
    } catch (error) {
      if (!(error instanceof HeliographError) || error.status !== 404) throw error;
    }
  }
  throw failure(`None of your applications has ${id}.`);
}

/** The timeline of the request. */
export function drawStory(story: RequestStoryRecord, columns: number): Text[] {
  const { method, path, status, duration_ms: duration, application_name: application, api, records, timeline } = story;
  const code = status < 400 ? green(String(status)) : red([String(status), story.code].filter(Boolean).join(' '));
  const beganMs = Date.parse(story.at);
  return [
    [bold(`${method} ${path ?? ''}`), '  ', code, duration === null ? '' : dim(`  ${duration} ms`)],
    dim(`${clockTime(story.at)}  ${application}  ${api}`),
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
