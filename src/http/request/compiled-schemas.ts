/**
 * Compiles each schema once, and equal ones together: many are made by one function for several routes, and to compile
 * one takes milliseconds.
 */
export function compileOnce<Compiled>(compile: (schema: object) => Compiled): (schema: object) => Compiled {
  const bySchema = new WeakMap<object, Compiled>();
  const byText = new Map<string, Compiled>();

  function find(schema: object): Compiled {
    const text = textOf(schema);
    if (text === undefined) return compile(schema);
    const compiled = byText.get(text) ?? compile(schema);
    byText.set(text, compiled);
    return compiled;
  }

  return (schema) => {
    const compiled = bySchema.get(schema) ?? find(schema);
    bySchema.set(schema, compiled);
    return compiled;
  };
}

/** Undefined for a schema that holds a function, such as a `check`: two of them may look the same and differ. */
function textOf(schema: object): string | undefined {
  let hasFunction = false;
  const text = JSON.stringify(schema, (_, value: unknown) => {
    hasFunction ||= typeof value === 'function';
    return value;
  });
  return hasFunction ? undefined : text;
}
