-- Replaces everything Redis knows of one SKU, under the epoch of the fence before it; the gate stays closed. Messages
-- that are still in its stream stay: each has an effect once at most.
-- KEYS: stock hash, held hash, ledger hash, deadlines sorted set, stream
-- ARGV: epoch, available, limit, starts_at_ms, ends_at_ms, queue, consumer group,
--       then for each order: order id, state (reserved, paid, released, refused), user, quantity, deadline_ms
-- Returns the epoch as it is now; a higher one than asked for means that a later attempt has begun, and that
-- nothing was changed.
local HEADER, FIELDS = 7, 5
local before = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') or 0
local epoch = tonumber(ARGV[1])
if before > epoch then return before end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
redis.call('HSET', KEYS[1], 'available', ARGV[2], 'gate', 'closed', 'epoch', string.format('%d', epoch),
  'limit', ARGV[3], 'starts_at_ms', ARGV[4], 'ends_at_ms', ARGV[5], 'queue', ARGV[6])
-- Refused where the group is there already.
if ARGV[6] == 'stream' then redis.pcall('XGROUP', 'CREATE', KEYS[5], ARGV[7], '0', 'MKSTREAM') end

for at = HEADER, #ARGV - FIELDS, FIELDS do
  local id, state, user, quantity, deadline_ms = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
  local ledger_state = state
  if state == 'paid' then ledger_state = 'reserved' end
  redis.call('HSET', KEYS[3], id, ledger_state .. '|' .. user .. '|' .. quantity .. '|' .. deadline_ms .. '|')
  if ledger_state == 'reserved' then redis.call('HINCRBY', KEYS[2], user, quantity) end
  if state == 'reserved' then redis.call('ZADD', KEYS[4], deadline_ms, id) end
end
return epoch
