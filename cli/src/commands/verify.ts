import type {
  CheckedVerification,
  Heliograph,
  NewVerification,
  Payment,
  StartedVerification,
  Verification,
} from '../../../sdk/src/index.ts';
import { sleep } from '../../../sdk/src/waiting.ts';
import type { Call, Command } from '../command/command.ts';
import { type ExitCode, exit, usageError } from '../process/exit.ts';
import { readRecipients } from '../syntax/recipients.ts';
import { readSpan } from '../syntax/span.ts';
import { bold, dim, green, red, type Text, yellow } from '../terminal/text.ts';
import { clockTime, stateText } from '../views/message.ts';

const channels = ['sms', 'voice', 'whatsapp', 'inbound'];

export const startVerification: Command = {
  name: 'verify start',
  topic: 'texts',
  summary: 'Send a code to a number; on a terminal, ask for it and check it',
  more: [
    'On a terminal it asks for the code, up to five times. --no-code leaves that to `verify check`. In a script --code reads the code from stdin.',
    'A second start for a number with a pending verification continues that verification, with the same code.',
    'With --channel inbound nothing is sent: it shows the text that the person sends, and on a terminal waits for it.',
  ],
  arguments: [{ name: 'to', summary: 'The number, like +447700900123' }],
  options: [
    {
      name: 'channel',
      value: '<channel>',
      summary: 'How the code is sent, or inbound; default sms',
      choices: channels,
    },
    {
      name: 'fallback',
      value: '<channel[:span]>',
      many: true,
      summary: 'Next channel if the code is not entered in time, like voice:30s; at most two; default 20s',
    },
    { name: 'code', summary: 'Ask for the code and check it; a script passes it on stdin' },
    { name: 'no-code', summary: 'Only send the code' },
    { name: 'code-length', value: '<digits>', summary: 'Digits of the code, 4 to 10; default 6' },
    { name: 'ttl', value: '<span>', summary: 'How long the code is valid, 60s to 10m; default 10m' },
    { name: 'locale', value: '<language>', summary: "The text's language, like de or pt-BR" },
    { name: 'domain', value: '<domain>', summary: 'Your site, so that browsers fill in the code (WebOTP)' },
    { name: 'embedded-in', value: '<domain>', summary: 'The site that embeds the site of --domain in a frame' },
    { name: 'pay', value: '<amount>', summary: 'A payment that the code confirms, like "10.00 EUR"; needs --payee' },
    { name: 'payee', value: '<name>', summary: 'Who gets the payment' },
    { name: 'reference', short: 'r', value: '<text>', summary: 'Your own reference, up to 128 characters' },
  ],
  examples: [
    {
      summary: 'The whole verification, in a sandbox: the code is 123456',
      line: 'heliograph verify start +15005550100',
    },
    { summary: 'In two steps', line: 'heliograph verify start +15005550100 --json | jq -r .id' },
    {
      summary: 'In a script, with the code on stdin',
      line: 'echo 123456 | heliograph verify start +15005550100 --code',
    },
    {
      summary: 'Call the number if the code is not entered within 30 seconds',
      line: 'heliograph verify start +15005550100 --fallback voice:30s',
    },
    {
      summary: 'Let the person send a text instead',
      line: 'heliograph verify start +15005550100 --channel inbound',
    },
    {
      summary: 'Confirm a payment',
      line: 'heliograph verify start +15005550100 --pay "10.00 EUR" --payee "Acme Shop"',
    },
  ],
  run: runStart,
};

export const checkVerification: Command = {
  name: 'verify check',
  topic: 'texts',
  summary: 'Check the code that a person entered',
  more: [
    'The exit code is 0 if the code is correct, otherwise 1.',
    'With a number it checks the pending verification of that number, else the newest of the last 24 hours.',
  ],
  arguments: [
    { name: 'id', summary: 'The id of the verification, like ver_01…, or the number' },
    { name: 'code', summary: 'The code; by default asked for, or read from stdin', optional: true },
  ],
  options: [
    { name: 'pay', value: '<amount>', summary: 'The payment it confirms; needed with a number, and needs --payee' },
    { name: 'payee', value: '<name>', summary: 'Who gets the payment' },
  ],
  examples: [
    {
      summary: 'Run a command if the code is correct',
      line: 'heliograph verify check ver_01m7jf89400004ebep147c97t8 123456 && echo verified',
    },
  ],
  async run(call) {
    const { values, caller, output, signal } = call;
    const [id = '', given] = values.arguments;
    const code = given ?? (await askCode(call));
    const { verify } = await caller.clientFor('verify');
    const checked = id.startsWith('+')
      ? await verify.checkNumber({ to: id, code: code.trim(), ...paymentOf(call) }, { signal })
      : await verify.check(id, code.trim(), { signal, ...paymentOf(call) });
    if (output.isJson) output.json(checked);
    else output.print(outcome(checked));
    return checked.valid ? exit.done : exit.failed;
  },
};

async function runStart(call: Call): Promise<ExitCode> {
  const { values, caller, output, prompt, signal } = call;
  if (values.flag('code') && values.flag('no-code')) throw usageError('--code and --no-code cannot be combined.');
  const [to = ''] = readRecipients(values.arguments, '').to;
  const asks = values.flag('code') || (!values.flag('no-code') && prompt.canAsk() && !output.isJson);
  const { verify } = await caller.clientFor('verify');
  const isInbound = values.text('channel') === 'inbound';
  if (isInbound && values.flag('code')) throw usageError('--channel inbound has no code to ask for.');
  const progress = output.progress(isInbound ? `Asking ${to} for a text` : `Sending a code to ${to}`);
  const started = await verify.start(readOptions(call, to), { signal }).finally(() => progress.end());
  if (started.status !== 'pending') {
    if (output.isJson) output.json(started);
    else output.print([red('✗ '), bold(started.to), '  ', stateText(started.status), `  ${started.reason ?? ''}`]);
    return exit.failed;
  }
  if (started.inbound !== undefined) return showInbound(call, verify, started, asks);
  if (asks) return checkUntilEnd(call, verify, started);
  if (output.isJson) output.json(started);
  else for (const line of startedLines(call, started)) output.print(line);
  if (output.isTerminal) output.say(dim(`Next: heliograph verify check ${started.id} <code>`));
  return exit.done;
}

function readOptions(call: Call, to: string): NewVerification {
  const { values } = call;
  const length = values.text('code-length');
  const [ttl, locale, domain, reference] = ['ttl', 'locale', 'domain', 'reference'].map(values.text);
  const [embedded, channel] = ['embedded-in', 'channel'].map(values.text);
  const fallback = values.texts('fallback').map(readStep);
  if (embedded !== undefined && domain === undefined) throw usageError('--embedded-in needs --domain.');
  if (length !== undefined && !/^[0-9]{1,2}$/.test(length))
    throw usageError('--code-length must be a number from 4 to 10.');
  return {
    to,
    ...(channel !== undefined && { channel }),
    ...(fallback.length > 0 && { fallback }),
    ...(length !== undefined && { code_length: Number(length) }),
    ...(ttl !== undefined && { ttl_seconds: readSpan(ttl, '--ttl') }),
    ...(locale !== undefined && { locale }),
    ...(domain !== undefined && { autofill: { domain, ...(embedded !== undefined && { embedded_in: embedded }) } }),
    ...(reference !== undefined && { reference }),
    ...paymentOf(call),
  };
}

type Step = NonNullable<NewVerification['fallback']>[number];

/** The service checks the channel and the time. */
function readStep(text: string): Step {
  const [channel = '', span, ...rest] = text.split(':');
  if (channel === '' || rest.length > 0) throw usageError('--fallback must be a channel and a time, like voice:30s.');
  return {
    channel: channel as Step['channel'],
    ...(span !== undefined && { after_seconds: readSpan(span, '--fallback') }),
  };
}

/** The service checks the amount and the currency. */
function paymentOf({ values }: Call): { payment?: Payment } {
  const [pay, payee] = [values.text('pay'), values.text('payee')];
  if (pay === undefined && payee === undefined) return {};
  const [amount = '', currency = '', ...rest] = (pay ?? '').split(' ');
  if (payee === undefined || currency === '' || rest.length > 0)
    throw usageError('A payment needs --pay "<amount> <currency>", like "10.00 EUR", and --payee.');
  return { payment: { amount, currency: currency.toUpperCase(), payee } };
}

function startedLines({ caller }: Call, { id, to, sent, expires_at: expires }: StartedVerification): Text[] {
  return [
    [sent ? green('✓ ') : yellow('• '), sent ? 'Code sent to ' : 'Code was already sent to ', bold(to)],
    ['  ', id, dim(`  works until ${clockTime(expires)}`)],
    ...(caller.target().sandbox === undefined ? [] : [dim('  It is on the virtual handset: heliograph inbox')]),
  ];
}

/** Shows what the person has to text; on a terminal it waits for the text. */
async function showInbound(
  { output, signal }: Call,
  verify: Heliograph['verify'],
  started: StartedVerification,
  waits: boolean,
): Promise<ExitCode> {
  const { id, to, inbound, expires_at: expires } = started;
  const lines: Text[] = [
    ['Ask ', bold(to), ' to send  ', bold(inbound?.text ?? ''), '  to ', bold(inbound?.number ?? '')],
    ['  ', id, dim(`  works until ${clockTime(expires)}`)],
  ];
  if (!waits) {
    if (output.isJson) output.json(started);
    else for (const line of lines) output.print(line);
    return exit.done;
  }
  for (const line of lines) output.say(line);
  const progress = output.progress('Waiting for the text');
  const ended = await awaitEnd(verify, id, signal).finally(() => progress.end());
  const valid = ended.status === 'approved';
  output.print(outcome({ ...ended, valid }));
  return valid ? exit.done : exit.failed;
}

/** Polls until the verification ends, less often over time, because reads count against the plan. */
async function awaitEnd(verify: Heliograph['verify'], id: string, signal: AbortSignal): Promise<Verification> {
  for (let pauseMs = 1000; ; pauseMs = Math.min(5000, pauseMs * 1.2)) {
    const record = await verify.get(id, { signal });
    if (record.status !== 'pending') return record;
    await sleep(pauseMs, signal);
  }
}

/** Asks until the code is correct or no attempt is left. Stdin has one code, so one attempt. */
async function checkUntilEnd(
  call: Call,
  verify: Heliograph['verify'],
  started: StartedVerification,
): Promise<ExitCode> {
  const { output, prompt, signal } = call;
  if (!output.isJson) for (const line of startedLines(call, started)) output.say(line);
  for (;;) {
    const code = await askCode(call);
    if (!/^[0-9]{4,10}$/.test(code.trim())) {
      if (!prompt.canAsk()) throw usageError('A code has 4 to 10 digits.');
      output.say(yellow(`A code has ${started.code_length} digits.`));
      continue;
    }
    const checked = await verify.check(started.id, code.trim(), { signal });
    if (!checked.valid && checked.status === 'pending' && prompt.canAsk()) {
      output.say(outcome(checked));
      continue;
    }
    if (output.isJson) output.json(checked);
    else output.print(outcome(checked));
    return checked.valid ? exit.done : exit.failed;
  }
}

function askCode({ prompt }: Call): Promise<string> {
  return prompt.canAsk() ? prompt.ask('Code') : prompt.readPiped('code', 64);
}

type Ended = Pick<CheckedVerification, 'valid' | 'to' | 'status' | 'reason' | 'attempts_remaining'>;

function outcome({ valid, to, status, reason, attempts_remaining: left }: Ended): Text {
  if (valid) return [green('✓ '), bold(to), '  ', stateText('approved'), '  The number is verified.'];
  const attempts = status === 'pending' ? `  ${left} ${left === 1 ? 'attempt' : 'attempts'} left.` : '';
  return [red('✗ '), bold(to), '  ', stateText(status), `  ${words[reason ?? ''] ?? reason ?? ''}${attempts}`];
}

const words: Record<string, string> = {
  incorrect_code: 'The code is wrong.',
  max_attempts_reached: 'The code is wrong, and no attempt is left.',
  ttl_elapsed: 'The verification expired.',
  canceled_by_client: 'It was canceled.',
  superseded: 'A newer verification replaced it.',
  reported_by_client: 'The application reported that it failed.',
};
