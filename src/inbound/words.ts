/** The kinds of keywords. */
export type WordKind = 'stop' | 'start' | 'help';
/** The language of the answer to a word. */
export type Language = 'en' | 'fr' | 'es' | 'de' | 'pt';

export interface Word {
  kind: WordKind;
  /** The keyword as the lists below spell it. */
  word: string;
  language: Language;
}

/** No number can ignore these: carriers and laws require them. */
export const fixedWords: readonly string[] = ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'OPTOUT', 'REVOKE'];

const lists: readonly { kind: WordKind; language: Language; words: readonly string[] }[] = [
  { kind: 'stop', language: 'en', words: [...fixedWords, 'CANCEL', 'END', 'QUIT'] },
  { kind: 'stop', language: 'fr', words: ['ARRET'] },
  { kind: 'stop', language: 'es', words: ['BAJA'] },
  { kind: 'stop', language: 'de', words: ['STOPP'] },
  { kind: 'stop', language: 'pt', words: ['SAIR', 'PARAR'] },
  { kind: 'start', language: 'en', words: ['START', 'UNSTOP', 'YES', 'OPTIN', 'SUBSCRIBE'] },
  { kind: 'start', language: 'es', words: ['ALTA'] },
  { kind: 'help', language: 'en', words: ['HELP', 'INFO'] },
  { kind: 'help', language: 'fr', words: ['AIDE'] },
  { kind: 'help', language: 'es', words: ['AYUDA'] },
  { kind: 'help', language: 'de', words: ['HILFE'] },
];

const known: ReadonlyMap<string, Word> = new Map(
  lists.flatMap(({ kind, language, words }) => words.map((word) => [word, { kind, word, language }] as const)),
);

/** The keywords that an operator can let a number ignore. */
export const removableWords: readonly string[] = [...known.keys()].filter((word) => !fixedWords.includes(word));

/** Longer than any keyword with the spaces and marks around it. */
const longestWord = 64;

/** The keyword of a text that is nothing else, unless the number ignores it. */
export function wordOf(text: string, ignored: readonly string[] = []): Word | undefined {
  if (text.length > longestWord) return undefined;
  // "STOP ALL" and "OPT-OUT" equal "STOPALL" and "OPTOUT".
  const word = known.get(plainWords(text).join(''));
  return word === undefined || ignored.includes(word.word) ? undefined : word;
}

/** Longer texts that begin with a stop word are about something else. */
const longestDoubtful = 40;

/**
 * Whether a short text begins with a stop word, perhaps behind the number's keyword. A person may have meant it ("Stop
 * texting me"), or not ("End of the month is fine"), so the application is notified and nothing is done.
 */
export function mayMeanStop(text: string, keyword: string | null, ignored: readonly string[] = []): boolean {
  if (text.length > longestDoubtful) return false;
  const words = plainWords(text);
  const [first = '', second = ''] = words;
  const candidate = first === keyword ? second : first;
  return words.length > 1 && wordOf(candidate, ignored)?.kind === 'stop';
}

/** The first word of a text, as keywords are compared. Undefined if there is none. */
export function firstWord(text: string): string | undefined {
  return plainWords(text.slice(0, longestKeyword * 2))[0]?.slice(0, longestKeyword);
}

export const longestKeyword = 32;

/** In upper case, without accents, marks and spaces: `¡Arrêt!` becomes `ARRET`. */
function plainWords(text: string): string[] {
  return text
    .normalize('NFKC')
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}\s]/gu, '')
    .split(/\s+/u)
    .filter((word) => word !== '');
}
