// Runs Debian's Python with the library of Debian's python3-twilio. scripts/system-needs.ts gets it for the tests that
// import this file.
import { spawn } from 'node:child_process';

/** Another Python in the path does not know Debian's libraries. */
const debianPython = '/usr/bin/python3';
const longestRunMs = 60_000;

const flow = `
import json, sys
from datetime import datetime
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

base, sid, token, service_sid, stranger, send_at = sys.argv[1:7]
client = Client(sid, token)
client.verify.base_url = base
client.api.base_url = base
service = client.verify.services(service_sid)
seen = {}

def refusal(act):
    try:
        act()
    except TwilioRestException as error:
        return [error.status, error.code]
    return None

# The sandbox gives this number the code 123456.
to = '+15005550100'
started = service.verifications.create(to=to, channel='sms')
seen['started'] = [started.to, started.channel, started.status, started.valid, len(started.send_code_attempts)]
seen['started_at'] = started.date_created.isoformat()
wrong = service.verification_checks.create(to=to, code='654321')
seen['wrong'] = [wrong.status, wrong.valid]
right = service.verification_checks.create(verification_sid=started.sid, code='123456')
seen['right'] = [right.sid == started.sid, right.status, right.valid]
seen['again'] = refusal(lambda: service.verification_checks.create(to=to, code='123456'))
other = service.verifications.create(to='+15005550101', channel='sms')
seen['by_number'] = service.verifications('+15005550101').fetch().sid == other.sid
seen['canceled'] = service.verifications(other.sid).update(status='canceled').status
called = service.verifications.create(to='+15005550103', channel='call')
also = service.verifications.create(to='+15005550103', channel='whatsapp')
attempts = [attempt['channel'] for attempt in also.send_code_attempts]
seen['called'] = [called.channel, also.sid == called.sid, also.channel, attempts]
custom = service.verifications.create(to='+15005550102', channel='sms', custom_code='482913')
seen['feedback'] = service.verifications(custom.sid).update(status='approved').status
seen['blocked'] = refusal(lambda: service.verifications.create(to='+15005550112', channel='sms'))
seen['channel'] = refusal(lambda: service.verifications.create(to=to, channel='pigeon'))

sent = client.messages.create(to=to, from_='ACME', body='On its way.', smart_encoded=True)
seen['sent'] = [sent.to, sent.from_, sent.body, sent.num_segments, sent.error_code]
seen['read'] = client.messages(sent.sid).fetch().sid == sent.sid
for count in range(4):
    client.messages.create(to='+15005550103', from_='ACME', body=str(count))
listed = client.messages.list(page_size=2)
seen['listed'] = [len(listed), len({each.sid for each in listed}), [each.body for each in client.messages.list(to='+15005550103', page_size=3)]]
later = client.messages.create(to=to, from_='ACME', body='Later.', schedule_type='fixed',
  send_at=datetime.fromisoformat(send_at))
seen['scheduled'] = [later.status, client.messages(later.sid).update(status='canceled').status]
seen['bad_to'] = refusal(lambda: client.messages.create(to='me', from_='ACME', body='a'))
seen['missing'] = refusal(lambda: client.messages('SM' + '0' * 32).fetch())
seen['deleted'] = refusal(lambda: client.messages(sent.sid).delete())
wrong_client = Client(sid, '0' * 32)
wrong_client.api.base_url = base
seen['credentials'] = refusal(lambda: wrong_client.messages(sent.sid).fetch())
seen['service'] = refusal(lambda: client.verify.services(stranger).verifications.create(to=to, channel='sms'))
print(json.dumps(seen))
`;

export interface PythonFlow {
  url: string;
  account: { account_sid: string; auth_token: string; service_sid: string };
  strangersService: string;
  sendAt: string;
}

/** What the library made of each answer. */
export function runPythonFlow({
  url,
  account,
  strangersService,
  sendAt,
}: PythonFlow): Promise<Record<string, unknown>> {
  const { account_sid, auth_token, service_sid } = account;
  return run(flow, [`${url}/twilio`, account_sid, auth_token, service_sid, strangersService, sendAt]);
}

const validation = `
import json, sys
from urllib.parse import parse_qsl
from twilio.request_validator import RequestValidator
token, url, signature, body = sys.argv[1:5]
print(json.dumps({'valid': RequestValidator(token).validate(url, dict(parse_qsl(body, keep_blank_values=True)), signature)}))
`;

/** Whether the library takes a callback for one of ours. */
export async function validatesInPython(token: string, url: string, signature: string, body: string): Promise<boolean> {
  return (await run(validation, [token, url, signature, body])).valid === true;
}

async function run(program: string, args: string[]): Promise<Record<string, unknown>> {
  const child = spawn(debianPython, ['-c', program, ...args], { timeout: longestRunMs, killSignal: 'SIGKILL' });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`python3 ended with ${code}: ${Buffer.concat(errors)}`);
  return JSON.parse(Buffer.concat(output).toString('utf8'));
}
