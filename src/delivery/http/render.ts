import { measure } from '../../messages/text/text.ts';
import type { CodeWay, OutgoingText } from '../carrier/carrier.ts';
import type { Description, FormValue } from './description.ts';
import type { CallbackUrls, HttpProfile } from './profile.ts';
import { ssmlOf, twimlOf } from './speech.ts';
import { isNumber, readTemplate, renderTemplate, type Template, type TemplateValues } from './template.ts';

export interface RenderedRequest {
  method: 'POST' | 'GET';
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export interface Renderer {
  /** `bearer` is the token of `oauth2` or `jwt-rs256`. */
  render(text: OutgoingText, nowMs: number, bearer?: string): RenderedRequest;
  /** `POST /v1/{value:account}/messages`, for the log: its values may be secrets. */
  readonly shown: string;
}

type Fill = (known: TemplateValues) => unknown;

/** Turns texts into requests. Each value is escaped for its position, so that no text changes the request. */
export function createRenderer({ description, base, secrets, values }: HttpProfile, urls: CallbackUrls): Renderer {
  const { method = 'POST', auth, headers = {}, query = {}, form, json, languages } = description;
  const inUrl = readTemplate(description.url);
  const inHeaders = Object.entries(headers).map(([name, each]) => [name, readTemplate(each)] as const);
  const inQuery = fieldsOf(query, auth?.kind === 'query' ? auth : undefined);
  const inForm = form && fieldsOf(form, auth?.kind === 'body' ? auth : undefined);
  const inJson = json === undefined ? undefined : compile(withBodyAuth(json, auth));
  const authHeader = auth && createAuthHeader(auth);

  return {
    shown: `${method} ${shownPath(description.url)}`,
    render(text, nowMs, bearer) {
      const known = valuesOf(text, nowMs, { base, secrets, values, urls, languages });
      const all: Record<string, string> = { Accept: 'application/json', 'User-Agent': 'Heliograph' };
      for (const [name, template] of inHeaders) put(all, name, renderTemplate(template, known));
      const proof = authHeader?.(known, bearer);
      if (proof !== undefined) put(all, proof.name, proof.value);
      const body = inForm ? formOf(inForm, known).toString() : inJson && JSON.stringify(inJson(known));
      if (inForm) all['Content-Type'] = 'application/x-www-form-urlencoded';
      else if (inJson) all['Content-Type'] = 'application/json';
      return { method, url: urlOf(inUrl, formOf(inQuery, known), known), headers: all, body };
    },
  };
}

interface Known {
  base: string;
  secrets: HttpProfile['secrets'];
  values: HttpProfile['values'];
  urls: CallbackUrls;
  languages: Description['languages'];
}

function valuesOf(text: OutgoingText, nowMs: number, known: Known): TemplateValues {
  const { base, secrets, values, urls, languages } = known;
  const { count, encoding } = measure(text.text);
  return {
    base,
    id: text.messageId,
    to: text.to,
    from: text.from,
    text: text.text,
    ...(text.way === undefined ? noWay : wayOf(text.text, text.way, languages)),
    validity: String(Math.max(1, Math.floor((text.expiresAtMs - nowMs) / 1000))),
    expires_at: String(text.expiresAtMs),
    alphabet: encoding === 'GSM-7' ? 'gsm' : 'unicode',
    segments: String(count),
    template_id: text.templateId ?? undefined,
    receipts_url: urls.receipts,
    inbound_url: urls.inbound,
    secrets,
    values,
  };
}

const noWay = { code: undefined, language: undefined, ssml: undefined, twiml: undefined };

function wayOf(text: string, { channel, code, language, inEnglish }: CodeWay, languages: Description['languages']) {
  const own = languages === undefined ? language : languages[language];
  const name = own ?? languages?.en ?? language;
  if (channel !== 'voice') return { ...noWay, code, language: name };
  // A voice of another language would read these words wrongly.
  const said = own === undefined ? (inEnglish ?? text) : text;
  return { text: said, code, language: name, ssml: ssmlOf(said), twiml: twimlOf(said, name) };
}

type Fields = (readonly [string, Template])[];

function fieldsOf(record: Record<string, FormValue>, auth: Description['auth']): Fields {
  const all = auth?.name === undefined ? record : { ...record, [auth.name]: auth.value ?? '' };
  return Object.entries(all).flatMap(([name, texts]) =>
    [texts].flat().map((text) => [name, readTemplate(text)] as const),
  );
}

/** A field whose template is one placeholder without a value is left out. */
function formOf(fields: Fields, known: TemplateValues): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, template] of fields) {
    const value = renderTemplate(template, known);
    if (value !== undefined) form.append(name, value);
  }
  return form;
}

function urlOf(template: Template, query: URLSearchParams, known: TemplateValues): string {
  const url =
    renderTemplate(template, known, (value, name) => (name === 'base' ? value : encodeURIComponent(value))) ?? '';
  if (query.size === 0) return url;
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

function withBodyAuth(json: unknown, auth: Description['auth']): unknown {
  if (auth?.kind !== 'body' || auth.name === undefined || typeof json !== 'object' || json === null) return json;
  return { ...json, [auth.name]: auth.value ?? '' };
}

/** JSON.stringify escapes the texts. Fields without a value are left out, and so are objects that become empty. */
function compile(value: unknown): Fill {
  if (typeof value === 'string') {
    const template = readTemplate(value);
    if (!isNumber(template)) return (known) => renderTemplate(template, known);
    return (known) => toNumber(renderTemplate(template, known));
  }
  if (Array.isArray(value)) {
    const fills = value.map(compile);
    return (known) => fills.map((fill) => fill(known));
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const fills = Object.entries(value).map(([name, each]) => [name, compile(each)] as const);
  return (known) => {
    const filled = fills.map(([name, fill]) => [name, fill(known)] as const).filter(([, each]) => each !== undefined);
    return filled.length === 0 && fills.length > 0 ? undefined : Object.fromEntries(filled);
  };
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function createAuthHeader(auth: NonNullable<Description['auth']>) {
  const [value, user, password] = [auth.value, auth.user, auth.password].map((text) => readTemplate(text ?? ''));
  const read = (template: Template | undefined, known: TemplateValues) =>
    (template && renderTemplate(template, known)) ?? '';
  return (known: TemplateValues, bearer: string | undefined): { name: string; value: string } | undefined => {
    switch (auth.kind) {
      case 'header':
        return { name: auth.name ?? '', value: read(value, known) };
      case 'basic': {
        const both = Buffer.from(`${read(user, known)}:${read(password, known)}`);
        return { name: 'Authorization', value: `Basic ${both.toString('base64')}` };
      }
      case 'bearer':
        return { name: 'Authorization', value: `Bearer ${read(value, known)}` };
      case 'oauth2':
      case 'jwt-rs256':
        return { name: 'Authorization', value: `Bearer ${bearer ?? ''}` };
      default:
        return undefined;
    }
  };
}

/** Other characters could end a header and begin another. */
function put(headers: Record<string, string>, name: string, value: string | undefined): void {
  if (value !== undefined) headers[name] = value.replaceAll(/[^\x20-\x7e]/g, '?');
}

function shownPath(url: string): string {
  const path = url.replace(/^\{\{base\}\}|^https?:\/\/[^/?]*/, '').split('?', 1)[0] ?? '';
  return path.replaceAll(/\{\{([^{}]*)\}\}/g, '{$1}') || '/';
}
