import { randomBytes } from 'node:crypto';

// In memory, to keep the tutorial short: use the sessions of your framework, in your database.
const sessions = new Map();
const lifeMs = 3_600_000;
const most = 10_000;

/** Begins a new session and gives the browser its cookie. */
export function startSession(response, values) {
  const id = randomBytes(32).toString('base64url');
  const session = { ...values, untilMs: Date.now() + lifeMs };
  sessions.set(id, session);
  // The oldest goes first: visitors who never return must not fill the memory.
  if (sessions.size > most) sessions.delete(sessions.keys().next().value);
  // SameSite=Lax: another site cannot send our forms in a visitor's name. Behind TLS, set `secure` as well.
  response.cookie('session', id, {
    httpOnly: true,
    sameSite: 'lax',
    maxAge: lifeMs,
    secure: process.env.DOMAIN !== undefined,
  });
  return session;
}

export function findSession(request) {
  const id = /(?:^|;\s*)session=([A-Za-z0-9_-]{43})(?:;|$)/.exec(request.headers.cookie ?? '')?.[1];
  const session = sessions.get(id);
  return session !== undefined && Date.now() < session.untilMs ? session : undefined;
}
