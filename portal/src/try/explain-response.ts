import { words } from '../words/try.tsx';
import { bodyOf, type Exchange, headerOf, type ReceivedAnswer } from './exchange.ts';

export interface Explanation {
  tone: 'good' | 'bad' | 'wait';
  title: string;
  hint: string | undefined;
}

interface ResponseBody {
  /** In a check: whether the code was right. */
  valid?: boolean;
  /** In a record. */
  status?: string;
  attempts_remaining?: number;
  reason?: string | null;
  message?: string;
  error_description?: string;
  details?: { field: string; message: string }[];
}

const hints: Record<number, string> = {
  401: words.hint.unauthorized,
  403: words.hint.forbidden,
  503: words.hint.unavailable,
};

/** Explains a response in one sentence. */
export function explainResponse({ answer }: Exchange): Explanation {
  if (answer === null) {
    return { tone: 'bad', title: words.hint.noResponse, hint: words.hint.checkService };
  }
  const { status } = answer;
  const body = bodyOf<ResponseBody>(answer);
  const said = body?.message ?? body?.error_description ?? answer.statusText;
  if (status < 300) return { tone: toneOf({ answer }), title: successOf(status, body), hint: undefined };
  if (status === 429) return { tone: 'wait', title: `429: ${said}`, hint: waitHint(answer) };
  const problems = body?.details?.map(({ field, message }) => `${field} ${message}`).join('; ');
  const repeated = problems === undefined || problems === '' || said.includes(problems);
  return { tone: 'bad', title: `${status}: ${said}`, hint: hints[status] ?? (repeated ? undefined : problems) };
}

function waitHint(answer: ReceivedAnswer): string {
  const seconds = headerOf(answer, 'retry-after') ?? '1';
  return words.hint.wait(seconds);
}

const badStates = ['failed', 'undelivered', 'expired', 'canceled', 'blocked'];

/** A request can succeed while what it asked for did not: a wrong code, a blocked number. */
export function toneOf({ answer }: Pick<Exchange, 'answer'>): Explanation['tone'] {
  if (answer === null) return 'bad';
  if (answer.status === 429) return 'wait';
  if (answer.status >= 300) return 'bad';
  const { valid, status = '' } = bodyOf<ResponseBody>(answer) ?? {};
  return valid === false || badStates.includes(status) ? 'wait' : 'good';
}

function successOf(code: number, body: ResponseBody | undefined): string {
  const { valid, status = '', attempts_remaining: left = 0, reason } = body ?? {};
  if (valid === false && status === 'pending') return words.hint.wrongCode(code, left);
  if (badStates.includes(status)) return words.hint.notGood(code, status, reason ?? undefined);
  return words.hint.succeeded(code);
}
