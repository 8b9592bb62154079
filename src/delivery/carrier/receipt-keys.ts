/** How a carrier writes its message ids in one direction. */
export type IdForm = 'exact' | 'hex' | 'dec';
const idForms: readonly IdForm[] = ['exact', 'hex', 'dec'];

export interface IdForms {
  /** In submit_sm_resp. */
  response: IdForm;
  /** In receipts. */
  receipt: IdForm;
}

/** SMPP allows 64 characters and a NUL. Both directions cut longer ids alike. */
const longestId = 64;

const decimal = /^[0-9]+$/;
const hexadecimal = /^[0-9a-fA-F]+$/;

/** The key that `sent_text` keeps for an id from submit_sm_resp. */
export function receiptKeyOf(responseId: string, forms: IdForms): string {
  return keyOf(trimId(responseId), forms.response);
}

/**
 * The keys under which the text of a receipt may be kept, most likely first; the first that finds a text decides. All
 * but the first are for texts that were sent under other settings.
 */
export function receiptKeysOf(receiptId: string, forms: IdForms): string[] {
  const id = trimId(receiptId);
  const keys = new Set([keyOf(id, forms.receipt), id]);
  if (forms.receipt === 'exact') {
    keys.add(keyOf(id, 'dec'));
    keys.add(keyOf(id, 'hex'));
  } else {
    const value = readId(id, forms.receipt);
    if (value !== undefined) {
      keys.add(value.toString(16));
      keys.add(value.toString());
    }
  }
  return [...keys];
}

/** Whether `sent_text` keeps this id of a submit_sm_resp under this key, in whatever form the carrier writes it. */
export function isKeyOf(key: string, responseId: string): boolean {
  return idForms.some((form) => keyOf(trimId(responseId), form) === key);
}

/** The pairs of forms to try, the most usual first. */
const pairs: IdForms[] = [
  { response: 'exact', receipt: 'exact' },
  { response: 'hex', receipt: 'dec' },
  { response: 'dec', receipt: 'hex' },
  { response: 'dec', receipt: 'dec' },
  { response: 'hex', receipt: 'hex' },
];

/**
 * The forms under which an unmatched receipt would have found its text, or undefined. `isKnown` says whether a recent
 * submit_sm_resp had exactly this id.
 */
export function wouldFit(receiptId: string, isKnown: (responseId: string) => boolean): IdForms | undefined {
  const id = trimId(receiptId);
  if (id === '') return undefined;
  return pairs.find((forms) => responseSpellings(id, forms).some(isKnown));
}

/** The spellings that submit_sm_resp may have used for a receipt's id, in these forms. For one query by many ids. */
export function responseSpellings(receiptId: string, forms: IdForms): string[] {
  const id = trimId(receiptId);
  if (forms.response === 'exact') return [id];
  const value = readId(id, forms.receipt);
  if (value === undefined) return [];
  const written = value.toString(forms.response === 'hex' ? 16 : 10);
  const padded = paddings.map((length) => written.padStart(length, '0'));
  const lower = [...new Set([written, ...padded])];
  return forms.response === 'hex' ? [...new Set([...lower, ...lower.map((id) => id.toUpperCase())])] : lower;
}

/** Lengths to which some carriers pad ids with zeros. */
const paddings = [8, 10, 12, 16, 19, 20, 32];

/** Describes the forms in the hint to the operator. */
export function describeForms({ response, receipt }: IdForms): string {
  return `response ${response}, receipt ${receipt}`;
}

/** A number gets the prefix `#`, which no carrier uses. Without it, decimal 256 would match an id that is written `100`. */
function keyOf(id: string, form: IdForm): string {
  const value = readId(id, form);
  return value === undefined ? id : `#${value.toString(16)}`;
}

/** Undefined if the id is not a number of this form: it is then compared as it is written. */
function readId(id: string, form: IdForm): bigint | undefined {
  if (form === 'dec' && decimal.test(id)) return BigInt(id);
  if (form === 'hex' && hexadecimal.test(id)) return BigInt(`0x${id}`);
  return undefined;
}

function trimId(id: string): string {
  return id.slice(0, longestId).trim();
}
