import { bodyOf, type Exchange, headerOf, type WireAnswer } from './wire.ts';

export interface Verdict {
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
  401: 'The credential is mistyped, revoked, ended, or not approved yet. Make a new one under Credentials.',
  403: 'The token is fine, but its scope does not open this API.',
  503: 'Nothing was sent. Try again in a moment.',
};

/** What an answer means, in a sentence. */
export function verdictOf({ answer }: Exchange): Verdict {
  if (answer === null) {
    return { tone: 'bad', title: 'No answer: the service cannot be reached.', hint: 'Check that it is running.' };
  }
  const { status } = answer;
  const body = bodyOf<ErrorBody>(answer);
  const said = body?.message ?? body?.error_description ?? answer.statusText;
  if (status < 300) return { tone: 'good', title: `${status}: done`, hint: undefined };
  if (status === 429) return { tone: 'wait', title: `429: ${said}`, hint: waitHint(answer) };
  const problems = body?.details?.map(({ field, message }) => `${field} ${message}`).join('; ');
  const repeated = problems === undefined || problems === '' || said.includes(problems);
  return { tone: 'bad', title: `${status}: ${said}`, hint: hints[status] ?? (repeated ? undefined : problems) };
}

function waitHint(answer: WireAnswer): string {
  const seconds = headerOf(answer, 'retry-after') ?? 'a few';
  return `Wait ${seconds} s. Trying sooner makes the wait longer.`;
}
