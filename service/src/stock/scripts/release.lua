-- Gives the units of one order back, exactly once: the ledger moves from reserved to released.
-- An order the ledger does not know is marked refused, so that a late reserve cannot happen.
-- Nothing is given back under another epoch: a rebuild that has read MySQL already would undo it unseen.
-- KEYS: stock hash, held hash, ledger hash, deadlines sorted set, stream
-- ARGV: epoch, order id
-- Returns {1 if units were given back, 0 if there was nothing to give back, -1 if the epoch is another; units left}.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return { -1, 0 } end
local available = tonumber(redis.call('HGET', KEYS[1], 'available') or '0') or 0
local entry = redis.call('HGET', KEYS[3], ARGV[2])
if not entry then
  redis.call('HSET', KEYS[3], ARGV[2], 'refused||0|0|')
  return { 0, available }
end

local state, user, quantity, rest = string.match(entry, '^([^|]*)|([^|]*)|(%d+)(|.*)$')
if state ~= 'reserved' then return { 0, available } end

quantity = tonumber(quantity)
local held = (tonumber(redis.call('HGET', KEYS[2], user) or '0') or 0) - quantity
redis.call('HSET', KEYS[3], ARGV[2], 'released|' .. user .. '|' .. quantity .. rest)
redis.call('HSET', KEYS[1], 'available', available + quantity)
if held > 0 then redis.call('HSET', KEYS[2], user, held) else redis.call('HDEL', KEYS[2], user) end
redis.call('ZREM', KEYS[4], ARGV[2])
return { 1, available + quantity }
