/**
 * The GSM 7-bit default alphabet (3GPP TS 23.038, section 6.2.1): a character's index is its septet. Phones show
 * capital Ç for 0x09, never ç. 0x1B escapes to the extension table and is not a character of a text.
 */
export const defaultAlphabet =
  '@£$¥èéùìòÇ\nØø\rÅå' +
  'Δ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ' +
  ' !"#¤%&\'()*+,-./' +
  '0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNO' +
  'PQRSTUVWXYZÄÖÑÜ§' +
  '¿abcdefghijklmno' +
  'pqrstuvwxyzäöñüà';

export const escapeSeptet = 0x1b;

/** The extension table (section 6.2.1.1): each of these is sent as the escape and one more septet, so it costs two. */
export const extensionAlphabet: ReadonlyMap<string, number> = new Map([
  ['\f', 0x0a],
  ['^', 0x14],
  ['{', 0x28],
  ['}', 0x29],
  ['\\', 0x2f],
  ['[', 0x3c],
  ['~', 0x3d],
  [']', 0x3e],
  ['|', 0x40],
  ['€', 0x65],
]);

/**
 * Septets per UTF-16 unit: 1, 2, or 0 for a unit outside GSM-7 (surrogates included). A full table of 65,536 entries,
 * because every character of every text is looked up here.
 */
export const septetsOf: Uint8Array = makeSeptets();

function makeSeptets(): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (let septet = 0; septet < defaultAlphabet.length; septet++) {
    if (septet !== escapeSeptet) table[defaultAlphabet.charCodeAt(septet)] = 1;
  }
  for (const character of extensionAlphabet.keys()) table[character.charCodeAt(0)] = 2;
  return table;
}

export function isGsm(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (septetsOf[text.charCodeAt(i)] === 0) return false;
  }
  return true;
}
