// run: with pages of operators
// The pictures of the README: one walk through the real portal, which checks each page before it takes a picture of it.
// `npm run pictures` writes them to docs/pictures; `npm test` to the folder of its run, light only and small.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { type Smsc, startSmsc } from '../../src/smsc/server.ts';
import { startReceiver } from '../support/guide-receivers.ts';
import { guides, writeGuideSamples } from '../support/guide-samples.ts';
import { makeFolder } from '../support/process.ts';
import {
  assertGood,
  createApplication,
  openAsOperator,
  openTab,
  openWindow,
  register,
  type Stage,
  setStage,
} from './browser.ts';

const kept = process.env.HELIOGRAPH_PICTURES;
const folder = kept ?? makeFolder('pictures');
const schemes = kept === undefined ? (['light'] as const) : (['light', 'dark'] as const);
/** GitHub loads them all with the first page of the repository. */
const largestBytes = 120_000;
const names = ['north', 'south', 'spare'];

const samples = new Map(guides.find(({ name }) => name === 'verify-a-number.md')?.samples);

let stage: Stage;
let page: Page;
let faults: string[];
/** Makes smaller files of pictures. */
let press: Page;
let carriers: Smsc[];
before(async () => {
  mkdirSync(folder, { recursive: true });
  const starts = names.map((name) => {
    const refuses = name === 'north' ? { refuse_every: 1, refuse_status: 0x45 } : {};
    return startSmsc({ behaviour: { receipt_after_ms: 0, ...refuses } });
  });
  [stage, carriers] = await Promise.all([setStage({}), Promise.all(starts)]);
  ({ page, faults } = await openWindow(stage.browser, stage.service.url, kept === undefined ? 1 : 2));
  press = await page.context().newPage();
  await openAsOperator(stage, page, 'you@example.com');
});
after(async () => {
  await stage.close();
  await Promise.all(carriers.map((carrier) => carrier.close()));
});

/** Takes the picture of what the window shows from `top` on, in each colour scheme. */
async function takePicture(name: string, top: Locator, height: number): Promise<void> {
  await page.setViewportSize({ width: 1280, height });
  await top.evaluate((element) => element.scrollIntoView());
  await page.evaluate('scrollBy(0, -10)');
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    const picture = await compress(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
    assert.ok(picture.length < largestBytes, `${name} (${colorScheme}) has ${picture.length} bytes`);
    writeFileSync(join(folder, `${name}-${colorScheme}.webp`), picture);
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
}

/** The browser itself writes WebP, at a fifth of the size of a PNG. */
async function compress(png: Buffer): Promise<Buffer> {
  const program = `(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext('2d').drawImage(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.82 });
    const written = new Uint8Array(await blob.arrayBuffer());
    let text = '';
    for (const byte of written) text += String.fromCharCode(byte);
    return btoa(text);
  })()`;
  return Buffer.from(await press.evaluate<string>(program), 'base64');
}

async function callOperator(method: string, path: string, data: object): Promise<void> {
  const response = await page.request.fetch(`${stage.service.url}/portal/v1/operator/${path}`, { method, data });
  assert.ok(response.ok(), `${method} ${path}: ${await response.text()}`);
}

const handset = () => page.getByRole('log');
const started = () => page.getByRole('group', { name: 'Start a verification' }).first();

let client: Record<string, string>;

test('a code arrives on the handset, beside the call that sent it', async () => {
  await createApplication(page, 'ACME');
  const dialog = await register(page, 'Verification');
  const [id = '', secret = ''] = await dialog.locator('pre').allTextContents();
  client = { HELIOGRAPH_CLIENT_ID: id, HELIOGRAPH_CLIENT_SECRET: secret };
  await dialog.getByRole('link', { name: 'Try it in the portal' }).click();
  await page.getByLabel('Autofill domain').fill('acme.example');
  await page.getByRole('button', { name: 'Send code' }).click();
  await handset().getByText('@acme.example #123456').waitFor();
  await started().getByText('HTTP 200 OK').waitFor();
  await takePicture('code-arrives', started(), 650);
});

test('routes: which carriers take a code to Britain, in which order, and why', async () => {
  for (const [place, name] of names.entries()) {
    const settings = { host: '127.0.0.1', port: carriers[place]?.port, system_id: 'heliograph', password: 'sunlit-42' };
    await callOperator('POST', 'carriers', { name, kind: 'smpp', settings });
  }
  await callOperator('PUT', 'routes', {
    version: 0,
    routes: [
      { name: 'britain', match: { countries: ['GB'] }, carriers: [{ carrier: 'north' }], failover: ['south'] },
      {
        name: 'offers',
        match: { apis: ['messaging'], countries: ['FR', 'DE'] },
        carriers: [{ carrier: 'south', weight: 3 }, { carrier: 'north' }],
        hours: { from: '08:00', to: '20:00', days: ['mon', 'tue', 'wed', 'thu', 'fri'], zone: 'Europe/Paris' },
      },
      { name: 'the-rest', match: {}, carriers: [{ carrier: 'south' }], failover: ['spare'] },
    ],
  });
  await page.goto(`${stage.service.url}/#/operator/routes`);
  await page.getByLabel('To', { exact: true }).fill('+447700900123');
  await page.getByLabel('API').selectOption('verify');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByRole('region', { name: 'Explanation' }).getByRole('listitem').first().getByText('north').waitFor();
  await takePicture('routes', page.getByRole('heading', { name: 'Routes', level: 1 }), 980);
});

test('a trace: a carrier refuses a code, and the next one delivers it', async () => {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Applications' }).click();
  await page.getByRole('link', { name: 'ACME' }).click();
  await openTab(page, 'Try it');
  await page.getByLabel('To', { exact: true }).fill('+447700900123');
  await page.getByRole('button', { name: 'Send code' }).click();
  await handset()
    .getByText(/is your ACME code/)
    .waitFor();
  await started().getByRole('link', { name: /^req_/ }).click();
  await page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'Delivered' }).first().waitFor();
  await takePicture('trace', page.getByRole('heading', { name: '200 POST /verify/v1/verifications' }), 770);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await openTab(page, 'Overview');
  await page
    .getByRole('region', { name: 'Today' })
    .getByText(/verifications approved$/)
    .waitFor();
  await takePicture('portal', page.getByRole('banner'), 900);
});

test('the guides: accessible, on a phone too, with code to copy', async () => {
  for (const [slug, title] of [
    ['limits', 'Limits and how to wait'],
    ['verify-a-number', 'Verify a number in your sign-up'],
  ] as const) {
    await page.goto(`${stage.service.url}/docs/guides/${slug}`);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    await page.getByRole('navigation', { name: 'On this page' }).waitFor();
    await assertGood(page, slug);
  }
  await page.goto(`${stage.service.url}/docs/guides/verify-a-number#start-and-check`);
  await page.getByRole('button', { name: 'Copy verify-a-number.ts' }).click();
  await page.getByText('Copied').waitFor();
  assert.equal(`${await page.evaluate('navigator.clipboard.readText()')}\n`, samples.get('verify-a-number.ts'));
  await page.getByRole('link', { name: 'Test numbers' }).last().click();
  await page.getByRole('heading', { name: 'Test numbers', level: 1 }).waitFor();
  assert.deepEqual(faults, []);
});

test('the sign-up page that a guide prints takes a person to a verified number', async () => {
  const folderOfSamples = await writeGuideSamples(samples);
  const env = { ...client, HELIOGRAPH_URL: stage.service.url };
  const server = await startReceiver(folderOfSamples, ['node', 'sign-up-server.mjs'], env);
  await page.goto(server.url);
  await page.getByLabel('Your mobile number').fill('+1 500 555 0103');
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await page.getByText('We have sent you a code.').waitFor();
  const code = page.getByLabel('The code we sent you');
  assert.equal(await code.getAttribute('autocomplete'), 'one-time-code');
  await code.fill('654321');
  await page.getByRole('button', { name: 'Check the code' }).click();
  await page.getByText('Wrong code. You have 4 more tries.').waitFor();
  await code.fill('123456');
  await page.keyboard.press('Enter');
  await page.getByText('+15005550103 is verified.').waitFor();
  await server.stop();
});
