// Loaded before Node's test runner. To know which test an unexpected error belongs to, the runner follows every promise
// by an async hook, which takes a quarter of a service's CPU. Once all tests are known we name the running test instead.
import { createRequire } from 'node:module';

interface Resource {
  asyncId(): number;
}
type Init = (asyncId: number, type: string, triggerAsyncId: number, resource: Resource) => void;
interface Hook {
  enable(): Hook;
  disable(): Hook;
}
interface AsyncHooks {
  createHook(callbacks: { init?: Init }): Hook;
  executionAsyncId(): number;
  AsyncResource: { prototype: { runInAsyncScope(this: Resource, ...args: unknown[]): unknown } };
}

// The runner takes its functions from this object when it is loaded; an import would be a copy of it.
const hooks = createRequire(import.meta.url)('node:async_hooks') as AsyncHooks;
const { createHook, executionAsyncId } = hooks;
const { runInAsyncScope } = hooks.AsyncResource.prototype;

let runnersHook: { hook: Hook; init: Init } | undefined;
let followsPromises = true;
/** Tests and hooks of tests that have begun and not ended, the innermost last. */
const running: Resource[] = [];

hooks.createHook = (callbacks) => {
  const hook = createHook(callbacks);
  if (callbacks.init !== undefined) runnersHook ??= { hook, init: callbacks.init };
  return hook;
};

hooks.executionAsyncId = () => (followsPromises ? undefined : running.at(-1)?.asyncId()) ?? executionAsyncId();

hooks.AsyncResource.prototype.runInAsyncScope = function (...args) {
  if (!isTest(this)) return runInAsyncScope.apply(this, args);
  running.push(this);
  if (!followsPromises) runnersHook?.init(this.asyncId(), 'Test', 0, this);
  const end = () => running.splice(running.lastIndexOf(this), 1);
  try {
    const result = runInAsyncScope.apply(this, args);
    if (result instanceof Promise) result.then(end, end);
    else end();
    return result;
  } catch (error) {
    end();
    throw error;
  }
};

/** For the moment at which every test file has declared its tests: until then the hook says which suite a test belongs to. */
export function stopFollowingPromises(): void {
  followsPromises = false;
  runnersHook?.hook.disable();
}

function isTest(resource: Resource): boolean {
  return ['Test', 'TestHook'].includes(resource.constructor.name);
}
