-- Messages of a SKU's stream for one consumer, from now on pending for it: new ones, or with an idle time those that
-- some consumer took so long ago and has not finished.
-- KEYS: stream
-- ARGV: consumer group, consumer, count, idle_ms (0: new ones)
-- Returns {id, {field, value, ...}} of each. A stream that was never rebuilt has no group, and no messages.
local function of(reply, at)
  if not reply or reply.err then return {} end
  return at(reply)
end

if ARGV[4] == '0' then
  local reply = redis.pcall('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', ARGV[3], 'STREAMS', KEYS[1], '>')
  return of(reply, function(streams) return streams[1][2] end)
end
local reply = redis.pcall('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[4], '0-0', 'COUNT', ARGV[3])
return of(reply, function(claim) return claim[2] end)
