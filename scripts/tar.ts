/** A tar file (POSIX ustar) without times and owners, so that the same files give the same bytes. */
export function createTar(files: { path: string; content: Buffer }[]): Buffer {
  const parts = files.flatMap(({ path, content }) => [headOf(path, content.length), content, padding(content.length)]);
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

function headOf(path: string, size: number): Buffer {
  const head = Buffer.alloc(512);
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is longer than 100 bytes`);
  head.write(path, 0);
  head.write('0000644\0' + '0000000\0' + '0000000\0', 100);
  head.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  head.write('00000000000\0', 136);
  head.write('        0', 148);
  head.write('ustar\0' + '00', 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return head;
}

function padding(size: number): Buffer {
  return Buffer.alloc((512 - (size % 512)) % 512);
}
