import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ssmlOf, twimlOf, xmlOf } from './speech.ts';

test('a name cannot end the markup around it', () => {
  assert.equal(xmlOf(`A&B <"x'> \u0000\ud800`), 'A&amp;B &lt;&quot;x&apos;&gt; ');
  assert.equal(
    twimlOf('Your code for <Say/> is: one.', 'en"/>'),
    '<Response><Pause length="1"/><Say language="en&quot;/&gt;">Your code for &lt;Say/&gt; is:</Say>' +
      '<Say language="en&quot;/&gt;">one.</Say><Pause length="1"/></Response>',
  );
});

test('SSML has a pause after each digit, and a longer one after each sentence', () => {
  assert.equal(
    ssmlOf('Code: one, two. Again: one, two.'),
    'Code:<break time="400ms"/> one,<break time="400ms"/> two.<break time="900ms"/> Again:<break time="400ms"/> ' +
      'one,<break time="400ms"/> two.<break time="900ms"/>',
  );
});

test('in TwiML each digit is said by itself, and a second lies between the sentences', () => {
  const say = (text: string) => `<Say language="de-DE">${text}</Say>`;
  const pause = '<Pause length="1"/>';
  assert.equal(
    twimlOf('Code: eins, zwei. Noch einmal: eins, zwei.', 'de-DE'),
    `<Response>${pause}${say('Code:')}${say('eins,')}${say('zwei.')}${pause}${say('Noch einmal:')}${say('eins,')}` +
      `${say('zwei.')}${pause}</Response>`,
  );
});
