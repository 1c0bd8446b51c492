// The scripts that run in Redis. Every sandbox, the server's own and each instance, has two keys:
//
// - a hash: `format` (its number), `snapshot` (its state without a journal), `position` (of the snapshot), `head` (of the last
//   line), for the server's own sandbox `origin` and `groups`, and who may append without asking: `owner`, since when
//   (`used`), and who waits for that (`waits`). Redis removes both keys of an instance when it expires.
// - a stream of lines: those since the snapshot, and earlier ones that have the requests of the journal. Redis makes their ids,
//   so that time never goes back.
//
// A position is the id of a line and its tag, which has a random part: a Redis that lost its latest lines is noticed. A new
// sandbox starts at `0-<random> start`.
//
// One hash lists all instances: their settings by id. When one ends, a key with the reason and the time remains for a week.

/** The number of the format of a sandbox in Redis. A server that does not know it changes nothing. */
export const storeFormat = "2";

/** A stored line, as Redis returns it. */
export type StoredLine = readonly [
  id: string,
  fields: readonly [line: "line", text: string, by: "by", tag: string],
];

export const positionOf = ([id, [, , , tag]]: StoredLine) => `${id} ${tag}`;

/** The key names of sandboxes. All share one hash tag. */
export function storeKeys(prefix: string) {
  const start = `{${prefix}}:`;
  const list = `${start}instances`;
  return {
    list,
    /** Returns the hash, the stream, the list, and the key about the end of a sandbox. */
    of: (id: string) => [`${start}${id}:state`, `${start}${id}:log`, list, `${start}${id}:end`] as const,
    parts: [start, ":state", ":log", ":end"] as const,
    /** Returns the channel where a server hears of turns. */
    turnsOf: (server: string) => `${start}turns:${server}`,
    /** Returns the id of a sandbox from its hash. */
    idOf: (hash: string) => hash.slice(start.length, -":state".length),
  };
}

const nowInLua = `
local function now()
  local time = redis.call('TIME')
  return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
`;

/**
 * Creates a sandbox unless it exists. An instance is also added to the list unless that is full.
 *
 * KEYS: hash, stream, list. ARGV: snapshot, position, origin, id (empty for the server's own), settings, maximum number of
 * instances, when it expires (epoch milliseconds, or empty), format.
 */
export const createScript = `
if redis.call('HEXISTS', KEYS[1], 'snapshot') == 1 then return 'exists' end
if ARGV[4] ~= '' then
  if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[6]) then return 'full' end
  redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
end
redis.call('HSET', KEYS[1], 'format', ARGV[8], 'snapshot', ARGV[1], 'position', ARGV[2], 'head', ARGV[2], 'origin', ARGV[3])
redis.call('UNLINK', KEYS[2])
if ARGV[7] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[7]) end
return 'created'
`;

/**
 * Returns a sandbox: its format, its snapshot, the position of that, all lines, its settings, its origin, its head. Without it,
 * returns why and when it ended, or why Redis cannot read it.
 *
 * KEYS: hash, stream, list, end. ARGV: id.
 */
export const loadScript = `
local found = redis.pcall('HMGET', KEYS[1], 'snapshot', 'position', 'origin', 'format', 'head')
if found.err then return {'broken', found.err} end
if not found[1] then return {'gone', redis.call('GET', KEYS[4]) or ''} end
local lines = redis.pcall('XRANGE', KEYS[2], '-', '+')
if lines.err then return {'broken', lines.err} end
return {found[4], found[1], found[2], lines, redis.call('HGET', KEYS[3], ARGV[1]) or '', found[3], found[5]}
`;

/**
 * Milliseconds after which a server that does not respond has lost its turn. Turns only make it fast: a line is stored if its
 * position is the last, whoever has asked.
 */
const longestTurn = 150;

/**
 * For each of several sandboxes, appends a line if there is one and the server's position is the last; otherwise returns the lines
 * in between, and appends nothing. A server whose position is not there must load the sandbox. A server that asks learns whether
 * it is its turn to append; if not, the one that has it hears of that, and the first that waits hears when it gets it.
 *
 * A full Redis rejects a write that needs memory, unless the script has already written. A sandbox that Redis cannot read is
 * broken, and no other one.
 *
 * KEYS, for each: hash, stream. ARGV: format, server, the start of channels; for each: position, when it expires (epoch
 * milliseconds, or empty to leave that), whether it gives its turn up, whether it asks, tag, line, snapshot (or empty), the first id
 * of the stream after that.
 */
export const appendScript = `${nowInLua}
local at, server = now(), ARGV[2]
local function after(hash, log, position, base)
  local id, tag = string.match(position, '^(%S+) (%S+)$')
  if position ~= base then
    local found = redis.pcall('XRANGE', log, id, id)
    if found.err then return found end
    if #found == 0 or found[1][2][4] ~= tag then return nil end
  end
  return redis.pcall('XRANGE', log, '(' .. id, '+')
end
local function notify(name, hash) redis.pcall('PUBLISH', ARGV[3] .. name, hash) end
local function turnOf(hash)
  local owner, used, waits = unpack(redis.call('HMGET', hash, 'owner', 'used', 'waits'))
  return owner or '', tonumber(used or '0'), waits or ''
end
local function leave(hash)
  local owner, _, waits = turnOf(hash)
  if owner ~= server then return end
  local first, rest = string.match(waits, '^(%S+) ?(.*)$')
  redis.pcall('HSET', hash, 'owner', first or '', 'waits', rest or '', 'used', at)
  if first then notify(first, hash) end
end
local function ask(hash)
  local owner, used, waits = turnOf(hash)
  local others = {}
  for name in string.gmatch(waits, '%S+') do
    if name ~= server then others[#others + 1] = name end
  end
  local isOver = tonumber(at) - used > ${longestTurn}
  if owner ~= '' and owner ~= server then notify(owner, hash) end
  if owner == '' or owner == server or isOver then
    redis.pcall('HSET', hash, 'owner', server, 'waits', table.concat(others, ' '), 'used', at)
    return '1'
  end
  if not string.find(' ' .. waits .. ' ', ' ' .. server .. ' ', 1, true) then
    redis.pcall('HSET', hash, 'waits', waits == '' and server or waits .. ' ' .. server)
  end
  return ''
end
local replies = {at}
for index = 1, #KEYS, 2 do
  local hash, log = KEYS[index], KEYS[index + 1]
  local start = (index - 1) / 2 * 8 + 4
  local position, expires, leaves, asks, tag, line, snapshot, first = unpack(ARGV, start, start + 7)
  local found = redis.pcall('HMGET', hash, 'head', 'position', 'format')
  local head, base, format = unpack(found)
  local state, id, between, turn = 'ok', '', {}, ''
  if found.err then state, id = 'broken', found.err
  elseif not head then state = 'gone'
  elseif format ~= ARGV[1] then
    state, id = 'format', format or ''
  elseif position ~= head then
    between = after(hash, log, position, base)
    if not between then state, between = 'behind', {}
    elseif between.err then state, id, between = 'broken', between.err, {}
    elseif line ~= '' then state = 'late' end
  elseif line ~= '' then
    local added = redis.pcall('XADD', log, '*', 'line', line, 'by', tag)
    if type(added) == 'table' then
      state, id = string.find(added.err, '^WRONGTYPE') and 'broken' or 'rejected', added.err
    else
      id = added .. ' ' .. tag
      redis.call('HSET', hash, 'head', id)
      if snapshot ~= '' then
        redis.call('HSET', hash, 'snapshot', snapshot, 'position', id)
        if first ~= '' then redis.call('XTRIM', log, 'MINID', first) end
      end
      local owner, _, waits = turnOf(hash)
      if owner == server and waits == '' and leaves == '' then
        turn = '1'
        redis.call('HSET', hash, 'used', at)
      else leaves = '1' end
    end
  end
  if state == 'ok' or state == 'late' then
    if leaves ~= '' then leave(hash) end
    if asks ~= '' then turn = ask(hash) end
    if expires ~= '' then
      redis.call('PEXPIREAT', hash, expires)
      redis.call('PEXPIREAT', log, expires)
    end
  end
  replies[#replies + 1] = {state, id, between, turn}
end
return replies
`;

/**
 * Removes the instances from the list that have ended; returns the time, the memory of all sandboxes, these and the others.
 *
 * KEYS: list, own hash, own stream. ARGV: the start and the ends of an instance's keys (hash, stream, end).
 */
export const listScript = `${nowInLua}
local at, alive, ended, bytes = now(), {}, {}, 0
local function add(key)
  local used = redis.pcall('MEMORY', 'USAGE', key)
  if type(used) == 'number' then bytes = bytes + used end
end
for _, key in ipairs(KEYS) do add(key) end
local all = redis.call('HGETALL', KEYS[1])
for index = 1, #all, 2 do
  local id, settings = all[index], all[index + 1]
  local hash, log = ARGV[1] .. id .. ARGV[2], ARGV[1] .. id .. ARGV[3]
  local head = redis.pcall('HGET', hash, 'head')
  -- It is broken, but there, until somebody removes it.
  if type(head) == 'table' then head = '' end
  if head then
    add(hash)
    add(log)
    alive[#alive + 1] = {id, settings, head, redis.call('PTTL', hash)}
  else
    redis.call('HDEL', KEYS[1], id)
    redis.call('UNLINK', log)
    redis.call('SET', ARGV[1] .. id .. ARGV[4], 'expired ' .. at, 'PX', 604800000)
    ended[#ended + 1] = {id, settings}
  end
end
return {at, bytes, ended, alive}
`;

export const removeScript = `${nowInLua}
redis.call('UNLINK', KEYS[1], KEYS[2])
if redis.call('HDEL', KEYS[3], ARGV[1]) == 0 then return 0 end
redis.call('SET', KEYS[4], 'removed ' .. now(), 'PX', 604800000)
return 1
`;

/**
 * Changes a field of a hash if it has an expected value; returns an empty text, or its other value, or that it is too late.
 *
 * KEYS: hash. ARGV: field, expected, new, the last time for it (epoch milliseconds, or empty).
 */
export const changeScript = `${nowInLua}
if ARGV[4] ~= '' and tonumber(now()) > tonumber(ARGV[4]) then return 'late' end
local found = redis.call('HGET', KEYS[1], ARGV[1])
if found ~= ARGV[2] then return found or 'nothing' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return ''
`;
