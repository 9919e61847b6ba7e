-- Closes the gate of one SKU and begins an epoch: what was sent under an older one does nothing any more.
-- KEYS: stock hash
-- ARGV: epoch
-- Returns the epoch as it is now; a higher one than asked for means that nothing was changed.
local before = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') or 0
if before > tonumber(ARGV[1]) then return before end
redis.call('HSET', KEYS[1], 'gate', 'closed', 'epoch', ARGV[1])
return tonumber(ARGV[1])
