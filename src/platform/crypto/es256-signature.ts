// Converts ES256 signatures between DER, which OpenSSL writes, and the two numbers of a JWS (RFC 7518, section 3.4). Node's
// `dsaEncoding` takes 15 µs more for a signature on Node 20, and 45 on Node 24: it asks the key for its curve each time.
const numberBytes = 32;
const [sequenceTag, integerTag] = [0x30, 0x02];

/** Converts a signature that `sign` made with a key of P-256. */
export function toJwsSignature(der: Buffer): Buffer {
  const signature = Buffer.alloc(2 * numberBytes);
  let at = 2;
  for (const end of [numberBytes, 2 * numberBytes]) {
    const length = der[at + 1] ?? 0;
    const from = at + 2;
    at = from + length;
    // A number that begins with a set bit has a zero byte before it; one with leading zeros is shorter.
    const kept = Math.min(length, numberBytes);
    der.copy(signature, end - kept, at - kept, at);
  }
  return signature;
}

/** Converts the signature of a JWS for `verify`. Undefined if it does not have the length of two numbers. */
export function toDerSignature(signature: Buffer): Buffer | undefined {
  if (signature.length !== 2 * numberBytes) return undefined;
  const numbers = [signature.subarray(0, numberBytes), signature.subarray(numberBytes)].map(toInteger);
  const length = numbers.reduce((sum, each) => sum + each.length, 0);
  return Buffer.concat([Buffer.from([sequenceTag, length]), ...numbers]);
}

/** A number in DER has the fewest bytes, and a zero byte first if its first bit is set. */
function toInteger(number: Buffer): Buffer {
  let first = 0;
  while (first < numberBytes - 1 && number[first] === 0) first++;
  const isHigh = (number[first] ?? 0) >= 0x80;
  const length = numberBytes - first + (isHigh ? 1 : 0);
  return Buffer.concat([Buffer.from([integerTag, length, ...(isHigh ? [0] : [])]), number.subarray(first)]);
}
