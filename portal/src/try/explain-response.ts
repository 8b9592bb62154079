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
  401: 'The credential is mistyped, revoked, expired or not approved yet. Create a new one under Credentials.',
  403: 'The token is valid, but it does not have the scope of this API.',
  503: 'Nothing was sent. Try again in a moment.',
};

/** Explains an answer in one sentence. */
export function explainResponse({ answer }: Exchange): Explanation {
  if (answer === null) {
    return { tone: 'bad', title: 'No response: the service cannot be reached.', hint: 'Check that it is running.' };
  }
  const { status } = answer;
  const body = bodyOf<ErrorBody>(answer);
  const said = body?.message ?? body?.error_description ?? answer.statusText;
  if (status < 300) return { tone: 'good', title: `${status}: request succeeded`, hint: undefined };
  if (status === 429) return { tone: 'wait', title: `429: ${said}`, hint: waitHint(answer) };
  const problems = body?.details?.map(({ field, message }) => `${field} ${message}`).join('; ');
  const repeated = problems === undefined || problems === '' || said.includes(problems);
  return { tone: 'bad', title: `${status}: ${said}`, hint: hints[status] ?? (repeated ? undefined : problems) };
}

function waitHint(answer: ReceivedAnswer): string {
  const seconds = headerOf(answer, 'retry-after') ?? '1';
  return `Wait ${seconds} s. Retrying sooner makes the wait longer.`;
}
