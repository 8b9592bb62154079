/** The APIs, and errors of calls. */
export const words = {
  sms: {
    title: 'SMS Messaging',
    about: 'Send a text to a number.',
    credential: 'Needs an API key in the apikey header',
  },
  verify: {
    title: 'Verification',
    about: 'Send a one-time code to a number and check it.',
    credential: 'Needs a token with the scope verify:manage',
  },
  messaging: {
    title: 'Messaging',
    about: 'Send texts to many numbers.',
    credential: 'Needs a token with the scope messaging:send',
  },
  enter: (right: string) => `Enter ${right}`,
  unreachable: 'The service cannot be reached. Check that it is running, then try again.',
  broken: (error: string) => `This page failed: ${error}. Reload it, then try again.`,
  noMessage: (status: number) => `The service answered ${status} without an error message.`,
  retryIn: (message: string, seconds: string) => `${message} Try again in ${seconds} s.`,
};
