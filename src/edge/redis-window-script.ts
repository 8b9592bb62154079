// `sliding-window.ts` in Lua, for windows that nodes share. Redis runs one script at a time, by its own clock, so the
// nodes need not agree on the time.

import type { LimitDecision, Limits } from '../http/admission.ts';
import { createScript } from '../platform/redis.ts';

// One string per caller: a head of 72 bytes, then a ring of admitted times: the low 32 bits of microseconds, which span
// 71 minutes (no time is older than two minutes when read). A call reads the head and the few times that decide, and
// writes the head and the added time, whatever the limit.

/**
 * KEYS[1]: the caller. ARGV: limits per minute and second, the time (empty for Redis's clock; tests set it), then per
 * request the microseconds since its connection was last informed (negative: it never extends a block); no request means a peek. Returns per request:
 * control (0 none, 1 minute, 2 burst), remaining, ms until the quota is full, ms until the next free slot; and at the end
 * the time. With `back` and such a time instead of requests it takes that charge back, and answers like a peek.
 */
export const windowScript = createScript(`
local minute, second, penalty, grace = 60000000, 1000000, 1000000, 250000
local headFormat, headBytes, wrap = '<ddddddI4I4I4I4I4I4', 72, 4294967296
local smallest, worthShrinking = 16, 64
local key = KEYS[1]
local perMinute, perSecond, requests = tonumber(ARGV[1]), tonumber(ARGV[2]), #ARGV - 3
local givesBack = ARGV[4] == 'back'

local time = redis.call('TIME')
local now = tonumber(ARGV[3]) or time[1] * 1000000 + time[2]

local seen, behind, openedAt, lockoutEnd, latestEnd, nextMove = now, 0, 0, 0, 0, 0
local lastPerMinute, lastPerSecond, newest, count, capacity, control = 0, 0, 0, 0, 0, 0
local head = redis.call('GETRANGE', key, 0, headBytes - 1)
if head ~= '' then
  seen, behind, openedAt, lockoutEnd, latestEnd, nextMove, lastPerMinute, lastPerSecond, newest, count, capacity, control =
    struct.unpack(headFormat, head)
end

-- If the clock goes back, the caller's time continues from the last call, as if its history had moved back too.
now = now + behind
if now < seen then
  behind = behind + seen - now
  now = seen
end

local function nth(n)
  local at = headBytes + (newest - n + 1) % capacity * 4
  return now - (now - struct.unpack('<I4', redis.call('GETRANGE', key, at, at + 3))) % wrap
end

-- Drops the oldest times that have left the minute window: mostly none or a few, so the steps begin small.
if now >= seen + minute then
  count = 0
else
  local past, ahead = 0, 1
  while ahead <= count and now >= nth(count - ahead + 1) + minute do
    past, ahead = ahead, ahead * 2
  end
  ahead = math.min(ahead, count + 1)
  while ahead - past > 1 do
    local middle = math.floor((past + ahead) / 2)
    if now >= nth(count - middle + 1) + minute then past = middle else ahead = middle end
  end
  count = count - past
end
-- Giving a charge back is no change of plan: use the limits of the last request.
if givesBack and capacity > 0 then perMinute, perSecond = lastPerMinute, lastPerSecond end
if lastPerMinute ~= perMinute or lastPerSecond ~= perSecond then control = 0 end

local function freeAt(limit, window)
  return count < limit and 0 or nth(limit) + window
end

local function untilMs(at)
  return math.max(0, math.ceil((at - now) / 1000))
end

local function untilFree()
  return untilMs(math.max(freeAt(perMinute, minute), freeAt(perSecond, second)))
end

local function untilWhole()
  return count == 0 and 0 or untilMs(nth(1) + minute)
end

local function ordered()
  local first = (newest - count + 1) % math.max(capacity, 1)
  if count == 0 then return '' end
  if first <= newest then
    return redis.call('GETRANGE', key, headBytes + first * 4, headBytes + newest * 4 + 3)
  end
  return redis.call('GETRANGE', key, headBytes + first * 4, headBytes + capacity * 4 - 1)
    .. redis.call('GETRANGE', key, headBytes, headBytes + newest * 4 + 3)
end

local function writeRing(times, wanted)
  redis.call('SET', key, string.rep('\\0', headBytes) .. times .. string.rep('\\0', wanted * 4 - #times))
  newest, capacity = (count - 1) % wanted, wanted
end

local function writeHead()
  redis.call('SETRANGE', key, 0, struct.pack(headFormat, now, behind, openedAt, lockoutEnd, latestEnd, nextMove,
    perMinute, perSecond, newest, count, capacity, control))
  -- Keep the window while an empty one would decide differently, and for a second more.
  redis.call('PEXPIRE', key, math.max(minute / 1000, control == 0 and 0 or untilMs(lockoutEnd)) + 1000)
end

-- The index of a charge, counted from the newest time; the times are sorted.
local function placeOf(charged)
  local low, high = 1, count
  while low < high do
    local middle = math.floor((low + high) / 2)
    if nth(middle) > charged then low = middle + 1 else high = middle end
  end
  return count > 0 and nth(low) == charged and low or nil
end

local function takeBack(charged)
  local place = placeOf(charged)
  if not place then return end
  local times, at = ordered(), (count - place) * 4
  count = count - 1
  writeRing(string.sub(times, 1, at) .. string.sub(times, at + 5), capacity)
  if control ~= 0 then
    local natural = latestEnd - (control == 1 and minute or second)
    local earlier = math.max(0, natural - math.max(now, freeAt(perMinute, minute), freeAt(perSecond, second)))
    lockoutEnd, latestEnd = lockoutEnd - earlier, latestEnd - earlier
  end
  writeHead()
end

if givesBack then takeBack(tonumber(ARGV[5])) end
if givesBack or requests == 0 then
  local nextFree = math.max(untilFree(), control == 0 and 0 or untilMs(lockoutEnd))
  return { 0, nextFree == 0 and perMinute - count or 0, math.max(untilWhole(), nextFree), nextFree }
end

local function admit()
  control = 0
  if count == capacity or (capacity > worthShrinking and count * 4 < capacity) then
    writeRing(ordered(), math.min(perMinute, math.max(smallest, count * 2)))
  end
  newest = (newest + 1) % capacity
  redis.call('SETRANGE', key, headBytes + newest * 4, struct.pack('<I4', now % wrap))
  count = count + 1
end

local function openBlock(minuteFree, secondFree)
  openedAt, nextMove = now, now
  if minuteFree >= secondFree then
    control, lockoutEnd, latestEnd = 1, minuteFree, minuteFree + minute
  else
    control, lockoutEnd, latestEnd = 2, secondFree, secondFree + second
  end
end

local answer = {}
local function reply(refusedBy, remaining, whole, nextFree)
  local size = #answer
  answer[size + 1], answer[size + 2], answer[size + 3], answer[size + 4] = refusedBy, remaining, whole, nextFree
end

local function moveEnd(quiet)
  if quiet < 0 then return end
  local canKnow = now - quiet > openedAt or now >= openedAt + grace
  if canKnow and now >= nextMove then
    lockoutEnd, nextMove = math.min(lockoutEnd + penalty, latestEnd), now + grace
  end
end

for request = 1, requests do
  local isLockedOut = control ~= 0 and now < lockoutEnd
  if isLockedOut then moveEnd(tonumber(ARGV[request + 3])) end
  if not isLockedOut then
    local minuteFree, secondFree = freeAt(perMinute, minute), freeAt(perSecond, second)
    isLockedOut = minuteFree > now or secondFree > now
    if isLockedOut then openBlock(minuteFree, secondFree) else admit() end
  end
  if isLockedOut then
    local retryAfter = untilMs(lockoutEnd)
    reply(control, 0, math.max(untilWhole(), retryAfter), retryAfter)
  else
    reply(0, perMinute - count, minute / 1000, untilFree())
  end
end

writeHead()
answer[#answer + 1] = now
return answer
`);

/** Reads the decision at this position of the batch. */
export function readDecision(answer: number[], place: number, limits: Limits): LimitDecision {
  const at = place * 4;
  const [control = 0, remaining = 0] = [answer[at], answer[at + 1]];
  const [resetMs = 0, nextFreeMs = 0] = [answer[at + 2], answer[at + 3]];
  const refusedBy = control === 0 ? undefined : control === 1 ? 'minute' : 'burst';
  const admitted = refusedBy === undefined;
  const chargedAtMs = admitted ? (answer.at(-1) ?? 0) / 1000 : undefined;
  const retryAfterMs = admitted ? 0 : nextFreeMs;
  return { admitted, limits, remaining, resetMs, nextFreeMs, retryAfterMs, refusedBy, chargedAtMs };
}

/** Reads the script's answer to a peek: the caller would be admitted if it need not wait. */
export function readStanding(answer: number[], limits: Limits): LimitDecision {
  const standing = readDecision(answer, 0, limits);
  return { ...standing, admitted: standing.nextFreeMs === 0, chargedAtMs: undefined };
}
