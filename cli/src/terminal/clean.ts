/**
 * Characters that control a terminal or change the direction of text: C0, DEL, C1, and Unicode's marks of direction and of lines.
 * A text message may hold any of them, and must not move the cursor, hide a line or type into the shell.
 */
const obeyed = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\ufeff]/gu;
const loneSurrogate = /\p{Surrogate}/gu;

/** Text for one line of a terminal: control characters are shown as their codes. */
export function clean(text: string): string {
  return text.replace(/\r?\n/g, '↵').replace(/\t/g, ' ').replace(obeyed, toCode).replace(loneSurrogate, '\ufffd');
}

/** Equivalent JSON that is safe on a terminal: JSON itself escapes only C0. */
export function cleanJson(json: string): string {
  return json.replace(obeyed, (character) => (character === '\n' ? character : toCode(character)));
}

function toCode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
