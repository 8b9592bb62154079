import { ConnectionError, HeliographError } from '@heliograph/client';

/** What a code leads to. `over`: this verification can no longer succeed. */
export function outcomeOf({ valid, status, attempts_remaining: left }) {
  return { done: valid, over: status !== 'pending', message: messageOf(status, left) };
}

function messageOf(status, left) {
  if (status === 'pending') return `That is not the code. You have ${left} ${left === 1 ? 'try' : 'tries'} left.`;
  if (status === 'expired') return 'The code has expired. Please ask for a new one.';
  if (status === 'failed') return 'There were too many wrong codes. Please ask for a new one.';
  return 'This code can no longer be used. Please ask for a new one.';
}

/** The sentence for a visitor after a failed call. Problems that only we can mend go to the log, with their correlation id. */
export function explain(error) {
  if (error instanceof HeliographError && error.status === 429)
    return {
      status: 503,
      message: `Many people sign up right now. Please try again in ${error.retryAfterSeconds ?? 60} seconds.`,
    };
  if (error instanceof HeliographError && error.status === 400) {
    const isCode = error.details.some(({ field }) => field === 'code');
    return {
      status: 422,
      message: isCode
        ? 'The code has only digits.'
        : 'Please enter the number with its country code, such as +44 7700 900123.',
    };
  }
  if (error instanceof HeliographError && error.code === 'VERIFICATION_ALREADY_APPROVED')
    return { status: 409, message: 'This code was used already. Please start again.' };
  if (error instanceof HeliographError) console.error(`${error.message} (${error.code}, ${error.correlationId})`);
  else if (error instanceof ConnectionError || error.name === 'TimeoutError') console.error(error.message);
  else console.error(error);
  return { status: 503, message: 'We cannot check numbers at the moment. Please try again in a minute.' };
}
