/**
 * Lua scripts of the shared inventory; each runs atomically. Lua numbers are exact up to 2^53, so an amount
 * is two numbers (high, low) of fourteen digits each. Keys: 1 meta, 2 rooms, 3 sums, 4 groups, 5 ids;
 * expiries are in a sorted set per chain. A group is JSON: { id: { e: ends at, c: clock chain, k: kept, a: {
 * key: [high, low] } } }.
 */

/** 10^14, so that both halves print exactly. */
export const BASE = 100_000_000_000_000n;

/** Lua: Redis has lost the memory that the caller joined. */
const REFUSE_LOST_MEMORY = `if redis.call('HGET', META, 'epoch') ~= q.epoch then return {'forgotten'} end`;
/** Lua: more than the group's largest and than the room left. */
const EXCEEDS_ROOM = 'less(gh, gl, h, l) and less(fh, fl, h, l)';

const SHARED = `
local META, ROOMS, SUMS, GROUPS, IDS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local B = 1e14
local q = cjson.decode(ARGV[1])
${REFUSE_LOST_MEMORY}

local function lapses(chain) return META .. ':lapses:' .. chain end
local function less(ah, al, bh, bl) return ah < bh or (ah == bh and al < bl) end
local function plus(ah, al, bh, bl)
  local h, l = ah + bh, al + bl
  if l >= B then return h + 1, l - B end
  return h, l
end
local function minus(ah, al, bh, bl)
  local h, l = ah - bh, al - bl
  if l < 0 then return h - 1, l + B end
  return h, l
end
local function text(h, l) return string.format('%.0f:%.0f', h, l) end
local function number(s)
  if not s then return 0, 0 end
  local h, l = string.match(s, '^(-?%d+):(%d+)')
  return tonumber(h), tonumber(l)
end
local function sum(key) return number(redis.call('HGET', SUMS, key)) end
local function put(key, h, l)
  if h == 0 and l == 0 then redis.call('HDEL', SUMS, key) else redis.call('HSET', SUMS, key, text(h, l)) end
end
local function read(group)
  local raw = redis.call('HGET', GROUPS, group)
  if raw then return cjson.decode(raw) end
  return {}
end
local function write(group, members)
  if next(members) == nil then redis.call('HDEL', GROUPS, group) else redis.call('HSET', GROUPS, group, cjson.encode(members)) end
end
-- A group counts as its largest member.
local function largest(members, key)
  local h, l = 0, 0
  for _, m in pairs(members) do
    local a = m.a[key]
    if a and less(h, l, a[1], a[2]) then h, l = a[1], a[2] end
  end
  return h, l
end
-- Changes one member's amount of a key (nil: it has none any more), and the sum by what that changes for the group.
local function change(members, member, key, amount)
  local oh, ol = largest(members, key)
  member.a[key] = amount
  local nh, nl = largest(members, key)
  if oh == nh and ol == nl then return end
  local sh, sl = sum(key)
  sh, sl = plus(sh, sl, nh, nl)
  put(key, minus(sh, sl, oh, ol))
end
local function drop(members, id)
  local member = members[id]
  local keys = {}
  for key in pairs(member.a) do keys[#keys + 1] = key end
  for _, key in ipairs(keys) do change(members, member, key, nil) end
  members[id] = nil
  redis.call('HDEL', IDS, id)
  redis.call('ZREM', lapses(member.c), id)
end
local function is_bucket(key) return string.sub(key, 1, 2) == 'i ' end
local function keep(members, id)
  local member = members[id]
  if member.k == 1 then return end
  member.k = 1
  redis.call('ZREM', lapses(member.c), id)
  local keys = {}
  for key in pairs(member.a) do if not is_bucket(key) then keys[#keys + 1] = key end end
  for _, key in ipairs(keys) do change(members, member, key, nil) end
end
`;

/**
 * { epoch, group, chain, bucket whose sum is told, p: [{ id, e, a: [[key, high, low, most high, most low]] }]
 * }
 */
export const PROMISE = `${SHARED}
local time = tonumber(redis.call('HGET', META, 'time:' .. q.chain) or '0')
local members = read(q.group)
local answer = {}
local changed = false
for at, p in ipairs(q.p) do
  local said
  if members[p.id] then said = 'held'
  elseif p.e <= time then said = 'late'
  else
    for _, claim in ipairs(p.a) do
      local key, h, l, mh, ml = claim[1], claim[2], claim[3], claim[4], claim[5]
      if is_bucket(key) then
        local room = redis.call('HGET', ROOMS, key)
        if not room then said = 'unknown' break end
        mh, ml = number(room)
      end
      local gh, gl = largest(members, key)
      local sh, sl = sum(key)
      -- What is left for this group: the room less everybody else.
      local fh, fl = plus(mh, ml, gh, gl)
      fh, fl = minus(fh, fl, sh, sl)
      if ${EXCEEDS_ROOM} then
        if fh < 0 then fh, fl = 0, 0 end
        said = 'full ' .. text(fh, fl) .. ' ' .. key
        break
      end
    end
    if not said then
      said = 'held'
      changed = true
      local member = { e = p.e, c = q.chain, k = 0, a = {} }
      members[p.id] = member
      for _, claim in ipairs(p.a) do change(members, member, claim[1], { claim[2], claim[3] }) end
      redis.call('HSET', IDS, p.id, q.group)
      redis.call('ZADD', lapses(q.chain), p.e, p.id)
    end
  end
  answer[at] = said
end
if changed then write(q.group, members) end
return { 'ok', answer, redis.call('HGET', SUMS, q.bucket) or '0:0' }
`;

/**
 * { epoch, by, chain, block, time, rooms: [[key, high, low]], kept: [[id, group, clock chain, key, high,
 * low]], strangers: [id], ended: [id], used: [[group, winner]], most }
 */
export const TELL = `${SHARED}
local known = {}
-- First what binds, so that the clock below ends nothing of it.
for _, each in ipairs(q.kept) do
  local id, group = each[1], each[2]
  local members = read(group)
  if not members[id] then
    members[id] = { e = 0, c = each[3], k = 1, a = {} }
    change(members, members[id], each[4], { each[5], each[6] })
    redis.call('HSET', IDS, id, group)
  else keep(members, id) end
  write(group, members)
end
for _, id in ipairs(q.strangers) do
  local group = redis.call('HGET', IDS, id)
  if group then
    local members = read(group)
    keep(members, id)
    write(group, members)
    known[#known + 1] = id
  end
end
for _, each in ipairs(q.used) do
  local group, winner = each[1], each[2]
  local members = read(group)
  local dead = {}
  for id in pairs(members) do if id ~= winner then dead[#dead + 1] = id end end
  for _, id in ipairs(dead) do drop(members, id) end
  write(group, members)
end
for _, id in ipairs(q.ended) do
  local group = redis.call('HGET', IDS, id)
  if group then
    local members = read(group)
    drop(members, id)
    write(group, members)
  end
end
-- The room of the newest block stands: what was executed up to it is out of the room and out of the sums. Of two opinions about one block, the smaller, until whoever had it has another.
for _, each in ipairs(q.rooms) do
  local key, h, l = each[1], each[2], each[3]
  local was = redis.call('HGET', ROOMS, key)
  local block, by = -1, nil
  if was then block, by = string.match(was, ':(%d+) (.*)$') end
  block = tonumber(block)
  local wh, wl = number(was)
  if q.block > block or (q.block == block and (by == q.by or less(h, l, wh, wl))) then
    redis.call('HSET', ROOMS, key, text(h, l) .. string.format(':%.0f ', q.block) .. q.by)
  end
end
local time = tonumber(redis.call('HGET', META, 'time:' .. q.chain) or '0')
if q.time > time then
  time = q.time
  redis.call('HSET', META, 'time:' .. q.chain, string.format('%.0f', time))
end
local due = redis.call('ZRANGEBYSCORE', lapses(q.chain), '-inf', time, 'LIMIT', 0, q.most)
for _, id in ipairs(due) do
  local group = redis.call('HGET', IDS, id)
  if group then
    local members = read(group)
    drop(members, id)
    write(group, members)
  else redis.call('ZREM', lapses(q.chain), id) end
end
local sums = {}
for at, each in ipairs(q.rooms) do sums[at] = redis.call('HGET', SUMS, each[1]) or '0:0' end
return { #due == q.most and 'more' or 'done', known, sums }
`;

/**
 * ARGV: identity of server and generation, an epoch to start if that identity has none, the chain times to
 * wait for as JSON.
 */
export const JOIN = `
local META = KEYS[1]
if redis.call('HGET', META, 'identity') ~= ARGV[1] or not redis.call('HGET', META, 'epoch') then
  redis.call('HSET', META, 'identity', ARGV[1], 'epoch', ARGV[2], 'until', ARGV[3])
end
return redis.call('HMGET', META, 'epoch', 'until')
`;

export const KEPT_HOLDS = `${SHARED}
local found = {}
for _, raw in ipairs(redis.call('HVALS', GROUPS)) do
  for id, member in pairs(cjson.decode(raw)) do
    if member.k == 1 then found[#found + 1] = { id, redis.call('HGET', IDS, id), (next(member.a)) } end
  end
end
return { 'kept', found }
`;

export const SUMMED = `${SHARED}
return { 'sums', redis.call('HGETALL', SUMS) }
`;
