-- Settles an order id whose reservation has an unknown outcome: what the ledger says is true, and
-- an id it does not know is marked refused, so that the answer stays true.
-- KEYS: ledger hash
-- ARGV: order id
-- Returns the state: reserved, released or refused.
local entry = redis.call('HGET', KEYS[1], ARGV[1])
if entry then return string.match(entry, '^[^|]*') end
redis.call('HSET', KEYS[1], ARGV[1], 'refused||0|0|')
return 'refused'
