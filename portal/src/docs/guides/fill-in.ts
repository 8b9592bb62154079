import type { Credentials } from '../samples/make-request.ts';

/** The placeholders of the documents, which the page replaces. */
const written = { url: 'http://127.0.0.1:8080', apiKey: 'hg_sandbox_…', clientId: 'cli_…', clientSecret: 'hgs_…' };

/** The samples of a guide with the address of this service and the reader's credentials. Prose stays as it is. */
export function fillIn(html: string, baseUrl: string, credentials: Credentials): string {
  const pairs = [
    [written.url, baseUrl],
    ...(['apiKey', 'clientId', 'clientSecret'] as const).map((name) => [written[name], credentials[name]]),
  ];
  return html.replaceAll(/<pre[\s\S]*?<\/pre>/g, (sample) =>
    pairs.reduce(
      (text, [from = '', to = '']) => (to === '' ? text : text.replaceAll(from, () => escapeHtml(to))),
      sample,
    ),
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
