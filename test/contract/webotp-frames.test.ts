// Codes that a page in a frame fills in: `autofill: {domain, embedded_in}`, section 21 of the contract.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

test('the last line names the page, the code and the frame', async () => {
  const { to, code } = await acme.pending({ autofill: { domain: 'Bank.example', embedded_in: 'shop.example' } });
  const [text] = await acme.texts(to, 1);
  assert.equal(text?.text.split('\n').at(-1), `@shop.example #${code} @bank.example`);
  const alone = await acme.pending({ autofill: { domain: 'bank.example', embedded_in: null } });
  assert.match((await acme.texts(alone.to, 1))[0]?.text ?? '', /\n@bank\.example #\d{6}$/);
});

test('400: no host, without domain, with an app, too long together', async () => {
  const long = (letter: string) => `${letter.repeat(60)}.example`;
  const bad: [object, string][] = [
    [{ domain: 'bank.example', embedded_in: 'shop' }, 'autofill.embedded_in'],
    [{ domain: 'bank.example', embedded_in: 5 }, 'autofill.embedded_in'],
    [{ embedded_in: 'shop.example' }, 'autofill'],
    [{ android_hash: 'FA+9qCX9VSu', embedded_in: 'shop.example' }, 'autofill.embedded_in'],
    [{ domain: long('a'), embedded_in: long('b') }, 'autofill.embedded_in'],
  ];
  for (const [autofill, field] of bad) {
    const { status, body } = await acme.send<{ details: { field: string }[] }>('POST', '/verify/v1/verifications', {
      ...{ to: acme.newNumber(), channel: 'sms', autofill },
    });
    assert.deepEqual([status, body.details.map((each) => each.field)], [400, [field]], JSON.stringify(autofill));
  }
});
