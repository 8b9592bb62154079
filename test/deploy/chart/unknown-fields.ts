/** The fields of a manifest that its schema does not know: the check never reads them. The API would drop or refuse them. */
export function unknownFields(manifest: object, check: (watched: object) => void): string[] {
  const unread = new Set<string>();

  function watch(value: unknown, path: string): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item, index) => watch(item, `${path}/${index}`));
    const fields = Object.entries(value).map(([name, each]) => {
      unread.add(`${path}/${name}`);
      return [name, watch(each, `${path}/${name}`)];
    });
    return new Proxy(Object.fromEntries(fields) as object, {
      get(target, name, receiver) {
        unread.delete(`${path}/${String(name)}`);
        return Reflect.get(target, name, receiver);
      },
    });
  }

  check(watch(manifest, '') as object);
  return [...unread];
}
