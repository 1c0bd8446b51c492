import { createHash } from "node:crypto";

// What happens in Redis. A log is three keys, which have one hash tag, so that a cluster has them in one slot; each script is
// about one log:
//
// - `meta`, a hash: `epoch`, `founding`, `founded_at`, `head` (the last position), `snapshot` (the position of the newest
//   one), `floor` (entries up to it are forgotten), `ahead` (milliseconds by which its time is ahead of Redis), and
//   for each replica `r:<id>`: the number of its last batch and when. After a migration, `previous` is the founding before:
//   replicas of either take part in the log.
//   `backed_up` is when a migration in progress has kept a backup, and the founding before.
// - `log`, a stream: one stream entry is a batch, the entries that one replica appended together. Its id is
//   `<milliseconds>-<number of its last log entry>`, its fields are the epoch (with `<replica> <batch>`) and the number of
//   its log entries (with their texts, a character between them that no JSON has).
// - `snapshot`, a string: position, line feed, text.
//
// Numbers of log entries have no gaps, so that a replica knows by them alone whether it has missed one.

/** A script, and how Redis names it. */
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
 * Opens the log, and begins it where there is none and ARGV asks for it. The replica is registered, which shows that it
 * may write, unless there is no room.
 *
 * ARGV: a new epoch, or nothing; the founding; the replica; the position of the last entry that it has, or nothing; when it
 * begins at the earliest, and its first snapshot, or nothing.
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
  if ARGV[6] ~= '' then redis.call('SET', snapshot, at .. '-0\\n' .. ARGV[6]) end
  redis.call('HSET', meta, 'epoch', ARGV[1], 'founding', ARGV[2], 'founded_at', at, 'head', at .. '-0', 'floor', at .. '-0', 'snapshot', at .. '-0', 'ahead', string.format('%.0f', ahead))
end
local found = redis.call('HMGET', meta, 'epoch', 'founding', 'founded_at', 'floor')
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
local whole = number(found[4]) == 0 or redis.call('EXISTS', snapshot) == 1
return {'open', found[1], found[3], found[4], known and '1' or '0', whole and '1' or '0'}
`);

/**
 * Keeps a backup of a log before its migration, unless another replica has done so in the last minute: its own may have
 * what that one has changed.
 *
 * KEYS: also the backup. ARGV: the founding, the backup.
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
 * Migrates the log to another founding, unless another replica has done so.
 *
 * ARGV: the founding before, the new one.
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
 * Appends a batch, if it is not stored already, and returns what followed the replica's position before, and the id of the
 * batch if it is what comes next. When the clock of Redis goes back, the time of the log continues from where it was.
 *
 * A Redis that is full takes no write that may need memory, unless the script has written before. Mode `probe` finds out
 * whether it is full; `room` writes nevertheless.
 *
 * ARGV: epoch, position, the most batches to return, replica, batch, mode, number of texts, texts.
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
 * Keeps a snapshot that is newer than the one that is there, and forgets what the snapshot before held: a replica that
 * is a little behind is not to start anew. A Redis that is full, or a log that nobody uses, keeps nothing before the new one. Replicas that were not
 * heard of for a day are forgotten as well.
 *
 * ARGV: epoch, position, text, `whole` to keep no entry before it, or nothing.
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
