import fc from 'fast-check';

const surrogates = { first: 0xd8_00, count: 0x8_00 };

/**
 * Every character but half a pair, with the values of fast-check's own unit `binary`, which first fills a table of a
 * million characters.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ff_ff - surrogates.count })
  .map((index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count), indexOf);

/** Throws where the text is not one character: fast-check then knows that it cannot stand in such a string. */
function indexOf(text: unknown): number {
  const [character, ...others] = typeof text === 'string' ? text : '';
  const point = character?.codePointAt(0);
  if (point === undefined || others.length > 0) throw new Error('not one character');
  if (point < surrogates.first) return point;
  if (point < surrogates.first + surrogates.count) throw new Error('half a pair');
  return point - surrogates.count;
}
