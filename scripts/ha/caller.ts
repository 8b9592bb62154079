// Sends a text ten times a second, each under its own key until it is accepted, and counts what came of it.

export interface Caller {
  /** Since the last call of this function. */
  take(): { accepted: number; late: number; refused: number; lost: number; slowestMs: number };
  total(): number;
  stop(): Promise<void>;
}

const everyMs = 100;
const lateMs = 1000;

export function startCaller(url: string, apiKey: string): Caller {
  let counted = { accepted: 0, late: 0, refused: 0, lost: 0, slowestMs: 0 };
  let total = 0;
  let number = 0;
  let stopped = false;

  async function send(key: string): Promise<void> {
    while (!stopped) {
      const startedMs = performance.now();
      const status = await fetch(`${url}/sms/v1/messages`, {
        method: 'POST',
        headers: { apikey: apiKey, 'Content-Type': 'application/json', 'Idempotency-Key': key },
        body: JSON.stringify({ to: '+447700900123', from: 'ACME', message: `Text ${key}` }),
        signal: AbortSignal.timeout(10_000),
      }).then(
        async (response) => {
          await response.text();
          return response.status;
        },
        () => 0,
      );
      const tookMs = performance.now() - startedMs;
      counted.slowestMs = Math.max(counted.slowestMs, tookMs);
      if (status === 201) {
        counted.accepted++;
        if (tookMs > lateMs) counted.late++;
        total++;
        return;
      }
      if (status === 0) counted.lost++;
      else counted.refused++;
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
  const timer = setInterval(() => void send(`try-out-${process.pid}-${number++}`), everyMs);
  return {
    take() {
      const taken = counted;
      counted = { accepted: 0, late: 0, refused: 0, lost: 0, slowestMs: 0 };
      return taken;
    },
    total: () => total,
    async stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
