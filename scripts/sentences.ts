// The compiler of today has no API for other programs.
import ts from 'typescript-5.4';

export interface Sentence {
  line: number;
  text: string;
}

/** What people read in a file: comments and texts with a space, or the paragraphs of a document. */
export function sentencesOf(file: string, text: string): Sentence[] {
  return file.endsWith('.md') ? paragraphsOf(text) : textsOf(file, text);
}

function paragraphsOf(text: string): Sentence[] {
  let isCode = false;
  return text.split('\n').flatMap((line, index) => {
    if (line.trimStart().startsWith('```')) isCode = !isCode;
    const words = line.replaceAll(/`[^`]*`/g, '`…`').trim();
    return isCode || words === '' ? [] : { line: index + 1, text: words };
  });
}

function textsOf(file: string, text: string): Sentence[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, kindOf(file));
  const sentences: Sentence[] = [];
  const seen = new Set<number>();
  const add = (at: number, words: string) => {
    const plain = words
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/`[^`]*`/g, '`…`')
      .trim();
    sentences.push({ line: source.getLineAndCharacterOfPosition(at).line + 1, text: plain });
  };
  const addComments = (ranges: ts.CommentRange[] | undefined) => {
    for (const { pos, end } of ranges ?? []) {
      if (seen.has(pos)) continue;
      seen.add(pos);
      add(pos, text.slice(pos, end).replaceAll(/^\/\*\*?|\*\/$|^\s*\* ?|^\/\/ ?/gm, ' '));
    }
  };
  const visit = (node: ts.Node): void => {
    addComments(ts.getLeadingCommentRanges(text, node.pos));
    addComments(ts.getTrailingCommentRanges(text, node.end));
    if ((ts.isStringLiteralLike(node) || ts.isJsxText(node)) && isSentence(node.text))
      add(node.getStart(source), node.text);
    if (ts.isTemplateExpression(node)) {
      const words = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
      if (isSentence(words)) add(node.getStart(source), words);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  addComments(ts.getLeadingCommentRanges(text, source.endOfFileToken.pos));
  return sentences;
}

/** Two words of letters at least. SQL is code. */
function isSentence(words: string): boolean {
  return (
    /[a-z]{2,} +[a-z]{2,}/i.test(words) && !/\b(?:select|insert into|update|delete from|create table) /.test(words)
  );
}

function kindOf(file: string): ts.ScriptKind {
  if (file.endsWith('.tsx')) return ts.ScriptKind.TSX;
  return file.endsWith('.mjs') ? ts.ScriptKind.JS : ts.ScriptKind.TS;
}
