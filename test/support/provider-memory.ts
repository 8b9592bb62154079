type Payload = Record<string, unknown> & { grantId?: string; uid?: string };

/** What a provider stores. It outlives the provider, as a database would: a new one with other keys goes on with it. */
export function createProviderMemory() {
  const stored = new Map<string, Payload>();
  return class Adapter {
    readonly #model: string;

    constructor(model: string) {
      this.#model = model;
    }

    #key(id: string): string {
      return `${this.#model}:${id}`;
    }

    async upsert(id: string, payload: Payload): Promise<void> {
      stored.set(this.#key(id), payload);
    }

    async find(id: string): Promise<Payload | undefined> {
      return stored.get(this.#key(id));
    }

    async findByUid(uid: string): Promise<Payload | undefined> {
      const found = [...stored].find(([key, payload]) => key.startsWith(`${this.#model}:`) && payload.uid === uid);
      return found?.[1];
    }

    async consume(id: string): Promise<void> {
      const payload = stored.get(this.#key(id));
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
    }

    async destroy(id: string): Promise<void> {
      stored.delete(this.#key(id));
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key);
    }
  };
}
