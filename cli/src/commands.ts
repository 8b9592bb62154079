import type { Command } from './command/command.ts';
import { createApp, listApps, registerApp, useApp } from './commands/apps.ts';
import {
  listCarriers,
  localCarriers,
  pauseCarrier,
  resumeCarrier,
  testCarrier,
  tryCarrier,
} from './commands/carriers.ts';
import { addClientKey } from './commands/client-keys.ts';
import { createCompletion } from './commands/completion.ts';
import { events } from './commands/events.ts';
import { find } from './commands/find.ts';
import { createHelp } from './commands/help-command.ts';
import { deleteHook, editHook, rotateHook } from './commands/hooks/change.ts';
import { createHook } from './commands/hooks/create.ts';
import { listHookCalls, listHooks, showHook } from './commands/hooks/read.ts';
import { testHook } from './commands/hooks/send-test.ts';
import { inbox } from './commands/inbox.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './commands/keys.ts';
import { listen } from './commands/listen.ts';
import { login } from './commands/login.ts';
import { logout } from './commands/logout.ts';
import { machineCommands } from './commands/machine.ts';
import { explainRoute, listRoutes } from './commands/routes.ts';
import { send } from './commands/send.ts';
import { createSmpp, deleteSmpp, listSmpp, listSmppBinds, rotateSmpp } from './commands/smpp.ts';
import { start } from './commands/start.ts';
import { trace } from './commands/trace.ts';
import { createTwilio, deleteTwilio, rotateTwilio, showTwilio } from './commands/twilio.ts';
import { usage } from './commands/usage.ts';
import { checkVerification, startVerification } from './commands/verify.ts';
import { whoami } from './commands/whoami.ts';

/** The table of contents of the command line, in the order of its help. */
export const commands: readonly Command[] = [
  start,
  login,
  logout,
  whoami,

  send,
  startVerification,
  checkVerification,
  inbox,
  events,
  listen,

  listApps,
  createApp,
  useApp,
  registerApp,
  listKeys,
  createKey,
  rotateKey,
  addClientKey,
  revokeKey,
  listHooks,
  createHook,
  showHook,
  listHookCalls,
  testHook,
  editHook,
  rotateHook,
  deleteHook,
  createTwilio,
  showTwilio,
  rotateTwilio,
  deleteTwilio,
  listSmpp,
  createSmpp,
  rotateSmpp,
  deleteSmpp,
  usage,
  find,
  trace,

  listCarriers,
  pauseCarrier,
  resumeCarrier,
  testCarrier,
  tryCarrier,
  localCarriers,
  listRoutes,
  explainRoute,
  listSmppBinds,

  ...machineCommands,

  createCompletion(() => commands),
  createHelp(() => commands),
];
