// Heliograph behind the shape of Twilio's client, as far as sign-ins use it. It lets you move first and rewrite later.
import { HeliographError } from '@heliograph/client';

/** An error as programs for Twilio expect it: `status` and a number as `code`. */
export class TwilioLikeError extends Error {
  constructor(status, code, message, cause) {
    super(message, { cause });
    this.status = status;
    this.code = code;
  }
}

/** `client.verify.v2.services(sid)` of Twilio, with what a sign-in needs. The sid is ignored: the credentials say it all. */
export function createTwilioShape(heliograph) {
  const { verify } = heliograph;

  async function create({ to, channel = 'sms', locale }) {
    const started = await translated(verify.start({ to, channel, ...(locale !== undefined && { locale }) }));
    if (started.status === 'blocked') throw blockedError(started);
    if (!started.sent && started.sends >= mostSends) throw new TwilioLikeError(429, 60203, 'Max send attempts reached');
    return shapeOf(started);
  }

  /** By number, as most programs do, or by the id of a verification. */
  async function check({ to, verificationSid, code }) {
    const id = verificationSid ?? (await translated(findPending(verify, to)));
    if (id === undefined) throw notFound();
    const checked = await translated(verify.check(id, String(code)));
    if (checked.valid || checked.status === 'pending') return { ...shapeOf(checked), valid: checked.valid };
    // The fifth wrong code ends it: Twilio says so with the next check, Heliograph with this one.
    if (checked.status === 'failed') throw new TwilioLikeError(429, 60202, 'Max check attempts reached');
    throw notFound();
  }

  const verifications = Object.assign(
    (sid) => ({
      fetch: async () => shapeOf(await translated(verify.get(sid))),
      update: async ({ status }) => {
        if (status === 'canceled') return shapeOf(await translated(verify.cancel(sid)));
        throw new TwilioLikeError(400, 60200, 'Only a right code approves a verification.');
      },
    }),
    { create },
  );
  const service = { verifications, verificationChecks: { create: check } };
  return { verify: { v2: { services: () => service }, services: () => service } };
}

const mostSends = 5;

/** There is at most one for each number. */
async function findPending(verify, to) {
  const { data } = await verify.list({ to, status: 'pending', limit: 1 }).page();
  return data[0]?.id;
}

function shapeOf({ id, to, channel, status, created_at, updated_at }) {
  return {
    sid: id,
    to,
    channel,
    status: status === 'failed' ? 'max_attempts_reached' : status,
    valid: status === 'approved',
    dateCreated: new Date(created_at),
    dateUpdated: new Date(updated_at),
  };
}

function blockedError({ reason }) {
  if (reason === 'country_not_allowed')
    return new TwilioLikeError(403, 60605, 'The country of this number is not allowed.');
  return new TwilioLikeError(403, 60410, `The guard blocked this number: ${reason}.`);
}

function notFound() {
  return new TwilioLikeError(404, 20404, 'There is no such verification, or it has ended.');
}

async function translated(work) {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof HeliographError)) throw error;
    const { status, code, message } = error;
    if (status === 400) throw new TwilioLikeError(400, 60200, message, error);
    if (status === 401) throw new TwilioLikeError(401, 20003, message, error);
    if (status === 404 || code === 'VERIFICATION_ALREADY_APPROVED') throw notFound();
    if (status === 429) throw new TwilioLikeError(429, 20429, message, error);
    throw error;
  }
}
