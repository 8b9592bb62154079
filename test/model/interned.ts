/** Numbers different values, by what they hold. */
export interface Interned<Value> {
  readonly size: number;
  numberOf(value: Value): number;
  at(number: number): Value;
}

export function createInterned<Value>(): Interned<Value> {
  const numbers = new Map<string, number>();
  const values: Value[] = [];
  return {
    get size() {
      return values.length;
    },
    numberOf(value) {
      const text = JSON.stringify(value) ?? '';
      const found = numbers.get(text);
      if (found !== undefined) return found;
      numbers.set(text, values.length);
      return values.push(value) - 1;
    },
    at(number) {
      if (number < 0 || number >= values.length) throw new Error(`no value has the number ${number}`);
      return values[number] as Value;
    },
  };
}
