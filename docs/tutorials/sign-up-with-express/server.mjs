// A sign-up with a code by text: a page for the number, a page for the code, a page for who is signed up.

import { Heliograph } from '@heliograph/client';
import express from 'express';
import { explain, outcomeOf } from './outcomes.mjs';
import { codePage, numberPage, welcomePage } from './pages.mjs';
import { findSession, startSession } from './sessions.mjs';

const heliograph = new Heliograph();
// The browser fills in the code only on this domain: the one that your visitors see.
const autofill = process.env.DOMAIN === undefined ? null : { domain: process.env.DOMAIN };

// A person waits for each page: after ten seconds an error is better than more patience.
const patienceMs = Number(process.env.PATIENCE_MS ?? 10_000);

const app = express();
app.use(express.urlencoded({ extended: false, limit: '2kb' }));

app.get('/', (request, response) => {
  const session = findSession(request);
  if (session?.number !== undefined) response.send(welcomePage(session.number));
  else if (session?.verificationId !== undefined) response.redirect('/code');
  else response.send(numberPage());
});

app.post('/number', async (request, response) => {
  try {
    const to = String(request.body?.number ?? '').trim();
    const started = await heliograph.verify.start({ to, autofill }, { signal: AbortSignal.timeout(patienceMs) });
    if (started.status === 'blocked') {
      response.status(422).send(numberPage('We cannot send a code to this number.'));
      return;
    }
    // The id stays on the server: a visitor cannot check a verification of another person.
    startSession(response, { verificationId: started.id, to: started.to });
    response.redirect(303, '/code');
  } catch (error) {
    const { status, message } = explain(error);
    response.status(status).send(numberPage(message));
  }
});

app.get('/code', async (request, response) => {
  const session = findSession(request);
  if (session?.verificationId === undefined) response.redirect('/');
  else response.send(codePage(session.to));
});

app.post('/resend', async (request, response) => {
  const session = findSession(request);
  if (session?.verificationId === undefined) {
    response.redirect(303, '/');
    return;
  }
  try {
    // Starting again sends the same code once more, if enough time has passed.
    const again = await heliograph.verify.start(
      { to: session.to, autofill },
      { signal: AbortSignal.timeout(patienceMs) },
    );
    session.verificationId = again.id;
    response.send(codePage(session.to, again.sent ? 'We have sent the code again.' : waitMessage(again)));
  } catch (error) {
    const { status, message } = explain(error);
    response.status(status).send(codePage(session.to, message));
  }
});

app.post('/code', async (request, response) => {
  const session = findSession(request);
  if (session?.verificationId === undefined) {
    response.redirect(303, '/');
    return;
  }
  try {
    const code = String(request.body?.code ?? '').replaceAll(/\s/g, '');
    const checked = await heliograph.verify.check(session.verificationId, code, {
      signal: AbortSignal.timeout(patienceMs),
    });
    const { done, over, message } = outcomeOf(checked);
    if (done) {
      // A new session: what was known before the sign-up must not open the account.
      startSession(response, { number: checked.to });
      response.redirect(303, '/');
    } else if (over) {
      startSession(response, {});
      response.status(422).send(numberPage(message));
    } else response.status(422).send(codePage(session.to, message));
  } catch (error) {
    const { status, message } = explain(error);
    response.status(status).send(codePage(session.to, message));
  }
});

function waitMessage({ sends, resend_available_at: availableAt }) {
  if (sends >= 5) return 'We have sent the code five times. Please use the one that you have.';
  const seconds = Math.max(1, Math.ceil((Date.parse(availableAt) - Date.now()) / 1000));
  return `The code is on its way. You can ask for it again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
}

const listener = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${listener.address().port}`);
});
