import type { Heliograph, Message, NewMessage } from '../../../sdk/src/index.ts';
import type { Call, Command } from '../command/command.ts';
import { type Problem, problemJson, problemLines, toProblem } from '../command/problem.ts';
import { CommandError, type ExitCode, exit, usageError } from '../process/exit.ts';
import { awaitMessages, hasEnded } from '../service/await-messages.ts';
import { readRecipients } from '../syntax/recipients.ts';
import { readMoment, readSpan } from '../syntax/span.ts';
import { bold, dim, green, red, type Text, yellow } from '../terminal/text.ts';
import { errorText, stateText } from '../views/message.ts';

const longestTextBytes = 16_384;
/** Enough to hide the latency. The client handles the plan's limits. */
const atOnce = 8;
const defaultSender = 'Heliograph';

export const send: Command = {
  name: 'send',
  topic: 'texts',
  summary: 'Send a text to one or more numbers',
  more: [
    'The text is the last argument, or comes from stdin. Numbers begin with a plus and the country code.',
    'With --json, one text prints its record; several print {"data": […]} with a record or an error for each, in order. The exit code is 0 only if the service accepted all of them, and with --wait only if all arrived.',
  ],
  arguments: [
    { name: 'to', summary: 'One or more numbers, like +447700900123', many: true },
    { name: 'message', summary: 'The text, in quotes; by default read from stdin', optional: true },
  ],
  options: [
    { name: 'message', short: 'm', value: '<text>', summary: 'The text, if it looks like a number' },
    { name: 'from', short: 'f', value: '<sender>', summary: 'The sender: a name of 1 to 11 letters, or a number' },
    { name: 'reference', short: 'r', value: '<text>', summary: 'Your own reference, up to 128 characters' },
    {
      name: 'schedule',
      short: 's',
      value: '<when>',
      summary: 'Send later: 10m, 2h, or 2026-01-31T12:00:00Z; up to 7 days',
    },
    { name: 'validity', value: '<span>', summary: 'How long carriers try to deliver, like 10m; default 1d' },
    { name: 'smart', summary: 'Replace typographic characters that would need more segments' },
    { name: 'wait', short: 'w', summary: 'Wait for the outcome' },
    { name: 'timeout', value: '<span>', summary: 'Maximum time of --wait; default 60s' },
    {
      name: 'idempotency-key',
      value: '<text>',
      summary: 'Calls with the same key within 24 hours send only once',
    },
    { name: 'api', value: '<api>', summary: 'The API to use; default sms', choices: ['sms', 'messaging'] },
  ],
  examples: [
    { summary: 'One text, in a sandbox', line: 'heliograph send +15005550100 "Your table is ready."' },
    { summary: 'Wait for the outcome', line: 'heliograph send +15005550100 "Hello" --wait' },
    {
      summary: 'To several numbers, from a file, tomorrow',
      line: 'heliograph send +15005550100 +15005550101 --schedule 1d < text.txt',
    },
    { summary: 'In a script', line: "heliograph send +15005550100 'Backup done' --json | jq -r .id" },
  ],
  run: runSend,
};

/** The result for one number. */
type Outcome = { to: string; message: Message } | { to: string; problem: Problem };

async function runSend(call: Call): Promise<ExitCode> {
  const { values, output, caller } = call;
  const { to, message: given } = readRecipients(values.arguments, values.text('message'));
  const options = readOptions(call);
  const message = given ?? (await readText(call));
  const api = values.text('api') === 'messaging' ? 'messaging' : 'sms';
  const texts: Heliograph['sms'] = (await caller.clientFor(api))[api];
  const { profile, sandbox } = caller.target();
  const from = values.text('from') ?? profile?.from ?? (sandbox === undefined ? undefined : defaultSender);
  if (from === undefined) throw usageError('--from is missing: the sender of the text, such as ACME or +447700900001.');

  const progress = output.progress(to.length === 1 ? `Sending to ${to[0]}` : `Sending to ${to.length} numbers`);
  let outcomes: Outcome[];
  try {
    outcomes = await sendAll(
      call,
      texts,
      to.map((number) => ({ ...options, to: number, from, message })),
    );
    if (values.flag('wait')) {
      progress.update('Waiting for the outcome');
      outcomes = await followAll(call, texts, outcomes, (text) => progress.update(text));
    }
  } finally {
    progress.end();
  }
  show(call, outcomes);
  return codeOf(outcomes, values.flag('wait'));
}

function readOptions({ values }: Call): Partial<NewMessage> {
  const schedule = values.text('schedule');
  const validity = values.text('validity');
  const reference = values.text('reference');
  return {
    ...(reference !== undefined && { reference }),
    ...(schedule !== undefined && { send_at: readMoment(schedule, '--schedule', Date.now()).toISOString() }),
    ...(validity !== undefined && { validity_seconds: readSpan(validity, '--validity') }),
    ...(values.flag('smart') && { smart_encoding: true }),
  };
}

function readText({ prompt }: Call): Promise<string> {
  return prompt.canAsk() ? prompt.ask('Text') : prompt.readPiped('text', longestTextBytes);
}

/** Each number has its own result. An error that affects all of them, such as a wrong key, stops the rest. */
async function sendAll(call: Call, texts: Heliograph['sms'], messages: readonly NewMessage[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  let ending: Problem | undefined;
  async function work(): Promise<void> {
    for (let index = next++; index < messages.length; index = next++) {
      const message = messages[index];
      if (message === undefined) continue;
      outcomes[index] =
        ending === undefined ? await sendOne(call, texts, message, messages.length === 1) : notSent(message, ending);
      const problem = problemOf(outcomes[index]);
      if (problem !== undefined && problem.exitCode !== exit.failed) ending ??= problem;
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, messages.length) }, work));
  return outcomes;
}

async function sendOne(
  { values, signal }: Call,
  texts: Heliograph['sms'],
  message: NewMessage,
  isOnly: boolean,
): Promise<Outcome> {
  const key = values.text('idempotency-key');
  // An idempotency key is for one call, so each number gets its own.
  const idempotencyKey = key === undefined || isOnly ? key : `${key}:${message.to}`;
  try {
    return { to: message.to, message: await texts.send(message, { signal, idempotencyKey }) };
  } catch (error) {
    const problem = isOnly ? undefined : toProblem(error, undefined);
    if (problem === undefined) throw error;
    return { to: message.to, problem };
  }
}

function notSent({ to }: NewMessage, problem: Problem): Outcome {
  return { to, problem: { ...problem, message: `Not sent because of an earlier error: ${problem.message}` } };
}

function problemOf(outcome: Outcome | undefined): Problem | undefined {
  return outcome !== undefined && 'problem' in outcome ? outcome.problem : undefined;
}

async function followAll(call: Call, texts: Heliograph['sms'], outcomes: Outcome[], say: (text: string) => void) {
  const seconds = readSpan(call.values.text('timeout') ?? '60s', '--timeout');
  const sent = outcomes.flatMap((outcome) => ('message' in outcome ? [outcome.message] : []));
  const schedule = call.values.text('schedule');
  const beginsMs = schedule === undefined ? Date.now() : readMoment(schedule, '--schedule', Date.now()).getTime();
  const latest = await awaitMessages(texts, sent, {
    untilMs: Math.max(Date.now(), beginsMs) + seconds * 1000,
    signal: call.signal,
    onChange: (all) => say(progressText(all)),
  });
  return outcomes.map((outcome) => {
    if (!('message' in outcome)) return outcome;
    return { ...outcome, message: latest.find(({ id }) => id === outcome.message.id) ?? outcome.message };
  });
}

function progressText(all: readonly Message[]): string {
  const [only] = all;
  if (all.length === 1 && only !== undefined) return `${only.to} is ${only.status}`;
  return `${all.filter(hasEnded).length} of ${all.length} texts have an outcome`;
}

function show({ output, values }: Call, outcomes: readonly Outcome[]): void {
  if (output.isJson) {
    const records = outcomes.map((outcome) =>
      'message' in outcome ? outcome.message : { to: outcome.to, ...problemJson(outcome.problem) },
    );
    output.json(records.length === 1 ? records[0] : { data: records });
    return;
  }
  for (const outcome of outcomes) for (const line of linesOf(outcome)) output.print(line);
  const first = outcomes.find((outcome) => 'message' in outcome);
  if (first !== undefined && 'message' in first && !values.flag('wait') && output.isTerminal)
    output.say(dim(`Follow it with: heliograph trace ${first.message.id}`));
}

function linesOf(outcome: Outcome): Text[] {
  if ('problem' in outcome)
    return problemLines(outcome.problem).map((line, index) =>
      index === 0 ? [red('✗ '), bold(outcome.to), '  ', line] : ['  ', line],
    );
  const { message } = outcome;
  const { count, encoding } = message.segments;
  const mark = message.status === 'delivered' ? green('✓ ') : message.error === null ? yellow('• ') : red('✗ ');
  const size = dim(`${count} ${count === 1 ? 'segment' : 'segments'}, ${encoding}`);
  const problem = errorText(message);
  return [
    [mark, bold(message.to), '  ', stateText(message.status), '  ', message.id, '  ', size],
    ...(problem === '' ? [] : [['  ', problem]]),
  ];
}

function codeOf(outcomes: readonly Outcome[], waited: boolean): ExitCode {
  const isGood = (outcome: Outcome) =>
    'message' in outcome && (waited ? outcome.message.status === 'delivered' : outcome.message.status !== 'failed');
  if (outcomes.every(isGood)) return exit.done;
  const codes = new Set(outcomes.map((outcome) => problemOf(outcome)?.exitCode ?? exit.failed));
  const [code = exit.failed] = codes;
  if (codes.size === 1 && code !== exit.failed) return code;
  const open = outcomes.some((outcome) => 'message' in outcome && !hasEnded(outcome.message));
  if (waited && open && outcomes.every((outcome) => 'message' in outcome && outcome.message.error === null))
    throw new CommandError(exit.failed, '--wait timed out before the outcome was known.', [
      'The text may still be delivered. Wait longer with --timeout 10m. Some carriers send no receipts.',
    ]);
  return exit.failed;
}
