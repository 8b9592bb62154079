import { attemptsRemaining, type Verification } from './verification.ts';

/** The result of a check, for its trace: the verification may change later. */
export function checkOutcome(verification: Verification): string {
  const left = attemptsRemaining(verification);
  switch (verification.status) {
    case 'approved':
      return 'Correct code, verification approved';
    case 'pending':
      return `Wrong code, ${left} ${left === 1 ? 'attempt' : 'attempts'} left`;
    case 'failed':
      return 'No attempts left, verification failed';
    default:
      return `Not checked: the verification is ${verification.status}`;
  }
}
