/** A list of integers that only grows: four bytes each, for lists of millions. */
export interface Numbers {
  readonly length: number;
  push(value: number): void;
  at(index: number): number;
}

const pieceLength = 1 << 20;

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
