// Tests: test/smpp/smsc.test.ts, src/smsc/arguments.test.ts
/** The behaviour of the virtual SMSC, good and bad. All switches can change while it runs. */
export interface Behaviour {
  ids: (typeof idForms)[number];
  charset: (typeof zeroCharsets)[number];
  receipt_state: (typeof receiptStates)[number];
  receipt_style: (typeof receiptStyles)[number];
  receipt_after_ms: number;
  early_receipts: boolean;
  receipts_twice: boolean;
  wrong_ids: boolean;
  throttle_every: number;
  refuse_every: number;
  refuse_status: number;
  silent_every: number;
  slow_ms: number;
  garbage_every: number;
  unbind_after: number;
  drop_after: number;
  bind_status: number;
  ignore_binds: (typeof ignoredBinds)[number];
}

const idForms = ['dec', 'hex', 'hex-dec', 'padded', 'uuid', 'same', 'empty'] as const;
const zeroCharsets = ['gsm7', 'gsm7packed', 'latin1'] as const;
const receiptStates = ['delivered', 'undelivered', 'expired', 'rejected', 'unknown', 'enroute', 'none'] as const;
const receiptStyles = ['both', 'text', 'tlv'] as const;
const ignoredBinds = ['none', 'transceiver', 'all'] as const;

type Value = number | boolean | string;
export interface Switch {
  help: string;
  byDefault: Value;
  /** The maximum, if its value is a number. */
  most?: number;
  /** The names to choose from, if its value is a name. */
  choices?: readonly string[];
}

const count = (help: string): Switch => ({ help, byDefault: 0, most: 1_000_000_000 });
const status = (help: string): Switch => ({ help, byDefault: 0, most: 0xffffffff });
const time = (help: string, byDefault: number): Switch => ({ help, byDefault, most: 3_600_000 });
const flag = (help: string): Switch => ({ help, byDefault: false });
const choice = (choices: readonly string[], help: string): Switch => ({ help, byDefault: choices[0] ?? '', choices });

/** In the order of the page and of --help. A count of 0 means never; of `every`, 1 means always. */
export const switches: Record<keyof Behaviour, Switch> = {
  ids: choice(idForms, 'How message ids are written; hex-dec: hexadecimal in answers, decimal in receipts'),
  charset: choice(zeroCharsets, 'What data_coding 0 means'),
  receipt_state: choice(receiptStates, 'What receipts report; none: there are no receipts'),
  receipt_style: choice(receiptStyles, 'Where receipts have the state and the id: text, TLVs, or both'),
  receipt_after_ms: time('Milliseconds from a text to its receipt', 500),
  early_receipts: flag('Send the receipt before the answer to the submit'),
  receipts_twice: flag('Send every receipt twice'),
  wrong_ids: flag('Put ids into receipts that no answer to a submit had'),
  throttle_every: count('Answer every nth submit with 0x58, throttled'),
  refuse_every: count('Answer every nth submit with refuse_status'),
  refuse_status: { ...status('The command_status of refused submits'), byDefault: 0x45 },
  silent_every: count('Leave every nth submit unanswered'),
  slow_ms: time('Milliseconds from a submit to its answer', 0),
  garbage_every: count('Send octets that are no PDU instead of every nth answer'),
  unbind_after: count('Unbind a connection after n submits'),
  drop_after: count('Cut a connection at its nth submit, which gets no answer'),
  bind_status: status('Refuse binds with this command_status'),
  ignore_binds: choice(ignoredBinds, 'Binds that get no answer'),
};

export const switchNames = Object.keys(switches) as (keyof Behaviour)[];

export function usualBehaviour(): Behaviour {
  const entries = switchNames.map((name) => [name, switches[name].byDefault]);
  return Object.fromEntries(entries) as unknown as Behaviour;
}

/** A change of some switches, or its error as a sentence. */
export function readBehaviour(wanted: unknown): Partial<Behaviour> | string {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return 'Give an object of switches.';
  const change: Record<string, Value> = {};
  for (const [name, given] of Object.entries(wanted)) {
    if (!Object.hasOwn(switches, name)) return `There is no switch ${JSON.stringify(name.slice(0, 40))}.`;
    const value = readValue(switches[name as keyof Behaviour], given);
    if (value === undefined) return `${name} must be ${rightValue(switches[name as keyof Behaviour])}.`;
    change[name] = value;
  }
  return change as Partial<Behaviour>;
}

/** Strings are accepted, too: flags of the command line and fields of the page are strings. */
function readValue({ byDefault, most, choices }: Switch, given: unknown): Value | undefined {
  if (choices !== undefined) return choices.find((known) => known === given);
  if (typeof byDefault === 'boolean') return readFlag(given);
  if (typeof given !== 'number' && (typeof given !== 'string' || !/^(?:0x[0-9a-fA-F]{1,8}|[0-9]{1,10})$/.test(given))) {
    return undefined;
  }
  const value = Number(given);
  return Number.isSafeInteger(value) && value >= 0 && value <= (most ?? 0) ? value : undefined;
}

function readFlag(given: unknown): boolean | undefined {
  if (given === true || given === 'true' || given === 'on') return true;
  return given === false || given === 'false' || given === 'off' ? false : undefined;
}

export function rightValue({ byDefault, most, choices }: Switch): string {
  if (choices !== undefined) return `one of ${choices.join(', ')}`;
  return typeof byDefault === 'boolean' ? 'true or false' : `a whole number from 0 to ${most}`;
}

/** The answer to the submit with this number, counted from 1. */
export type Treatment = 'answer' | 'throttle' | 'refuse' | 'silent' | 'garbage';

export function treatmentOf(submit: number, behaviour: Behaviour): Treatment {
  const isTurn = (every: number) => every > 0 && submit % every === 0;
  if (isTurn(behaviour.silent_every)) return 'silent';
  if (isTurn(behaviour.garbage_every)) return 'garbage';
  if (isTurn(behaviour.throttle_every)) return 'throttle';
  return isTurn(behaviour.refuse_every) ? 'refuse' : 'answer';
}
