import { words } from '../words/try.tsx';
import { bodyOf, type Exchange, headerOf, type ReceivedAnswer } from './exchange.ts';

export interface Explanation {
  tone: 'good' | 'bad' | 'wait';
  title: string;
  hint: string | undefined;
}

interface ErrorBody {
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
  const body = bodyOf<ErrorBody>(answer);
  const said = body?.message ?? body?.error_description ?? answer.statusText;
  if (status < 300) return { tone: 'good', title: words.hint.succeeded(status), hint: undefined };
  if (status === 429) return { tone: 'wait', title: `429: ${said}`, hint: waitHint(answer) };
  const problems = body?.details?.map(({ field, message }) => `${field} ${message}`).join('; ');
  const repeated = problems === undefined || problems === '' || said.includes(problems);
  return { tone: 'bad', title: `${status}: ${said}`, hint: hints[status] ?? (repeated ? undefined : problems) };
}

function waitHint(answer: ReceivedAnswer): string {
  const seconds = headerOf(answer, 'retry-after') ?? '1';
  return words.hint.wait(seconds);
}
