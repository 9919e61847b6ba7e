-- Takes messages out of a SKU's stream that MySQL has: acknowledged and deleted together, so that none is left as a
-- message without a reader.
-- KEYS: stream
-- ARGV: consumer group, then the messages' ids
-- Returns how many were deleted.
local ids = {}
for i = 2, #ARGV do ids[i - 1] = ARGV[i] end
redis.call('XACK', KEYS[1], ARGV[1], unpack(ids))
return redis.call('XDEL', KEYS[1], unpack(ids))
