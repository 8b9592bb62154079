// Tests: test/twilio/verify.test.ts, test/twilio/messages.test.ts
import { Type } from 'typebox';
import type { ErrorFormat } from '../http/route.ts';
import { ApiError, type ErrorCode, type FieldProblem } from '../platform/errors.ts';

/** Twilio's error numbers for what both APIs refuse. Where Twilio has none: 20000 plus the status. */
export const twilioCodes = {
  credentials: 20003,
  method: 20004,
  notFound: 20404,
  parameter: 60200,
  noTriesLeft: 60202,
  noSendsLeft: 60203,
  landline: 60205,
  blocked: 60410,
  country: 60605,
  badNumber: 21211,
  optedOut: 21610,
} as const;

/** An error that has a number of its own. Its status is that of the code. */
export class TwilioError extends ApiError {
  readonly number: number;

  constructor(code: ErrorCode, number: number, message: string, details: FieldProblem[] = []) {
    super(code, message, { details });
    this.number = number;
  }
}

export function invalidParameter(name: string, problem: string, number: number = twilioCodes.parameter): TwilioError {
  const message = `Invalid parameter: ${name} ${problem}`;
  return new TwilioError('INVALID_ARGUMENT', number, message, [{ field: name, message: problem }]);
}

/** The first bad field, under the name that the caller knows. */
export function refuseProblems(
  problems: FieldProblem[],
  names: Partial<Record<string, string>>,
  numbers: NumbersOf = {},
): void {
  const [first] = problems;
  if (first === undefined) return;
  throw invalidParameter(names[first.field] ?? first.field, first.message, numbers[first.field]);
}

/** Twilio's error number for each field that has its own. */
type NumbersOf = Partial<Record<string, number>>;

const errorSchema = Type.Object(
  {
    code: Type.Integer({ description: "Twilio's number of the error", examples: [20404] }),
    message: Type.String({ description: 'Error message for people' }),
    more_info: Type.String({ description: 'The page that explains the error' }),
    status: Type.Integer({ description: 'The status of this answer', examples: [404] }),
  },
  { title: 'TwilioError' },
);

/** Errors as Twilio writes them, with our statuses. */
export function createTwilioErrors(publicUrl: string): ErrorFormat {
  return {
    title: 'TwilioError',
    schema: errorSchema,
    bodyOf(error) {
      const { status, code, message } = error;
      return { code: numberOf(error), message, more_info: `${publicUrl}/docs/errors/${code}`, status };
    },
  };
}

function numberOf(error: ApiError): number {
  if (error instanceof TwilioError) return error.number;
  switch (error.status) {
    case 400:
      return twilioCodes.parameter;
    case 401:
      return twilioCodes.credentials;
    case 405:
      return twilioCodes.method;
    default:
      return 20_000 + error.status;
  }
}
