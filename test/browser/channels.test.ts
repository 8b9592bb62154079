// run: with pages
// Channels in the portal: calls, WhatsApp and texts of the person on Try it and its handset, and what operators set.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  assertGood,
  createApplication,
  openAsOperator,
  openTab,
  openWindow,
  register,
  type Stage,
  setStage,
  signUp,
} from './browser.ts';

/** A folder for pictures of the pages. */
const looks = process.env.HELIOGRAPH_LOOKS;
const first = '+447700900123';

let stage: Stage;
let page: Page;
let faults: string[];
before(async () => {
  stage = await setStage();
  ({ page, faults } = await openWindow(stage.browser, stage.service.url));
  await page.addInitScript(keepSpoken);
  await page.goto(`${stage.service.url}/`);
  await signUp(page, 'channels@example.com');
  await createApplication(page, 'ACME');
  const dialog = await register(page, 'Verification');
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
});
after(() => stage.close());

/** The browser of a test has no voices: each sentence ends at once. */
const keepSpoken = `
  window.spoken = [];
  Object.defineProperty(window.speechSynthesis, 'speak', { value(sentence) {
    window.spoken.push({ text: sentence.text, lang: sentence.lang });
    setTimeout(() => sentence.dispatchEvent(new Event('end')), 50);
  } });
`;
const spoken = () => page.evaluate<{ text: string; lang: string }[]>('window.spoken');
const phone = () => page.getByRole('log');
const incoming = () => page.getByRole('region', { name: 'Incoming call' });

async function look(name: string): Promise<void> {
  if (looks === undefined) return;
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.screenshot({ path: `${looks}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1440, height: 900 });
}

async function start(channel: string, to = first): Promise<void> {
  await openTab(page, 'Try it');
  await page.getByRole('radiogroup', { name: 'Channel' }).getByText(channel, { exact: true }).click();
  await page.getByLabel('To', { exact: true }).fill(to);
  await page.getByRole('button', { name: /^(Send code|Ask for a text)/ }).click();
}

/** What the story of the newest verification says, once it says so. */
async function untilStory(text: RegExp): Promise<void> {
  await openTab(page, 'Verifications');
  await page.locator('[data-section] a[href*=ver_]').first().click();
  await page.getByRole('dialog').getByText(text).first().waitFor();
}

async function closeStory(): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

describe('a call', () => {
  test('rings; who answers it sees and hears the code digit by digit, twice, and the receipt says delivered', async () => {
    await start('Call');
    await incoming().getByText('Let it ring').waitFor();
    assert.equal(await phone().getByText('Once more').count(), 0, 'nothing is said before it is answered');
    await look('ringing');
    await incoming().getByRole('button', { name: 'Answer' }).click();
    await incoming().waitFor({ state: 'hidden' });
    await phone()
      .getByText(/^Your code for ACME is: (\w+(, \w+){5})\. Once more: \1\.$/)
      .waitFor();
    const said = await spoken();
    assert.deepEqual(new Set(said.map(({ lang }) => lang)), new Set(['en']));
    const [, digits = ''] = /is: (.+?)\. Once more/.exec(said.map(({ text }) => text).join(' ')) ?? [];
    assert.equal(digits.split(', ').length, 6);
    await phone().getByRole('button', { name: 'Hear it again' }).click();
    await page.waitForFunction(`window.spoken.length === ${said.length * 2}`);
    await phone().getByRole('button', { name: 'Hear it again' }).waitFor();
    await look('answered');
    await assertGood(page, 'A call on the handset');
    await untilStory(/^delivered$/i);
    await closeStory();
  });

  test('that is declined is busy', async () => {
    await start('Call', '+447700900124');
    await incoming().getByRole('button', { name: 'Decline' }).click();
    await phone()
      .getByText(/^Declined call from /)
      .waitFor();
    await untilStory(/busy/i);
    await closeStory();
  });

  test('that is answered in one tab stops ringing in the others', async () => {
    const to = '+447700900128';
    const other = await page.context().newPage();
    await other.addInitScript(keepSpoken);
    await other.goto(page.url());
    await openTab(other, 'Try it');
    await page.bringToFront();
    await start('Call', to);
    await incoming().getByRole('button', { name: 'Answer' }).waitFor();
    // A tab rings for the number that its handset shows.
    await other.getByRole('button', { name: to }).click();
    const elsewhere = other.getByRole('region', { name: 'Incoming call' });
    await elsewhere.getByRole('button', { name: 'Answer' }).waitFor();
    await incoming().getByRole('button', { name: 'Answer' }).click();
    await elsewhere.waitFor({ state: 'hidden' });
    assert.equal(await other.getByText('Missed call').count(), 0);
    await other.close();
  });

  test('to a test number that does not answer falls back to a text', async () => {
    await openTab(page, 'Overview');
    await page.getByText('+15005550116').waitFor();
    await page.getByRole('button', { name: 'Try +15005550115' }).click();
    await page.getByRole('radiogroup', { name: 'Channel' }).getByText('Call', { exact: true }).click();
    await page.getByText('Calls ring for 3 seconds without an answer; texts arrive').waitFor();
    await page.getByLabel('If the code is not entered').selectOption('sms');
    await page.getByRole('button', { name: /^Send code/ }).click();
    await phone()
      .getByText(/^123456 is your ACME code/)
      .waitFor();
    await untilStory(/is sent by sms/);
    await look('fallback-story');
    await closeStory();
  });
});

test('a WhatsApp message has its own look, and a button that copies the code', async () => {
  await start('WhatsApp', '+447700900125');
  const message = phone().getByRole('article', { name: 'WhatsApp' });
  await message.getByRole('button', { name: 'Copy code' }).click();
  const code = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.match(code, /^\d{6}$/);
  await message.getByText(new RegExp(code)).first().waitFor();
  await look('whatsapp');
  await assertGood(page, 'A WhatsApp message on the handset');
  await message.getByRole('button', { name: `Use code ${code}` }).click();
  await page.getByRole('button', { name: 'Check code' }).click();
  await page.getByText('Number verified').waitFor();
});

test('a text of the person approves; the story has those that were refused', async () => {
  const to = '+447700900126';
  await start('Inbound', to);
  const text = (await page.locator('dd code').first().textContent()) ?? '';
  assert.match(text, /^ACME \d{8}$/);
  await page.getByText('Waiting for the text…').waitFor();
  await page.getByRole('button', { name: 'Write it on the handset' }).click();
  const field = page.getByLabel('Text to +15005550199');
  assert.equal(await field.inputValue(), text);
  await look('inbound');
  await assertGood(page, 'A text to send');
  // From another handset it approves nothing.
  await page.getByRole('button', { name: '+447700900125' }).click();
  await field.fill(text);
  await page.getByRole('button', { name: 'Send reply' }).click();
  await page.getByText('The text verified no number').waitFor();
  await page.getByRole('button', { name: 'Write it on the handset' }).click();
  await page.getByRole('button', { name: 'Send reply' }).click();
  await page.getByText('Number verified').waitFor();
  await untilStory(/came from another number, so it approves nothing/);
  await page.getByRole('dialog').getByText('The text arrived from the number').waitFor();
  await look('inbound-story');
  await closeStory();
});

test('the story of a verification for a payment names amount and payee', async () => {
  const id = /app_\w+/.exec(page.url())?.[0] ?? '';
  const path = `/portal/v1/applications/${id}/try/verify/v1/verifications`;
  const payment = { amount: '49.90', currency: 'EUR', payee: 'Acme Shop' };
  const started = await page.evaluate<number>(`fetch(${JSON.stringify(path)}, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: ${JSON.stringify(JSON.stringify({ to: '+447700900127', channel: 'sms', payment }))},
  }).then(({ status }) => status)`);
  assert.equal(started, 200);
  // The list is open already, and may show the new one a moment later.
  await page.reload();
  await untilStory(/^49.90 EUR to Acme Shop$/);
  await look('payment-story');
  await closeStory();
});

test('the assurance of an application is chosen on its overview', async () => {
  await openTab(page, 'Overview');
  const select = page.getByLabel('Assurance');
  await select.selectOption('nist-800-63b-4');
  await page.getByText('Assurance changed.').waitFor();
  await page.reload();
  await select.waitFor();
  assert.equal(await select.inputValue(), 'nist-800-63b-4');
  await look('assurance');
  await select.selectOption('standard');
  await page.getByText('Assurance changed.').waitFor();
  assert.deepEqual(faults, []);
});

test('an operator allows calls to countries', async () => {
  const id = /app_\w+/.exec(page.url())?.[0] ?? '';
  const other = await openWindow(stage.browser, stage.service.url);
  ({ page, faults } = other);
  await openAsOperator(stage, page, 'calls@example.com');
  await page.goto(`${stage.service.url}/#/operator/limits/${id}`);
  const field = page.getByLabel('Countries that it may call', { exact: true });
  const save = page.getByRole('button', { name: 'Save Countries that it may call' });
  await field.fill('gb, ZZ');
  await save.click();
  await page.getByText('Enter country codes of two letters').waitFor();
  await field.fill('gb de');
  await save.click();
  await page.getByText('Countries saved').waitFor();
  await page.reload();
  await field.waitFor();
  assert.equal(await field.inputValue(), 'GB, DE');
  await look('call-countries');
  await assertGood(page, 'Limits of an application');
  assert.deepEqual(faults, []);
});
