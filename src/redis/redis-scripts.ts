// The scripts that run in Redis. Every sandbox, the server's own and each instance, has two keys:
//
// - a hash: `snapshot` (its state), `position` (of the snapshot), `head` (the position of the last batch), and for the server's
//   own sandbox `founding`, `settings` and `groups`. Redis removes both keys of an instance when it expires.
// - a stream of the batches since the snapshot. A batch has the entries that one server appended together, as texts separated
//   by a character that JSON cannot contain. Redis makes its id, so that its time never goes back.
//
// A position is the id of a batch. A new sandbox starts at `0-<random>`, so that no two sandboxes share a position.
//
// One hash lists all instances: their settings by id. When one ends, a key with the reason and the time remains for a week.

export const ownId = "own";

/** Separates the texts of a batch, which never contain it. */
export const separator = "\u001e";

/** A stored batch, as Redis returns it. Its position is its id. */
export type StoredBatch = readonly [position: string, fields: readonly [name: string, texts: string]];

/** The key names of sandboxes. All share one hash tag. */
export function storeKeys(prefix: string) {
  const start = `{${prefix}}:`;
  const list = `${start}instances`;
  return {
    list,
    /** Returns the hash, the stream, the list, and the key about the end of a sandbox. */
    of: (id: string) => [`${start}${id}:state`, `${start}${id}:log`, list, `${start}${id}:end`] as const,
    parts: [start, ":state", ":log", ":end"] as const,
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
 * KEYS: hash, stream, list. ARGV: snapshot, position, founding, id (empty for the server's own), settings, maximum number of
 * instances, when it expires (epoch milliseconds, or empty).
 */
export const createScript = `
if redis.call('HEXISTS', KEYS[1], 'snapshot') == 1 then return 'exists' end
if ARGV[4] ~= '' then
  if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[6]) then return 'full' end
  redis.call('HSET', KEYS[3], ARGV[4], ARGV[5])
end
redis.call('HSET', KEYS[1], 'snapshot', ARGV[1], 'position', ARGV[2], 'head', ARGV[2], 'founding', ARGV[3])
redis.call('UNLINK', KEYS[2])
if ARGV[7] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[7]) end
return 'created'
`;

/**
 * Returns a sandbox: its snapshot, its position, the batches since, its settings, its founding. Without it, returns why and
 * when it ended.
 *
 * KEYS: hash, stream, list, end. ARGV: id.
 */
export const loadScript = `
local found = redis.call('HMGET', KEYS[1], 'snapshot', 'position', 'founding')
if not found[1] then return {'gone', redis.call('GET', KEYS[4]) or ''} end
return {found[1], found[2], redis.call('XRANGE', KEYS[2], '(' .. found[2], '+'),
  redis.call('HGET', KEYS[3], ARGV[1]) or '', found[3]}
`;

/**
 * For each of several sandboxes, appends a batch if there is one, and returns the batches after this server's position. A
 * server that is behind the snapshot, or at a position that Redis lost, must load the sandbox first.
 *
 * A full Redis rejects a write that needs memory, unless the script has already written.
 *
 * KEYS, for each: hash, stream. ARGV, for each: position, when it expires (epoch milliseconds, or empty to leave that), whether
 * a full Redis must store the batch, batch.
 */
export const appendScript = `${nowInLua}
local replies = {now()}
for index = 1, #KEYS, 2 do
  local hash, log = KEYS[index], KEYS[index + 1]
  local position, expires, isUrgent, batch = unpack(ARGV, index * 2 - 1, index * 2 + 2)
  local found = redis.call('HMGET', hash, 'head', 'position')
  local state, id, between = 'ok', '', {}
  if not found[1] then state = 'gone'
  elseif position ~= found[1] then
    if position ~= found[2] and #redis.call('XRANGE', log, position, position) == 0 then state = 'behind'
    else between = redis.call('XRANGE', log, '(' .. position, '+') end
  end
  if state == 'ok' and batch ~= '' then
    if isUrgent ~= '' then redis.call('XTRIM', log, 'MINID', '0') end
    local added = redis.pcall('XADD', log, '*', 'e', batch)
    if type(added) == 'table' then id = added.err
    else
      id = added
      redis.call('HSET', hash, 'head', id)
    end
  end
  if state == 'ok' and expires ~= '' then
    redis.call('PEXPIREAT', hash, expires)
    redis.call('PEXPIREAT', log, expires)
  end
  replies[#replies + 1] = {state, id, between}
end
return replies
`;

/**
 * Replaces the snapshot of a sandbox by a newer one, and discards the batches up to it.
 *
 * KEYS: hash, stream. ARGV: position, snapshot.
 */
export const compactScript = `
local found = redis.call('HMGET', KEYS[1], 'head', 'position')
if not found[1] or found[2] == ARGV[1] then return 'old' end
if found[1] ~= ARGV[1] and #redis.call('XRANGE', KEYS[2], ARGV[1], ARGV[1]) == 0 then return 'old' end
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[1])
redis.call('XDEL', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], 'snapshot', ARGV[2], 'position', ARGV[1])
return 'stored'
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
  local head = redis.call('HGET', hash, 'head')
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
