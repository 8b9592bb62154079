export type TokenKind = 'text' | 'string' | 'key' | 'word' | 'number' | 'comment';

export interface CodeToken {
  kind: TokenKind;
  text: string;
}

const words: Record<string, string> = {
  curl: 'curl|sed',
  typescript: 'import|from|const|await|new|for|of|method|headers|body',
  ts: 'import|from|export|interface|const|let|async|await|function|return|new|for|of|if|throw|try|catch',
  python: 'import|from|def|class|return|raise|if|not|with|as|try|except|for|in|None|True|False',
  go: 'package|import|func|var|struct|if|nil|defer|range|return',
  php: 'echo|true|false|null|new',
  json: 'true|false|null',
};

const strings = {
  curl: /'[^']*'|"(?:[^"\\]|\\.)*"/,
  go: /`[^`]*`|"(?:[^"\\\n]|\\.)*"/,
  other: /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/,
};

/** Splits code into coloured pieces. Unknown pieces are plain text, so no text is lost. */
export function highlight(code: string, language: string): CodeToken[] {
  const string = (strings[language as keyof typeof strings] ?? strings.other).source;
  const comment = language === 'python' || language === 'curl' ? '(?:^|(?<=\\s))#[^\\n]*' : '(?<!:)\\/\\/[^\\n]*';
  const pattern = new RegExp(
    [
      `(?<key>${language === 'json' ? '"(?:[^"\\\\\\n]|\\\\.)*"(?=\\s*:)' : '(?!)'})`,
      `(?<string>${string})`,
      `(?<comment>${comment})`,
      `(?<word>\\b(?:${words[language] ?? words.json})\\b${language === 'curl' ? '|(?<=\\s)--?[a-zA-Z-]+' : ''})`,
      // In a shell it could be a port or part of an address.
      `(?<number>${language === 'curl' ? '(?!)' : '(?<![\\w.])\\d+(?:\\.\\d+)?(?![\\w.])'})`,
    ].join('|'),
    'g',
  );
  const tokens: CodeToken[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    if (match.index > end) tokens.push({ kind: 'text', text: code.slice(end, match.index) });
    tokens.push({ kind: kindOf(match.groups ?? {}), text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < code.length) tokens.push({ kind: 'text', text: code.slice(end) });
  return tokens;
}

function kindOf(groups: Record<string, string | undefined>): TokenKind {
  return (Object.entries(groups).find(([, text]) => text !== undefined)?.[0] ?? 'text') as TokenKind;
}
