import { createHash } from "node:crypto";

// The scripts that run in Redis, each on one log. A log consists of three keys with the same hash tag, so that they share one
// slot of a cluster:
//
// - `meta`, a hash: `epoch`, `founding`, `head` (the last position), `snapshot` (the position of the newest
//   snapshot), `floor` (entries up to it were discarded), `ahead` (milliseconds that its time is ahead of Redis). For each
//   replica, `r:<id>` contains the number and time of its last batch. After a migration, `previous` is the former founding:
//   replicas with either founding use the log. `backed_up` contains the time of a migration's backup, and the former founding.
// - `log`, a stream: each stream entry is a batch, the entries that one replica appended together. Its id is
//   `<milliseconds>-<number of its last log entry>`. Its fields are the epoch (with `<replica> <batch>`) and the number of
//   log entries (with their texts, separated by a character that JSON cannot contain).
// - `snapshot`, a string: position, line feed, text.
//
// The numbers of log entries have no gaps, so that a replica detects missing entries.

/** A script, and its name in Redis. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

const script = (body: string): Script => {
  const text = common + body;
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
};

const common = `
local meta, log, snapshot = KEYS[1], KEYS[2], KEYS[3]
local function number(position) return tonumber(string.match(position, '%d+$')) end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * Opens the log, or founds it if it is missing and ARGV contains an epoch. Registers the replica, which shows that it may
 * write, unless there is no room.
 *
 * ARGV, each possibly empty: new epoch, founding, replica, the replica's last position, earliest start, first snapshot.
 */
export const openScript = script(`
for index, wanted in ipairs({'hash', 'stream', 'string'}) do
  local kind = redis.call('TYPE', KEYS[index]).ok
  if kind ~= 'none' and kind ~= wanted then return {'foreign', KEYS[index]} end
end
local begun = redis.call('HGET', meta, 'epoch')
if not begun then
  for _, key in ipairs(KEYS) do
    if redis.call('EXISTS', key) == 1 then return {'foreign', key} end
  end
  if ARGV[1] == '' then return {'none'} end
  local ahead = math.max(0, tonumber(ARGV[5]) - now())
  local at = string.format('%.0f', now() + ahead)
  redis.call('SET', snapshot, at .. '-0\\n' .. ARGV[6])
  redis.call('HSET', meta, 'epoch', ARGV[1], 'founding', ARGV[2], 'head', at .. '-0', 'floor', at .. '-0', 'snapshot', at .. '-0', 'ahead', string.format('%.0f', ahead))
end
local found = redis.call('HMGET', meta, 'epoch', 'founding', 'floor')
if found[2] ~= ARGV[2] and redis.call('HGET', meta, 'previous') ~= ARGV[2] then return {'other', found[2]} end
if redis.call('HEXISTS', meta, 'r:' .. ARGV[3]) == 0 then
  local stored = redis.pcall('HSET', meta, 'r:' .. ARGV[3], string.format('0 %.0f', now()))
  if type(stored) == 'table' and not string.find(stored.err, 'OOM') then return stored end
end
local known = ARGV[4] == '' or number(ARGV[4]) == 0
if not known then
  local entry = redis.call('XRANGE', log, ARGV[4], '+', 'COUNT', 1)[1]
  known = entry ~= nil and string.match(entry[1], '^%d+') == string.match(ARGV[4], '^%d+')
end
return {'open', found[1], found[3], known and '1' or '0', tostring(redis.call('EXISTS', snapshot))}
`);

/**
 * Stores a backup of a log before its migration, unless another replica did so in the last minute: a second backup might
 * contain the other replica's changes.
 *
 * KEYS: also the backup. ARGV: founding, backup.
 */
export const backUpScript = script(`
local at, founding = string.match(redis.call('HGET', meta, 'backed_up') or '', '^(%d+) (.*)$')
if founding == ARGV[1] and now() - tonumber(at) < 60000 then return 'ok' end
if redis.call('HGET', meta, 'founding') ~= ARGV[1] then return 'ok' end
redis.call('SET', KEYS[4], ARGV[2])
redis.call('HSET', meta, 'backed_up', string.format('%.0f %s', now(), ARGV[1]))
return 'ok'
`);

/**
 * Migrates the log to another founding, unless another replica did so.
 *
 * ARGV: former founding, new founding.
 */
export const migrateScript = script(`
local founding = redis.call('HGET', meta, 'founding')
if founding == ARGV[2] then return 'ok' end
if founding ~= ARGV[1] then return founding end
redis.call('HSET', meta, 'founding', ARGV[2], 'previous', ARGV[1])
redis.call('HDEL', meta, 'backed_up')
return 'ok'
`);

/**
 * Appends a batch unless it is already stored. Returns the batches after the replica's position, and the id of the new batch
 * if it follows them. If the clock of Redis moves back, the log's time continues from its last value.
 *
 * A full Redis rejects writes that may need memory, unless the script has already written. Mode `probe` detects whether it
 * is full; `room` writes anyway.
 *
 * ARGV: epoch, position, maximum number of batches to return, replica, batch, mode, number of texts, texts.
 */
export const appendScript = script(`
local found = redis.call('HMGET', meta, 'epoch', 'head', 'floor', 'snapshot', 'r:' .. ARGV[4], 'ahead')
if found[1] ~= ARGV[1] then return {'lost'} end
local have, head = number(ARGV[2]), number(found[2])
if have > head or have < number(found[3]) then return {'lost'} end
if ARGV[6] == 'room' then redis.call('XTRIM', log, 'MINID', found[3]) end
if ARGV[6] == 'probe' then redis.call('HSET', meta, 'epoch', ARGV[1]) end
local between, own = redis.call('XRANGE', log, '(' .. ARGV[2], '+', 'COUNT', ARGV[3]), ''
if ARGV[7] ~= '0' and tonumber(string.match(found[5] or '0', '^%d+')) < tonumber(ARGV[5]) then
  local last = tonumber(string.match(found[2], '^%d+'))
  local at = now() + tonumber(found[6] or '0')
  if at < last then
    redis.call('HSET', meta, 'ahead', string.format('%.0f', last - now()))
    at = last
  end
  head = head + tonumber(ARGV[7])
  local id = string.format('%.0f-%.0f', at, head)
  redis.call('XADD', log, id, ARGV[1], ARGV[4] .. ' ' .. ARGV[5], ARGV[7], ARGV[8])
  redis.call('HSET', meta, 'head', id, 'r:' .. ARGV[4], string.format('%s %.0f', ARGV[5], at))
  if #between < tonumber(ARGV[3]) then own = id end
end
return {'ok', string.format('%.0f', head), found[4], between, own}
`);

/**
 * Stores a snapshot if it is newer, and discards the entries up to the previous snapshot, so that a slightly slower replica
 * need not start again. In a full Redis, or for an unused log, discards everything before the new snapshot. Also discards
 * replicas without a batch for a day.
 *
 * ARGV: epoch, position, text, and `whole` to discard all entries before it, or an empty text.
 */
export const keepScript = script(`
local found = redis.call('HMGET', meta, 'epoch', 'snapshot')
if found[1] ~= ARGV[1] then return {'lost'} end
if number(found[2]) >= number(ARGV[2]) then return {'ok', found[2]} end
local floor = ARGV[4] == 'whole' and ARGV[2] or found[2]
redis.call('XTRIM', log, 'MINID', floor)
redis.call('SET', snapshot, ARGV[2] .. '\\n' .. ARGV[3])
redis.call('HSET', meta, 'snapshot', ARGV[2], 'floor', floor)
local all, yesterday = redis.call('HGETALL', meta), now() - 86400000
for index = 1, #all, 2 do
  if string.sub(all[index], 1, 2) == 'r:' and tonumber(string.match(all[index + 1], '%d+$')) < yesterday then
    redis.call('HDEL', meta, all[index])
  end
end
return {'ok', ARGV[2]}
`);
