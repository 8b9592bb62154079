// The sign-in of sign-in.mjs, in a terminal. Only the next lines differ from the program for Twilio.
import { createInterface } from 'node:readline/promises';
import { Heliograph } from '@heliograph/client';
import { askForCode, checkCode } from './sign-in.mjs';
import { createTwilioShape } from './twilio-shape.mjs';

// Before: const client = twilio(process.env.TWILIO_ACCOUNT_SID, process.env.TWILIO_AUTH_TOKEN);
const client = createTwilioShape(
  new Heliograph({
    baseUrl: process.env.HELIOGRAPH_URL ?? 'http://127.0.0.1:8080',
    clientId: process.env.HELIOGRAPH_CLIENT_ID,
    clientSecret: process.env.HELIOGRAPH_CLIENT_SECRET,
  }),
);
const serviceSid = process.env.TWILIO_SERVICE_SID ?? 'not needed';

const terminal = createInterface({ input: process.stdin, output: process.stdout });
const lines = terminal[Symbol.asyncIterator]();
async function ask(question) {
  process.stdout.write(question);
  const { done, value } = await lines.next();
  return done ? undefined : value.trim();
}

const to = await ask('Your number: ');
const asked = await askForCode(client, serviceSid, to ?? '');
console.log(asked);
for (let said = asked; said === 'We have sent you a code.' || said === 'That is not the code.'; ) {
  const code = await ask('The code: ');
  if (code === undefined) break;
  said = await checkCode(client, serviceSid, to, code);
  console.log(said);
}
terminal.close();
