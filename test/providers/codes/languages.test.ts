// Every language of the texts, by every preset that sends codes: what the provider gets has the code in it, in that
// language or in English, and nothing that its description does not allow.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CodeWay } from '../../../src/delivery/carrier/carrier.ts';
import { createRenderer } from '../../../src/delivery/http/render.ts';
import { checkHttpSettings, profileOf } from '../../../src/delivery/http/settings.ts';
import { spokenWords } from '../../../src/verify/texts/spoken-words.ts';
import { renderVerification } from '../../../src/verify/texts/verification-text.ts';
import { outgoingText } from '../../support/outgoing-texts.ts';
import { codeProviders } from './all.ts';

const nowMs = Date.parse('2027-01-01T12:00:00Z');
const urls = { receipts: 'https://sms.example/carriers/v1/a/receipts/t', inbound: 'https://sms.example/i' };
const languages = Object.keys(spokenWords);

/** How many languages a provider speaks; the others hear English. */
const spoken: Record<string, number> = { 'twilio-voice': 40, 'vonage-voice': 40, 'infobip-voice': 39 };

for (const provider of codeProviders) {
  const { settings, problems } = checkHttpSettings({
    preset: provider.preset,
    base: 'https://api.example.com',
    ...provider.settings,
  });
  const renderer = createRenderer(profileOf(settings), urls);

  function requestFor(language: string, code: string, app: string) {
    const template = { app, locale: language, minutes: 10, codeLength: code.length, autofill: null };
    const say = (locale: string) => renderVerification({ ...template, channel: provider.channel, locale }, code);
    const way: CodeWay = { channel: provider.channel, code, language, inEnglish: say('en') };
    const text = outgoingText({ messageId: 'msg_01kf2s9kqzc9wcf4a7r1s9w6f0', text: say(language), way });
    const { method, url, headers, body = '' } = renderer.render({ ...text, expiresAtMs: nowMs + 600_000 }, nowMs);
    const small = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    return { method, path: url.slice('https://api.example.com'.length), headers: small, body };
  }

  describe(provider.preset, () => {
    test('its settings are right', () => assert.deepEqual(problems, []));

    test(`a code in each of ${languages.length} languages`, () => {
      let own = 0;
      for (const language of languages) {
        for (const code of ['0123456789', '5555']) {
          const request = requestFor(language, code, 'Smith & Sons <Ltd>, "Inc."');
          assert.deepEqual(provider.problemsOf(request), [], `${language}: ${request.body}`);
          const answer = provider.answer(request);
          const read = (as: string) => provider.taken(request, answer, as).code;
          const isOwn = provider.channel !== 'voice' || language === 'en' || wasRead(() => read(language));
          assert.equal(read(isOwn ? language : 'en'), code, language);
          if (isOwn && code === '5555') own++;
        }
      }
      assert.equal(own, spoken[provider.preset] ?? languages.length);
    });
  });
}

function wasRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
