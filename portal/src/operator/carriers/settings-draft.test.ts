import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { smppGroups } from './setting-fields.ts';
import { patchBetween, type SettingsDraft, toDraft, toSettings } from './settings-draft.ts';

const shown = {
  host: 'smpp.example.com',
  port: 2775,
  system_id: 'acme',
  password_set: true,
  per_second: null,
  charsets: ['gsm7/0', 'ucs2/8'],
  tls: { servername: 'example.com', key_set: false },
  enquire_link_seconds: 30,
  message_id: { response: 'exact', receipt: 'exact' },
};

/** The patch that the form sends after these changes. */
function patchAfter(change: (draft: SettingsDraft) => SettingsDraft) {
  const first = toDraft(shown, smppGroups);
  return patchBetween(toSettings(first, smppGroups), toSettings(change(first), smppGroups));
}

const typed = (name: string, value: string | boolean) => (draft: SettingsDraft) => ({
  ...draft,
  values: { ...draft.values, [name]: value },
});

describe('the settings of a carrier in a form', () => {
  test('unchanged settings are not sent, so stored secrets stay', () => {
    assert.equal(
      patchAfter((draft) => draft),
      undefined,
    );
  });

  test('a number is a number, and an empty field sets the default', () => {
    assert.deepEqual(patchAfter(typed('per_second', '12.5')), { per_second: 12.5 });
    assert.deepEqual(patchAfter(typed('charsets', '')), { charsets: null });
  });

  test('an invalid number is sent as typed, and the service explains the error', () => {
    assert.deepEqual(patchAfter(typed('port', 'abc')), { port: 'abc' });
  });

  test('a secret is sent only if it was entered', () => {
    assert.deepEqual(patchAfter(typed('password', ' s3cret ')), { password: ' s3cret ' });
  });

  test('TLS can be changed in part, and switched off', () => {
    assert.deepEqual(patchAfter(typed('tls.servername', '')), { tls: { servername: null } });
    assert.deepEqual(patchAfter(typed('tls', false)), { tls: false });
  });

  test('settings without a field are JSON, and deleting a line removes the setting', () => {
    const rest = JSON.stringify({ message_id: { response: 'hex', receipt: 'exact' } });
    assert.deepEqual(
      patchAfter((draft) => ({ ...draft, rest })),
      {
        enquire_link_seconds: null,
        message_id: { response: 'hex' },
      },
    );
  });

  test('anything but a JSON object is refused before it is sent', () => {
    for (const rest of ['[]', '"text"', '{', 'null'])
      assert.throws(() => patchAfter((draft) => ({ ...draft, rest })), SyntaxError, rest);
  });
});
