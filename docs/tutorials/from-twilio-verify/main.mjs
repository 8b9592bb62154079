// The sign-in of sign-in.mjs, in a terminal. One line differs from the program for Twilio.
import { createInterface } from 'node:readline/promises';
import twilio from 'twilio';
import { askForCode, checkCode } from './sign-in.mjs';

const { TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, TWILIO_VERIFY_SERVICE_SID: serviceSid, TWILIO_BASE_URL } = process.env;
const client = twilio(TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN);
client.verify.baseUrl = client.api.baseUrl = TWILIO_BASE_URL;

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
