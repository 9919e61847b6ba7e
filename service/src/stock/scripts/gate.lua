-- Opens or closes the gate of one SKU.
-- KEYS: stock hash
-- ARGV: epoch, `open` or `closed`
-- Returns the gate as it is now, or `stale_epoch` / `missing` when nothing was changed.
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'missing' end
if epoch ~= ARGV[1] then return 'stale_epoch' end
redis.call('HSET', KEYS[1], 'gate', ARGV[2])
return ARGV[2]
