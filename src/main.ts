import { existsSync, write } from 'node:fs';
import { createApp } from './app.ts';
import { boot, openStore, type ShutdownSteps } from './boot.ts';
import { commands, runCommand } from './commands/commands.ts';
import { declaredCommands } from './commands/declared/declared-commands.ts';
import { runRestore } from './commands/restore-command.ts';
import type { WakeDelivery } from './compose/app-interface.ts';
import { deliveryChannel } from './compose/delivery.ts';
import { tokenUrlOf } from './compose/foundation.ts';
import { createNodeWindows } from './edge/node-windows.ts';
import { startSigningThread } from './identity/start-signing-thread.ts';
import { startWebProcesses } from './node-parent.ts';
import { systemClock } from './platform/clock.ts';
import { watchClock } from './platform/database/clock-check.ts';
import { createNotifier } from './platform/database/notifier.ts';
import { StartError } from './platform/errors.ts';
import { createLog } from './platform/log.ts';
import { createMetrics } from './platform/metrics/metrics.ts';
import { readVersion } from './platform/version.ts';
import { patiently } from './platform/work/patiently.ts';
import { demoEmail, makeDemoApplications } from './registry/demo-applications.ts';
import { type Config, readConfig } from './settings/settings.ts';
import { type DeliveryThread, startDeliveryThread } from './start-delivery-thread.ts';
import { welcome } from './welcome.ts';

const clock = systemClock;
const startWithinMs = 15_000;
const crashWithinMs = 15_000;
/** Does nothing until the app has created its metrics. */
let countUnexpectedError: (kind: string) => void = () => {};
/** Long enough for a balancer to check `/readyz` twice. */
const drainMs = 3000;
const version = readVersion();

async function main([command, ...args]: string[]): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const config = readConfig(process.env);
  const shutdownSteps: ShutdownSteps = [];
  let ending: Promise<void> | undefined;
  const log = createLog({ level: config.logLevel, readable: process.stdout.isTTY === true });

  const end = (): Promise<void> => {
    ending ??= (async () => {
      for (const step of shutdownSteps.reverse()) {
        await step().catch((error: unknown) => log.error({ err: error }, 'a component did not stop cleanly'));
      }
    })();
    return ending;
  };
  const interruption = new AbortController();
  const { signal: interrupted } = interruption;
  let running: Promise<void> | undefined;
  // SIGHUP means that the terminal was closed: a failed write to it must not interrupt the shutdown.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (interrupted.aborted || ending !== undefined) return;
      interruption.abort();
      // Not `say`: writing to a full pipe that has no reader would block the shutdown.
      write(1, 'Stopping: finishing requests in flight.\n', () => {});
      // Let a start in progress finish: a half-started Postgres cannot be stopped.
      void Promise.race([running, new Promise((done) => setTimeout(done, startWithinMs))])
        .catch(() => {})
        .then(end)
        .then(() => process.exit());
    });
  }
  const onFatal = (error: Error) => {
    process.stderr.write(`\n${error.message}\n`);
    void end().then(() => process.exit(1));
  };

  // After an unexpected error the process cannot trust its memory: it finishes requests in flight and exits.
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(kind, (error: unknown) => {
      log.fatal({ err: error, kind }, 'unexpected error: the service stops');
      countUnexpectedError(kind);
      setTimeout(() => process.exit(1), crashWithinMs).unref();
      void end().then(() => process.exit(1));
    });
  }

  running = (async () => {
    if (command === undefined) return serve(config, shutdownSteps, log, onFatal);
    if (!commands.includes(command))
      throw new StartError(`Unknown command ${command}. The commands are: ${commands.join(', ')}.`);
    const quiet = createLog({ level: 'warn', readable: process.stdout.isTTY === true });
    // Programs may read the output of these commands, so it contains no progress.
    const sayProgress = declaredCommands.includes(command) ? sayAside : say;
    const bootOptions = { config, clock, log: quiet, shutdownSteps, say: sayProgress, onFatal };
    if (command === 'restore') {
      const openAlone = () => openStore({ ...bootOptions, as: 'restore' });
      say(await runRestore(args, { config, clock, say, interrupted, openStore: openAlone }));
    } else {
      const parts = await boot({ ...bootOptions, as: 'command' });
      const readEnv = (name: string) => process.env[name];
      const exitWith = (code: number) => {
        process.exitCode = code;
      };
      const colour = process.stdout.isTTY === true && !process.env.NO_COLOR;
      say(await runCommand(command, args, { config, clock, say, readEnv, exitWith, colour, interrupted, ...parts }));
    }
    await end();
  })();
  try {
    await running;
  } catch (error) {
    const isCut = interrupted.aborted;
    if (isCut && command !== undefined) {
      process.exitCode = 1;
      process.stderr.write(`\n${(error as Error).message}\n`);
    }
    await end();
    // Ctrl-C also reaches the Postgres that we were starting, and makes the start fail.
    if (!isCut) throw error;
  }
}

async function serve(
  config: Config,
  shutdownSteps: ShutdownSteps,
  log: ReturnType<typeof createLog>,
  onFatal: (error: Error) => void,
): Promise<void> {
  const { database, sideDatabase, keys, secret, connection } = await boot({
    config,
    clock,
    log,
    shutdownSteps,
    as: 'service',
    say,
    onFatal,
  });
  let delivery: DeliveryThread | undefined;
  const workers = createNotifier({ database, channel: deliveryChannel });
  const wakeDelivery: WakeDelivery = config.role === 'web' ? workers.notify : (carriers) => delivery?.wake(carriers);
  const isParent = config.processes > 1;
  const signing = config.role === 'worker' || isParent ? undefined : startSigningThread(log);
  shutdownSteps.push(async () => signing?.stop());
  const sign = signing?.sign;
  const metrics = createMetrics();
  const clockWatch = watchClock(database, clock, log);
  shutdownSteps.push(async () => clockWatch.stop());
  const windows = createNodeWindows(clock, metrics);
  const parts = { config, clock, clockWatch, database, sideDatabase, keys, log, version, metrics, windows };
  const common = { config, connection, secret, readable: process.stdout.isTTY === true };
  if (config.role !== 'web') {
    // The thread loads its code while this one continues.
    delivery = startDeliveryThread({ ...common, opened: keys.opened() }, log, metrics);
    shutdownSteps.push(async () => delivery?.stop());
  }
  const app = createApp({ ...parts, wakeDelivery, sign });
  countUnexpectedError = app.metrics.countUnexpectedError;
  shutdownSteps.push(() => app.stop());
  // A lone node has no other node to send traffic to.
  const drainsMs = config.redisUrl === undefined ? 0 : drainMs;
  if (drainsMs > 0 && !isParent) shutdownSteps.push(() => app.drain(drainsMs));
  const made =
    config.environment === 'sandbox' && config.role !== 'worker'
      ? await patiently(() =>
          makeDemoApplications({
            database,
            registry: app.registry.service,
            prepareOwner: app.people.prepareAccount,
            dataDir: config.dataDir,
            baseUrl: config.publicUrl,
            tokenUrl: tokenUrlOf(config),
          }),
        )
      : undefined;
  await delivery?.started;
  let carriers: string[];
  if (isParent) {
    const web = await startWebProcesses({ ...common, log, metrics, windows, wakeDelivery, onFatal });
    shutdownSteps.push(() => web.stop(drainsMs));
    carriers = web.carriers;
  } else {
    await app.start();
    carriers = app.carriers().map(({ name }) => name);
  }
  say(
    welcome({
      version,
      config,
      made,
      signInToken: made && (await patiently(() => app.people.createSignInLink(demoEmail))),
      paths: app.routes.map(({ path }) => path),
      carriers,
      refusedOperators: await patiently(app.people.countRefusedOperators),
    }),
  );
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function sayAside(text: string): void {
  process.stderr.write(`${text}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  // Errors of the operating system (port in use, folder not writable) need no stack trace either.
  const expected = error instanceof StartError || (error as NodeJS.ErrnoException).syscall !== undefined;
  const text = error instanceof Error ? ((expected ? error.message : error.stack) ?? error.message) : String(error);
  const isCommand = process.argv.length > 2;
  process.stderr.write(isCommand ? `\n${text}\n` : `\nHeliograph could not start.\n${text}\n`);
  process.exit(1);
});
