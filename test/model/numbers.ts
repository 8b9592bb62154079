/** A list of integers that only grows: four bytes each, for lists of millions. */
export interface Numbers {
  readonly length: number;
  push(value: number): void;
  at(index: number): number;
}

/** A small model needs few: large pieces outside of the heap make V8 collect garbage again and again. */
const pieceLength = 1 << 14;

/** In pieces, so that it never copies what it has. */
export function createNumbers(): Numbers {
  const pieces: Int32Array[] = [];
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value) {
      const inPiece = length % pieceLength;
      if (inPiece === 0) pieces.push(new Int32Array(pieceLength));
      const piece = pieces[pieces.length - 1];
      if (piece !== undefined) piece[inPiece] = value;
      length++;
    },
    at: (index) => pieces[Math.floor(index / pieceLength)]?.[index % pieceLength] ?? 0,
  };
}
